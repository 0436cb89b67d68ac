"""Parts of a tensor: slices with and without strides, and elements gathered by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.ops.shape import HOLE, OPEN, Shape, Value, axis_of, need, require
from tfprof.ops.shared_rules import all_open, listed_by
from tfprof.ops.table import shape, value

if TYPE_CHECKING:
    from tfprof.ops.op import Op

NEW_AXIS: Final = "new axis"


class Cut(NamedTuple):
    """One dimension of a strided slice; None: from the start or to the end; HOLE: unknown."""

    begin: int | None
    end: int | None
    stride: int
    shrinks: bool = False


def cuts(op: Op, rank: int) -> list[Cut | str]:
    """The cut of each dimension of a StridedSlice's input, and new axes between them."""
    known = [op.value(number) for number in (1, 2, 3)]
    sizes = [value.size for value in known if value is not None] or op.known(1)
    count = sizes[0]
    require(count >= 0)
    begin, end, stride = (
        [HOLE] * count if value is None else value.reshape(-1).tolist() for value in known
    )
    names = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    masks = {name: int(op.attr(f"{name}_mask", 0)) for name in names}
    used = sum(not (masks["new_axis"] | masks["ellipsis"]) >> place & 1 for place in range(count))
    result: list[Cut | str] = []
    whole = Cut(None, None, 1)
    seen_ellipsis = False
    for place in range(count):
        if masks["ellipsis"] >> place & 1 and not seen_ellipsis:
            seen_ellipsis = True
            result += [whole] * (rank - used)
        elif masks["new_axis"] >> place & 1:
            result.append(NEW_AXIS)
        else:
            first = None if masks["begin"] >> place & 1 else begin[place]
            last = None if masks["end"] >> place & 1 else end[place]
            shrinks = bool(masks["shrink_axis"] >> place & 1)
            result.append(Cut(first, last, stride[place], shrinks))
    count = sum(cut is not NEW_AXIS for cut in result)
    require(count <= rank)
    return result + [whole] * (rank - count)


@shape("StridedSlice")
def strided(op: Op) -> Shape:
    """Each dimension cut, removed or new."""
    dims = iter(op.known(0))
    lengths = [
        _length(next(dims), cut) if isinstance(cut, Cut) else 1
        for cut in cuts(op, len(op.known(0)))
    ]
    return tuple(length for length in lengths if length is not None)


def _length(length: int, cut: Cut) -> int | None:
    """How many elements a cut leaves of a dimension; None: it removes the dimension."""
    if cut.shrinks:
        return None
    if cut == (None, None, 1, False):
        return length
    if HOLE in cut or cut.stride == 0:
        return OPEN
    if length < 0:  # only an empty cut has a known length
        return 0 if cut.begin is not None and cut.begin == cut.end else OPEN
    return len(range(*slice(cut.begin, cut.end, cut.stride).indices(length)))


shape("StridedSliceGrad")(listed_by(0))


@shape("Slice")
def sliced(op: Op) -> Shape:
    """So many from a start; -1: all that follow."""
    begin, size, tensor = op.value(1), op.value(2), op.shape(0)
    if size is None:
        return all_open(op)
    result = []
    for axis, length in enumerate(size.tolist()):
        first = HOLE if begin is None else int(begin[axis])
        if length == HOLE:
            result.append(OPEN)
        elif length >= 0:
            result.append(length)
        elif tensor is None or first == HOLE or tensor[axis] < 0:
            result.append(tensor[axis] if tensor is not None and first == 0 else OPEN)
        else:
            result.append(tensor[axis] - first)
    return tuple(result)


@shape("GatherV2 Gather")
def gathered(op: Op) -> Shape:
    """The indices in place of one dimension."""
    data, indices = op.known(0), op.known(1)
    batch = int(op.attr("batch_dims", 0))
    batch = batch + len(indices) if batch < 0 else batch
    if op.type == "Gather":
        return (*indices, *data[1:])
    if op.value(2) is None:
        return (OPEN,) * (len(data) - 1 + len(indices) - batch)
    axis = axis_of(op.number(2), len(data))
    return (*data[:axis], *indices[batch:], *data[axis + 1 :])


@shape("ResourceGather")
def gathered_from_variable(op: Op) -> Shape:
    """Rows of a variable."""
    data, indices = need(op.item(0).shape), op.known(1)
    batch = int(op.attr("batch_dims", 0))
    return (*data[:batch], *indices[batch:], *data[batch + 1 :])


@shape("GatherNd ResourceGatherNd")
def gathered_nd(op: Op) -> Shape:
    """The last dimension of the indices is the number of data dimensions that an index covers."""
    data = need(op.shape(0) if op.type == "GatherNd" else op.item(0).shape)
    indices = op.known(1)
    require(indices and indices[-1] >= 0)
    return (*indices[:-1], *data[indices[-1] :])


# --- values ---


@value("StridedSlice")
def strided_value(op: Op) -> Value:
    """The slice."""
    numbers = op.constant(0)
    index: list[Any] = []
    for cut in cuts(op, numbers.ndim):
        if not isinstance(cut, Cut):
            index.append(None)
        else:
            require(HOLE not in cut)
            index.append(cut.begin if cut.shrinks else slice(cut.begin, cut.end, cut.stride))
    return np.asarray(numbers[tuple(index)])


@value("Slice")
def sliced_value(op: Op) -> Value:
    """So many from a start."""
    numbers = op.constant(0)
    pairs = zip(op.numbers(1), op.numbers(2), strict=True)
    return numbers[tuple(slice(at, None if size < 0 else at + size) for at, size in pairs)]


@value("GatherV2 Gather")
def gathered_value(op: Op) -> Value:
    """Elements by number."""
    numbers, indices = op.constant(0), op.full(1)
    require(not op.attr("batch_dims", 0))
    axis = 0 if op.type == "Gather" else op.number(2)
    return np.take(numbers, indices, axis)
