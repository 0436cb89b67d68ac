"""Shapes as rules see them: a tuple of dimensions, -1 for an open one; None: unknown rank.

    merged(?x3, 2x?)      2x3       two descriptions of the same tensor
    agreed(2x3, 4x3)      ?x3       one of two tensors, whichever it turns out to be
    broadcast(?x1x3, 5x1) ?x5x3     what an elementwise operation makes of both

Here a scalar has no dimensions; in a profile's columns it has one, of length 1.

Values are small tensors whose numbers are known before anything runs, such as axes, target shapes
and bounds: arrays of int64, float64 or bool with at most MOST_VALUES elements. Single integers may
be unknown, as in the shape [?, 28, 28]: they are HOLE.
"""

from __future__ import annotations

from math import prod
from operator import index
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Shape: TypeAlias = tuple[int, ...]
MaybeShape: TypeAlias = Shape | None
Value: TypeAlias = npt.NDArray[Any]
T = TypeVar("T")

OPEN: Final = -1
# TensorFlow's own limit; a graph that exceeds it runs nowhere.
MOST_DIMENSIONS: Final = 254
MOST_VALUES: Final = 64
HOLE: Final = -(2**63)
_LARGEST: Final = 2**63 - 1


class UnknownShape(Exception):  # noqa: N818 - not an error: the answer where a graph leaves it open
    """A shape or a value that a rule needs is unknown, or partly unknown.

    A float-operation rule may raise it: the operation is then reported as not counted.
    """


class NoRule(UnknownShape):
    """There is no rule for a part of an operation; the message names it."""


def need(known: T | None) -> T:
    """What is known; raises UnknownShape for None."""
    if known is None:
        raise UnknownShape
    return known


def require(fits: object) -> None:
    """Raise UnknownShape where a rule was not made for an operation."""
    if not fits:
        raise UnknownShape


def sanitized(shape: Sequence[int] | None) -> MaybeShape:
    """The shape with impossible dimensions left open; raises TypeError for other than integers."""
    if shape is None or len(shape) > MOST_DIMENSIONS:
        return None
    if isinstance(shape, tuple) and (not shape or (min(shape) >= OPEN and max(shape) <= _LARGEST)):
        return shape
    return tuple(dim if 0 <= dim <= _LARGEST else OPEN for dim in map(index, shape))


def merged(first: MaybeShape, second: MaybeShape) -> MaybeShape:
    """What both shapes say of one tensor; where they differ, the first one wins."""
    if first is None or second is None:
        return second if first is None else first
    if len(first) != len(second):
        return first
    return tuple(map(either, first, second))


def of_rank(shape: MaybeShape, rank: int) -> Shape:
    """The shape, all open where it is unknown; raises UnknownShape for another rank."""
    require(shape is None or len(shape) == rank)
    return (OPEN,) * rank if shape is None else shape


def agreed(shapes: Iterable[MaybeShape]) -> MaybeShape:
    """What is true of each of these shapes."""
    result: MaybeShape = None
    for number, shape in enumerate(shapes):
        if shape is None or (number and len(shape) != len(result or ())):
            return None
        pairs = zip(shape, shape if result is None else result, strict=True)
        result = tuple(a if a == b else OPEN for a, b in pairs)
    return result


def broadcast(first: Shape, second: Shape) -> Shape:
    """The shape that both broadcast to; raises UnknownShape where they do not."""
    rank = max(len(first), len(second))
    wide = [(1,) * (rank - len(shape)) + shape for shape in (first, second)]
    return tuple(_stretched(a, b) for a, b in zip(*wide, strict=True))


def _stretched(a: int, b: int) -> int:
    if b in (a, 1):
        return a
    if a == 1:
        return b
    if a < 0 or b < 0:  # an open one is either 1 or the same
        return max(a, b) if max(a, b) > 1 else OPEN
    raise UnknownShape


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front; raises UnknownShape if it is out of range."""
    require(-rank <= axis < rank)
    return axis % rank


def rank_of(shape: MaybeShape) -> int:
    """The number of dimensions; OPEN where unknown."""
    return OPEN if shape is None else len(shape)


def elements(shape: Shape) -> int:
    """The number of elements; OPEN where unknown."""
    return OPEN if OPEN in shape else prod(shape)


def either(a: int, b: int) -> int:
    """One length of which there are two descriptions; the first one wins."""
    return b if a < 0 else a


def minus(length: int, less: int) -> int:
    """A length with so many less, open where one of them is."""
    return OPEN if length < 0 or less < 0 else length - less


def plus(*lengths: int) -> int:
    """The sum of lengths, open where one of them is."""
    return OPEN if min(lengths) < 0 else sum(lengths)


def times(*lengths: int) -> int:
    """The product of lengths, open where one of them is."""
    return OPEN if min(lengths) < 0 else prod(lengths)


def split(length: int, parts: int) -> int:
    """A length cut into so many parts; open where it does not divide."""
    return OPEN if length < 0 or parts <= 0 or length % parts else length // parts


# --- values ---


def of_dims(dims: tuple[int, ...]) -> Value:
    """A shape as a tensor; an open dimension is a hole."""
    return np.array([HOLE if dim == OPEN else min(dim, _LARGEST) for dim in dims], np.int64)


def dims_of(value: Value) -> tuple[int, ...]:
    """A vector as a shape; holes and negative numbers are open. Raises UnknownShape."""
    require(value.ndim == 1 and value.dtype.kind == "i")
    return tuple(max(int(dim), OPEN) for dim in value)


def has_holes(value: Value) -> bool:
    """Whether an element is unknown."""
    return value.dtype.kind == "i" and bool((value == HOLE).any())


def small(value: Any) -> Value | None:  # noqa: ANN401 - whatever NumPy gives
    """The value as int64, float64 or bool; None if it is large or something else."""
    array = np.asarray(value)
    if array.size > MOST_VALUES:
        return None
    wide = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}.get(array.dtype.kind)
    return None if wide is None else array.astype(wide, copy=False)
