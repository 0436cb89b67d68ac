"""The inputs of a case with parts of them unknown, and with other sizes.

    case            (4, 6), (6, 2), axis 1
    variants        (-1, 6), (6, 2), 1     each dimension open, then all of an input, then all
                    None, (6, 2), 1        unknown rank
                    (4, 6), (6, 2), ?      a constant that is not known, whole or in parts
    bindings        (8, 6), (6, 2), 1      what the open parts may turn out to be

A variant says nothing wrong if it agrees with every binding that it admits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from shape_cases import Holes, Made

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Inputs: TypeAlias = list[Any]
Leaf: TypeAlias = Any  # a shape, a constant, Holes or None: unknown rank

_MOST_ELEMENTS: Final = 8
_OTHER_SIZES: Final[tuple[Callable[[int], int], ...]] = (
    lambda size: 2 * size,
    lambda size: 3 * size,
    lambda size: size + 1,
    lambda _: 1,
)


def leaves(inputs: Inputs) -> list[Leaf]:
    """Shapes and constants, also those of operations that make inputs."""
    result: list[Leaf] = []
    for part in inputs:
        result += leaves(part.inputs) if isinstance(part, Made) else [part]
    return result


def with_leaves(inputs: Inputs, new: Iterator[Leaf]) -> Inputs:
    """The same inputs with other shapes and constants."""
    return [
        part._replace(inputs=with_leaves(part.inputs, new)) if isinstance(part, Made) else next(new)
        for part in inputs
    ]


def is_constant(leaf: Leaf) -> bool:
    """Whether the leaf is a constant, all of which is known."""
    return isinstance(leaf, (list, int, float))


class Array(NamedTuple):
    """The numbers of a constant, and their shape."""

    numbers: tuple[Any, ...]
    shape: tuple[int, ...]


def array(constant: Any) -> Array:
    """A constant as a list."""
    shape: list[int] = []
    level = constant
    while isinstance(level, list):
        shape.append(len(level))
        if not level:
            break
        level = level[0]
    numbers = constant if isinstance(constant, list) else [constant]
    for _ in shape[1:]:
        numbers = [number for row in numbers for number in row]
    return Array(tuple(numbers), tuple(shape))


def constant_of(numbers: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """The constant that `array` was made of."""
    rows: list[Any] = list(numbers)
    for length in reversed(shape):
        rows = [rows[at : at + length] for at in range(0, len(rows), length)] if length else [[]]
    return rows[0]


def variants(inputs: Inputs) -> list[Inputs]:
    """The inputs with less known of them; the first is the case itself."""
    known = leaves(inputs)
    result = [known]
    for number, leaf in enumerate(known):
        result += [[*known[:number], less, *known[number + 1 :]] for less in _less(leaf)]
    result.append([_opened(leaf) for leaf in known])
    result.append([leaf if is_constant(leaf) else None for leaf in known])
    result.append([_opened(leaf) if is_constant(leaf) else leaf for leaf in known])
    result.append([_unread(leaf) if is_constant(leaf) else _opened(leaf) for leaf in known])
    result.append([_unread(leaf) if is_constant(leaf) else None for leaf in known])
    result.append([None] * len(known))
    return [with_leaves(inputs, iter(new)) for new in _distinct(result)]


def _less(leaf: Leaf) -> Iterator[Leaf]:
    """A leaf with less known of it."""
    if not is_constant(leaf):
        for axis in range(len(leaf)):
            yield (*leaf[:axis], -1, *leaf[axis + 1 :])
        yield _opened(leaf)
    else:
        numbers, shape = array(leaf)
        if shape and all(isinstance(number, int) for number in numbers):
            for place in range(len(numbers) if len(numbers) <= _MOST_ELEMENTS else 0):
                yield Holes((*numbers[:place], None, *numbers[place + 1 :]), shape)
            for place in range(0, len(numbers) - 1, 2):
                yield Holes((*numbers[:place], None, None, *numbers[place + 2 :]), shape)
        yield _opened(leaf)
        yield _unread(leaf)
    yield None


def _opened(leaf: Leaf) -> Leaf:
    """A shape whose dimensions are all open, a constant whose numbers are all unknown."""
    if not is_constant(leaf):
        return (-1,) * len(leaf)
    numbers, shape = array(leaf)
    if not numbers or not shape or not isinstance(numbers[0], int):
        return shape
    return Holes((None,) * len(numbers), shape)


def _unread(constant: Any) -> tuple[int, ...]:
    return array(constant).shape


def bindings(inputs: Inputs) -> list[Inputs]:
    """The inputs with other sizes; TensorFlow may reject some. The first is the case itself."""
    known = leaves(inputs)
    result = [known]
    dims = sorted({dim for leaf in known for dim in _numbers(leaf) if isinstance(dim, int)})
    shaped = sorted({dim for leaf in known if not is_constant(leaf) for dim in leaf})
    for other in _OTHER_SIZES:
        # Equal sizes change together: with and without the constants that list them.
        result.append([_changed(leaf, {dim: other(dim) for dim in dims}) for leaf in known])
        for dim in shaped:
            result.append([_changed(leaf, {dim: other(dim)}) for leaf in known])
            result.append(
                [leaf if is_constant(leaf) else _changed(leaf, {dim: other(dim)}) for leaf in known]
            )
        # And one by one.
        for number, leaf in enumerate(known):
            numbers = _numbers(leaf)
            for place, size in enumerate(numbers if len(numbers) <= _MOST_ELEMENTS else ()):
                new = _like(leaf, (*numbers[:place], other(size), *numbers[place + 1 :]))
                result.append([*known[:number], new, *known[number + 1 :]])
    return [with_leaves(inputs, iter(new)) for new in _distinct(result)]


def _numbers(leaf: Leaf) -> tuple[Any, ...]:
    return array(leaf).numbers if is_constant(leaf) else tuple(leaf)


def _changed(leaf: Leaf, other: dict[Any, int]) -> Leaf:
    return _like(leaf, tuple(other.get(number, number) for number in _numbers(leaf)))


def _like(leaf: Leaf, numbers: tuple[Any, ...]) -> Leaf:
    return constant_of(numbers, array(leaf).shape) if is_constant(leaf) else numbers


def _distinct(inputs: list[list[Leaf]]) -> list[list[Leaf]]:
    return list({repr(leaves): leaves for leaves in inputs}.values())


def numbers(binding: Inputs) -> tuple[Any, ...]:
    """All sizes and constants, one after another."""
    return tuple(number for leaf in leaves(binding) for number in _numbers(leaf))


def pattern(variant: Inputs, case: Inputs) -> tuple[Any, ...]:
    """The same of a variant, None where a number is unknown."""
    result: list[Any] = []
    for less, known in zip(leaves(variant), leaves(case), strict=True):
        if less is None or (is_constant(known) and type(less) is tuple):
            result += [None] * len(_numbers(known))
        elif isinstance(less, Holes):
            result += less.numbers
        else:
            is_open = not is_constant(known)
            result += [None if is_open and dim == -1 else dim for dim in _numbers(less)]
    return tuple(result)


def admits(less: tuple[Any, ...], bound: tuple[Any, ...]) -> bool:
    """Whether these numbers fit into the pattern."""
    return all(known in (None, number) for known, number in zip(less, bound, strict=True))
