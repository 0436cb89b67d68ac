"""AttrValue in wire format → Python: numbers, texts, shapes, lists, and small tensors.

    b, i, f, type    bool, int, float, int          list     a list of these
    s                str                            shape    tuple of dimensions, or None
    tensor           Tensor: its shape, and its values if they are few

Of a large tensor the shape alone is read, and its content is not touched.
"""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.inference.shape import sound
from tfprof.inference.value import MOST_VALUES, Value
from tfprof.wire.message import fields
from tfprof.wire.scalar import BYTES, FIXED32, FIXED64, VARINT, decode_varint, signed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.inference.shape import Maybe

_LIST, _TEXT, _NUMBER, _FLOAT, _BOOL, _TYPE, _SHAPE, _TENSOR = range(1, 9)
# Fields of a TensorProto that hold small numbers as they are, and how each is packed.
_INTEGERS: Final = {7: "int", 10: "int", 16: "int", 17: "int", 11: "bool"}
_FLOATS: Final = {5: "<f4", 6: "<f8"}
# Content of these types: DT_FLOAT DOUBLE INT32 UINT8 INT16 INT8 INT64 BOOL UINT16 UINT32 UINT64.
_CONTENT: Final = {
    1: "<f4", 2: "<f8", 3: "<i4", 4: "<u1", 5: "<i2", 6: "<i1", 9: "<i8", 10: "?",
    17: "<u2", 22: "<u4", 23: "<u8",
}  # fmt: skip


class Tensor(NamedTuple):
    """A tensor that stands in a graph; without a value where it is large or no number."""

    shape: Maybe
    value: Value | None


def attribute(view: memoryview) -> Any:  # noqa: ANN401 - as its operation has it
    """What an AttrValue holds, None for what is of no use here; raises WireError."""
    held: Any = None
    for number, wire, value in fields(view):
        if number == _LIST and wire == BYTES:
            held = _listed(value)
        elif number <= _TENSOR:
            held = _item(number, wire, value)
    return held


def _listed(view: memoryview) -> list[Any]:
    """The items of an AttrValue.ListValue, of whichever kind."""
    items: list[Any] = []
    for number, wire, value in fields(view):
        if number in (_NUMBER, _BOOL, _TYPE) and wire == BYTES:
            items.extend(_item(number, VARINT, one) for one in _varints(value))
        elif number == _FLOAT and wire == BYTES:
            items.extend(one for (one,) in struct.iter_unpack("<f", value[: len(value) // 4 * 4]))
        else:
            items.append(_item(number, wire, value))
    return items


def _item(number: int, wire: int, value: Any) -> Any:  # noqa: ANN401 - of any kind
    if wire == VARINT:
        return bool(value) if number == _BOOL else signed(value)
    if wire == FIXED32:
        return struct.unpack("<f", value)[0]
    if number == _TEXT:
        return bytes(value).decode("utf-8", "surrogateescape")
    if number == _SHAPE:
        return shape(value)
    return tensor(value) if number == _TENSOR else None


def shape(view: memoryview) -> Maybe:
    """The dimensions of a TensorShapeProto; None where even their number is open."""
    dims: list[int] = []
    for number, wire, value in fields(view):
        if number == 2 and wire == BYTES:  # noqa: PLR2004 - TensorShapeProto.dim
            sizes = [size for field, kind, size in fields(value) if (field, kind) == (1, VARINT)]
            dims.append(signed(sizes[-1]) if sizes else 0)
        elif number == 3 and wire == VARINT and value:  # noqa: PLR2004 - unknown_rank
            return None
    return sound(dims)


def tensor(view: memoryview) -> Tensor:
    """What a TensorProto tells."""
    kind, content = 0, None
    of_shape: Maybe = ()
    listed: list[Any] = []
    for number, wire, value in fields(view):
        if number == 1 and wire == VARINT:
            kind = value
        elif number == 2 and wire == BYTES:  # noqa: PLR2004 - tensor_shape
            of_shape = shape(value)
        elif number == 4 and wire == BYTES:  # noqa: PLR2004 - tensor_content
            content = value
        elif len(listed) <= MOST_VALUES:
            listed.extend(_values(number, wire, value))
    if of_shape is None or -1 in of_shape or prod(of_shape) > MOST_VALUES or kind not in _CONTENT:
        return Tensor(of_shape, None)
    return Tensor(of_shape, _array(np.dtype(_CONTENT[kind]), of_shape, content, listed))


def _values(number: int, wire: int, value: Any) -> list[Any]:  # noqa: ANN401
    """The values of one of the repeated fields of a TensorProto, packed or not."""
    if number in _INTEGERS:
        numbers = [value] if wire == VARINT else _varints(value) if wire == BYTES else []
        return [signed(one) for one in numbers]
    if number in _FLOATS and wire in (BYTES, FIXED32, FIXED64):
        width = np.dtype(_FLOATS[number]).itemsize
        whole = value[: min(len(value) // width, MOST_VALUES) * width]
        few: list[Any] = np.frombuffer(whole, _FLOATS[number]).tolist()
        return few
    return []


def _array(
    kind: np.dtype[Any], of_shape: tuple[int, ...], content: memoryview | None, listed: list[Any]
) -> Value | None:
    """The values as an array of 64-bit numbers or truths; fewer than there are end in the last."""
    size = prod(of_shape)
    wide = {"f": np.float64, "b": np.bool_}.get(kind.kind, np.int64)
    if content is not None and len(content):
        if len(content) != size * kind.itemsize:
            return None
        values = np.frombuffer(content, kind)
    elif len(listed) <= size:
        filler = listed[-1] if listed else 0
        values = np.array([*listed, *[filler] * (size - len(listed))], wide)
    else:
        return None
    array: Value = values.astype(wide).reshape(of_shape)
    return array


def _varints(view: memoryview) -> Iterator[int]:
    """The numbers of a packed field, no more of them than are of use."""
    at, count = 0, 0
    while at < len(view) and count <= MOST_VALUES:
        number, at = decode_varint(view, at, len(view))
        count += 1
        yield number
