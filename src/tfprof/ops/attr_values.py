"""decode: AttrValue in wire format → Python: numbers, text, shapes, lists, small tensors.

    b, i, f, type    bool, int, float, int          list     a list of these
    s                str                            shape    a tuple; None: unknown rank
    tensor           Tensor: its shape, and its values if there are few

Of a large tensor only the shape is read, never the content.
"""

from __future__ import annotations

import struct
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.ops.dtypes import DTYPES
from tfprof.ops.shape import MaybeShape, sanitized
from tfprof.ops.value import MOST_VALUES, Value
from tfprof.wire.scalar import BYTES, FIXED32, FIXED64, VARINT, decode_varint, fields, signed

if TYPE_CHECKING:
    from collections.abc import Iterator


_LIST, _TEXT, _NUMBER, _FLOAT, _BOOL, _TYPE, _SHAPE, _TENSOR, _, _FUNCTION = range(1, 11)
# Fields of a TensorProto that hold small numbers as they are, and how each is packed.
_INTEGERS: Final = {7: "int", 10: "int", 16: "int", 17: "int", 11: "bool"}
_FLOATS: Final = {5: "<f4", 6: "<f8"}


class Tensor(NamedTuple):
    """A tensor in a graph; without a value where it is large or not numeric."""

    shape: MaybeShape
    value: Value | None


def decode(view: memoryview) -> Any:  # noqa: ANN401 - of any kind
    """What an AttrValue holds; None for a function. Raises WireError."""
    held: Any = None
    for number, wire, value in fields(view):
        if number == _LIST and wire == BYTES:
            held = _list(value)
        elif number <= _FUNCTION:
            held = _item(number, wire, value)
    return held


def _list(view: memoryview) -> list[Any]:
    """The items of an AttrValue.ListValue, of any kind."""
    items: list[Any] = []
    for number, wire, value in fields(view):
        if number in (_NUMBER, _BOOL, _TYPE) and wire == BYTES:
            items.extend(_item(number, VARINT, integer) for integer in _varints(value))
        elif number == _FLOAT and wire == BYTES:
            whole = value[: len(value) // 4 * 4]
            items.extend(number for (number,) in struct.iter_unpack("<f", whole))
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


def shape(view: memoryview) -> MaybeShape:
    """The dimensions of a TensorShapeProto; None: unknown rank."""
    dims: list[int] = []
    for number, wire, value in fields(view):
        if number == 2 and wire == BYTES:  # noqa: PLR2004 - TensorShapeProto.dim
            sizes = [size for field, kind, size in fields(value) if (field, kind) == (1, VARINT)]
            dims.append(signed(sizes[-1]) if sizes else 0)
        elif number == 3 and wire == VARINT and value:  # noqa: PLR2004 - unknown_rank
            return None
    return sanitized(dims)


def tensor(view: memoryview) -> Tensor:
    """A TensorProto."""
    kind, content = 0, None
    of_shape: MaybeShape = ()
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
    dtype = DTYPES.get(kind, DTYPES[0])
    if of_shape is None or -1 in of_shape or prod(of_shape) > MOST_VALUES or not dtype.numpy:
        return Tensor(of_shape, None)
    return Tensor(of_shape, _array(np.dtype(dtype.numpy), of_shape, content, listed))


def _values(number: int, wire: int, value: Any) -> list[Any]:  # noqa: ANN401
    """The values of one of the repeated fields of a TensorProto, packed or not."""
    if number in _INTEGERS:
        numbers = [value] if wire == VARINT else _varints(value) if wire == BYTES else []
        return [signed(integer) for integer in islice(numbers, MOST_VALUES + 1)]
    if number in _FLOATS and wire in (BYTES, FIXED32, FIXED64):
        width = np.dtype(_FLOATS[number]).itemsize
        whole = value[: min(len(value) // width, MOST_VALUES) * width]
        return [*np.frombuffer(whole, _FLOATS[number]).tolist()]
    return []


def _array(
    kind: np.dtype[Any], of_shape: tuple[int, ...], content: memoryview | None, listed: list[Any]
) -> Value | None:
    """The values as int64, float64 or bool; the last one repeats where there are too few."""
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
    """The numbers of a packed field."""
    at = 0
    while at < len(view):
        number, at = decode_varint(view, at, len(view))
        yield number
