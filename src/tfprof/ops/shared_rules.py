"""What many families share: so many steps per element, shapes like that of an input, windows.

Windows that move over an image: how many fit along each dimension.

    SAME      ⌈length / stride⌉
    VALID     ⌈(length - window + 1) / stride⌉
    EXPLICIT  as VALID, of the length with its padding

A window with dilation reaches (size - 1) · dilation + 1 elements far.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

from tfprof.ops.op import Op, size
from tfprof.ops.shape import (
    MOST_DIMENSIONS,
    OPEN,
    MaybeShape,
    NoRule,
    Shape,
    UnknownShape,
    broadcast,
    merged,
    plus,
    require,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_LONGEST_NAME: Final = 40


# --- float operations ---


def per_output(steps: int) -> Callable[[Op], int]:
    """So many steps per element of the first output."""
    return lambda op: steps * size(op.output())


def per_input(number: int, steps: int = 1) -> Callable[[Op], int]:
    """So many steps per element of an input."""
    return lambda op: steps * size(op.input(number))


def steps_of(functions: Iterable[str], steps: Mapping[str, int]) -> int:
    """The steps of all *functions* that one operation computes; raises NoRule for others."""
    total = 0
    for name in functions:
        if name not in steps:
            raise NoRule(name[:_LONGEST_NAME])
        total += steps[name]
    return total


def integers(op: Op, name: str) -> Shape:
    """An attribute that lists integers; files may hold anything there. Raises UnknownShape."""
    numbers = op.attr(name)
    require(isinstance(numbers, list) and all(isinstance(number, int) for number in numbers))
    return tuple(numbers)


# --- shapes ---


def like_input(*numbers: int, rank: int | None = None) -> Callable[[Op], MaybeShape]:
    """The shape of an input, which has this rank; of several equal ones, what they say together."""
    any_shape = None if rank is None else (OPEN,) * rank
    return lambda op: merged(reduce(merged, map(op.shape, numbers), None), any_shape)


def image_rank(op: Op) -> int:
    """How many dimensions an image has, batch and channels among them."""
    return 5 if "3D" in op.type else 4


def listed_by(number: int) -> Callable[[Op], Shape]:
    """The shape that an input lists."""
    return lambda op: op.dims(number)


def image_listed_by(number: int) -> Callable[[Op], Shape]:
    """The image or filter whose sizes an input lists."""
    return lambda op: op.dims(number, image_rank(op))


def all_open(op: Op) -> Shape:
    """As many open dimensions as the first input has, or as the second has numbers."""
    tensor = op.shape(0)
    count = op.known(1)[0] if tensor is None else len(tensor)
    require(0 <= count <= MOST_DIMENSIONS)
    return (OPEN,) * count


def scalar(_: Op) -> Shape:
    """One number, or one handle."""
    return ()


def broadcast_pair(op: Op) -> Shape:
    """What the first two inputs broadcast to."""
    return broadcast(op.known(0), op.known(1))


def rows_of_unknown_number(op: Op) -> Shape:
    """Rows like those of the first input; only numbers in tensors say how many."""
    return (OPEN, *op.known(0)[1:])


def with_range(rule: Callable[[Op], MaybeShape]) -> Callable[[Op], list[MaybeShape]]:
    """A quantized output, and the minimum and the maximum that it stands for: two scalars."""
    return lambda op: [known(rule, op), (), ()]


def known(rule: Callable[[Op], MaybeShape], op: Op) -> MaybeShape:
    """What a rule says; None where it lacks something, and other outputs may be known."""
    try:
        return rule(op)
    except UnknownShape:
        return None


def with_unknown_range(rule: Callable[[Op], MaybeShape]) -> Callable[[Op], list[MaybeShape]]:
    """The same, where TensorFlow infers no shape of the range."""
    return lambda op: [rule(op), None, None]


def margins(op: Op, number: int, rank: int) -> Shape:
    """The sum of the padding before and behind each dimension, which an input lists."""
    both = op.value(number)
    if both is None:
        return (OPEN,) * rank
    require(both.shape == (rank, 2))
    return tuple(plus(*(max(int(margin), OPEN) for margin in pair)) for pair in both)


def windows(length: int, window: int, stride: int, padding: str, extra: int = 0) -> int:
    """How many windows fit along one dimension."""
    if length < 0 or (window < 0 and padding != "SAME") or stride <= 0:
        return OPEN
    if padding == "SAME":
        return -(-length // stride)
    return max(0, -(-(length + extra - window + 1) // stride))


def channel_axis(op: Op, rank: int) -> int:
    """The dimension of an image that counts its channels."""
    layout = str(op.attr("data_format", "NHWC"))
    require(not layout.startswith("NCHW_VECT"))
    return 1 if layout.startswith(("NC", "CHANNELS_FIRST")) else rank - 1


def spatial_axes(op: Op, rank: int) -> list[int]:
    """The dimensions of an image that windows move along."""
    channel = channel_axis(op, rank)
    return [axis for axis in range(1, rank) if axis != channel]


def per_axis(op: Op, name: str, rank: int) -> Sequence[int]:
    """An attribute with a number per dimension; all 1 if it is missing."""
    numbers = op.attr(name)
    return numbers if isinstance(numbers, list) and len(numbers) == rank else [1] * rank
