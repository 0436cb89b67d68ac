"""One small message, field by field.

`decode.scan` reads the same field of a million messages at once and takes long to set up; for a
message of a few fields a plain loop is faster.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from tfprof.wire.decode import buffer_view
from tfprof.wire.scalar import (
    BYTES,
    LARGEST_TAG,
    VARINT,
    WIDTH,
    WireError,
    decode_varint,
    signed,
    split_tag,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import U8


class HeadField(NamedTuple):
    """A field near the beginning of a message, and where its value is."""

    number: int
    wire_type: int
    start: int
    end: int


def head(view: memoryview, at: int, stop: int, most: int = 64) -> list[HeadField]:
    """The first fields of one message, at most *most*; *stop* may cut off the last one."""
    walked = islice(_walk(view, at, stop, cut_off=True), most)
    return [HeadField(number, kind, start, end) for number, kind, start, end, _ in walked]


def fields(view: memoryview) -> Iterator[tuple[int, int, Any]]:
    """(field number, wire type, value) of each field; raises WireError.

    The value is a uint64 for VARINT, else the bytes.
    """
    for number, kind, start, end, value in _walk(view, 0, len(view)):
        yield number, kind, value if kind == VARINT else view[start:end]


def _walk(
    view: memoryview, at: int, stop: int, *, cut_off: bool = False
) -> Iterator[tuple[int, int, int, int, int]]:
    """(field number, wire type, start, end, varint) of each field; raises WireError."""
    while at < stop:
        begin = at
        tag, at = decode_varint(view, at, stop)
        number, kind = split_tag(tag)
        value = 0
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
        for number, kind, start, end, value in _walk(view, 0, data.size):
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
