"""Encodes protobuf's wire format, many messages at once.

A column of messages is a column of strings, one row per message. Its fields are columns too, and
no byte is copied until they are joined:

    numbers({2: [7, 0, 300]})        10 07 |  | 10 AC 02        0 is not written
    field(1, names)                  0A 01 61 | 0A 02 62 63     each row after its tag and length
    entries(4, keys, values)         entries of a map
    packed(3, owner, value, count)   repeated numbers

    beside(*fields)                  the fields joined row by row: one row per message
    within(owner, count, *fields)    the rows of each owner joined: one row per owner
    nested(tree, 12, own)            the tags and lengths of messages nested as a tree

The order of fields in a message has no meaning, so each message uses the easiest one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.wire.scalar import BYTES, VARINT, encode_tag
from tfprof.wire.varint_columns import prefixed, varint_sizes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.columns.tree import Tree


def numbers(columns: Mapping[int, I64], *, zeros: bool = False) -> tuple[Strings, ...]:
    """The fields {number: value of each row}; a value of 0 is left out unless *zeros*."""
    return tuple(
        prefixed(encode_tag(number, VARINT), value, np.full(value.size, zeros) | (value != 0))
        for number, value in columns.items()
    )


def field(number: int, *columns: Strings, empty: bool = True) -> tuple[Strings, ...]:
    """Each row as field *number*; empty rows are left out unless *empty*."""
    length = lengths(columns)
    written = np.full(length.size, empty) | (length > 0)
    return prefixed(encode_tag(number, BYTES), length, written), *columns


def packed(number: int, owner: I64, value: I64, count: int) -> tuple[Strings, ...]:
    """The packed field *number* of each of *count* owners; *owner* is ascending."""
    bare = prefixed(b"", value, np.ones(value.size, np.bool_))
    return field(number, within(owner, count, bare), empty=False)


def entries(number: int, key: I64, *value: Strings) -> tuple[Strings, ...]:
    """Each row as an entry, from a number to bytes, of the map field *number*."""
    return field(number, *numbers({1: key}, zeros=True), *field(2, *value))


def taken(column: Strings, rows: I64) -> Strings:
    """The *rows* of a column; row -1 gives an empty string."""
    start, length = np.zeros(rows.size, np.int64), np.zeros(rows.size, np.int64)
    known = np.flatnonzero(rows >= 0)
    start[known], length[known] = column.start[rows[known]], column.length[rows[known]]
    return Strings(column.blob, start, length)


def beside(*columns: Strings) -> Strings:
    """The *columns* joined row by row; the blob holds nothing else."""
    return Strings.beside(columns)


def joined(*columns: Strings) -> bytes:
    """The bytes of `beside`."""
    return beside(*columns).blob.tobytes()


def within(owner: I64, count: int, *columns: Strings) -> Strings:
    """The rows of each of *count* owners joined into one; *owner* is ascending."""
    rows = beside(*columns)
    end = np.append(rows.start, rows.blob.size)
    edge = end[np.searchsorted(owner, np.arange(count + 1))]
    return Strings(rows.blob, edge[:-1], np.diff(edge))


def nested(tree: Tree, number: int, own: I64) -> Strings:
    """The tag and length before each row's own bytes, whose count is *own*; none for the root."""
    # Every other row is field *number* of its parent. A row's own bytes come before its children,
    # so rows are in drawing order. A length counts the lengths below it, so its size depends on
    # theirs: start with one byte each and repeat until no length needs another byte, at most ten
    # times.
    tag = encode_tag(number, BYTES)
    lead = np.full(own.size, len(tag) + 1)
    lead[0] = 0
    while True:
        length = tree.totals(own + lead) - lead
        longer = len(tag) + varint_sizes(length.astype(np.uint64))
        longer[0] = 0
        if bool((longer == lead).all()):
            break
        lead = longer
    return prefixed(tag, length, lead > 0)


def lengths(columns: Sequence[Strings]) -> I64:
    """The total number of bytes in each row of *columns*."""
    length = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        length += column.length
    return length
