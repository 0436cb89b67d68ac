"""Shapes as inference sees them: a tuple of dimensions, -1 for an open one, None for any rank.

    merged(?x3, 2x?)      2x3       two tellings of the same tensor
    agreed(2x3, 4x3)      ?x3       one of two tensors, whichever it turns out to be
    broadcast(?x1x3, 5x1) ?x5x3     what an elementwise operation makes of both

Unlike in a profile's columns, a scalar has no dimensions here.
"""

from __future__ import annotations

from math import prod
from operator import index
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Shape: TypeAlias = tuple[int, ...]
Maybe: TypeAlias = Shape | None

OPEN: Final = -1
# TensorFlow's own limit; a graph that exceeds it runs nowhere.
MOST_DIMENSIONS: Final = 254
_LARGEST: Final = 2**63 - 1


class Unknown(Exception):  # noqa: N818 - no error: the answer where a graph leaves it open
    """What a rule needs is not known."""


def is_whole(shape: Maybe) -> bool:
    """Whether every dimension is known."""
    return shape is not None and OPEN not in shape


def sound(shape: Sequence[int] | None) -> Maybe:
    """The shape with what no tensor can have left open; raises TypeError for no whole numbers."""
    if shape is None or len(shape) > MOST_DIMENSIONS:
        return None
    if isinstance(shape, tuple) and (not shape or (min(shape) >= OPEN and max(shape) <= _LARGEST)):
        return shape
    return tuple(dim if 0 <= dim <= _LARGEST else OPEN for dim in map(index, shape))


def merged(first: Maybe, second: Maybe) -> Maybe:
    """What both tell of one tensor; where they differ, the first is believed."""
    if first is None or second is None:
        return second if first is None else first
    if len(first) != len(second):
        return first
    return tuple(b if a < 0 else a for a, b in zip(first, second, strict=True))


def agreed(shapes: Iterable[Maybe]) -> Maybe:
    """What is true of each of these shapes."""
    result: Maybe = None
    for number, shape in enumerate(shapes):
        if shape is None or (number and len(shape) != len(result or ())):
            return None
        pairs = zip(shape, shape if result is None else result, strict=True)
        result = tuple(a if a == b else OPEN for a, b in pairs)
    return result


def broadcast(first: Shape, second: Shape) -> Shape:
    """The shape that both stretch to; raises Unknown where they do not."""
    rank = max(len(first), len(second))
    wide = [(1,) * (rank - len(shape)) + shape for shape in (first, second)]
    return tuple(_stretched(a, b) for a, b in zip(*wide, strict=True))


def _stretched(a: int, b: int) -> int:
    if b in (a, 1):
        return a
    if a == 1:
        return b
    if a < 0 or b < 0:  # what is open is either 1 or the same
        return max(a, b) if max(a, b) > 1 else OPEN
    raise Unknown


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front; raises Unknown where there is none of this number."""
    if not -rank <= axis < rank:
        raise Unknown
    return axis % rank


def elements(shape: Shape) -> int:
    """How many elements there are; -1 where that is open."""
    return OPEN if OPEN in shape else prod(shape)


def plus(*lengths: int) -> int:
    """The sum of lengths, open where one of them is."""
    return OPEN if min(lengths) < 0 else sum(lengths)


def times(*lengths: int) -> int:
    """The product of lengths, open where one of them is."""
    return OPEN if min(lengths) < 0 else prod(lengths)


def split(length: int, parts: int) -> int:
    """A length cut into so many parts; open where it does not divide."""
    return OPEN if length < 0 or parts <= 0 or length % parts else length // parts
