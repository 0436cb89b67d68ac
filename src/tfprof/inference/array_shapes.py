"""Tensors reshaped, joined, taken apart and repeated."""

from __future__ import annotations

from functools import reduce
from math import ceil, prod
from typing import TYPE_CHECKING

from tfprof.inference.shape import (
    OPEN,
    Unknown,
    agreed,
    axis_of,
    elements,
    merged,
    plus,
    split,
    times,
)
from tfprof.inference.table import shape_rule
from tfprof.inference.value import HOLE, dims_of, has_holes

if TYPE_CHECKING:
    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Maybe, Shape


@shape_rule("Reshape")
def reshaped(op: Operation) -> Shape:
    """The second input; what it leaves open follows from the number of elements."""
    dims, shape = op.dims(1), op.shape(0)
    rest = prod(dim for dim in dims if dim >= 0)
    if shape is None or dims.count(OPEN) != 1 or not rest:
        return dims
    missing = split(elements(shape), rest)
    return tuple(missing if dim == OPEN else dim for dim in dims)


@shape_rule("Squeeze")
def squeezed(op: Operation) -> Shape:
    """Without the named dimensions, or without all that are 1."""
    shape, named = op.known(0), op.attr("squeeze_dims") or []
    if not named:
        if OPEN in shape:
            raise Unknown
        return tuple(dim for dim in shape if dim != 1)
    gone = {axis_of(axis, len(shape)) for axis in named}
    return tuple(dim for axis, dim in enumerate(shape) if axis not in gone)


@shape_rule("ExpandDims")
def expanded(op: Operation) -> Shape:
    """One dimension more."""
    shape = op.known(0)
    if op.value(1) is None:
        return (OPEN,) * (len(shape) + 1)
    axis = axis_of(op.number(1), len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:])


@shape_rule("Transpose ConjugateTranspose _MklTranspose")
def transposed(op: Operation) -> Shape:
    """The dimensions in another order."""
    shape = op.shape(0)
    if op.value(1) is None:
        return (OPEN,) * len(shape if shape is not None else (0,) * op.known(1)[0])
    order = op.numbers(1)
    if shape is None:
        return (OPEN,) * len(order)
    return tuple(shape[axis_of(axis, len(shape))] for axis in order)


@shape_rule("Pack ParallelConcat")
def packed(op: Operation) -> Shape:
    """Tensors alike, along a new dimension."""
    if op.type == "ParallelConcat":
        shape: Maybe = op.attr("shape")
        if shape is None:
            raise Unknown
        return shape
    element = reduce(merged, (op.shape(number) for number in range(op.inputs)), None)
    if element is None:
        raise Unknown
    axis = axis_of(int(op.attr("axis", 0)), len(element) + 1)
    return (*element[:axis], op.inputs, *element[axis:])


@shape_rule("Unpack")
def unpacked(op: Operation) -> list[Maybe]:
    """Tensors along a dimension that vanishes."""
    count = int(op.attr("num", 0))
    shape = op.shape(0)
    if shape is None:
        return [None] * count
    axis = axis_of(int(op.attr("axis", 0)), len(shape))
    return [shape[:axis] + shape[axis + 1 :]] * count


@shape_rule("ConcatV2 Concat")
def joined(op: Operation) -> Shape:
    """Tensors one behind the other."""
    last = op.type == "ConcatV2"
    numbers = range(op.inputs - 1) if last else range(1, op.inputs)
    shapes = [op.shape(number) for number in numbers]
    known = [shape for shape in shapes if shape is not None]
    if not known:
        raise Unknown
    rank = len(known[0])
    axis_input = op.inputs - 1 if last else 0
    if op.value(axis_input) is None:
        return (OPEN,) * rank
    axis = axis_of(op.number(axis_input), rank)
    length = plus(*(OPEN if shape is None else shape[axis] for shape in shapes))
    others = reduce(merged, shapes, None) or ()
    return (*others[:axis], length, *others[axis + 1 :])


@shape_rule("ConcatOffset")
def offsets(op: Operation) -> list[Maybe]:
    """A list for each of the shapes that are joined."""
    return [op.shape(number) for number in range(1, op.inputs)]


