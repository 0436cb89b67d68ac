"""Snappy's block format, unpacked.

    ┌────────┬─────────┬──────┬─────────┬──────┬─
    │ length │ literal │ copy │ literal │ copy │ …     length: of the unpacked bytes, a varint
    └────────┴─────────┴──────┴─────────┴──────┴─

The two low bits of an element's first byte, its tag, say what it is: 0 a literal, bytes to take
as they stand; 1, 2 or 3 a copy of bytes unpacked before, whose distance back is written in two
bytes (three bits of it in the tag), two bytes or four bytes. A copy may reach into what it
itself unpacks: distance 1 repeats a byte.
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
# A literal longer than this has its length behind the tag, in one to four bytes.
_SHORT_LITERAL = 60
_DISTANCE_BYTES = {2: 2, 3: 4}
_LONGEST_HEAD = 5


def unpacked(data: U8) -> U8:
    """The bytes that *data* stands for; raises WireError where it is no snappy block."""
    stop = data.size
    size, at = decode_varint(buffer_view(data), 0, stop)
    # With this behind it, even the head of an element that is cut off can be looked at.
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
                raise WireError(begin, "a copy from before the beginning")
            first = len(result) - distance
            piece = result[first : first + length]
            result += piece if length <= distance else (piece * (length // distance + 1))[:length]
        if at > stop or len(result) > size:
            raise WireError(begin, f"an element cut off, or more than the promised {size} bytes")
    if len(result) != size:
        raise WireError(stop, f"{len(result)} bytes, not the promised {size},")
    return np.frombuffer(result, np.uint8)


def _literal(packed: bytes, at: int) -> tuple[int, int]:
    """The length of the literal at *at*, and where its bytes begin."""
    length = packed[at] >> 2
    if length < _SHORT_LITERAL:
        return length + 1, at + 1
    after = at + 1 + length - _SHORT_LITERAL + 1
    return int.from_bytes(packed[at + 1 : after], "little") + 1, after


def _copy(packed: bytes, at: int) -> tuple[int, int, int]:
    """The length and the distance back of the copy at *at*, and the position after it."""
    tag = packed[at]
    if tag & _KIND == _NEAR_COPY:
        return 4 + (tag >> 2 & 7), tag >> 5 << 8 | packed[at + 1], at + 2
    after = at + 1 + _DISTANCE_BYTES[tag & _KIND]
    return (tag >> 2) + 1, int.from_bytes(packed[at + 1 : after], "little"), after
