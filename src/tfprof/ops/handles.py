"""Resource and TensorList handles: the shapes and dtypes of what they point to.

VarHandleOp ─► ReadVariableOp                    the shape is that of the handle's attribute
TensorListReserve ─► SetItem ─► Stack            the shape of an element, and how many there are
"""

from __future__ import annotations

import numpy as np

from tfprof.ops.op import Item, Op
from tfprof.ops.shape import OPEN, MaybeShape, Shape, merged, need
from tfprof.ops.table import item, shape, value
from tfprof.ops.value import dims_of


def _element(op: Op, number: int) -> MaybeShape:
    """The shape of an element that an input lists; -1 stands for any."""
    if number >= op.inputs:
        return None
    dims, count = op.value(number), op.shape(number)
    if dims is None and count is not None and len(count) == 1 and count[0] >= 0:
        return op.dims(number)
    return None if dims is None or dims.ndim != 1 else dims_of(dims)


# --- what handles point to ---


item("VarHandleOp _VarHandlesOp")(lambda op: Item(op.attr("shape")))
item("Identity StopGradient Enter Exit NextIteration Switch Snapshot")(lambda op: op.item(0))
item("TensorListScatterIntoExistingList")(lambda op: op.item(0))
item("TensorListResize")(lambda op: Item(op.item(0).shape))
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
item("TensorListReserve")(
    lambda op: Item(_element(op, 0), None if op.value(1) is None else op.number(1))
)


@item("TensorListSetItem")
def with_item(op: Op) -> Item:
    """One element set; all have its shape."""
    source = op.item(0)
    return Item(merged(source.shape, op.shape(2)), source.length)


@item("TensorListPushBack")
def with_one_more(op: Op) -> Item:
    """One more element."""
    source, added = op.item(0), op.value(1)
    same = added is not None and source.value is not None and np.array_equal(added, source.value)
    return Item(
        merged(source.shape, op.shape(1)),
        None if source.length is None else source.length + 1,
        added if source.is_new or same else None,
    )


@item("TensorListPopBack")
def with_one_less(op: Op) -> Item:
    """One element less; the element is the second output."""
    source = op.item(0)
    return source._replace(length=None if source.length is None else max(0, source.length - 1))


# --- what is read through them ---


value("TensorListPopBack")(lambda op: [None, op.item(0).value])
shape("ReadVariableOp")(lambda op: op.item(0).shape)
shape("TensorListGetItem")(lambda op: merged(op.item(0).shape, _element(op, 2)))
shape("TensorListGather")(
    lambda op: (*op.known(1), *need(merged(op.item(0).shape, _element(op, 2))))
)
shape("TensorListPopBack")(lambda op: [(), merged(op.item(0).shape, _element(op, 1))])


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
