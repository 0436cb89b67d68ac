"""Decompresses Snappy's block format.

    ┌────────┬─────────┬──────┬─────────┬──────┬─
    │ length │ literal │ copy │ literal │ copy │ …     length: of the unpacked bytes, a varint
    └────────┴─────────┴──────┴─────────┴──────┴─

The two low bits of an element's first byte, its tag, give its kind: 0 is a literal, bytes to copy
from the input; 1, 2 and 3 are copies of earlier output, whose distance back is stored in eleven
bits (three of them in the tag), two bytes or four bytes. A copy may overlap its own output:
distance 1 repeats a byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.wire.decode import WireError, buffer_view
from tfprof.wire.scalar import decode_varint

if TYPE_CHECKING:
    from tfprof.columns.strings import U8

_KIND = 3
_LITERAL, _NEAR_COPY = 0, 1
# The length of a literal longer than this is after the tag, in one to four bytes.
_SHORT_LITERAL = 60
_DISTANCE_BYTES = {2: 2, 3: 4}
_LONGEST_HEAD = 5


def unpacked(data: U8) -> U8:
    """The decompressed *data*; raises WireError."""
    stop = data.size
    size, at = decode_varint(buffer_view(data), 0, stop)
    # Padding, so that the head of a truncated element can be read.
    packed = data.tobytes() + bytes(_LONGEST_HEAD)
    result = bytearray()
    while at < stop:
        begin = at
        if packed[at] & _KIND == _LITERAL:
            length, at = _literal(packed, at)
            result += packed[at : at + length]
            at += length
        else:
            length, distance, at = _copy(packed, at)
            if not 0 < distance <= len(result):
                raise WireError(begin, "copy from before the beginning")
            first = len(result) - distance
            piece = result[first : first + length]
            result += piece if length <= distance else (piece * (length // distance + 1))[:length]
        if at > stop or len(result) > size:
            raise WireError(begin, f"truncated element, or more than the stated {size} bytes")
    if len(result) != size:
        raise WireError(stop, f"{len(result)} bytes instead of the stated {size}")
    return np.frombuffer(result, np.uint8)


def _literal(packed: bytes, at: int) -> tuple[int, int]:
    """(the length of the literal at *at*, where its bytes begin)."""
    length = packed[at] >> 2
    if length < _SHORT_LITERAL:
        return length + 1, at + 1
    after = at + 1 + length - _SHORT_LITERAL + 1
    return int.from_bytes(packed[at + 1 : after], "little") + 1, after


def _copy(packed: bytes, at: int) -> tuple[int, int, int]:
    """(length, distance back, the position after it) of the copy at *at*."""
    tag = packed[at]
    if tag & _KIND == _NEAR_COPY:
        return 4 + (tag >> 2 & 7), tag >> 5 << 8 | packed[at + 1], at + 2
    after = at + 1 + _DISTANCE_BYTES[tag & _KIND]
    return (tag >> 2) + 1, int.from_bytes(packed[at + 1 : after], "little"), after
