"""What an attribute or an input names the shape of, and what always has the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.inference.attr_values import Tensor
from tfprof.inference.shape import OPEN, Unknown, broadcast, elements
from tfprof.inference.shape_values import stretched_axes
from tfprof.inference.table import shape_rule

if TYPE_CHECKING:
    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Maybe, Shape


@shape_rule("Const HostConst _HostConst")
def const(op: Operation) -> Maybe:
    """The shape of the tensor that stands in the graph."""
    tensor = op.attr("value")
    if not isinstance(tensor, Tensor):
        raise Unknown
    return tensor.shape


@shape_rule("Placeholder PlaceholderV2 VariableV2 Variable TemporaryVariable FakeParam")
def named(op: Operation) -> Maybe:
    """What the attribute says."""
    shape: Maybe = op.attr("shape")
    return shape


@shape_rule("PlaceholderWithDefault")
def named_or_default(op: Operation) -> Maybe:
    """What the attribute says; the default need not be what is given."""
    shape: Maybe = op.attr("shape")
    return shape


@shape_rule("Shape VariableShape")
def shape(op: Operation) -> Shape:
    """As many numbers as there are dimensions."""
    told = op.shape(0) if op.type == "Shape" else op.item(0).shape
    return (OPEN if told is None else len(told),)


@shape_rule("ShapeN")
def shapes(op: Operation) -> list[Maybe]:
    """Likewise for each input."""
    told = [op.shape(number) for number in range(op.inputs)]
    return [(OPEN if one is None else len(one),) for one in told]


@shape_rule(
    """
    Size Rank VarHandleOp IsVariableInitialized VarIsInitializedOp TensorListLength
    TensorListReserve EmptyTensorList TensorListFromTensor TensorListSetItem TensorListPushBack
    TensorListResize TensorListScatter TensorListScatterV2 TensorListScatterIntoExistingList
    TensorListSplit TensorListConcatLists TensorArraySizeV3 TensorArrayWriteV3 TensorArrayScatterV3
    TensorArraySplitV3 HashTable HashTableV2 MutableHashTable MutableHashTableV2 LookupTableSize
    LookupTableSizeV2 IteratorV2 OneShotIterator Iterator FIFOQueueV2 RandomShuffleQueueV2
    QueueSizeV2 Timestamp ScalarSummary MergeSummary HistogramSummary
    ImageSummary ShardedFilename AnonymousIteratorV3 StatelessRandomGetAlg
    """
)
def scalar(_: Operation) -> Shape:
    """One number, or one handle."""
    return ()


@shape_rule(
    """
    RandomUniform RandomUniformInt RandomStandardNormal TruncatedNormal StatelessRandomUniform
    StatelessRandomUniformInt StatelessRandomUniformFullInt StatelessRandomNormal
    StatelessTruncatedNormal StatelessRandomUniformV2 StatelessRandomUniformIntV2
    StatelessRandomUniformFullIntV2 StatelessRandomNormalV2 StatelessTruncatedNormalV2
    ParameterizedTruncatedNormal
    """
)
def drawn(op: Operation) -> Shape:
    """The shape is the first input."""
    return op.dims(0)


@shape_rule("StatefulUniform StatefulUniformInt StatefulStandardNormalV2 StatefulTruncatedNormal")
@shape_rule("StatefulUniformFullInt")
def drawn_with_state(op: Operation) -> Shape:
    """The shape is the third input."""
    return op.dims(2)


@shape_rule("StatelessRandomGetKeyCounter")
def key_and_counter(_: Operation) -> list[Maybe]:
    """A key, and a counter of 128 bits."""
    return [(1,), (2,)]


@shape_rule("Multinomial StatelessMultinomial")
def sampled(op: Operation) -> Shape:
    """So many samples a row."""
    return (op.known(0)[0], op.length(1))


@shape_rule("Where")
def where(op: Operation) -> Shape:
    """A row for each element that is not 0: how many there are is in the numbers alone."""
    told = op.shape(0)
    return (OPEN, OPEN if told is None else len(told))


@shape_rule("Unique UniqueV2")
def unique(op: Operation) -> list[Maybe]:
    """Distinct elements, and which of them each one is."""
    return [(OPEN,), op.shape(0)]


@shape_rule("BroadcastGradientArgs")
def summed_axes(op: Operation) -> list[Maybe]:
    """Axes of each operand that a sum goes over."""
    axes = stretched_axes(op)
    return [(OPEN,) if one is None else (len(one),) for one in axes]


@shape_rule("BroadcastArgs")
def stretched_shape(op: Operation) -> Shape:
    """As many numbers as the longer of two shapes has."""
    return (max(elements(op.known(0)), elements(op.known(1))),)


@shape_rule("InTopK InTopKV2")
def in_top(op: Operation) -> Shape:
    """A truth for each row."""
    return broadcast(op.known(0)[:1], op.known(1))


@shape_rule("LookupTableFind LookupTableFindV2")
def looked_up(op: Operation) -> Maybe:
    """A number for each key."""
    return op.shape(1)
