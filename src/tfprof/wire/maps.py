"""Decodes map fields and repeated numbers of many messages at once.

    a map        field*  ─► entry ─► 1 key, 2 value      in any order; the last of equal keys wins
    numbers      field*  ─► varint, varint, …            packed, or one field per number

Every row names the message it belongs to, its owner.
"""

from __future__ import annotations

import numpy as np

from tfprof.columns.strings import I64, U8, Strings
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.wire.decode import BYTES, VARINT, Field, WireError, scan
from tfprof.wire.scalar import ONE_BYTE, TRUNCATED
from tfprof.wire.varint_columns import varint_run


class Messages(NamedTuple):
    """A map from numbers to messages, sorted by owner and key."""

    owner: I64
    key: I64
    start: I64
    end: I64


class Numbers(NamedTuple):
    """A map from numbers to numbers, sorted by owner and key."""

    owner: I64
    key: I64
    value: I64


def messages(buffer: U8, entry: Field) -> Messages:
    """The map with these entries, whose values are messages or strings."""
    count = entry.start.size
    part = scan(buffer, entry.start, entry.end, {1: VARINT, 2: BYTES})
    key = part[1].last(count)
    start, length = part[2].last_slice(count)
    rows = last_of(entry.message, key)
    return Messages(entry.message[rows], key[rows], start[rows], (start + length)[rows])


def numbers(buffer: U8, entry: Field) -> Numbers:
    """The map with these entries, whose values are numbers."""
    count = entry.start.size
    part = scan(buffer, entry.start, entry.end, {1: VARINT, 2: VARINT})
    key, value = part[1].last(count), part[2].last(count)
    rows = last_of(entry.message, key)
    return Numbers(entry.message[rows], key[rows], value[rows])


def last_of(owner: I64, key: I64) -> I64:
    """The last row of each (owner, key), sorted by owner and key."""
    order = np.lexsort((key, owner))
    owner, key = owner[order], key[order]
    last = np.ones(order.size, np.bool_)
    last[:-1] = (owner[1:] != owner[:-1]) | (key[1:] != key[:-1])
    return order[last]


def by_text(owner: I64, entry: Strings) -> I64:
    """The rows of map entries with texts as keys, by owner and key; of equal keys the last."""
    # Damaged entries stay as they are: whoever decodes them reports them.
    try:
        part = scan(entry.blob, entry.start, entry.start + entry.length, {1: BYTES})[1]
    except WireError:
        return np.arange(owner.size)
    key = Strings(entry.blob, *part.last_slice(len(entry)))
    number, first = key.intern()
    return last_of(owner, key.take(first).rank()[number])


def repeated(buffer: U8, start: I64, end: I64, number: int) -> tuple[I64, I64]:
    """(owner, value) of the repeated numbers in field *number* of these messages, by owner."""
    owner, value = packed(buffer, scan(buffer, start, end, {number: BYTES})[number])
    single = scan(buffer, start, end, {number: VARINT})[number]
    if not single.message.size:
        return owner, value
    owner, value = np.append(owner, single.message), np.append(value, single.value)
    order = np.argsort(owner, kind="stable")
    return owner[order], value[order]


def packed(buffer: U8, run: Field) -> tuple[I64, I64]:
    """(owner, value) of all numbers in these packed fields; raises WireError."""
    end = np.cumsum(run.value)
    joined = Strings(buffer, run.start, run.value).compact().blob
    full = np.flatnonzero(run.value)
    cut = full[joined[end[full] - 1] > ONE_BYTE]
    if cut.size:
        raise WireError(int(run.end[cut[0]]), TRUNCATED)
    before = np.searchsorted(np.flatnonzero(joined <= ONE_BYTE), end)
    return np.repeat(run.message, np.diff(before, prepend=0)), varint_run(joined).view(np.int64)
