"""Decodes protobuf's wire format, many messages at once.

`scan` takes messages of one type, as slices of a buffer, and returns their fields as columns. All
messages advance together, one field per step, so a step is a handful of NumPy operations however
many messages there are. The last few messages that still have fields, and a single message with a
million fields, are decoded one field at a time.

    messages   start  end          scan(…, {1: BYTES, 2: VARINT})
       0         12    40     →    {1: Field(message=[0 1 …], start=[…], value=[length…]),
       1         42    77           2: Field(message=[0 …],   start=[…], value=[number…])}

Fields are in message order and, within a message, in file order. Fields that are not wanted or
have another wire type are skipped, as protobuf does.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns import byte_words
from tfprof.columns.strings import I64, U8, Strings
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.kernels.table import kernel
from tfprof.wire.scalar import (
    BYTES,
    FIXED32,
    FIXED64,
    LARGEST_TAG,
    ONE_BYTE,
    TRUNCATED,
    VARINT,
    WIDTH,
    WireError,
    buffer_view,
    decode_varint,
    signed,
)
from tfprof.wire.varint_columns import REACH, Fields, Tags, check_ends, varints_at

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BYTES", "FIXED32", "FIXED64", "VARINT", "Field", "WireError", "buffer_view", "scan", "whole",
]  # fmt: skip

# Messages that advance together: so many that their positions and words stay in the CPU cache.
_CHUNK = 1 << 15
# With fewer messages than this, a plain loop is faster than NumPy operations; of messages that
# have more bytes than _LONG, with fewer than _FEW_LONG.
_FEW, _FEW_LONG, _LONG = 12, 256, 1 << 11
_FIELD_NUMBERS = 64
_PART = 1 << 16

_WIDTHS = np.array([WIDTH.get(kind, 0) for kind in range(8)])
_IMPOSSIBLE = "invalid field number or length"
_TOO_LONG = "field longer than its message"


class Field(NamedTuple):
    """One field of many messages: for BYTES the value is its length, else the number itself."""

    message: I64
    start: I64
    value: I64

    @property
    def end(self) -> I64:
        """Where each length-delimited value ends."""
        return self.start + self.value

    def strings(self, buffer: U8) -> Strings:
        """The values as a column of strings on *buffer*."""
        return Strings(buffer, self.start, self.value)

    def last(self, count: int, default: int = 0) -> I64:
        """The value in each of *count* messages; if the field is repeated, the last one."""
        column = np.full(count, default, np.int64)
        column[self.message] = self.value
        return column

    def last_slice(self, count: int) -> tuple[I64, I64]:
        """(start, length) of the last value in each of *count* messages; length 0 if absent."""
        start = np.zeros(count, np.int64)
        start[self.message] = self.start
        return start, self.last(count)


def whole(buffer: U8) -> tuple[I64, I64]:
    """(start, end) of the single slice that is all of *buffer*."""
    return np.zeros(1, np.int64), np.full(1, buffer.size, np.int64)


def scan(buffer: U8, start: I64, end: I64, wanted: Mapping[int, int]) -> dict[int, Field]:
    """The *wanted* fields {number: wire type} of the messages buffer[start:end]."""
    fields = scan_fields(buffer, start, end, wanted)
    return {number: Field(*fields[number]) for number in wanted}


@kernel
def scan_fields(
    buffer: U8, start: I64, end: I64, wanted: Mapping[int, int]
) -> Mapping[int, tuple[I64, I64, I64]]:
    """(message, start, value) of each wanted field."""
    scanner = _Scanner(buffer, start, end, wanted)
    for first in range(0, start.size, _CHUNK):
        scanner.scan_chunk(np.arange(first, min(first + _CHUNK, start.size), dtype=np.int64))
    return {number: scanner.field(number) for number in wanted}


def _in_order(pieces: list[Field]) -> Field:
    """The *pieces* joined and sorted by message; the order within a message does not change."""
    if not pieces:
        return Field(*np.empty((3, 0), np.int64))
    message, at, value = (np.concatenate(column) for column in zip(*pieces, strict=True))
    if bool((message[1:] >= message[:-1]).all()):
        return Field(message, at, value)
    order = np.argsort(message, kind="stable")
    return Field(message.take(order), at.take(order), value.take(order))


class _Scanner:
    """Collects the wanted fields, many messages at once or one field at a time."""

    def __init__(self, buffer: U8, start: I64, end: I64, wanted: Mapping[int, int]) -> None:
        self._buffer, self._start, self._end = buffer, start, end
        self._wire_type = np.full(_FIELD_NUMBERS, -1, np.int64)
        self._wire_type[list(wanted)] = list(wanted.values())
        self._tags = Tags.wanted(wanted)
        self._words = byte_words.words_of(buffer)
        # Pieces of each wanted field: of finished chunks, and of the current chunk.
        self._finished: dict[int, list[Field]] = {number: [] for number in wanted}
        self._current: dict[int, list[Field]] = {number: [] for number in wanted}
        # Fields that `_walk` collects (number, start, value), and (message, end in these columns).
        self._walked = (array("q"), array("q"), array("q"))
        self._walked_messages: list[tuple[int, int]] = []

    def field(self, number: int) -> Field:
        """All fields with this *number* so far."""
        row, end = np.array(self._walked_messages, np.int64).reshape(-1, 2).T
        message = np.repeat(row, np.diff(end, prepend=0))
        numbers, start, value = (np.frombuffer(column, np.int64) for column in self._walked)
        mine = np.flatnonzero(numbers == number)
        walked = Field(message[mine], start[mine], value[mine])
        return _in_order([*self._finished[number], *([walked] if mine.size else [])])

    def scan_chunk(self, rows: I64) -> None:
        """Advance *rows* field by field until few are left, then walk those one by one."""
        at, stop = self._start[rows], self._end[rows]
        check_ends(at, stop, at, "message longer than its container")
        more = at < stop
        # A step reads whole words, so messages near the end of the buffer are walked instead.
        late = np.flatnonzero(more & (stop > self._buffer.size - REACH))
        near_end = (rows[late], at[late], stop[late])
        more[late] = False
        rows, at, stop = rows[more], at[more], stop[more]
        few = _FEW_LONG if int((stop - at).sum()) > _LONG * rows.size else _FEW
        while rows.size > few:
            step = self._tags.step(self._buffer, self._words, at, stop)
            if step is None:
                step = self._checked_step(at, stop)
            self._collect(rows, *step)
            at = step[0].after
            more = at < stop
            if not bool(more.all()):
                rows, at, stop = rows[more], at[more], stop[more]
        for number, pieces in self._current.items():
            if pieces:
                self._finished[number].append(_in_order(pieces))
                pieces.clear()
        view, kinds = buffer_view(self._buffer), self._wire_type.tolist()
        for columns in ((rows, at, stop), near_end):
            for row, position, limit in zip(*(column.tolist() for column in columns), strict=True):
                self._walk(view, kinds, row, (position, limit))

    def _collect(self, rows: I64, fields: Fields, hit: I64) -> None:
        """Store the wanted *fields* (*hit*) by their numbers."""
        if not hit.size:
            return
        tags = fields.tag if hit.size == rows.size else fields.tag.take(hit)
        first = int(tags[0])
        if bool((tags == first).all()):
            groups = [(first, hit)]
        else:
            wanted = [(number << 3) | int(self._wire_type[number]) for number in self._current]
            groups = [(tag, hit.take(np.flatnonzero(tags == tag))) for tag in wanted]
        for tag, same in groups:
            if same.size == rows.size:
                piece = Field(rows, fields.at, fields.value)
            elif same.size:
                piece = Field(rows.take(same), fields.at.take(same), fields.value.take(same))
            else:
                continue
            self._current[tag >> 3].append(piece)

    def _checked_step(self, at: I64, stop: I64) -> tuple[Fields, I64]:
        """As `Tags.step`, for every kind of field; raises WireError."""
        begin = at
        tag, at = varints_at(self._buffer, at, stop, begin)
        number, kind = tag >> 3, tag & 7
        impossible = np.flatnonzero((number <= 0) | (tag > LARGEST_TAG))
        if impossible.size:
            raise WireError(int(begin[impossible[0]]), _IMPOSSIBLE)
        value, at = _values(self._buffer, kind, at, stop, begin)
        length = np.where(kind == BYTES, value, _WIDTHS[kind])
        # Comparing with the difference cannot overflow; a sum could.
        too_long = np.flatnonzero((length < 0) | (length > stop - at))
        if too_long.size:
            raise WireError(int(begin[too_long[0]]), _TOO_LONG)
        known = number < _FIELD_NUMBERS
        hit = np.flatnonzero(known & (self._wire_type[np.where(known, number, 0)] == kind))
        return Fields(tag, at, value, at + length), hit

    def _walk(  # noqa: C901, PLR0912 - one flat loop: a call would cost more than a field
        self, view: memoryview, kinds: list[int], row: int, span: tuple[int, int]
    ) -> None:
        """Decode one message field by field; it may have a million."""
        numbers, starts, values = self._walked
        add_number, add_start, add_value = numbers.append, starts.append, values.append
        at, stop = span
        while at < stop:
            begin = at
            tag = view[at]
            at += 1
            if tag > ONE_BYTE:
                tag, at = decode_varint(view, begin, stop)
            kind = tag & 7
            number = tag >> 3
            if kind in (BYTES, VARINT):
                if at >= stop:
                    raise WireError(begin, TRUNCATED)
                value = view[at]
                at += 1
                if value > ONE_BYTE:
                    # Most lengths take two bytes: no call for those.
                    second = view[at] if at < stop else ONE_BYTE + 1
                    if second <= ONE_BYTE:
                        value += (second << 7) - ONE_BYTE - 1
                        at += 1
                    else:
                        value, at = decode_varint(view, at - 1, stop)
                        value = signed(value)
                after = at + value if kind == BYTES else at
            elif kind in (FIXED64, FIXED32):
                value, after = 0, at + WIDTH[kind]
            else:
                raise WireError(begin, f"unsupported wire type {kind}")
            if number <= 0 or after < at or tag > LARGEST_TAG:
                raise WireError(begin, _IMPOSSIBLE)
            if after > stop:
                raise WireError(begin, _TOO_LONG)
            wanted = number < _FIELD_NUMBERS and kinds[number] == kind
            if wanted:
                add_number(number)
                add_start(at)
                add_value(value)
            at = after
            if kind == BYTES and tag <= ONE_BYTE and at < stop and view[at] == tag:
                ends = _run(view, at, stop)
                if wanted:
                    self._add_run(number, at, ends)
                at = ends[-1] if ends else at
        self._walked_messages.append((row, len(numbers)))

    def _add_run(self, number: int, at: int, ends: list[int]) -> None:
        """Add the fields of a run: the first begins at *at*, and they end at *ends*."""
        size = np.diff(ends, prepend=at)
        head = np.where(size <= ONE_BYTE + 2, 2, 3)
        numbers, starts, values = self._walked
        numbers.frombytes(np.full(size.size, number, np.int64).tobytes())
        starts.frombytes((ends - size + head).astype(np.int64).tobytes())
        values.frombytes((size - head).astype(np.int64).tobytes())


def _run(view: memoryview, at: int, stop: int) -> list[int]:
    """The ends of the consecutive fields from *at* on that have the same tag as the first."""
    # A file is mostly one such run, so this loop decides how long decoding takes. A longer tag or
    # length, or anything invalid, ends the run.
    tag = view[at]
    ends: list[int] = []
    add = ends.append
    while at < stop - 3 and view[at] == tag:
        # Indexing a bytes object is faster than indexing a memoryview.
        part = bytes(view[at : at + _PART])
        index, limit = 0, min(len(part), stop - at) - 3
        while index < limit and part[index] == tag:
            size = part[index + 1]
            if size > ONE_BYTE:
                high = part[index + 2]
                if high > ONE_BYTE or not high:
                    break
                index += size + (high << 7) - 125
            else:
                index += size + 2
            add(at + index)
        if not index:
            break
        at += index
    if ends and ends[-1] > stop:
        ends.pop()
    return ends


def _values(buffer: U8, kind: I64, at: I64, stop: I64, begin: I64) -> tuple[I64, I64]:
    """(the number or length after each tag, the position after it)."""
    fixed = (kind != VARINT) & (kind != BYTES)
    if not bool(fixed.any()):
        return varints_at(buffer, at, stop, begin)
    unknown = np.flatnonzero(fixed & (kind != FIXED64) & (kind != FIXED32))
    if unknown.size:
        first = unknown[0]
        raise WireError(int(begin[first]), f"unsupported wire type {int(kind[first])}")
    value, after = np.zeros_like(at), at.copy()
    rest = np.flatnonzero(~fixed)
    value[rest], after[rest] = varints_at(buffer, at[rest], stop[rest], begin[rest])
    return value, after
