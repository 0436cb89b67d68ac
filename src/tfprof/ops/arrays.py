"""Tensors made, drawn at random, looked up, reshaped, joined, split and repeated.

Rules for shapes, and for the values of small tensors.
"""

from __future__ import annotations

from functools import reduce
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from tfprof.ops.dtypes import DTYPES
from tfprof.ops.shape import (
    HOLE,
    MOST_VALUES,
    OPEN,
    MaybeShape,
    Shape,
    Value,
    axis_of,
    dims_of,
    either,
    elements,
    merged,
    need,
    plus,
    rank_of,
    require,
    split,
    times,
)
from tfprof.ops.shared_rules import all_open, like_input, listed_by
from tfprof.ops.table import shape, value

if TYPE_CHECKING:
    from tfprof.ops.op import Op


@shape("Reshape")
def reshaped(op: Op) -> Shape:
    """The second input; what it leaves open follows from the number of elements."""
    dims, tensor = op.dims(1), op.shape(0)
    rest = prod(dim for dim in dims if dim >= 0)
    if tensor is None or dims.count(OPEN) != 1 or not rest:
        return dims
    missing = split(elements(tensor), rest)
    return tuple(missing if dim == OPEN else dim for dim in dims)


@shape("Squeeze")
def squeezed(op: Op) -> Shape:
    """Without the named dimensions, or without all that are 1."""
    tensor, named = op.known(0), op.attr("squeeze_dims")
    if not named:
        require(OPEN not in tensor)
        return tuple(dim for dim in tensor if dim != 1)
    gone = {axis_of(axis, len(tensor)) for axis in named}
    return tuple(dim for axis, dim in enumerate(tensor) if axis not in gone)


@shape("ExpandDims")
def with_new_axis(op: Op) -> Shape:
    """One dimension more."""
    tensor = op.known(0)
    if op.value(1) is None:
        return (OPEN,) * (len(tensor) + 1)
    axis = axis_of(op.number(1), len(tensor) + 1)
    return (*tensor[:axis], 1, *tensor[axis:])


@shape("Transpose ConjugateTranspose _MklTranspose")
def transposed(op: Op) -> Shape:
    """The dimensions in another order."""
    if not op.is_full(1):
        return all_open(op)
    order = op.numbers(1)
    tensor = op.ranked(0, len(order))
    return tuple(tensor[axis_of(axis, len(tensor))] for axis in order)


@shape("Pack")
def packed(op: Op) -> Shape:
    """Equal shapes, along a new dimension."""
    element = need(reduce(merged, op.shapes(), None))
    axis = axis_of(int(op.attr("axis", 0)), len(element) + 1)
    return (*element[:axis], op.inputs, *element[axis:])


@shape("Unpack")
def unpacked(op: Op) -> list[MaybeShape]:
    """Without one dimension."""
    count = int(op.attr("num", 0))
    tensor = op.shape(0)
    if tensor is None:
        return [None] * count
    axis = axis_of(int(op.attr("axis", 0)), len(tensor))
    return [tensor[:axis] + tensor[axis + 1 :]] * count


def _joined_inputs(op: Op) -> tuple[range, int]:
    """(inputs that are joined, input that names the axis)."""
    last = op.inputs - 1
    return (range(last), last) if op.type == "ConcatV2" else (range(1, last + 1), 0)


@shape("ConcatV2 Concat")
def concatenated(op: Op) -> Shape:
    """The sum of lengths along one dimension."""
    numbers, axis_input = _joined_inputs(op)
    shapes = [op.shape(number) for number in numbers]
    rank = len(need(next((tensor for tensor in shapes if tensor is not None), None)))
    if op.value(axis_input) is None:
        return (OPEN,) * rank
    axis = axis_of(op.number(axis_input), rank)
    length = plus(*(OPEN if tensor is None else tensor[axis] for tensor in shapes))
    others = reduce(merged, shapes, None) or ()
    return (*others[:axis], length, *others[axis + 1 :])


@shape("Split SplitV")
def split_shapes(op: Op) -> list[MaybeShape]:
    """Equal parts, or parts of the sizes that the second input lists; one may be the rest."""
    even, count = op.type == "Split", int(op.attr("num_split"))
    tensor, axis_input = op.shape(1 if even else 0), 0 if even else 2
    if tensor is None:
        return [None] * count
    if op.value(axis_input) is None:
        return [(OPEN,) * len(tensor)] * count
    axis = axis_of(op.number(axis_input), len(tensor))
    sizes = (split(tensor[axis], count),) * count if even else op.dims(1, count)
    if not even and sizes.count(OPEN) == 1 and tensor[axis] >= 0:
        rest = tensor[axis] - sum(size for size in sizes if size >= 0)
        sizes = tuple(rest if size == OPEN else size for size in sizes)
    return [(*tensor[:axis], size, *tensor[axis + 1 :]) for size in sizes]


