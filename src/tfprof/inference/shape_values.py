"""Numbers that follow from shapes: Shape, Size, Rank, and what gradients make of two shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.inference.attr_values import Tensor
from tfprof.inference.shape import OPEN, Unknown, elements
from tfprof.inference.table import value_rule
from tfprof.inference.value import HOLE, has_holes, of_dims

if TYPE_CHECKING:
    from tfprof.inference.operation import Operation
    from tfprof.inference.value import Value


@value_rule("Const HostConst _HostConst")
def const(op: Operation) -> Value | None:
    """The numbers that stand in the graph, if they are few."""
    tensor = op.attr("value")
    return tensor.value if isinstance(tensor, Tensor) else None


@value_rule("Shape")
def shape(op: Operation) -> Value:
    """The dimensions."""
    return of_dims(op.known(0))


@value_rule("VariableShape TensorListElementShape")
def shape_behind_handle(op: Operation) -> Value:
    """The dimensions of a variable, or of an element of a list."""
    told = op.item(0).shape
    if told is None:
        raise Unknown
    return of_dims(told)


@value_rule("ShapeN")
def shapes(op: Operation) -> list[Any]:
    """The dimensions of each input."""
    told = [op.shape(number) for number in range(op.inputs)]
    return [None if one is None else of_dims(one) for one in told]


@value_rule("Size")
def size(op: Operation) -> Value:
    """How many elements there are."""
    count = elements(op.known(0))
    return np.array(HOLE if count == OPEN else count)


@value_rule("Rank")
def rank(op: Operation) -> Value:
    """How many dimensions there are."""
    return np.array(len(op.known(0)))


@value_rule("TensorListLength")
def length(op: Operation) -> Value:
    """How many elements a list has."""
    count = op.item(0).length
    if count is None:
        raise Unknown
    return np.array(count)


@value_rule("BroadcastGradientArgs")
def summed_axes(op: Operation) -> list[Any]:
    """The axes of each operand that a gradient sums over."""
    return [None if one is None else np.array(one, np.int64) for one in stretched_axes(op)]


def stretched_axes(op: Operation) -> list[list[int] | None]:
    """The axes of the result along which each of two shapes is stretched; None: not known."""
    first, second = op.value(0), op.value(1)
    if first is None or second is None:
        return [None, None]
    if np.array_equal(first, second) and not has_holes(first):
        return [[], []]
    longest = max(first.size, second.size)
    wide = [[1] * (longest - one.size) + one.tolist() for one in (first, second)]
    axes: list[list[int]] = [[], []]
    for axis, pair in enumerate(zip(*wide, strict=True)):
        if HOLE in pair:
            return [None, None]
        for number in (0, 1):
            if pair[number] == 1:
                axes[number].append(axis)
    # Of shapes that differ, also an axis where both are 1 is among those of both.
    return [axes[0], axes[1]]


@value_rule("BroadcastArgs")
def stretched_shape(op: Operation) -> Value:
    """The shape that two shapes stretch to."""
    first, second = op.full(0), op.full(1)
    longest = max(first.size, second.size)
    wide = [[1] * (longest - one.size) + one.tolist() for one in (first, second)]
    return np.array([b if a == 1 else a for a, b in zip(*wide, strict=True)], np.int64)
