"""Small tensors moved about: joined, cut, gathered, repeated, passed on."""

from __future__ import annotations

from math import ceil, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.inference.shape import OPEN, Unknown, axis_of
from tfprof.inference.slice_shapes import Cut, cuts
from tfprof.inference.table import value_rule
from tfprof.inference.value import HOLE, MOST_VALUES, dims_of, has_holes

if TYPE_CHECKING:
    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Shape
    from tfprof.inference.value import Value


@value_rule("Identity StopGradient PreventGradient Snapshot GuaranteeConst EnsureShape Enter Exit")
def passed_on(op: Operation) -> Value | None:
    """The input as it is."""
    return op.value(0)


@value_rule("IdentityN")
def each_passed_on(op: Operation) -> list[Any]:
    """Each input as it is."""
    return [op.value(number) for number in range(op.inputs)]


@value_rule("Pack")
def packed(op: Operation) -> Value:
    """Along a new axis; of single numbers, those not known are holes."""
    if op.inputs > MOST_VALUES:
        raise Unknown
    values = [op.value(number) for number in range(op.inputs)]
    if None not in [None if one is None else 0 for one in values]:
        return np.stack([one for one in values if one is not None], int(op.attr("axis", 0)))
    if any(op.shape(number) != () for number in range(op.inputs)):
        raise Unknown
    known = [one for one in values if one is not None]
    if not known or any(one.dtype.kind != "i" for one in known):
        raise Unknown
    return np.array([HOLE if one is None else int(one) for one in values], np.int64)


@value_rule("ConcatV2 Concat")
def joined(op: Operation) -> Value:
    """One behind the other; of lists, what is not known is as many holes."""
    last = op.type == "ConcatV2"
    numbers = range(op.inputs - 1) if last else range(1, op.inputs)
    axis = op.number(op.inputs - 1 if last else 0)
    if len(numbers) > MOST_VALUES:
        raise Unknown
    return np.concatenate([_or_holes(op, number) for number in numbers], axis)


def _or_holes(op: Operation, number: int) -> Value:
    value = op.value(number)
    if value is not None:
        return value
    shape = op.known(number)
    if len(shape) != 1 or not 0 <= shape[0] <= MOST_VALUES:
        raise Unknown
    return np.full(shape, HOLE)


@value_rule("Reshape")
def reshaped(op: Operation) -> Value:
    """In another shape."""
    return op.given(0).reshape(op.numbers(1))


@value_rule("Squeeze")
def squeezed(op: Operation) -> Value:
    """Without some dimensions of 1."""
    named = op.attr("squeeze_dims")
    return np.squeeze(op.given(0), tuple(named) if named else None)


@value_rule("ExpandDims")
def expanded(op: Operation) -> Value:
    """With one dimension more."""
    return np.expand_dims(op.given(0), op.number(1))


@value_rule("Transpose")
def transposed(op: Operation) -> Value:
    """With dimensions in another order."""
    return np.transpose(op.given(0), op.numbers(1))


@value_rule("StridedSlice")
def strided(op: Operation) -> Value:
    """The part that is cut out."""
    given = op.given(0)
    index: list[Any] = []
    for cut in cuts(op, given.ndim):
        if not isinstance(cut, Cut):
            index.append(None)
        elif HOLE in cut:
            raise Unknown
        else:
            index.append(cut.begin if cut.shrinks else slice(cut.begin, cut.end, cut.stride))
    return np.asarray(given[tuple(index)])


@value_rule("Slice")
def sliced(op: Operation) -> Value:
    """So many from a beginning on."""
    given = op.given(0)
    index = tuple(
        slice(begin, None if size < 0 else begin + size)
        for begin, size in zip(op.numbers(1), op.numbers(2), strict=True)
    )
    return given[index]


@value_rule("GatherV2 Gather")
def gathered(op: Operation) -> Value:
    """Elements by number."""
    given, places = op.given(0), op.full(1)
    if op.attr("batch_dims", 0):
        raise Unknown
    axis = 0 if op.type == "Gather" else op.number(2)
    return np.take(given, places, axis)


@value_rule("Unpack")
def unpacked(op: Operation) -> list[Any]:
    """Along an axis that vanishes."""
    given = op.given(0)
    axis = axis_of(int(op.attr("axis", 0)), given.ndim)
    return [np.take(given, place, axis) for place in range(given.shape[axis])]


@value_rule("Split")
def split_evenly(op: Operation) -> list[Any]:
    """Parts alike."""
    return list(np.split(op.given(1), int(op.attr("num_split")), op.number(0)))


@value_rule("Fill")
def filled(op: Operation) -> Value:
    """One number everywhere."""
    return np.full(_small(dims_of(op.given(0))), op.given(1))


@value_rule("ZerosLike OnesLike")
def alike(op: Operation) -> Value:
    """Zeros or ones, as whole numbers or floats."""
    shape = _small(op.known(0))
    kind = np.float64 if op.attr("T", 3) in (1, 2, 14, 19) else np.int64
    return np.full(shape, op.type == "OnesLike", kind)


@value_rule("Tile")
def tiled(op: Operation) -> Value:
    """So many times."""
    given, often = op.given(0), op.numbers(1)
    _small(tuple(size * many for size, many in zip(given.shape, often, strict=True)))
    return np.tile(given, often)


@value_rule("BroadcastTo")
def stretched(op: Operation) -> Value:
    """Stretched."""
    return np.broadcast_to(op.given(0), _small(dims_of(op.given(1))))


@value_rule("Range")
def counted(op: Operation) -> Value:
    """From a start to a limit."""
    start, limit, step = (op.full(number).item() for number in range(3))
    if ceil((limit - start) / step) > MOST_VALUES:
        raise Unknown
    return np.arange(start, limit, step)


@value_rule("InvertPermutation")
def inverted(op: Operation) -> Value:
    """Where each number stands."""
    return np.argsort(op.full(0))


@value_rule("DynamicStitch ParallelDynamicStitch")
def stitched(op: Operation) -> Value:
    """Numbers at places; the later of two at one place counts."""
    half = op.inputs // 2
    if half > MOST_VALUES:
        raise Unknown
    places = [op.full(number) for number in range(half)]
    size = 1 + max(int(one.max()) for one in places if one.size)
    result = np.full(_small((size,)), HOLE)
    for number, place in enumerate(places):
        result[place] = op.given(half + number)
    if has_holes(result) and any(one.dtype.kind != "i" for one in places):
        raise Unknown
    return result


def _small(shape: Shape) -> Shape:
    """The shape, if that many elements are worth keeping."""
    if OPEN in shape or prod(shape) > MOST_VALUES:
        raise Unknown
    return shape
