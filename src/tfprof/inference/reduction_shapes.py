"""Reductions: the dimensions that are summed over vanish, or are kept as 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.inference.shape import OPEN, Unknown, axis_of, broadcast, merged
from tfprof.inference.table import shape_rule

if TYPE_CHECKING:
    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Maybe, Shape


@shape_rule("Sum Mean Prod Max Min All Any EuclideanNorm ReduceJoin")
def reduced(op: Operation) -> Shape:
    """Over the axes that the second input names."""
    shape, axes = op.shape(0), op.value(1)
    keep = bool(op.attr("keep_dims"))
    if axes is None:
        listed = op.shape(1)
        if shape is not None and keep:
            return (OPEN,) * len(shape)
        if shape is None or listed is None or OPEN in listed:
            raise Unknown
        count = listed[0] if listed else 1
        if count > len(shape):
            raise Unknown
        return (OPEN,) * (len(shape) - count) if count else shape
    if shape is None:
        raise Unknown
    gone = {axis_of(axis, len(shape)) for axis in op.numbers(1)}
    if keep:
        return tuple(1 if axis in gone else dim for axis, dim in enumerate(shape))
    return tuple(dim for axis, dim in enumerate(shape) if axis not in gone)


@shape_rule("ArgMax ArgMin")
def where_largest(op: Operation) -> Shape:
    """One axis vanishes."""
    shape = op.known(0)
    if op.value(1) is None:
        return (OPEN,) * (len(shape) - 1)
    axis = axis_of(op.number(1), len(shape))
    return shape[:axis] + shape[axis + 1 :]


@shape_rule("TopK TopKV2")
def top(op: Operation) -> list[Maybe]:
    """The largest elements of each row, and where they stand."""
    shape = op.known(0)
    count = int(op.attr("k")) if op.type == "TopK" else op.length(1)
    if not shape:
        raise Unknown
    return [(*shape[:-1], count), (*shape[:-1], count)]


@shape_rule("UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd")
def segments(op: Operation) -> Shape:
    """As many segments as the last input says; the rest is that of an element."""
    data, ids = op.known(0), op.known(1)
    count = op.length(2)
    return (count, *data[len(ids) :])


@shape_rule("SegmentSum SegmentMean SegmentMax SegmentMin SegmentProd")
def sorted_segments(op: Operation) -> Shape:
    """How many segments there are is in the numbers alone."""
    return (OPEN, *op.known(0)[1:])


@shape_rule("BiasAddGrad")
def bias_gradient(op: Operation) -> Shape:
    """One for each channel."""
    shape = op.shape(0) or (OPEN,) * 2
    first = str(op.attr("data_format", "NHWC")).startswith("NC")
    return (shape[1 if first else -1],)


@shape_rule("ScatterNd")
def scattered(op: Operation) -> Shape:
    """The shape is the last input."""
    return op.dims(2)


@shape_rule("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(op: Operation) -> list[Maybe]:
    """A loss for each row, and the gradient."""
    logits, labels = op.shape(0) or (OPEN, OPEN), op.shape(1)
    rows = merged(logits[:1], labels) or (OPEN,)
    return [rows, (*rows, *logits[1:])]


@shape_rule("SoftmaxCrossEntropyWithLogits")
def cross_entropy(op: Operation) -> list[Maybe]:
    """A loss for each row, and the gradient."""
    first, second = (op.shape(number) or (OPEN, OPEN) for number in (0, 1))
    logits = broadcast(first, second)
    return [logits[:1], logits]


@shape_rule("L2Loss")
def scalar(_: Operation) -> Shape:
    """One number."""
    return ()
