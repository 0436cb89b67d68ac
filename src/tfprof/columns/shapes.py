"""A column of tensor shapes: their dimensions, concatenated.

shape 0  3x3x16   start  [0, 3, 4, 4]
shape 1  scalar   dim    [3, 3, 16, 1]      a scalar has one element, so [1]
shape 2  unknown                            no dimensions; an unknown dimension is -1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.columns.strings import I64, Bool


@dataclass(frozen=True, eq=False)
class Shapes:
    """Lists of dimensions: those of shape i are dim[start[i]:start[i + 1]]."""

    start: I64
    dim: I64

    @classmethod
    def of(cls, count: int, shape: I64, dim: I64, unknown_rank: Bool) -> Shapes:
        """*count* shapes; *shape* is the row of each dimension, in order."""
        # A shape of known rank without dimensions is a scalar: one element, so [1].
        rank = np.bincount(shape, minlength=count)
        scalar = np.flatnonzero((rank == 0) & ~unknown_rank)
        owner = np.concatenate([shape, scalar])
        order = np.argsort(owner, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))])
        return cls(start, np.concatenate([dim, np.ones(scalar.size, np.int64)])[order])

    @classmethod
    def none(cls, count: int) -> Shapes:
        """*count* unknown shapes."""
        return cls(np.zeros(count + 1, np.int64), np.empty(0, np.int64))

    def __len__(self) -> int:
        return int(self.start.size) - 1

    def __getitem__(self, row: int) -> list[int]:
        dims: list[int] = self.dim[self.start[row] : self.start[row + 1]].tolist()
        return dims

    def take(self, rows: I64) -> Shapes:
        """The shapes of *rows*; -1 gives an unknown shape."""
        known = np.flatnonzero(rows >= 0)
        low = self.start[rows[known]]
        start = np.zeros(rows.size + 1, np.int64)
        rank = start[1:][known] = self.start[rows[known] + 1] - low
        np.cumsum(start, out=start)
        source = np.arange(start[-1]) + np.repeat(low - start[known], rank)
        return Shapes(start, self.dim[source])

    @classmethod
    def concat(cls, pieces: Sequence[Shapes]) -> Shapes:
        """The shapes of all *pieces*."""
        before = np.cumsum([0, *(piece.dim.size for piece in pieces)]).tolist()
        starts = [piece.start[1:] + at for piece, at in zip(pieces, before, strict=False)]
        return cls(np.concatenate([[0], *starts]), np.concatenate([piece.dim for piece in pieces]))

    def joined(self, other: Shapes) -> Shapes:
        """These shapes, then those of *other*."""
        if not len(self) or not len(other):
            return self if len(self) else other
        return Shapes.concat([self, other])

    def are_whole(self) -> Bool:
        """Whether each shape is fully known: its rank and all dimensions."""
        unknown = np.append(0, np.cumsum(self.dim < 0))
        whole: Bool = unknown[self.start[1:]] == unknown[self.start[:-1]]
        whole &= np.diff(self.start) > 0
        return whole

    def elements(self) -> I64:
        """The product of each shape's dimensions; 0 if the shape is not fully known."""
        rank = np.diff(self.start)
        result = np.zeros(rank.size, np.int64)
        full = np.flatnonzero(rank)
        if full.size:
            begin = self.start[full]
            result[full] = np.multiply.reduceat(self.dim, begin)
            if int(self.dim.min()) < 0:
                result[full[np.minimum.reduceat(self.dim, begin) < 0]] = 0
        return result
