"""Columns that are written piece by piece hold what their pieces hold, however these vary."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest

from tfprof.columns.growing import Growing, appended

# The number of rows of each piece: even, dense at first, dense at the end, and nothing at all.
SIZES = {
    "even": [10] * 50,
    "dense at first": [5_000, *[0] * 200, 3],
    "dense at the end": [0, 1, *[0] * 500, *[700] * 20],
    "nothing": [0, 0, 0],
}


def numbers(size: int, piece: int) -> np.ndarray:
    """Rows of a piece; every third piece is zeros."""
    return np.arange(size, dtype=np.int64) * (piece % 3) + 7 * (piece % 3)


@pytest.mark.parametrize("name", SIZES)
def test_pieces_are_joined_in_order(name: str) -> None:
    sizes = SIZES[name]
    column, shifted = Growing(), Growing()
    for piece, size in enumerate(sizes):
        done = (piece + 1) / len(sizes)
        column.add(numbers(size, piece), done)
        shifted.add(numbers(size, piece), done, piece)
    expected = [row for piece, size in enumerate(sizes) for row in numbers(size, piece).tolist()]
    assert column.column().tolist() == expected
    added = [piece for piece, size in enumerate(sizes) for _ in range(size)]
    assert shifted.column().tolist() == [sum(pair) for pair in zip(expected, added, strict=True)]


def test_truth_values_stay_truth_values() -> None:
    column = Growing()
    for done, piece in ((0.5, [False, False]), (1.0, [True, False])):
        column.add(np.array(piece), done)
    assert column.column().tolist() == [False, False, True, False]


def test_rows_are_copied_a_few_times_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where shares of the file say little about the rows that come."""
    rooms: list[int] = []
    zeros = np.zeros

    def counted(size: int, kind: type) -> np.ndarray:
        rooms.append(size)
        return zeros(size, kind)

    monkeypatch.setattr(np, "zeros", counted)
    column, pieces = Growing(), 1_000
    for piece in range(pieces):
        column.add(np.full(100, piece), 0.999 + piece / pieces / 1_000)
    assert column.size == 100 * pieces
    assert sum(rooms) < 6 * column.size
    assert max(rooms) <= 2 * column.size
    assert [*accumulate(rooms, max)] == rooms


def test_what_is_appended_to_nothing_is_not_copied() -> None:
    some, none = np.arange(3), np.empty(0, np.int64)
    assert appended(none, some) is some
    assert appended(some, none) is some
    assert appended(some, some).tolist() == [0, 1, 2, 0, 1, 2]
