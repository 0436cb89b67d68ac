"""FlatBuffers: tables, vectors and texts in the bytes of a file.

    table    offset back to its vtable, then its fields
    vtable   its size, the size of the table, the place of field 0, 1, 2 … in it; 0: not set
    field    a number, or the offset to a table, a text or a vector

Every place is checked against the end of the file. Any number of offsets may lead to one place, so
each visit is charged for what it reads: all of them together may not exceed a multiple of the file.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.wire.scalar import buffer_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, U8

INT8, BOOL, UINT16, INT32 = map(Struct, ("b", "?", "<H", "<i"))
UINT32, FLOAT, UINT64 = map(Struct, ("<I", "<f", "<Q"))
_PER_VISIT: Final = 16
_LEAST, _TIMES = 1 << 16, 2
_FIRST_FIELD: Final = 4


class FlatBufferError(ValueError):
    """The bytes are no FlatBuffer: what is wrong, and at which byte."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(f"{problem} at byte {at}")


class Buffer:
    """The bytes of a file."""

    def __init__(self, data: U8) -> None:
        self.data, self._view = data, buffer_view(data)
        self._left = _LEAST + _TIMES * len(data)

    def charge(self, size: int, at: int) -> None:
        """Count *size* bytes as read; raises FlatBufferError if that is too much."""
        self._left -= size
        if self._left < 0:
            raise FlatBufferError(at, "too many offsets to the same bytes")

    def check(self, at: int, size: int) -> None:
        """Raise FlatBufferError if these bytes are not in the file."""
        if not 0 <= at <= len(self._view) - size:
            raise FlatBufferError(at, f"{size:,} bytes expected beyond the end")

    def number(self, form: Struct, at: int) -> Any:  # noqa: ANN401 - by its form
        """The number at this place."""
        self.check(at, form.size)
        return form.unpack_from(self._view, at)[0]

    def vector(self, at: int, width: int) -> tuple[int, int]:
        """(first byte, number of elements) of the vector at this place."""
        count = self.number(UINT32, at)
        self.check(at + 4, count * width)
        return at + 4, count


class Table:
    """One table; a field is asked for by its number in the schema."""

    __slots__ = ("_at", "_buffer", "_fields", "_vtable")

    def __init__(self, buffer: Buffer, at: int) -> None:
        buffer.charge(_PER_VISIT, at)
        self._buffer, self._at = buffer, at
        self._vtable = at - buffer.number(INT32, at)
        size = buffer.number(UINT16, self._vtable)
        buffer.check(self._vtable, size)
        self._fields = (size - _FIRST_FIELD) // 2

    @classmethod
    def root(cls, data: U8) -> Table:
        """The outermost table of a file."""
        buffer = Buffer(data)
        return cls(buffer, buffer.number(UINT32, 0))

    def _place(self, field: int) -> int | None:
        """Where a field is; None: not set."""
        if field >= self._fields:
            return None
        offset = self._buffer.number(UINT16, self._vtable + _FIRST_FIELD + 2 * field)
        return self._at + offset if offset else None

    def _target(self, field: int) -> int | None:
        at = self._place(field)
        return None if at is None else at + self._buffer.number(UINT32, at)

    def number(self, field: int, form: Struct = INT32, default: Any = 0) -> Any:  # noqa: ANN401
        """A number; *default* where it is not set."""
        at = self._place(field)
        return default if at is None else self._buffer.number(form, at)

    def table(self, field: int) -> Table | None:
        """A table; None where it is not set."""
        at = self._target(field)
        return None if at is None else Table(self._buffer, at)

    def tables(self, field: int, price: int = 0) -> Iterator[Table]:
        """The tables of a vector; a visit of one is charged *price* more than any other."""
        start, offsets = self._elements(field, np.dtype("<u4"))
        self._buffer.charge(price * offsets.size, start)
        places = (start + 4 * np.arange(offsets.size) + offsets).tolist()
        return (Table(self._buffer, at) for at in places)

    def numbers(self, field: int, dtype: str = "<i4") -> list[int]:
        """The numbers of a vector."""
        numbers: list[int] = self._elements(field, np.dtype(dtype))[1].tolist()
        return numbers

    def span(self, field: int, *, charged: bool = False) -> tuple[int, int]:
        """(first byte, length) of a vector of bytes; (0, 0) where it is not set."""
        at = self._target(field)
        start, length = (0, 0) if at is None else self._buffer.vector(at, 1)
        self._buffer.charge(length if charged else 0, start)
        return start, length

    def text(self, field: int) -> str:
        """A text; empty where it is not set."""
        start, length = self.span(field, charged=True)
        return self._buffer.data[start : start + length].tobytes().decode("utf-8", "replace")

    def _elements(self, field: int, dtype: np.dtype[Any]) -> tuple[int, I64]:
        at = self._target(field)
        if at is None:
            return 0, np.empty(0, np.int64)
        start, count = self._buffer.vector(at, dtype.itemsize)
        self._buffer.charge(count * dtype.itemsize, start)
        return start, np.frombuffer(self._buffer.data, dtype, count, start).astype(np.int64)


# A table in which no field is set.
EMPTY: Final = Table(Buffer(np.array([4, 0, 4, 0, 4, 0, 0, 0], np.uint8)), 4)
