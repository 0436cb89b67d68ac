"""Index: finds strings by their hashes, for the NumPy code; the compiled core has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.foundation.named_tuples import NamedTuple

if TYPE_CHECKING:
    from tfprof.columns.byte_words import I64, U64

# Hashes in one bucket beyond this many are found by binary search.
_BUCKET_STEPS = 8
_LAST_HASH = np.uint64(0xFFFFFFFFFFFFFFFF)


class Index(NamedTuple):
    """The hashes of a column's distinct strings in ascending order, and the row of each."""

    seed: np.uint64
    hashes: U64  # followed by the largest uint64
    row: I64
    shift: np.uint64
    bucket: I64  # the index of the first hash whose upper bits are 0, 1, 2 and so on

    @classmethod
    def of(cls, seed: np.uint64, hashes: U64, row: I64) -> Index:
        """The index of these ascending *hashes*, with about two buckets per hash."""
        bits = row.size.bit_length() + 1
        shift = np.uint64(64 - bits)
        count = np.bincount((hashes >> shift).view(np.int64), minlength=1 << bits)
        return cls(seed, np.append(hashes, _LAST_HASH), row, shift, np.cumsum(count) - count)

    def candidates(self, wanted: U64) -> I64:
        """The only row that can have each of the *wanted* hashes."""
        at = self.bucket[(wanted >> self.shift).view(np.int64)]
        lower = np.flatnonzero(self.hashes[at] < wanted)
        for _ in range(_BUCKET_STEPS):
            if not lower.size:
                break
            at[lower] += 1
            lower = lower[self.hashes[at[lower]] < wanted[lower]]
        else:
            at[lower] = np.searchsorted(self.hashes, wanted[lower])
        return self.row[np.minimum(at, self.row.size - 1)]
