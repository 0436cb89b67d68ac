"""One field of many messages at once: tag, number or length, and where the next one begins.

    0A │ 05 │ c o n v 1      tag, length, text
    10 │ AC 02               tag, number; all its bytes but the last have their highest bit set

A field as almost all are has a tag of one byte and holds a number, a text or a message. Where a
single one is another, or something is wrong, nothing is told: whoever asks looks at all of them
again, byte by byte, and finds out what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.wire.scalar import ONE_BYTE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.columns.strings import I64, U8, U64

# Bytes that are looked at from a place on, whatever is there: a tag and a word.
REACH = 9

_TAGS = 256
_ODD, _OTHER, _WANTED = 0, 1, 2
_ONE = np.uint64(1)
_LAST_BYTES = np.uint64(0x8080808080808080)
_SEVENS = np.uint64(0x7F7F7F7F7F7F7F7F)
_BYTE_ENDS = np.uint64(0x0101010101010101)
_TOP_BYTE = np.uint64(56)
# Groups of 7, 14 and 28 bits are moved up to the one below them: (lower, upper, by how much).
_GROUPS = tuple(
    (np.uint64(lower), np.uint64(lower << width), np.uint64(gap))
    for lower, width, gap in (
        (0x007F007F007F007F, 8, 1),
        (0x00003FFF00003FFF, 16, 2),
        (0x000000000FFFFFFF, 32, 4),
    )
)


class Fields(NamedTuple):
    """A field of each message: its tag, where its value stands, the value and what is behind it."""

    tag: I64 | U8
    at: I64
    value: I64
    after: I64


class Tags(NamedTuple):
    """What is to be done with a field, by its tag of one byte."""

    action: U8
    is_bytes: I64  # all bits where a length is followed by so many bytes, else none

    @classmethod
    def wanted(cls, wanted: Mapping[int, int]) -> Tags:
        """Those of the fields {number: wire type}; the others are stepped over."""
        action = np.full(_TAGS, _ODD, np.uint8)
        is_bytes = np.zeros(_TAGS, np.int64)
        # Numbers 1 to 15 with a number or bytes behind them: what one byte says without a doubt.
        action[8:128:8] = action[10:128:8] = _OTHER
        is_bytes[10:128:8] = -1
        tags = [number << 3 | kind for number, kind in wanted.items()]
        action[[tag for tag in tags if tag < _TAGS and action[tag] == _OTHER]] = _WANTED
        return cls(action, is_bytes)

    def step(self, buffer: U8, words: U64, at: I64, stop: I64) -> tuple[Fields, I64] | None:
        """(the field at each place, which of them are wanted); None where not all are as usual.

        Behind each place there are nine bytes or more.
        """
        tag = buffer.take(at)
        action = self.action.take(tag)
        if not int(action.min()):
            return None
        behind = at + 1
        first = buffer.take(behind)
        behind += 1
        value = first.astype(np.int64)
        longer = np.flatnonzero(first > ONE_BYTE)
        if longer.size:
            long_value, more = _long(words[at[longer] + 1])
            if more is None:
                return None
            value[longer] = long_value
            behind[longer] += more
        after = behind + (value & self.is_bytes.take(tag))
        if bool((after > stop).any()):
            return None
        return Fields(tag, behind, value, after), np.flatnonzero(action == _WANTED)


def _long(word: U64) -> tuple[I64, I64 | None]:
    """(the number in the first bytes of each word, how many bytes beyond the first it takes).

    None of the latter where one goes on behind its word.
    """
    last = ~word & _LAST_BYTES
    below = (last & (~last + _ONE)) - _ONE
    value = word & below & _SEVENS
    for lower, upper, gap in _GROUPS:
        value = (value & lower) | ((value & upper) >> gap)
    if not int(last.min()):
        return value.view(np.int64), None
    return value.view(np.int64), (((below & _BYTE_ENDS) * _BYTE_ENDS >> _TOP_BYTE) - _ONE).view(
        np.int64
    )
