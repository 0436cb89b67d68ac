"""Many varints at once, both ways, and the fast path of `decode.scan`.

varints_at    the varint at each of many positions of a buffer
varint_run    a run of bytes that is one varint after the other, as packed fields are
prefixed      each number of a column as a varint after the same prefix
Tags.step     the next field of many messages

    0A │ 05 │ c o n v 1      tag, length, text
    10 │ AC 02               tag, number; all its bytes but the last have their highest bit set

`Tags.step` handles what almost all fields are: a tag of one byte, then a varint, a string or a
message. If any field is different or invalid, it returns None and the caller decodes all of them
again with full checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.byte_words import WORD, words_of
from tfprof.columns.strings import I64, U8, U64, Bool, Strings
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.wire.scalar import MOST_BYTES, ONE_BYTE, TOO_LONG, TRUNCATED, WireError

if TYPE_CHECKING:
    from collections.abc import Mapping

_GROUP, _MORE, _LOW = np.uint64(7), np.uint64(ONE_BYTE + 1), np.uint64(ONE_BYTE)
# Bytes that a step reads from a position on: a tag and a word.
REACH = 9
_TAGS = 256
# Numbers of so many bytes on average are decoded byte by byte.
_SHORT = 2
_ODD, _OTHER, _WANTED = 0, 1, 2
_ONE = np.uint64(1)
_LAST_BYTES = np.uint64(0x8080808080808080)
_SEVENS = np.uint64(0x7F7F7F7F7F7F7F7F)
_BYTE_ENDS = np.uint64(0x0101010101010101)
_TOP_BYTE = np.uint64(56)
# To close the gaps between groups of 7, 14 and 28 bits: (lower groups, upper groups, gap).
_GROUPS = tuple(
    (np.uint64(lower), np.uint64(lower << width), np.uint64(gap))
    for lower, width, gap in (
        (0x007F007F007F007F, 8, 1),
        (0x00003FFF00003FFF, 16, 2),
        (0x000000000FFFFFFF, 32, 4),
    )
)


def varints_at(buffer: U8, at: I64, stop: I64, begin: I64) -> tuple[I64, I64]:
    """(the varint at each position, the position after it); raises WireError at its *begin*."""
    check_ends(at + 1, stop, begin, TRUNCATED)
    byte = buffer[at]
    value = (byte & ONE_BYTE).astype(np.int64)
    at = at + 1
    more = np.flatnonzero(byte > ONE_BYTE)
    shift = 7
    while more.size:
        if shift == 7 * MOST_BYTES:
            raise WireError(int(begin[more[0]]), TOO_LONG)
        where = at[more]
        check_ends(where + 1, stop[more], begin[more], TRUNCATED)
        byte = buffer[where]
        value[more] |= (byte & ONE_BYTE).astype(np.int64) << shift
        at[more] = where + 1
        more = more[byte > ONE_BYTE]
        shift += 7
    return value, at


def check_ends(at: I64, stop: I64, begin: I64, problem: str) -> None:
    """Raise WireError at the *begin* of the first row whose *at* is past its *stop*."""
    over = at > stop
    if bool(over.any()):
        raise WireError(int(begin[np.flatnonzero(over)[0]]), problem)


def varint_run(run: U8) -> U64:
    """All numbers of a *run* of varints, unsigned; raises WireError."""
    last = np.flatnonzero(run <= ONE_BYTE)
    if run.size and (not last.size or last[-1] != run.size - 1):
        raise WireError(run.size, TRUNCATED)
    first = np.concatenate([[0], last[:-1] + 1])[: last.size]
    if run.size > _SHORT * first.size:
        words = words_of(np.append(run, np.zeros(WORD, np.uint8)))
        value, more = _long(words[first])
        if more is not None:
            return value.view(np.uint64)
    return varints_at(run, first, last + 1, first)[0].view(np.uint64)


def prefixed(prefix: bytes, value: I64, written: Bool) -> Strings:
    """*prefix* and the varint of the value for each *written* row; the others are empty."""
    rows = np.flatnonzero(written)
    left = value[rows].astype(np.uint64)
    size = len(prefix) + varint_sizes(left)
    width = int(size.max(initial=len(prefix)))
    table = np.empty((rows.size, width), np.uint8)
    table[:, : len(prefix)] = np.frombuffer(prefix, np.uint8)
    for index in range(len(prefix), width):
        low = left & _LOW
        left >>= _GROUP
        table[:, index] = np.where(left > 0, low | _MORE, low)
    start, length = np.zeros(value.size, np.int64), np.zeros(value.size, np.int64)
    start[rows] = np.arange(rows.size) * width
    length[rows] = size
    return Strings(table.reshape(-1), start, length)


def varint_sizes(value: U64) -> I64:
    """How many bytes each number takes as a varint."""
    size = np.ones(value.size, np.int64)
    left = value >> _GROUP
    while bool(left.any()):
        size += left > 0
        left = left >> _GROUP
    return size


class Fields(NamedTuple):
    """One field of each message: tag, position of the value, value, position after the field."""

    tag: I64 | U8
    at: I64
    value: I64
    after: I64


class Tags(NamedTuple):
    """What to do with a field, by its one-byte tag."""

    action: U8
    is_bytes: I64  # -1 (all bits set) for BYTES, else 0

    @classmethod
    def wanted(cls, wanted: Mapping[int, int]) -> Tags:
        """The actions that collect the fields {number: wire type} and skip all others."""
        action = np.full(_TAGS, _ODD, np.uint8)
        is_bytes = np.zeros(_TAGS, np.int64)
        # Field numbers 1 to 15 of wire type VARINT or BYTES: the valid one-byte tags.
        action[8:128:8] = action[10:128:8] = _OTHER
        is_bytes[10:128:8] = -1
        tags = [number << 3 | kind for number, kind in wanted.items()]
        action[[tag for tag in tags if tag < _TAGS and action[tag] == _OTHER]] = _WANTED
        return cls(action, is_bytes)

    def step(self, buffer: U8, words: U64, at: I64, stop: I64) -> tuple[Fields, I64] | None:
        """(the field at each position, the rows that are wanted); None if any needs full checks."""
        # The buffer has REACH bytes from each position on.
        tag = buffer.take(at)
        action = self.action.take(tag)
        if not int(action.min()):
            return None
        position = at + 1
        first = buffer.take(position)
        position += 1
        value = first.astype(np.int64)
        longer = np.flatnonzero(first > ONE_BYTE)
        if longer.size:
            long_value, more = _long(words[at[longer] + 1])
            if more is None:
                return None
            value[longer] = long_value
            position[longer] += more
        after = position + (value & self.is_bytes.take(tag))
        if bool((after > stop).any()):
            return None
        return Fields(tag, position, value, after), np.flatnonzero(action == _WANTED)


def _long(word: U64) -> tuple[I64, I64 | None]:
    """(the varint at the beginning of each word, its size in bytes minus one)."""
    # The sizes are None if any varint is longer than its word.
    last = ~word & _LAST_BYTES
    below = (last & (~last + _ONE)) - _ONE
    value = word & below & _SEVENS
    for lower, upper, gap in _GROUPS:
        value = (value & lower) | ((value & upper) >> gap)
    if not int(last.min()):
        return value.view(np.int64), None
    more = ((below & _BYTE_ENDS) * _BYTE_ENDS >> _TOP_BYTE) - _ONE
    return value.view(np.int64), more.view(np.int64)
