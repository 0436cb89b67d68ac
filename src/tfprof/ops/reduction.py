"""Reductions: to make one number of n takes n - 1 steps; running ones take one step per element.

Max       |input| - |output|
Cumsum    |output|
segments  |data|              the number of segments is not in the shapes: every element counts
scatter   |updates|
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.ops import shared_rules as shared
from tfprof.ops.op import Op, size
from tfprof.ops.shape import (
    HOLE,
    OPEN,
    MaybeShape,
    Shape,
    Value,
    axis_of,
    has_holes,
    require,
    split,
)
from tfprof.ops.table import float_ops, no_shape, shape, value

if TYPE_CHECKING:
    from collections.abc import Callable


# --- float operations ---


@float_ops("Sum ArgMax ArgMin BiasAddGrad", tensorflow=True)
def reduced_of_tensorflow(op: Op) -> int:
    """One per element that vanishes; parity Q44: of an empty tensor it is below 0."""
    return size(op.input(0)) - size(op.output())


# A sum, and a quotient per output element, so both shapes are needed.
float_ops("Mean", tensorflow=True)(lambda op: reduced_of_tensorflow(op) + size(op.output()))
# One per element that vanishes; none where the output has more.
float_ops("Sum ArgMax ArgMin BiasAddGrad All Any Max Min Prod TileGrad MirrorPadGrad")(
    lambda op: max(0, reduced_of_tensorflow(op))
)


@float_ops("L2Loss", tensorflow=True)
def l2_loss_of_tensorflow(op: Op) -> int:
    """A square, a sum and a halving; of an empty tensor it is -1."""
    return 3 * size(op.input(0)) - 1


# n squares, n - 1 sums and a halving.
float_ops("L2Loss")(shared.per_input(0, steps=2))
float_ops("EuclideanNorm")(shared.per_input(0, steps=2))  # squares, sums and roots
float_ops("HistogramFixedWidth")(shared.per_input(0, steps=4))  # difference, product, rounding, sum
float_ops("Cumsum Cumprod")(shared.per_output(1))
# Maximum, difference, magnitude, negative, exponential, logarithm, sum.
float_ops("CumulativeLogsumexp")(shared.per_output(7))
float_ops(
    "Segment{Max,Mean,Min,Prod,Sum} Segment{Max,Min,Prod,Sum}V2 UnsortedSegment{Max,Min,Prod,Sum}",
    "{,Dense}Bincount CollectiveReduce{,V2,V3} CollectiveReduceScatterV2",
    "CrossReplicaSum NcclAllReduce XlaAllReduce XlaReduceScatter",
)(shared.per_input(0))
float_ops("ScatterNd")(shared.per_input(1))  # the updates
float_ops(
    "{,Resource}Scatter{Add,Div,Max,Min,Mul,Sub} {,Resource}ScatterNd{Add,Max,Min,Sub}",
    "TensorScatter{Add,Max,Min,Sub} ScatterNdNonAliasingAdd Inplace{Add,Sub}",
)(shared.per_input(2))  # the updates


# --- shapes ---


@shape("Sum Mean Prod Max Min All Any EuclideanNorm ReduceJoin")
def reduced_shape(op: Op) -> Shape:
    """Without the axes that the second input names, or with 1 in their place."""
    tensor, keep = op.known(0), bool(op.attr("keep_dims"))
    if not op.is_full(1):
        if keep:
            return (OPEN,) * len(tensor)
        (count,) = op.known(1) or (1,)
        require(0 <= count <= len(tensor))
        return (OPEN,) * (len(tensor) - count) if count else tensor
    gone = {axis_of(axis, len(tensor)) for axis in op.numbers(1)}
    if keep:
        return tuple(1 if axis in gone else dim for axis, dim in enumerate(tensor))
    return tuple(dim for axis, dim in enumerate(tensor) if axis not in gone)


@shape("ArgMax ArgMin")
def arg_shape(op: Op) -> Shape:
    """Without one axis."""
    tensor = op.known(0)
    if op.value(1) is None:
        return (OPEN,) * (len(tensor) - 1)
    axis = axis_of(op.number(1), len(tensor))
    return tensor[:axis] + tensor[axis + 1 :]


@shape("TopK TopKV2")
def top(op: Op) -> list[MaybeShape]:
    """The largest elements of each row, and their places."""
    require(op.known(0))
    count = int(op.attr("k")) if op.type == "TopK" else op.length(1)
    return [(*op.known(0)[:-1], count)] * 2


@shape("BiasAddGrad")
def bias_gradient(op: Op) -> Shape:
    """One per channel."""
    first = str(op.attr("data_format", "NHWC")).startswith("NC")
    return ((op.shape(0) or (OPEN, OPEN))[1 if first else -1],)


# As many segments as the last input says; the rest is an element.
shape("UnsortedSegment{Sum,Max,Min,Prod} Segment{Max,Min,Prod,Sum}V2")(
    lambda op: (op.length(2), *op.known(0)[len(op.known(1)) :])
)
shape("Segment{Sum,Mean,Max,Min,Prod}")(shared.rows_of_unknown_number)
shape("CollectiveReduceScatterV2")(shared.rows_of_unknown_number)  # a share of the first dimension
shape("CollectiveReduce{,V2,V3} CrossReplicaSum NcclAllReduce XlaAllReduce")(shared.like_input(0))
shape("Cumsum Cumprod CumulativeLogsumexp")(shared.like_input(0))
shape("Scatter{Add,Div,Max,Min,Mul,Sub} ScatterNd{Add,Max,Min,Sub,NonAliasingAdd}")(
    shared.like_input(0)
)
shape("TensorScatter{Update,Add,Sub,Max,Min} Inplace{Update,Add,Sub}")(shared.like_input(0))
shape("ScatterNd")(shared.listed_by(2))
shape("L2Loss {,Resource}CountUpTo")(shared.scalar)
shape("Bincount")(lambda op: (op.length(1),))
shape("HistogramFixedWidth")(lambda op: (op.length(2),))
# As many bins as the second input says, per row of a matrix.
shape("DenseBincount")(lambda op: (*op.known(0)[:-1], op.length(1)))


@shape("XlaReduceScatter")
def share(op: Op) -> Shape:
    """One dimension divided by the group size, the row length of the second input."""
    tensor, groups = op.known(0), op.known(1)
    axis = axis_of(op.number(2), len(tensor))
    return (*tensor[:axis], split(tensor[axis], groups[1]), *tensor[axis + 1 :])


no_shape("TensorFlow infers none, and no TensorFlow 2 writes it", "TileGrad")

# --- values ---

_REDUCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "Prod": np.prod, "Sum": np.sum, "Max": np.max, "Min": np.min, "All": np.all, "Any": np.any,
}  # fmt: skip


@value(*_REDUCTIONS)
def reduced_value(op: Op) -> Value:
    """Over the axes that the second input names."""
    numbers, axes = op.constant(0), tuple(op.numbers(1))
    keep = bool(op.attr("keep_dims"))
    result = np.asarray(_REDUCTIONS[op.type](numbers, axis=axes, keepdims=keep))
    if not has_holes(numbers):
        return result
    return np.where(np.any(numbers == HOLE, axis=axes, keepdims=keep), HOLE, result)
