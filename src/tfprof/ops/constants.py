"""Constants, inputs, control flow, and numbers that follow from shapes: Const, Merge, Shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.ops.attributes import Tensor
from tfprof.ops.needed import for_each
from tfprof.ops.shape import (
    HOLE,
    OPEN,
    MaybeShape,
    agreed,
    elements,
    need,
    of_dims,
    rank_of,
    require,
)
from tfprof.ops.shared_rules import scalar
from tfprof.ops.table import shape, value

if TYPE_CHECKING:
    from tfprof.ops.op import GraphOp, Op

# --- constants and inputs ---


def _tensor(op: Op) -> Tensor:
    """The tensor in the graph; its numbers are known if there are few."""
    tensor = op.attr("value")
    return tensor if isinstance(tensor, Tensor) else Tensor(None, None)


shape("Const HostConst _HostConst")(lambda op: _tensor(op).shape)
value("Const HostConst _HostConst")(lambda op: _tensor(op).value)
# The attribute; a run may feed something else than the default.
shape("Placeholder{,V2,WithDefault} Variable{,V2} TemporaryVariable FakeParam ImmutableConst")(
    lambda op: op.attr("shape")
)
shape(
    """
    Size Rank VarHandleOp IsVariableInitialized VarIsInitializedOp EmptyTensorList
    TensorList{Length,Reserve,FromTensor,SetItem,PushBack,Resize}
    TensorListScatter{,V2,IntoExistingList}
    TensorList{Split,ConcatLists} TensorArray{Size,Write,Scatter,Split}V3 {,Mutable}HashTableV2
    LookupTableSize{,V2} IteratorV2 OneShotIterator Iterator FIFOQueueV2 RandomShuffleQueueV2
    QueueSizeV2 Timestamp {Scalar,Merge,Histogram,Image}Summary ShardedFilename AnonymousIteratorV3
    StatelessRandomGetAlg
    """
)(scalar)
shape("{,Mutable}HashTable")(lambda _: (2,))  # the names of a container and of a table


# --- shapes as tensors ---


def _behind(op: Op) -> MaybeShape:
    """The shape that an operation describes: of its input, or of what a handle points to."""
    return op.shape(0) if op.type == "Shape" else op.item(0).shape


# As many numbers as there are dimensions; and these.
shape("Shape VariableShape TensorListElementShape")(lambda op: (rank_of(_behind(op)),))
value("Shape VariableShape TensorListElementShape")(lambda op: of_dims(need(_behind(op))))
# As many numbers as each input has dimensions.
shape("ShapeN")(lambda op: [(rank_of(tensor),) for tensor in op.shapes()])
# The dimensions of each input.
value("ShapeN")(lambda op: [None if tensor is None else of_dims(tensor) for tensor in op.shapes()])

value("Size")(lambda op: of_dims((elements(op.known(0)),)).reshape(()))  # the number of elements
value("Rank")(lambda op: np.array(len(op.known(0))))  # the number of dimensions
value("TensorListLength")(lambda op: np.array(need(op.item(0).length)))

# --- two shapes that broadcast ---

# As many numbers as there are axes to sum over, for each operand.
shape("BroadcastGradientArgs")(
    lambda op: [(OPEN,) if axes is None else (len(axes),) for axes in _broadcast_axes(op)]
)
# The axes of each operand that a gradient sums over.
value("BroadcastGradientArgs")(
    lambda op: [None if axes is None else np.array(axes, np.int64) for axes in _broadcast_axes(op)]
)


def _broadcast_axes(op: Op) -> list[list[int] | None]:
    """The axes of the result along which each of two shapes broadcasts; None: unknown."""
    first, second = op.value(0), op.value(1)
    if first is None or second is None:
        return [None, None]
    pairs = _aligned(first.tolist(), second.tolist())
    if any(HOLE in pair for pair in pairs):
        return [None, None]
    require(all(a == b or 1 in (a, b) for a, b in pairs))
    if np.array_equal(first, second):
        return [[], []]
    # If the shapes differ, an axis where both are 1 counts for both.
    return [[axis for axis, pair in enumerate(pairs) if pair[side] == 1] for side in (0, 1)]


def _aligned(*shapes: list[int]) -> list[tuple[int, ...]]:
    """Pairs of dimensions of two shapes, from the right; a missing one is 1."""
    rank = max(map(len, shapes))
    return list(zip(*([1] * (rank - len(dims)) + dims for dims in shapes), strict=True))


# As many numbers as the longer of two shapes has.
shape("BroadcastArgs")(lambda op: (longest(op.ranked(0, 1)[0], op.ranked(1, 1)[0]),))


def longest(*lengths: int) -> int:
    """The longest of several lengths, open where one of them is."""
    return max(lengths) if min(lengths) >= 0 else OPEN


# The shape that two shapes broadcast to.
value("BroadcastArgs")(
    lambda op: np.array([b if a == 1 else a for a, b in _aligned(*map(op.numbers, (0, 1)))], int)
)
BACK: Final = ("NextIteration", "RefNextIteration")
shape("Switch RefSwitch")(lambda op: [op.shape(0), op.shape(0)])


@shape("Merge RefMerge")
def merge(op: GraphOp) -> list[MaybeShape]:
    """Whichever input arrives, and its number.

    In a loop, what comes back is like what went in: it need not be known first.
    """
    entering = [number for number in range(op.inputs) if op.source_type(number) not in BACK]
    return [agreed(for_each(op.shape, entering or range(op.inputs))), ()]


shape(
    """
    IteratorGetNext{,Sync} DatasetToSingleElement OptionalGetValue ReduceDataset
    {,Stateless}{While,If,Case}
    """
)(lambda op: list(op.attr("output_shapes") or []))
