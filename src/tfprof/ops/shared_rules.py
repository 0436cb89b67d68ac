"""What many families share: so many steps per element, shapes like that of an input, windows.

Windows that move over an image: how many fit along each dimension.

    SAME      ⌈length / stride⌉
    VALID     ⌈(length - window + 1) / stride⌉
    EXPLICIT  as VALID, of the length with its padding

A window with dilation reaches (size - 1) · dilation + 1 elements far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.ops.op import Op, size
from tfprof.ops.shape import OPEN, MaybeShape, NoRule, Shape, broadcast, require

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


# --- shapes ---


def like_input(number: int) -> Callable[[Op], MaybeShape]:
    """The shape of an input."""
    return lambda op: op.shape(number)


def listed_by(number: int) -> Callable[[Op], Shape]:
    """The shape that an input lists."""
    return lambda op: op.dims(number)


def all_open(op: Op) -> Shape:
    """As many open dimensions as the first input has, or as the second has numbers."""
    tensor = op.shape(0)
    return (OPEN,) * (op.known(1)[0] if tensor is None else len(tensor))


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
    return lambda op: [rule(op), (), ()]


def with_unknown_range(rule: Callable[[Op], MaybeShape]) -> Callable[[Op], list[MaybeShape]]:
    """The same, where TensorFlow infers no shape of the range."""
    return lambda op: [rule(op), None, None]


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
    return 1 if layout.startswith("NC") else rank - 1


def spatial_axes(op: Op, rank: int) -> list[int]:
    """The dimensions of an image that windows move along."""
    channel = channel_axis(op, rank)
    return [axis for axis in range(1, rank) if axis != channel]


def per_axis(op: Op, name: str, rank: int) -> Sequence[int]:
    """An attribute with a number per dimension; all 1 if it is missing."""
    numbers = op.attr(name)
    return numbers if isinstance(numbers, list) and len(numbers) == rank else [1] * rank
