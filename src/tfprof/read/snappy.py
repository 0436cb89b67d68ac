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

from tfprof.read.varints import varint
from tfprof.read.wire import WireError, buffer_view

if TYPE_CHECKING:
    from tfprof.strings import U8

_KIND = 3
_LITERAL, _NEAR_COPY = 0, 1
# A literal longer than this has its length behind the tag, in one to four bytes.
_SHORT_LITERAL = 60
_DISTANCE_BYTES = {2: 2, 3: 4}


def unpacked(data: U8) -> U8:
    """The bytes that *data* stands for; raises WireError where it is no snappy block."""
    view, stop = buffer_view(data), data.size
    size, at = varint(view, 0, stop)
    result = bytearray()
    while at < stop:
        begin = at
        tag = view[at]
        kind = tag & _KIND
        if kind == _LITERAL:
            length, at = _literal_length(view, at)
            if at + length > stop:
                raise WireError(begin, "a literal runs past the end")
            result += view[at : at + length]
            at += length
        else:
            length, distance, at = _copy(view, at)
            if not 0 < distance <= len(result):
                raise WireError(begin, "a copy from before the beginning")
            _repeat(result, distance, length)
        if len(result) > size:
            raise WireError(begin, f"more than the promised {size} bytes")
    if len(result) != size:
        raise WireError(stop, f"{len(result)} bytes, not the promised {size},")
    return np.frombuffer(result, np.uint8)


def _literal_length(view: memoryview, at: int) -> tuple[int, int]:
    """The length of the literal at *at*, and where its bytes begin."""
    length = view[at] >> 2
    if length < _SHORT_LITERAL:
        return length + 1, at + 1
    length, at = _number(view, at + 1, length - _SHORT_LITERAL + 1)
    return length + 1, at


def _copy(view: memoryview, at: int) -> tuple[int, int, int]:
    """The length and the distance back of the copy at *at*, and the position after it."""
    tag = view[at]
    if tag & _KIND == _NEAR_COPY:
        low, after = _number(view, at + 1, 1)
        return 4 + (tag >> 2 & 7), tag >> 5 << 8 | low, after
    distance, after = _number(view, at + 1, _DISTANCE_BYTES[tag & _KIND])
    return (tag >> 2) + 1, distance, after


def _number(view: memoryview, at: int, size: int) -> tuple[int, int]:
    number = bytes(view[at : at + size])
    if len(number) < size:
        raise WireError(at, "an element is cut off")
    return int.from_bytes(number, "little"), at + size


def _repeat(result: bytearray, distance: int, length: int) -> None:
    """Append *length* bytes, beginning *distance* bytes before the end."""
    first = len(result) - distance
    piece = result[first : first + length]
    result += (piece * (length // len(piece) + 1))[:length]
