"""Parts of a tensor: slices with and without strides, and elements gathered by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.inference.shape import OPEN, Unknown, axis_of
from tfprof.inference.table import shape_rule
from tfprof.inference.value import HOLE

if TYPE_CHECKING:
    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Maybe, Shape

NEW_AXIS: Final = "new axis"


class Cut(NamedTuple):
    """What a strided slice does with one dimension; None: from or to the end; HOLE: not known."""

    begin: int | None
    end: int | None
    stride: int
    shrinks: bool = False


def cuts(op: Operation, rank: int) -> list[Cut | str]:
    """What a StridedSlice does with each dimension of its input, and where new ones stand."""
    begin, end, stride = (_numbers(op, number) for number in (1, 2, 3))
    count = len(begin if begin is not None else end if end is not None else stride or [])
    if begin is None and end is None and stride is None:
        count = op.known(1)[0]
        if count < 0:
            raise Unknown
    masks = {
        name: int(op.attr(f"{name}_mask", 0))
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
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
            result.append(
                Cut(
                    None if masks["begin"] >> place & 1 else _at(begin, place),
                    None if masks["end"] >> place & 1 else _at(end, place),
                    _at(stride, place),
                    bool(masks["shrink_axis"] >> place & 1),
                )
            )
    kept = sum(one is not NEW_AXIS for one in result)
    if kept > rank:
        raise Unknown
    return result + [whole] * (rank - kept)


def _numbers(op: Operation, number: int) -> list[int] | None:
    value = op.value(number)
    if value is None:
        return None
    listed: list[int] = value.reshape(-1).tolist()
    return listed


def _at(numbers: list[int] | None, place: int) -> int:
    return HOLE if numbers is None else numbers[place]


@shape_rule("StridedSlice")
def strided(op: Operation) -> Shape:
    """Each dimension cut, left out or new."""
    shape = op.known(0)
    dims = iter(shape)
    result = []
    for cut in cuts(op, len(shape)):
        if not isinstance(cut, Cut):
            result.append(1)
            continue
        length = next(dims)
        if not cut.shrinks:
            result.append(_length(length, cut))
    return tuple(result)


def _length(length: int, cut: Cut) -> int:
    """How many elements a cut leaves of a dimension."""
    if cut == (None, None, 1, False):
        return length
    if HOLE in cut or cut.stride == 0:
        return OPEN
    if length < 0:
        return _length_of_open(cut)
    return len(range(*slice(cut.begin, cut.end, cut.stride).indices(length)))


def _length_of_open(cut: Cut) -> int:
    """Of a dimension of unknown length, what is surely empty alone is known."""
    if cut.begin is not None and cut.begin == cut.end:
        return 0
    return OPEN


@shape_rule("StridedSliceGrad")
def strided_gradient(op: Operation) -> Shape:
    """The shape of what was sliced is the first input."""
    return op.dims(0)


@shape_rule("Slice")
def sliced(op: Operation) -> Shape:
    """So many from a beginning on; -1 is all that follow."""
    begin, size, shape = op.value(1), op.value(2), op.shape(0)
    if size is None:
        return (OPEN,) * len(shape if shape is not None else (0,) * op.known(1)[0])
    result = []
    for axis, length in enumerate(size.tolist()):
        first = HOLE if begin is None else int(begin[axis])
        if length == HOLE:
            result.append(OPEN)
        elif length >= 0:
            result.append(length)
        elif shape is None or first == HOLE or shape[axis] < 0:
            result.append(shape[axis] if shape is not None and first == 0 else OPEN)
        else:
            result.append(shape[axis] - first)
    return tuple(result)


@shape_rule("GatherV2 Gather")
def gathered(op: Operation) -> Shape:
    """The places in place of one dimension."""
    data, places = op.known(0), op.known(1)
    batch = int(op.attr("batch_dims", 0))
    batch = batch + len(places) if batch < 0 else batch
    if op.type == "Gather":
        return (*places, *data[1:])
    if op.value(2) is None:
        return (OPEN,) * (len(data) - 1 + len(places) - batch)
    axis = axis_of(op.number(2), len(data))
    return (*data[:axis], *places[batch:], *data[axis + 1 :])


@shape_rule("ResourceGather")
def gathered_from_variable(op: Operation) -> Shape:
    """Rows of a variable."""
    data, places = op.item(0).shape, op.known(1)
    if data is None:
        raise Unknown
    batch = int(op.attr("batch_dims", 0))
    return (*data[:batch], *places[batch:], *data[batch + 1 :])


@shape_rule("GatherNd ResourceGatherNd")
def gathered_by_places(op: Operation) -> Shape:
    """The last dimension of the places says how many dimensions they count in."""
    data: Maybe = op.shape(0) if op.type == "GatherNd" else op.item(0).shape
    places = op.known(1)
    if data is None or not places or places[-1] < 0:
        raise Unknown
    return (*places[:-1], *data[places[-1] :])
