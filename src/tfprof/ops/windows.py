"""Windows that move over an image: how many fit along each dimension.

    SAME      ⌈length / stride⌉
    VALID     ⌈(length - window + 1) / stride⌉
    EXPLICIT  as VALID, of the length with its padding

A window with dilation reaches (size - 1) · dilation + 1 elements far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.ops.shape import OPEN, UnknownShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.ops.op import Op


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
    if layout.startswith("NCHW_VECT"):
        raise UnknownShape
    return 1 if layout.startswith("NC") else rank - 1


def spatial_axes(op: Op, rank: int) -> list[int]:
    """The dimensions of an image that windows move along."""
    channel = channel_axis(op, rank)
    return [axis for axis in range(1, rank) if axis != channel]


def per_axis(op: Op, name: str, rank: int) -> Sequence[int]:
    """An attribute with a number per dimension; all 1 if it is missing."""
    numbers = op.attr(name)
    return numbers if isinstance(numbers, list) and len(numbers) == rank else [1] * rank
