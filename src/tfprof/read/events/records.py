"""The records of an event file, found by their lengths.

    length, 8 bytes │ its checksum, 4 │ Event │ checksum of the Event, 4

A file may hold gigabytes of scalars and images, so this reads lengths and their checksums only. The
checksum of an Event is checked where the Event is used.
"""

from __future__ import annotations

from array import array
from struct import Struct
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.byte_words import words_of
from tfprof.foundation.progress_events import announce_bytes
from tfprof.wire.crc32c import crc32c, crc32c_words, masked
from tfprof.wire.decode import WireError, buffer_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, U8

HEAD: Final = 12
TAIL: Final = 4
_FRAME: Final = HEAD + TAIL
_LENGTH: Final = Struct("<Q")
# Records that are looked at together.
_BLOCK: Final = 1 << 16


class Records:
    """Iterates over blocks of records, as (start, end) of their Events; raises WireError."""

    def __init__(self, data: U8) -> None:
        self._data = data
        self.count = 0  # so far
        self.cut_off = False  # whether the file ends inside a record; known at the end

    def __iter__(self) -> Iterator[tuple[I64, I64]]:
        data, at = self._data, 0
        view, words = buffer_view(data), words_of(data)
        while at <= data.size - _FRAME:
            announce_bytes(at)
            begin, after = _walk(view, at)
            length = words[begin]
            is_good = crc32c_words(length) == words[begin + _LENGTH.size].astype(np.uint32)
            good = begin.size if bool(is_good.all()) else int(is_good.argmin())
            at = after if good == begin.size else self._end(int(begin[good]))
            if at > data.size:
                good, at = good - 1, self._end(int(begin[-1]))
            self.count += good
            start = begin[:good] + HEAD
            yield start, start + length[:good].astype(np.int64)
        if at < data.size:
            self._end(at)

    def _end(self, at: int) -> int:
        """The end of the file, which is inside the record that begins at *at*."""
        head, size = self._data[at : at + HEAD], _LENGTH.size
        is_whole = head.size == HEAD and masked(crc32c(head[:size])) == _number(head[size:])
        # A crash may leave zeros behind the last record.
        if head.size == HEAD and not is_whole and self._data[at:].any():
            raise WireError(at, "wrong checksum of a record's length")
        self.cut_off = True
        return self._data.size


def _number(data: U8) -> int:
    return int.from_bytes(data.tobytes(), "little")


def _walk(view: memoryview, at: int) -> tuple[I64, int]:
    """(where the next records begin, where the last of them ends by its length)."""
    begin, last, length = array("q"), len(view) - _FRAME, _LENGTH.unpack_from
    add = begin.append
    for _ in range(_BLOCK):
        if at > last:
            break
        add(at)
        at += length(view, at)[0] + _FRAME
    return np.frombuffer(begin, np.int64), at


def check_event(data: U8, start: int, end: int) -> None:
    """Raise WireError if data[start:end] does not have the checksum that follows it."""
    if masked(crc32c(data[start:end])) != _number(data[end : end + TAIL]):
        raise WireError(start, "wrong checksum of a record")
