"""FlatBuffers by hand: small .tflite files that no converter writes.

table    {field: value}       value: a Number, a text, bytes, a Vector, a table, a list of tables
file     packed(model(…))
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

FLOAT32, FLOAT16, INT32, UINT8, INT8, INT4 = 0, 1, 2, 3, 9, 17
RELU: Final = 1


class Number(NamedTuple):
    """A number that is stored in its table."""

    code: str
    value: Any


class Vector(NamedTuple):
    """A vector of numbers."""

    code: str
    values: Sequence[Any]


def byte(value: int) -> Number:
    return Number("b", value)


def whole(value: int) -> Number:
    return Number("i", value)


def ints(*values: int) -> Vector:
    return Vector("i", values)


def packed(root: dict[int, Any], *, magic: bytes = b"TFL3") -> bytes:
    """A file with this table; what an object is stored once, however often it is referred to."""
    data = bytearray(4) + magic
    places: dict[int, int] = {}
    waiting: list[tuple[int, Any]] = [(0, root)]
    for place, value in waiting:
        if id(value) not in places:
            data += bytes(-len(data) % 8)
            places[id(value)] = _write(data, value, waiting)
        offset = places[id(value)] - place
        data[place : place + 4] = struct.pack("<i", offset)
    return bytes(data)


def _write(data: bytearray, value: Any, waiting: list[tuple[int, Any]]) -> int:
    """Add a value; where offsets to it lead. What it refers to is added after it."""
    if isinstance(value, dict):
        return _table(data, value, waiting)
    if isinstance(value, str):
        value = value.encode()
    start = len(data)
    if isinstance(value, bytes):
        data += struct.pack("<I", len(value)) + value + b"\0"
    elif isinstance(value, Vector):
        form = f"<{len(value.values)}{value.code}"
        data += struct.pack("<I", len(value.values)) + struct.pack(form, *value.values)
    else:
        data += struct.pack("<I", len(value)) + bytes(4 * len(value))
        waiting += [(start + 4 + 4 * at, each) for at, each in enumerate(value)]
    return start


def _table(data: bytearray, fields: dict[int, Any], waiting: list[tuple[int, Any]]) -> int:
    count = max(fields, default=-1) + 1
    start = len(data) + 4 + 2 * count
    start += -start % 8
    inline, offsets = bytearray(4), [0] * count
    later = []
    for field, value in fields.items():
        is_number = isinstance(value, Number)
        width = struct.calcsize(value.code) if is_number else 4
        inline += bytes(-len(inline) % width)
        offsets[field] = len(inline)
        if is_number:
            inline += struct.pack(f"<{value.code}", value.value)
        else:
            later.append((start + len(inline), value))
            inline += bytes(4)
    vtable = struct.pack(f"<HH{count}H", 4 + 2 * count, len(inline), *offsets)
    data += bytes(start - len(data) - len(vtable)) + vtable
    inline[:4] = struct.pack("<i", len(vtable))
    data += inline
    waiting += later
    return start


# --- the tables of TensorFlow Lite ---


def tensor(name: str, shape: Sequence[int], type_: int = FLOAT32, buffer: int = 0,
           scale: float = 0.0) -> dict[int, Any]:  # fmt: skip
    fields: dict[int, Any] = {0: ints(*shape), 1: byte(type_), 2: Number("I", buffer), 3: name}
    return {**fields, 4: {2: Vector("f", [scale])}} if scale else fields


def operator(code: int, inputs: Sequence[int], outputs: Sequence[int],
             options: dict[int, Any] | None = None) -> dict[int, Any]:  # fmt: skip
    fields = {0: Number("I", code), 1: ints(*inputs), 2: ints(*outputs)}
    return fields if options is None else {**fields, 3: byte(1), 4: options}


def subgraph(tensors: list[Any], inputs: Sequence[int], outputs: Sequence[int],
             operators: list[Any]) -> dict[int, Any]:  # fmt: skip
    return {0: tensors, 1: ints(*inputs), 2: ints(*outputs), 3: operators, 4: "main"}


def code(number: int | str) -> dict[int, Any]:
    """A builtin operator, or a custom one of this name."""
    if isinstance(number, str):
        return {0: byte(32), 1: number, 3: whole(32)}
    return {0: byte(min(number, 127)), 3: whole(number)}


def model(subgraphs: list[Any], codes: Sequence[int | str], buffers: Sequence[Any] = (b"",),
          signatures: dict[str, int] | None = None) -> dict[int, Any]:  # fmt: skip
    """A buffer is its bytes, or its table."""
    tables = [each if isinstance(each, dict) else {0: each} if each else {} for each in buffers]
    named = [{2: name, 4: Number("I", at)} for name, at in (signatures or {}).items()]
    return {
        0: Number("I", 3), 1: [code(each) for each in codes], 2: subgraphs, 4: tables,
        **({7: named} if named else {}),
    }  # fmt: skip
