"""One number or one small message in wire format, decoded and encoded.

    300  =  0b10_0101100   ⇄   AC 02      a varint: seven bits per byte, lowest first;
                                          all bytes but the last have their highest bit set

A field begins with a tag, the varint of its number and wire type. No other module decodes or
encodes single varints; `varint_columns` handles many at once. `decode.scan` reads the same field
of a million messages at once and takes long to set up; for a message of a few fields the plain
loop here is faster.
"""

from __future__ import annotations

import struct
from itertools import islice
from typing import TYPE_CHECKING, Any

from tfprof.foundation.named_tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import U8

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
WIDTH = {FIXED64: 8, FIXED32: 4}
MOST_BYTES = 10
ONE_BYTE = 127
LARGEST_TAG = 0xFFFFFFFF
_UINT64 = (1 << 64) - 1
_SMALL = [bytes([number]) for number in range(ONE_BYTE + 1)]
TRUNCATED = "truncated varint"
TOO_LONG = "varint of more than 10 bytes"


def buffer_view(buffer: U8) -> memoryview:
    """*buffer* as a memoryview, which is faster to read byte by byte than an array."""
    return memoryview(buffer)  # type: ignore[arg-type]  # typeshed does not know arrays as buffers


class WireError(ValueError):
    """The bytes are not a protobuf message: what is wrong, and at which byte."""

    def __init__(self, offset: int, problem: str) -> None:
        super().__init__(f"{problem} at byte {offset}")
        self.offset = offset


def decode_varint(view: memoryview, at: int, stop: int) -> tuple[int, int]:
    """(the uint64 at *at*, the position after it); raises WireError."""
    if at < stop and view[at] <= ONE_BYTE:
        return view[at], at + 1
    value = shift = 0
    for position in range(at, min(stop, at + MOST_BYTES)):
        byte = view[position]
        value |= (byte & ONE_BYTE) << shift
        if byte <= ONE_BYTE:
            return value & _UINT64, position + 1
        shift += 7
    raise WireError(at, TOO_LONG if stop - at >= MOST_BYTES else TRUNCATED)


def signed(number: int) -> int:
    """A uint64 as the int64 with the same bits."""
    return number - (1 << 64) if number >= 1 << 63 else number


def encode_varint(number: int) -> bytes:
    """The varint of a uint64 or int64."""
    if 0 <= number <= ONE_BYTE:
        return _SMALL[number]
    groups = bytearray()
    number &= _UINT64
    while number > ONE_BYTE:
        groups.append(number & ONE_BYTE | ONE_BYTE + 1)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def encode_tag(number: int, wire_type: int) -> bytes:
    """The tag of field *number*."""
    return encode_varint(number << 3 | wire_type)


def encode_bytes(number: int, value: bytes) -> bytes:
    """The field *number* with a string, bytes or an encoded message as its value."""
    return encode_tag(number, BYTES) + encode_varint(len(value)) + value


def encode_float(number: float) -> bytes:
    """The FIXED32 value of a float; raises OverflowError."""
    return struct.pack("<f", number)


def encode_double(number: float) -> bytes:
    """The FIXED64 value of a double."""
    return struct.pack("<d", number)


class HeadField(NamedTuple):
    """A field near the beginning of a message, and where its value is."""

    number: int
    wire_type: int
    start: int
    end: int


def head(view: memoryview, at: int, stop: int, most: int = 64) -> list[HeadField]:
    """The first fields of one message, at most *most*; *stop* may cut off the last one."""
    walked = islice(walk(view, at, stop, cut_off=True), most)
    return [HeadField(number, kind, start, end) for number, kind, start, end, _ in walked]


def fields(view: memoryview) -> Iterator[tuple[int, int, Any]]:
    """(field number, wire type, value: a uint64 or bytes) of each field; raises WireError."""
    for number, kind, start, end, value in walk(view, 0, len(view)):
        yield number, kind, value if kind == VARINT else view[start:end]


def walk(
    view: memoryview, at: int, stop: int, *, cut_off: bool = False
) -> Iterator[tuple[int, int, int, int, int]]:
    """(field number, wire type, start, end, varint) of each field; raises WireError."""
    while at < stop:
        begin = at
        tag, at = decode_varint(view, at, stop)
        number, kind, value = tag >> 3, tag & 7, 0
        if kind in (VARINT, BYTES):
            value, at = decode_varint(view, at, stop)
        elif kind not in WIDTH:
            raise WireError(begin, f"unsupported wire type {kind}")
        end = at + (value if kind == BYTES else WIDTH.get(kind, 0))
        if not number or tag > LARGEST_TAG or end >> 63:
            raise WireError(begin, "invalid field number or length")
        if end > stop:
            if not cut_off:
                raise WireError(begin, "field longer than its message")
            end = stop
        yield number, kind, at, end, value
        at = end


class Message:
    """The fields of the message *data*, by number; raises WireError."""

    def __init__(self, data: U8) -> None:
        self._data = data
        self._numbers: dict[int, int] = {}
        self._parts: dict[int, list[tuple[int, int]]] = {}
        view = buffer_view(data)
        for number, kind, start, end, value in walk(view, 0, data.size):
            if kind == BYTES:
                self._parts.setdefault(number, []).append((start, end))
            elif kind == VARINT:
                self._numbers[number] = value
            else:
                self._numbers[number] = int.from_bytes(view[start:end], "little")

    def number(self, field: int, default: int = 0) -> int:
        """The last value of a numeric field, unsigned."""
        return self._numbers.get(field, default)

    def signed(self, field: int, default: int = 0) -> int:
        """The last value of a numeric field, as an int64."""
        return signed(self.number(field, default))

    def parts(self, field: int) -> list[U8]:
        """The values of a bytes field, in order."""
        return [self._data[start:end] for start, end in self._parts.get(field, ())]

    def part(self, field: int) -> U8:
        """The last value of a bytes field; empty if it is absent."""
        return [self._data[:0], *self.parts(field)][-1]
