"""The distinct numbers of a column, ascending, and where they are.

[7, 3, 7, 3, 5]    unique [3, 5, 7]    first_rows [1, 4, 0]    unique_inverse [2, 0, 2, 0, 1]

Implemented by counting where the numbers are close together, else by sorting: np.unique hashes,
which takes ten times as long, and imports a lot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.blocks import blocks

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool, Strings


# Numbers are counted if the largest and the least are at most so many times their count apart.
_CLOSE = 4


def unique(column: I64) -> I64:
    """The distinct numbers."""
    if _are_close(column):
        return _present(column)[0]
    ordered = np.sort(column)
    return ordered[_heads(ordered)]


def first_rows(column: I64) -> tuple[I64, I64]:
    """(the distinct numbers, the first row of each)."""
    if _are_close(column):
        distinct, row = _present(column)
        # Of equal numbers, the one that is written last stays: the first row.
        for block in reversed([*blocks(column.size)]):
            rows = np.arange(block.start, block.stop)
            row[column[block][::-1] - distinct[0]] = rows[::-1]
        return distinct, row[distinct - distinct[0]]
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    heads = _heads(ordered)
    return ordered[heads], order[heads]


def unique_inverse(column: I64) -> tuple[I64, I64]:
    """(the distinct numbers, the index of each row's number among them)."""
    if _are_close(column):
        distinct, index = _present(column)
        index[distinct - distinct[0]] = np.arange(distinct.size)
        inverse = np.empty(column.size, np.int64)
        for block in blocks(column.size):
            inverse[block] = index[column[block] - distinct[0]]
        return distinct, inverse
    order = np.argsort(column)
    ordered = column[order]
    heads = _heads(ordered)
    index = np.empty(column.size, np.int64)
    index[order] = np.cumsum(heads) - 1
    return ordered[heads], index


def intern_rows(*columns: Strings) -> tuple[I64, I64]:
    """(id of each row, first row of each id), where a row is one string of each column."""
    return combined(*(column.intern()[0] for column in columns))


def combined(*columns: I64) -> tuple[I64, I64]:
    """(id of each row, first row of each id), where a row is one number >= 0 of each column."""
    row = columns[0]
    for column in columns[1:]:
        span = int(column.max(initial=0)) + 1
        if int(row.max(initial=0)) * span >= _CLOSE * row.size:
            row = unique_inverse(row)[1]
        row = row * span + column
    return unique_inverse(row)[1], first_rows(row)[1]


def marked(rows: I64 | Bool | slice, count: int) -> Bool:
    """Which of *count* rows are among *rows*."""
    marks = np.zeros(count, np.bool_)
    marks[rows] = True
    return marks


def most_frequent(owner: I64, value: I64, count: int) -> I64:
    """The most frequent value of each of *count* owners, of two the larger; -1 if it has none."""
    result = np.full(count, -1, np.int64)
    pair = owner * (int(value.max(initial=0)) + 1) + value
    first, row = first_rows(pair)[1], unique_inverse(pair)[1]
    order = np.lexsort((value[first], np.bincount(row), owner[first]))
    result[owner[first[order]]] = value[first[order]]  # the last one stays
    return result


def sum_by(owner: I64, value: I64, count: int) -> I64:
    """The sum of the values of each of *count* owners."""
    total = np.zeros(count, np.int64)
    np.add.at(total, owner, value)
    return total


class ByKey:
    """*rows* of a table (default: all) by their keys, sorted once; equal keys keep their order."""

    def __init__(self, key: I64, rows: I64 | None = None) -> None:
        order = np.argsort(key, kind="stable")
        self._rows = order if rows is None else rows[order]
        self._key = key[order]

    def of(self, first: int, last: int) -> tuple[I64, I64]:
        """(row, key counted from *first*) of the rows with keys from *first* to before *last*."""
        here = slice(*np.searchsorted(self._key, [first, last]).tolist())
        return self._rows[here], self._key[here] - first


def stable_order(column: I64) -> I64:
    """The rows in ascending order of their numbers; equal ones keep their order."""
    if column.size and _spread(column) < 1 << 16:
        # NumPy sorts numbers of two bytes without comparing them.
        column = (column - column.min()).astype(np.uint16)
    return np.argsort(column, kind="stable")


def _spread(column: I64) -> int:
    return int(column.max()) - int(column.min())


def _are_close(column: I64) -> bool:
    return bool(column.size) and _spread(column) < _CLOSE * column.size


def _present(column: I64) -> tuple[I64, I64]:
    """(the distinct numbers, an unfilled row for each number from the least to the largest)."""
    low, count = int(column.min()), _spread(column) + 1
    marks = np.zeros(count, np.bool_)
    for block in blocks(column.size):
        marks[column[block] - low] = True
    return np.flatnonzero(marks) + low, np.empty(count, np.int64)


def _heads(ordered: I64) -> Bool:
    """True where a number differs from the one before."""
    heads = np.ones(ordered.size, np.bool_)
    heads[1:] = ordered[1:] != ordered[:-1]
    return heads
