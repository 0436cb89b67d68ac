"""One small message, opened: its numbers and its parts, by field number.

For the thousands of messages of a graph there is `wire.scan`; this is its use on a single one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.read.wire import scan, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.strings import U8

_FIXED32 = 4


class Message:
    """The *wanted* fields {number: wire type} of the message *data*; raises WireError."""

    def __init__(self, data: U8, wanted: Mapping[int, int]) -> None:
        self._data = data
        self._fields = scan(data, *whole(data), wanted)

    def has(self, field: int) -> bool:
        """Whether the field is there."""
        return bool(self._fields[field].start.size)

    def number(self, field: int) -> int:
        """The value of a VARINT field; of several the last counts, without any it is 0."""
        return int(self._fields[field].last(1)[0])

    def fixed32(self, field: int) -> int:
        """The value of a FIXED32 field, as a number without a sign; 0 where it is not there."""
        start = self._fields[field].start
        if not start.size:
            return 0
        last = int(start[-1])
        return int.from_bytes(self._data[last : last + _FIXED32].tobytes(), "little")

    def parts(self, field: int) -> list[U8]:
        """The values of a BYTES field, in order."""
        found = self._fields[field]
        ends = zip(found.start.tolist(), found.end.tolist(), strict=True)
        return [self._data[start:end] for start, end in ends]

    def part(self, field: int) -> U8:
        """The last value of a BYTES field; empty where it is not there."""
        return [self._data[:0], *self.parts(field)][-1]
