"""Numbers in groups of seven bits, lowest first; the last group is the byte below 128.

    300  =  0b10_0101100  →  AC 02

One at a time for the few that give lengths and places; a whole run at once for the values of a
tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.wire.decode import WireError

if TYPE_CHECKING:
    from tfprof.columns.strings import U8, U64

MOST_BYTES = 10
_ONE_BYTE = 127
_LOW = 0xFFFFFFFFFFFFFFFF


def varint(view: memoryview, at: int, stop: int) -> tuple[int, int]:
    """The number at *at*, from 0 to 2^64 - 1, and the position after it; raises WireError."""
    if at < stop and view[at] <= _ONE_BYTE:
        return view[at], at + 1
    value = shift = 0
    for position in range(at, min(stop, at + MOST_BYTES)):
        byte = view[position]
        value |= (byte & _ONE_BYTE) << shift
        if byte <= _ONE_BYTE:
            return value & _LOW, position + 1
        shift += 7
    raise WireError(at, "a number is cut off or longer than ten bytes")


def varints(run: U8) -> U64:
    """All numbers of a run that holds nothing else; raises WireError."""
    last = np.flatnonzero(run <= _ONE_BYTE)
    if run.size and (not last.size or last[-1] != run.size - 1):
        raise WireError(run.size, "a number is cut off")
    first = np.concatenate([[0], last[:-1] + 1])[: last.size]
    more = last - first
    if more.size and more.max() >= MOST_BYTES:
        raise WireError(int(first[np.argmax(more)]), "a number longer than ten bytes")
    value: U64 = (run[first] & _ONE_BYTE).astype(np.uint64)
    rows = np.flatnonzero(more)
    group = 1
    while rows.size:
        bits = (run[first[rows] + group] & _ONE_BYTE).astype(np.uint64)
        value[rows] |= bits << np.uint64(7 * group)
        group += 1
        rows = rows[more[rows] >= group]
    return value
