"""A column that is written piece by piece: nothing is in memory twice.

pieces   [7 3] [5] …        room for as many rows as the pieces so far let expect
rows      7 3   5 · · ·     written in place; room that is left at the end is given back
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tfprof.columns.byte_words import I64

# Room beyond the expected rows, as a share of them: 1/_SPARE.
_SPARE = 16


class Growing:
    """Rows of int64 or bool, appended many at a time."""

    def __init__(self) -> None:
        self.size = 0
        self._rows: NDArray[np.generic] = np.empty(0, np.int64)

    def add(self, piece: NDArray[np.generic], done: float, plus: int = 0) -> None:
        """Append *piece*, with *plus* added; then the share *done* of all rows is here."""
        end = self.size + piece.size
        if end > self._rows.size:
            expected = round(end / done)
            # At least half as many again, so that the rows so far are copied a few times at most.
            room = max(expected + (expected - end) // _SPARE, end + self.size // 2)
            rows = np.zeros(room, piece.dtype)
            rows[: self.size] = self._rows[: self.size]
            self._rows = rows
        here = self._rows[self.size : end]
        if plus:
            np.add(piece, plus, out=here)
        elif piece.any():  # zeros take no memory until another number is written
            here[:] = piece
        self.size = end

    def column(self) -> I64:
        """All rows; nothing is appended any more."""
        # Nobody else refers to these rows.
        self._rows.resize(self.size, refcheck=False)
        return self._rows  # type: ignore[return-value]  # int64, mostly


def appended(column: I64, more: I64) -> I64:
    """*column*, then *more*; nothing is copied where one of them is empty."""
    if not column.size or not more.size:
        return column if column.size else more
    return np.concatenate([column, more])
