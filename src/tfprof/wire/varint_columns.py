"""Many varints at once, both ways.

varints_at    the varint at each of many positions of a buffer
varint_run    a run of bytes that is one varint after the other, as packed fields are
prefixed      each number of a column as a varint after the same prefix
"""

from __future__ import annotations

import numpy as np

from tfprof.columns.strings import I64, U8, U64, Bool, Strings
from tfprof.wire.scalar import MOST_BYTES, ONE_BYTE, TOO_LONG, TRUNCATED, WireError

_GROUP, _MORE, _LOW = np.uint64(7), np.uint64(ONE_BYTE + 1), np.uint64(ONE_BYTE)


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
