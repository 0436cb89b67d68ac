"""Handles: what the variables that they lead to hold, and the elements of lists of tensors.

VarHandleOp ─► ReadVariableOp                    the shape is that of the handle's attribute
TensorListReserve ─► SetItem ─► Stack            the shape of an element, and how many there are
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.inference.operation import Item
from tfprof.inference.shape import OPEN, Unknown, merged
from tfprof.inference.table import item_rule, shape_rule, value_rule
from tfprof.inference.value import dims_of

if TYPE_CHECKING:
    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Maybe, Shape


def _element(op: Operation, number: int) -> Maybe:
    """The shape of an element that an input names; -1 stands for any."""
    value = op.value(number) if number < op.inputs else None
    return None if value is None or value.ndim != 1 else dims_of(value)


# --- what handles lead to ---


@item_rule("VarHandleOp _VarHandlesOp")
def variable(op: Operation) -> Item:
    """A variable of this shape."""
    return Item(op.attr("shape"))


@item_rule("Identity StopGradient Enter Exit NextIteration Switch Snapshot TensorListResize")
@item_rule("TensorListScatterIntoExistingList")
def passed_on(op: Operation) -> Item:
    """What the first input leads to."""
    item = op.item(0)
    return Item(item.shape) if op.type == "TensorListResize" else item


@item_rule("IdentityN")
def each_passed_on(op: Operation) -> list[Item]:
    """What each input leads to."""
    return [op.item(number) for number in range(op.inputs)]


@item_rule("TensorListFromTensor")
def from_tensor(op: Operation) -> Item:
    """The rows of a tensor."""
    shape = op.known(0)
    return Item(shape[1:], shape[0] if shape[0] >= 0 else None)


@item_rule("TensorListReserve EmptyTensorList")
def reserved(op: Operation) -> Item:
    """Elements to be set, or none yet."""
    if op.type == "EmptyTensorList":
        return Item(_element(op, 0), 0, is_new=True)
    return Item(_element(op, 0), None if op.value(1) is None else op.number(1))


@item_rule("TensorListSetItem")
def with_item(op: Operation) -> Item:
    """One element set, which tells the shape of all."""
    item = op.item(0)
    return Item(merged(item.shape, op.shape(2)), item.length)


@item_rule("TensorListPushBack")
def with_one_more(op: Operation) -> Item:
    """One element more."""
    item, value = op.item(0), op.value(1)
    same = value is not None and item.value is not None and np.array_equal(value, item.value)
    return Item(
        merged(item.shape, op.shape(1)),
        None if item.length is None else item.length + 1,
        value if item.is_new or same else None,
    )


@item_rule("TensorListPopBack")
def with_one_less(op: Operation) -> Item:
    """One element less; the element is the second output."""
    item = op.item(0)
    return item._replace(length=None if item.length is None else max(0, item.length - 1))


@item_rule("TensorListScatter TensorListScatterV2")
def scattered(op: Operation) -> Item:
    """The rows of a tensor at places."""
    return Item(op.known(0)[1:])


@item_rule("TensorListConcatLists")
def of_both(op: Operation) -> Item:
    """The elements of both lists."""
    return Item(merged(op.item(0).shape, op.item(1).shape))


# --- what is read through them ---


@value_rule("TensorListPopBack")
def popped_value(op: Operation) -> list[Any]:
    """What every element is."""
    return [None, op.item(0).value]


@shape_rule("ReadVariableOp")
def read(op: Operation) -> Maybe:
    """What the variable holds."""
    return op.item(0).shape


@shape_rule("TensorListGetItem")
def item(op: Operation) -> Maybe:
    """One element."""
    return merged(op.item(0).shape, _element(op, 2))


@shape_rule("TensorListPopBack")
def popped(op: Operation) -> list[Maybe]:
    """The list, and its last element."""
    return [(), merged(op.item(0).shape, _element(op, 1))]


@shape_rule("TensorListStack")
def stacked(op: Operation) -> Shape:
    """All elements along a new dimension."""
    item = op.item(0)
    element = merged(item.shape, _element(op, 1))
    declared = int(op.attr("num_elements", -1))
    if element is None:
        raise Unknown
    length = item.length if declared < 0 else declared
    return (OPEN if length is None else length, *element)


@shape_rule("TensorListGather")
def gathered(op: Operation) -> Shape:
    """Elements at places."""
    element = merged(op.item(0).shape, _element(op, 2))
    if element is None:
        raise Unknown
    return (*op.known(1), *element)


@shape_rule("TensorListConcat TensorListConcatV2")
def concatenated(op: Operation) -> list[Maybe]:
    """All elements one behind the other, and how long each is."""
    item = op.item(0)
    element = merged(item.shape, _element(op, 1) if op.type.endswith("V2") else None)
    lengths = (OPEN if item.length is None else item.length,)
    if not element:
        return [None, lengths]
    total = OPEN if item.length is None or element[0] < 0 else item.length * element[0]
    return [(total, *element[1:]), lengths]


@shape_rule("TensorListElementShape")
def element_shape(op: Operation) -> Shape:
    """As many numbers as an element has dimensions."""
    element = op.item(0).shape
    return (OPEN if element is None else len(element),)
