"""Reads the messages of a large file a few megabytes at a time, and joins their columns.

    messages   0 … 8,191 │ 8,192 … │ …        all fields of a chunk are decoded while its bytes are
    columns    ─────────────────────────►     in the CPU cache

Pages of a run are freed behind each chunk: it is the largest file, and read last, when the profile
is in memory. Others are needed again soon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.columns.growing import Growing
from tfprof.columns.mapped_pages import release_pages
from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import I64, U8, Strings
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.foundation.progress_events import announce_bytes
from tfprof.wire.decode import Field

if TYPE_CHECKING:
    from collections.abc import Callable

    Columns = dict[str, Any]

_MESSAGES = 1 << 13
_MOST_PARTS = 3


def in_chunks(
    buffer: U8,
    messages: Field,
    read: Callable[[U8, Field], Columns],
    owners: tuple[str, ...],
    *,
    free: bool = False,
) -> Columns:
    """What *read* returns for all *messages*; the columns *owners* hold numbers of messages.

    Where *free*, the pages of a mapped file are freed behind each chunk.
    """
    count = messages.start.size
    if count <= _MESSAGES:
        return read(buffer, messages)
    joined: dict[str, _Joined] = {}
    seen, everything = 0, count + int(messages.value.sum())
    for first in range(0, count, _MESSAGES):
        chunk = Field(*(column[first : first + _MESSAGES] for column in messages))
        begin, end = int(chunk.start[0]), int(chunk.end[-1])
        announce_bytes(begin)
        piece = read(buffer, chunk)
        if free:
            release_pages(buffer, begin, end)
        size = chunk.start.size
        seen += size + int(chunk.value.sum())
        done = _Share(size, (first + size) / count, seen / everything)
        for name, column in piece.items():
            into = joined.setdefault(name, _Joined())
            into.add(column, done, first if name in owners else 0)
    return {name: column.column() for name, column in joined.items()}


class _Share(NamedTuple):
    """How much of a file is read: its messages, and its bytes with one more per message.

    A column has at most one row per message, or else per byte: this bounds the room for it.
    """

    messages: int  # of the last chunk
    of_messages: float
    of_bytes: float

    def of(self, piece: I64) -> float:
        """The share of the rows that *piece*, of the last chunk, completes."""
        return self.of_messages if piece.size <= self.messages else self.of_bytes


class _Joined:
    """A column whose chunks are appended one by one."""

    def __init__(self) -> None:
        self._parts = [Growing() for _ in range(_MOST_PARTS)]
        self._last: Any = None

    def add(self, chunk: Any, done: _Share, first: int) -> None:  # noqa: ANN401 - any column
        """Append *chunk*; its message 0 is message *first*."""
        parts = self._parts
        if isinstance(chunk, Strings):
            parts[0].add(chunk.start, done.of(chunk.start))
            parts[1].add(chunk.length, done.of(chunk.length))
        elif isinstance(chunk, Field):
            for part, column, plus in zip(parts, chunk, (first, 0, 0), strict=True):
                part.add(column, done.of(column), plus)
        elif isinstance(chunk, Shapes):
            start = chunk.start[self._last is not None :]
            parts[0].add(start, done.of(start), parts[1].size)
            parts[1].add(chunk.dim, done.of(chunk.dim))
        else:
            parts[0].add(chunk, done.of(chunk), first)
        self._last = chunk

    def column(self) -> Any:  # noqa: ANN401 - of the kind of the chunks
        """All chunks as one column."""
        start, others = self._parts[0].column(), self._parts[1:]
        if isinstance(self._last, Strings):
            return Strings(self._last.blob, start, others[0].column())
        if isinstance(self._last, Field):
            return Field(start, *(other.column() for other in others))
        if isinstance(self._last, Shapes):
            return Shapes(start, others[0].column())
        return start
