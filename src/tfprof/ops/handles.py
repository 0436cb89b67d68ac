"""Resource and TensorList handles: the shapes and dtypes of what they point to.

VarHandleOp ─► ReadVariableOp                    the shape is that of the handle's attribute
TensorListReserve ─► SetItem ─► Stack            the shape of an element, and how many there are
TensorArrayV3 ─► WriteV3 ─► GatherV3             the same in TensorFlow 1; the flow carries it
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from tfprof.ops.constants import BACK
from tfprof.ops.op import Item, Op
from tfprof.ops.shape import OPEN, MaybeShape, Shape, agreed, dims_of, merged, need
from tfprof.ops.table import item, shape, value

if TYPE_CHECKING:
    from tfprof.ops.op import GraphOp


def _element(op: Op, number: int) -> MaybeShape:
    """The shape of an element that an input lists; -1 stands for any."""
    if number >= op.inputs:
        return None
    dims, count = op.value(number), op.shape(number)
    if dims is None and count is not None and len(count) == 1 and count[0] >= 0:
        return op.dims(number)
    return None if dims is None or dims.ndim != 1 else dims_of(dims)


def _length(op: Op, number: int) -> int | None:
    length = op.length(number)
    return None if length < 0 else length


# --- what handles point to ---

item("VarHandleOp _VarHandlesOp")(lambda op: Item(op.attr("shape")))
item("Identity StopGradient Enter Exit NextIteration Switch Snapshot")(lambda op: op.item(0))
item("TensorListScatterIntoExistingList")(lambda op: op.item(0))
item("TensorListResize")(lambda op: Item(op.item(0).shape, _length(op, 1)))
item("IdentityN")(lambda op: [op.item(number) for number in range(op.inputs)])
item("TensorListScatter{,V2}")(lambda op: Item(op.known(0)[1:]))
item("TensorListConcatLists")(lambda op: Item(merged(op.item(0).shape, op.item(1).shape)))
item("EmptyTensorList")(lambda op: Item(_element(op, 0), 0, is_new=True))


@item("TensorListFromTensor")
def from_tensor(op: Op) -> Item:
    """The rows of a tensor."""
    tensor, element = op.shape(0), _element(op, 1)
    if not tensor:
        return Item(element)
    return Item(merged(tensor[1:], element), tensor[0] if tensor[0] >= 0 else None)


# Elements to be set.
item("TensorListReserve")(lambda op: Item(_element(op, 0), _length(op, 1)))


@item("TensorListSetItem")
def with_item(op: GraphOp) -> Item:
    """One element set; all have its shape. A list that may grow reaches at least that far."""
    source = op.item(0)
    result = source._replace(shape=merged(source.shape, op.shape(2)), value=None, is_new=False)
    if not op.attr("resize_if_index_out_of_bounds"):
        return result
    index = _length(op, 1)
    if index is not None and source.length is not None:
        return result._replace(length=max(source.length, index + 1))
    is_first = source.set_at is None and not source.added
    since, set_at = (source.since, op.sources[1]) if is_first else (None, None)
    return result._replace(length=None, since=since, set_at=set_at)


@item("TensorListPushBack")
def with_one_more(op: Op) -> Item:
    """One more element."""
    source, added = op.item(0), op.value(1)
    same = added is not None and source.value is not None and np.array_equal(added, source.value)
    element, constant = merged(source.shape, op.shape(1)), added if source.is_new or same else None
    return _longer(source, 1)._replace(shape=element, value=constant, is_new=False)


# One element less; the element is the second output.
item("TensorListPopBack")(lambda op: _longer(op.item(0), -1))


@item("TensorArrayV3")
def array(op: Op) -> list[Item]:
    """A handle and a flow; both stand for the array."""
    length = None if op.attr("dynamic_size") else _length(op, 0)
    return [Item(op.attr("element_shape"), length)] * 2


@item("TensorArray{Write,Scatter}V3")
def with_elements(op: Op) -> Item:
    """Elements set: one, or a row per index; all are alike."""
    handle, flow, tensor = op.item(0), op.item(3), op.shape(2)
    if op.type == "TensorArrayScatterV3":
        tensor = None if not tensor else tensor[1:]
    return flow._replace(shape=merged(merged(flow.shape, handle.shape), tensor))


@item("Merge RefMerge")
def merged_item(op: GraphOp) -> list[Item]:
    """What enters a loop; what comes back completes the shape."""
    back = [number for number in range(op.inputs) if op.source_type(number) in BACK]
    entering = [op.item(at) for at in range(op.inputs) if op.source_type(at) not in BACK]
    lengths = {source.length for source in entering}
    element = agreed(source.shape for source in entering)
    element = reduce(merged, (op.item(number).shape for number in back), element)
    return [Item(element, lengths.pop() if len(lengths) == 1 else None), Item()]


def _longer(source: Item, more: int) -> Item:
    length = None if source.length is None else max(0, source.length + more)
    since = None if source.set_at else source.since
    return source._replace(length=length, since=since, added=source.added + more, set_at=None)


# --- what is read through them ---

value("TensorListPopBack")(lambda op: [None, op.item(0).value])
shape("ReadVariableOp")(lambda op: op.item(0).shape)
shape("TensorListGetItem")(lambda op: merged(op.item(0).shape, _element(op, 2)))
shape("TensorListGather")(
    lambda op: (*op.known(1), *need(merged(op.item(0).shape, _element(op, 2))))
)
shape("TensorListPopBack")(lambda op: [(), merged(op.item(0).shape, _element(op, 1))])
# Of a handle, a number and a flow.
shape("TensorArrayReadV3")(lambda op: merged(op.item(2).shape, op.item(0).shape))


@shape("TensorArrayGatherV3")
def gathered(op: Op) -> Shape:
    """An element per index."""
    element = merged(op.attr("element_shape"), merged(op.item(2).shape, op.item(0).shape))
    return (*op.known(1), *need(element))


value("TensorArraySizeV3")(lambda op: np.array(need(op.item(1).length)))


@shape("TensorListStack")
def stacked(op: Op) -> Shape:
    """All elements, along a new dimension."""
    source = op.item(0)
    element = need(merged(source.shape, _element(op, 1)))
    declared = int(op.attr("num_elements", -1))
    length = source.length if declared < 0 else declared
    return (OPEN if length is None else length, *element)


@shape("TensorListConcat TensorListConcatV2")
def concatenated(op: Op) -> list[MaybeShape]:
    """All elements joined, and the length of each."""
    source = op.item(0)
    listed = _element(op, 1) if op.type.endswith("V2") else op.attr("element_shape")
    element = merged(source.shape, listed)
    lengths = (OPEN if source.length is None else source.length,)
    if not element:
        return [None, lengths]
    # Elements that were never set may have other lengths, which the last input lists.
    is_even = op.inputs < 3 or op.shape(2) == (0,)  # noqa: PLR2004 - leading_dims
    rows = element[0] if is_even and source.length is not None else OPEN
    total = OPEN if rows < 0 else rows * (source.length or 0)
    return [(total, *element[1:]), lengths]
