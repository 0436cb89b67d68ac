"""One small message, opened: its numbers and its parts, by field number.

`wire.scan` reads the same field of a million messages at once, and takes its time to set out; for
a message of a few fields a plain walk is over sooner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.wire.decode import BYTES, FIXED32, FIXED64, VARINT, WireError, buffer_view
from tfprof.wire.varints import varint

if TYPE_CHECKING:
    from tfprof.columns.strings import U8

_WIDTH = {FIXED32: 4, FIXED64: 8}
_SIGN = 1 << 63


class Message:
    """The fields of the message *data*; raises WireError where it is none."""

    def __init__(self, data: U8) -> None:
        self._data = data
        self._numbers: dict[int, int] = {}
        self._parts: dict[int, list[tuple[int, int]]] = {}
        view, at, stop = buffer_view(data), 0, data.size
        while at < stop:
            begin = at
            tag, at = varint(view, at, stop)
            field, kind = tag >> 3, tag & 7
            if kind == VARINT:
                self._numbers[field], at = varint(view, at, stop)
                continue
            start = at
            if kind == BYTES:
                length, start = varint(view, at, stop)
                at = start + length
                self._parts.setdefault(field, []).append((start, at))
            elif kind in _WIDTH:
                at = start + _WIDTH[kind]
                self._numbers[field] = int.from_bytes(view[start:at], "little")
            else:
                raise WireError(begin, f"wire type {kind}, which no file here uses")
            if at > stop or not field:
                raise WireError(begin, "a field that has no number or is cut off")

    def number(self, field: int, absent: int = 0) -> int:
        """The value of a field that is a number, without a sign; the last one given counts."""
        return self._numbers.get(field, absent)

    def signed(self, field: int, absent: int = 0) -> int:
        """The value of a field that is a number, from -2^63 up."""
        number = self.number(field, absent)
        return number - 2 * _SIGN if number >= _SIGN else number

    def parts(self, field: int) -> list[U8]:
        """The values of a field that is bytes, in order."""
        return [self._data[start:end] for start, end in self._parts.get(field, ())]

    def part(self, field: int) -> U8:
        """The last value of a field that is bytes; empty where it is not there."""
        return [self._data[:0], *self.parts(field)][-1]