@shape_rule("Split")
def split_evenly(op: Operation) -> list[Maybe]:
    """Parts alike, along the dimension that the first input names."""
    count = int(op.attr("num_split"))
    shape = op.shape(1)
    if shape is None:
        return [None] * count
    if op.value(0) is None:
        return [(OPEN,) * len(shape)] * count
    axis = axis_of(op.number(0), len(shape))
    return [(*shape[:axis], split(shape[axis], count), *shape[axis + 1 :])] * count


@shape_rule("SplitV")
def split_by_sizes(op: Operation) -> list[Maybe]:
    """Parts of the sizes that the second input lists; one of them may be what is left."""
    count = int(op.attr("num_split"))
    shape = op.shape(0)
    if shape is None:
        return [None] * count
    if op.value(2) is None:
        return [(OPEN,) * len(shape)] * count
    axis = axis_of(op.number(2), len(shape))
    sizes = (OPEN,) * count if op.value(1) is None else dims_of(op.given(1))
    if sizes.count(OPEN) == 1 and shape[axis] >= 0:
        rest = shape[axis] - sum(size for size in sizes if size >= 0)
        sizes = tuple(rest if size == OPEN else size for size in sizes)
    return [(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes]


@shape_rule("Tile")
def tiled(op: Operation) -> Shape:
    """Each dimension so many times."""
    shape, multiples = op.shape(0), op.value(1)
    if multiples is None:
        return (OPEN,) * len(shape if shape is not None else (0,) * op.known(1)[0])
    often = dims_of(multiples)
    if shape is None:
        return (OPEN,) * len(often)
    return tuple(times(dim, many) for dim, many in zip(shape, often, strict=True))


@shape_rule("BroadcastTo")
def stretched(op: Operation) -> Shape:
    """The shape is the second input."""
    return op.dims(1)


@shape_rule("Fill Empty ImmutableConst")
def filled(op: Operation) -> Shape:
    """The shape is the first input."""
    return op.dims(0)


@shape_rule("EnsureShape")
def ensured(op: Operation) -> Maybe:
    """What an attribute says of the input."""
    return merged(op.shape(0), op.attr("shape"))


@shape_rule("Range")
def counted(op: Operation) -> Shape:
    """As many numbers as there are steps from the start to the limit."""
    values = [op.value(number) for number in range(3)]
    if any(value is None or has_holes(value) for value in values):
        return (OPEN,)
    start, limit, step = (value.item() for value in values if value is not None)
    return (max(0, ceil((limit - start) / step)),)


@shape_rule("LinSpace")
def spaced(op: Operation) -> Shape:
    """As many numbers as the last input says."""
    return (op.length(2),)


@shape_rule("OneHot")
def one_hot(op: Operation) -> Shape:
    """A new dimension of the depth that the second input says."""
    shape = op.known(0)
    depth = op.length(1)
    axis = int(op.attr("axis", -1))
    axis = len(shape) if axis == -1 else axis_of(axis, len(shape) + 1)
    return (*shape[:axis], depth, *shape[axis:])


@shape_rule("DynamicStitch ParallelDynamicStitch")
def stitched(op: Operation) -> Shape:
    """Rows at the places that the first half of the inputs lists."""
    half = op.inputs // 2
    element = agreed(
        data[len(place) :]
        for place, data in ((op.known(one), op.known(one + half)) for one in range(half))
    )
    values = [op.value(number) for number in range(half)]
    if element is None:
        raise Unknown
    if any(value is None or bool((value == HOLE).any()) for value in values):
        return (OPEN, *element)
    last = max(
        (int(value.max()) for value in values if value is not None and value.size), default=-1
    )
    return (last + 1, *element)


@shape_rule("MatrixDiagPart DiagPart MatrixDiag Diag")
def diagonal(op: Operation) -> Shape:
    """The diagonal of each matrix, or a matrix for each diagonal."""
    shape = op.known(0)
    if op.type == "Diag":
        return shape + shape
    if op.type == "MatrixDiag":
        return (*shape, shape[-1])
    if op.type == "DiagPart":
        return shape[: len(shape) // 2]
    return (*shape[:-2], min(shape[-2:]))