@shape("Tile")
def tiled(op: Op) -> Shape:
    """Each dimension times a number."""
    if op.value(1) is None:
        return all_open(op)
    often = op.dims(1)
    return tuple(map(times, op.ranked(0, len(often)), often))


shape("ParallelConcat")(lambda op: op.attr("shape"))
shape("EnsureShape")(lambda op: merged(op.shape(0), op.attr("shape")))
shape("ConcatOffset")(lambda op: op.shapes()[1:])
shape("Fill Empty")(listed_by(0))
shape("LinSpace")(lambda op: (op.length(2),))
shape("ReverseV2 Roll TensorStridedSliceUpdate")(like_input(0))
shape("InvertPermutation")(like_input(0, rank=1))
# The second input has a bool per dimension.
shape("Reverse")(lambda op: op.shape(0) or all_open(op))
shape("Diag")(lambda op: op.known(0) * 2)
shape("DiagPart")(lambda op: merged(*_halves(op.known(0))))
shape("MatrixDiag")(lambda op: (*op.known(0), op.known(0)[-1]))
shape("MatrixDiagPart")(lambda op: (*op.known(0)[:-2], min(op.known(0)[-2:])))


def _halves(dims: Shape) -> tuple[Shape, Shape]:
    return dims[: len(dims) // 2], dims[len(dims) // 2 :]


@shape("BroadcastTo")
def broadcast_to(op: Op) -> Shape:
    """The second input; where it is unknown, a dimension that is not 1 keeps its length."""
    dims, tensor = op.dims(1), op.shape(0)
    if tensor is None:
        return dims
    require(len(tensor) <= len(dims))
    wide = (OPEN,) * (len(dims) - len(tensor)) + tuple(dim if dim != 1 else OPEN for dim in tensor)
    return tuple(map(either, dims, wide))


@shape("ReverseSequence")
def reversed_shape(op: Op) -> Shape:
    """The input, of which one dimension has as many elements as the second input has lengths."""
    tensor = op.known(0)
    batch = axis_of(int(op.attr("batch_dim", 0)), len(tensor))
    length = either(tensor[batch], op.ranked(1, 1)[0])
    return (*tensor[:batch], length, *tensor[batch + 1 :])


@shape("Range")
def range_shape(op: Op) -> Shape:
    """As many numbers as there are steps from the start to the limit."""
    if not all(map(op.is_full, range(3))):
        return (OPEN,)
    start, limit, step = (op.full(number).item() for number in range(3))
    return (max(0, ceil((limit - start) / step)),)


@shape("OneHot")
def one_hot(op: Op) -> Shape:
    """A new dimension of the depth that the second input says."""
    tensor = op.known(0)
    axis = axis_of(int(op.attr("axis", -1)), len(tensor) + 1)
    return (*tensor[:axis], op.length(1), *tensor[axis:])


@shape("DynamicStitch ParallelDynamicStitch")
def stitched(op: Op) -> Shape:
    """Rows at the places that the first half of the inputs lists."""
    half = op.inputs // 2
    element: MaybeShape = None
    for places, rows in zip(op.shapes(), op.shapes()[half:], strict=False):
        if places is not None and rows is not None:
            element = merged(element, rows[len(places) :])
    if not all(map(op.is_full, range(half))):
        return (OPEN, *need(element))
    last = (max(op.numbers(number), default=-1) for number in range(half))
    return (max(last, default=-1) + 1, *need(element))


# --- values ---

value("Identity StopGradient PreventGradient Snapshot GuaranteeConst EnsureShape Enter Exit")(
    lambda op: op.value(0)
)
value("IdentityN")(lambda op: op.values())
value("Reshape")(lambda op: op.constant(0).reshape(op.numbers(1)))
value("Squeeze")(
    lambda op: np.squeeze(op.constant(0), tuple(op.attr("squeeze_dims") or ()) or None)
)
value("ExpandDims")(lambda op: np.expand_dims(op.constant(0), op.number(1)))
value("Transpose")(lambda op: np.transpose(op.constant(0), op.numbers(1)))
value("Unpack")(lambda op: [*np.moveaxis(op.constant(0), int(op.attr("axis", 0)), 0)])
value("Split")(lambda op: [*np.split(op.constant(1), int(op.attr("num_split")), op.number(0))])


@value("SplitV")
def split_value(op: Op) -> list[Value]:
    """Parts of the sizes that the second input lists; one may be the rest."""
    numbers, sizes = op.constant(0), op.numbers(1)
    axis = axis_of(op.number(2), numbers.ndim)
    rest = numbers.shape[axis] - sum(size for size in sizes if size >= 0)
    ends = np.cumsum([rest if size < 0 else size for size in sizes])
    return [*np.split(numbers, ends[:-1], axis)]


value("Fill")(lambda op: np.full(_small(dims_of(op.constant(0))), op.constant(1)))
value("BroadcastTo")(lambda op: np.broadcast_to(op.constant(0), _small(dims_of(op.constant(1)))))
value("InvertPermutation")(lambda op: np.argsort(op.full(0)))


@value("Pack")
def packed_value(op: Op) -> Value:
    """Along a new axis; unknown scalars are holes."""
    require(op.inputs <= MOST_VALUES)
    values = op.values()
    known = [number for number in values if number is not None]
    if len(known) == len(values):
        return np.stack(known, int(op.attr("axis", 0)))
    require(known and all(tensor == () for tensor in op.shapes()))
    require(all(number.dtype.kind == "i" for number in known))
    return np.array([HOLE if number is None else int(number) for number in values], np.int64)


@value("ConcatV2 Concat")
def joined_value(op: Op) -> Value:
    """The inputs concatenated; each element of an unknown vector is a hole."""
    numbers, axis_input = _joined_inputs(op)
    require(len(numbers) <= MOST_VALUES)
    return np.concatenate([_or_holes(op, number) for number in numbers], op.number(axis_input))


def _or_holes(op: Op, number: int) -> Value:
    constant = op.value(number)
    if constant is not None:
        return constant
    tensor = op.known(number)
    require(len(tensor) == 1 and 0 <= tensor[0] <= MOST_VALUES)
    return np.full(tensor, HOLE)


@value("ZerosLike OnesLike")
def alike_value(op: Op) -> Value:
    """Zeros or ones, as integers or floats."""
    kind = np.float64 if DTYPES.get(op.dtype, DTYPES[0]).is_float else np.int64
    return np.full(_small(op.known(0)), op.type == "OnesLike", kind)


@value("Tile")
def tiled_value(op: Op) -> Value:
    """Repeated."""
    numbers, often = op.constant(0), op.numbers(1)
    _small(tuple(size * many for size, many in zip(numbers.shape, often, strict=True)))
    return np.tile(numbers, often)


@value("Range")
def range_value(op: Op) -> Value:
    """From a start to a limit."""
    start, limit, step = (op.full(number).item() for number in range(3))
    require(ceil((limit - start) / step) <= MOST_VALUES)
    return np.arange(start, limit, step)


@value("DynamicStitch ParallelDynamicStitch")
def stitched_value(op: Op) -> Value:
    """Numbers at places; the later of two at one place counts."""
    half = op.inputs // 2
    require(half <= MOST_VALUES)
    places = [op.full(number) for number in range(half)]
    numbers = [op.constant(half + number) for number in range(half)]
    size = 1 + max(int(place.max()) for place in places if place.size)
    result = np.full(_small((size,)), HOLE, np.result_type(*numbers))
    is_set = np.zeros(size, np.bool_)
    for place, number in zip(places, numbers, strict=True):
        result[place], is_set[place] = number, True
    require(result.dtype.kind == "i" or is_set.all())
    return result


def _small(dims: Shape) -> Shape:
    """The shape of a small tensor; raises UnknownShape for others."""
    require(OPEN not in dims and prod(dims) <= MOST_VALUES)
    return dims


shape(
    """
    RandomUniform{,Int} RandomStandardNormal TruncatedNormal ParameterizedTruncatedNormal
    StatelessRandomUniform{,Int,FullInt}{,V2} Stateless{RandomNormal,TruncatedNormal}{,V2}
    """
)(listed_by(0))
shape("StatefulUniform{,Int,FullInt} StatefulStandardNormalV2 StatefulTruncatedNormal")(
    listed_by(2)
)
shape("StatelessRandomGetKeyCounter")(lambda _: [(1,), (2,)])  # a counter of 128 bits
shape("{Random,Stateless}Shuffle")(like_input(0))
shape("LookupTableFind{,V2}")(like_input(1))  # a value per key

# A row of samples per input row; the second input is their number.
shape("Multinomial StatelessMultinomial")(lambda op: (op.ranked(0, 2)[0], op.length(1)))
# One row per nonzero element; their number depends on the values, so it is open.
shape("Where")(lambda op: (OPEN, rank_of(op.shape(0))))
# Distinct elements, and which of them each element is.
shape("Unique")(lambda op: [(OPEN,), op.ranked(0, 1)])


@shape("UniqueV2")
def unique(op: Op) -> list[MaybeShape]:
    """Distinct slices along the axis that the second input names; of a vector, elements."""
    tensor = op.shape(0)
    if tensor is None:
        return [None, (OPEN,)]
    if not op.is_full(1):
        return [(OPEN,) * len(tensor), tensor if len(tensor) == 1 else (OPEN,)]
    require(op.numbers(1) or len(tensor) == 1)
    axis = axis_of(op.number(1), len(tensor)) if op.numbers(1) else 0
    return [(*tensor[:axis], OPEN, *tensor[axis + 1 :]), (tensor[axis],)]


# A bool per row.
shape("InTopK InTopKV2")(lambda op: (either(op.ranked(0, 2)[0], op.ranked(1, 1)[0]),))
