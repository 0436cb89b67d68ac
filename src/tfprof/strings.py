"""A column of byte strings: slices of one blob, never a Python object a row.

    blob    …conv1/weightsconv1/biases…        start  [1, 14]    length  [13, 12]

Slices may overlap or repeat, so taking rows, cutting suffixes and naming parent scopes copy no
text. Whole columns are compared eight bytes at a time: `intern` numbers equal strings alike,
`find` looks one column up in another, `order` sorts by bytes.

Equality never rests on a hash alone: every match is compared byte for byte, and a column in
which two different strings share a hash is hashed again with another seed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]
Bool = NDArray[np.bool_]

_WORD = 8
# Longer strings are rare; hashing them one by one keeps the word loop short.
_LONG = 1024
# Rows joined at a time when text is copied: few enough to stay in the processor's cache.
_CHUNK = 1 << 16
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FIRST_SEED = np.uint64(0x2545F4914F6CDD1D)


def _mix(value: U64) -> U64:
    product = value * _MIX
    return product ^ (product >> np.uint64(29))


class Index(NamedTuple):
    """The hashes of a column's distinct strings in ascending order, and a row of each."""

    seed: np.uint64
    hashes: U64
    row: I64


@dataclass(frozen=True, eq=False)
class Strings:
    """Rows of bytes; `blob` is shared by everything cut from it."""

    blob: U8
    start: I64
    length: I64

    @classmethod
    def of(cls, rows: Iterable[bytes]) -> Strings:
        """A column holding *rows*."""
        rows = list(rows)
        length = np.fromiter(map(len, rows), np.int64, len(rows))
        blob = np.frombuffer(b"".join(rows), np.uint8)
        return cls(blob, np.cumsum(length) - length, length)

    @classmethod
    def concat(cls, parts: Iterable[Strings]) -> Strings:
        """The rows of all *parts*, compacted into a new blob."""
        compact = [part.compact() for part in parts]
        offset = np.cumsum([0, *(part.blob.size for part in compact)])
        return cls(
            np.concatenate([np.empty(0, np.uint8), *(part.blob for part in compact)]),
            np.concatenate(
                [
                    np.empty(0, np.int64),
                    *(p.start + o for p, o in zip(compact, offset, strict=False)),
                ]
            ),
            np.concatenate([np.empty(0, np.int64), *(part.length for part in compact)]),
        )

    def __len__(self) -> int:
        return int(self.start.size)

    def __getitem__(self, row: int) -> bytes:
        begin = int(self.start[row])
        return self.blob[begin : begin + int(self.length[row])].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        """The rows as bytes objects, one after the other."""
        if not len(self):
            return
        low = int(self.start.min())
        text = self.blob[low : int((self.start + self.length).max())].tobytes()
        begin = self.start - low
        for first, last in zip(begin.tolist(), (begin + self.length).tolist(), strict=True):
            yield text[first:last]

    def texts(self) -> Iterator[str]:
        """The rows as text; bytes that are no UTF-8 survive a later encode the same way."""
        return (row.decode("utf-8", "surrogateescape") for row in self)

    def take(self, rows: I64 | Bool | slice) -> Strings:
        """The given rows, on the same blob."""
        return Strings(self.blob, self.start[rows], self.length[rows])

    def compact(self) -> Strings:
        """The same rows on a blob that holds nothing else, in row order."""
        parts = [
            b"".join(self.take(np.arange(first, min(first + _CHUNK, len(self)))))
            for first in range(0, len(self), _CHUNK)
        ]
        blob = np.frombuffer(b"".join(parts), np.uint8)
        return Strings(blob, np.cumsum(self.length) - self.length, self.length)

    def before(self, byte: bytes) -> Strings:
        """Each row up to, not including, the first *byte* in it."""
        rows, positions = self.positions(byte)
        first_of_row = np.ones(rows.size, np.bool_)
        first_of_row[1:] = rows[1:] != rows[:-1]
        length = self.length.copy()
        length[rows[first_of_row]] = positions[first_of_row]
        return Strings(self.blob, self.start, length)

    def without_first(self, byte: bytes) -> Strings:
        """Each row less one leading *byte* where it has one."""
        has = np.zeros(len(self), np.int64)
        some = np.flatnonzero(self.length)
        has[some] = self.blob[self.start[some]] == byte[0]
        return Strings(self.blob, self.start + has, self.length - has)

    def positions(self, byte: bytes) -> tuple[I64, I64]:
        """Where *byte* stands: (row, offset in the row) pairs in row order."""
        apart = self if self._is_apart() else self.compact()
        full = np.flatnonzero(apart.length)
        if not full.size:
            return full, full
        start, length = apart.start[full], apart.length[full]
        low, high = int(start[0]), int(start[-1] + length[-1])
        found = np.flatnonzero(apart.blob[low:high] == byte[0]) + low
        at = np.searchsorted(start, found, "right") - 1
        # What stands between two rows is none of theirs.
        inside = found < start[at] + length[at]
        found, at = found[inside], at[inside]
        return full[at], found - start[at]

    def _is_apart(self) -> bool:
        """Whether the rows stand in the blob in their order, without overlap."""
        return bool(np.all((self.start + self.length)[:-1] <= self.start[1:]))

    # --- eight bytes at a time ------------------------------------------------------------

    @cached_property
    def _words(self) -> U64:
        """The eight bytes at every offset of the blob, little-endian; a view, not a copy."""
        blob = self.blob
        if blob.size < _WORD:
            blob = np.concatenate([blob, np.zeros(_WORD, np.uint8)])
        blob = np.ascontiguousarray(blob)
        return np.ndarray((blob.size - _WORD + 1,), "<u8", blob, 0, (1,))

    def _word(self, rows: I64, number: int | I64) -> U64:
        """The *number*-th word of each of *rows*; what is past a row's end reads as zeros."""
        at = self.start[rows] + number * _WORD
        left = np.clip(self.length[rows] - number * _WORD, 0, _WORD)
        last = self._words.size - 1
        over = np.clip(at - last, 0, _WORD)
        word = self._words[np.minimum(at, last)]
        shift = (_WORD * over).astype(np.uint64)
        word = np.where(over < _WORD, word >> np.minimum(shift, np.uint64(63)), np.uint64(0))
        spare = (_WORD * (_WORD - left)).astype(np.uint64)
        kept = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.minimum(spare, np.uint64(63))
        return np.where(left > 0, word & kept, np.uint64(0))

    def hashes(self, seed: np.uint64) -> U64:
        """A 64-bit hash a row."""
        result = self.length.astype(np.uint64) * _MIX ^ seed
        by_length = np.argsort(-self.length, kind="stable")
        longer_first = -self.length[by_length]
        long_ones = int(np.searchsorted(longer_first, -_LONG, "left"))
        for row in by_length[:long_ones].tolist():
            result[row] ^= np.uint64(hash((int(seed), self[row])) & 0xFFFFFFFFFFFFFFFF)
        rows = by_length[long_ones:]
        number, begin, mixed = 0, self.start[rows], result[rows]
        longer_first = longer_first[long_ones:]
        while count := int(np.searchsorted(longer_first, -(number + 1) * _WORD, "right")):
            word = self._words[begin[:count] + number * _WORD]
            mixed[:count] = _mix(mixed[:count] ^ word)
            number += 1
        result[rows] = _mix(mixed ^ self._word(rows, self.length[rows] // _WORD))
        return result

    def same(self, rows: I64, other: Strings, other_rows: I64) -> Bool:
        """Whether each row of *rows* equals its partner of *other_rows* in *other*."""
        length = self.length[rows]
        equal: Bool = length == other.length[other_rows]
        for at in np.flatnonzero(equal & (length > _LONG)).tolist():
            equal[at] = self[int(rows[at])] == other[int(other_rows[at])]
        left = np.flatnonzero(equal & (length <= _LONG))
        last = length[left] // _WORD
        tail = self._word(rows[left], last)
        equal[left] = tail == other._word(other_rows[left], last)
        mine, others = self.start[rows], other.start[other_rows]
        number = 0
        while True:
            number += 1
            left = left[equal[left] & (length[left] >= number * _WORD)]
            if not left.size:
                return equal
            offset = (number - 1) * _WORD
            word = self._words[mine[left] + offset]
            equal[left] = word == other._words[others[left] + offset]

    def common_with_previous(self) -> I64:
        """How many leading bytes each row shares with the row before it; 0 for the first."""
        limit = np.zeros(len(self), np.int64)
        limit[1:] = np.minimum(self.length[1:], self.length[:-1])
        shared = limit.copy()
        left = np.arange(len(self), dtype=np.int64)
        number = 0
        while True:
            left = left[limit[left] > number * _WORD]
            if not left.size:
                return shared
            unlike = self._word(left, number) ^ self._word(left - 1, number)
            differ = unlike != 0
            lowest_bit = unlike[differ] & (~unlike[differ] + np.uint64(1))
            byte = np.log2(lowest_bit.astype(np.float64)).astype(np.int64) // _WORD
            rows = left[differ]
            shared[rows] = np.minimum(limit[rows], number * _WORD + byte)
            left = left[~differ]
            number += 1

    # --- numbering, looking up, sorting ---------------------------------------------------

    def intern(self) -> tuple[I64, I64]:
        """(id of each row, first row of each id); ids number distinct strings as they appear."""
        seed = _FIRST_SEED
        while True:
            _, first, inverse = np.unique(self.hashes(seed), return_index=True, return_inverse=True)
            again = np.flatnonzero(first[inverse] != np.arange(len(self)))
            if bool(self.same(again, self, first[inverse[again]]).all()):
                break
            seed = np.frombuffer(os.urandom(_WORD), np.uint64)[0]
        appear = np.argsort(first, kind="stable")
        number = np.empty_like(appear)
        number[appear] = np.arange(appear.size)
        return number[inverse].astype(np.int64), first[appear].astype(np.int64)

    @cached_property
    def index(self) -> Index:
        """The look-up table of a column whose rows are all different."""
        seed = _FIRST_SEED
        while True:
            hashes = self.hashes(seed)
            row = np.argsort(hashes, kind="stable")
            hashes = hashes[row]
            if not bool((hashes[1:] == hashes[:-1]).any()):
                return Index(seed, hashes, row)
            seed = np.frombuffer(os.urandom(_WORD), np.uint64)[0]

    def find(self, wanted: Strings) -> I64:
        """The row of each of *wanted* in this column of distinct strings; -1 where it is not."""
        if not len(self):
            return np.full(len(wanted), -1, np.int64)
        seed, hashes, row = self.index
        at = np.minimum(np.searchsorted(hashes, wanted.hashes(seed)), len(self) - 1)
        found: I64 = row[at]
        equal = wanted.same(np.arange(len(wanted)), self, found)
        return np.where(equal, found, -1)

    def rank(self) -> I64:
        """The place of each row in byte order."""
        rank = np.empty(len(self), np.int64)
        rank[self.order()] = np.arange(len(self))
        return rank

    def order(self) -> I64:
        """The rows in ascending order of their bytes; equal ones keep their order.

        Rows are sorted by their first word, then each run of ties by the next word, until no
        tie is left. A shorter string sorts before the longer one it begins.
        """
        rows = np.arange(len(self), dtype=np.int64)
        # `group` of a row: the position where its run of ties begins.
        group = np.zeros(len(self), np.int64)
        tied = np.arange(len(self), dtype=np.int64)
        number = 0
        while tied.size:
            members = rows[tied]
            word = self._word(members, number).byteswap()
            step = np.lexsort((self.length[members], word, group[tied]))
            members, word = members[step], word[step]
            rows[tied] = members
            length, before = self.length[members], group[tied]
            same = np.zeros(tied.size, np.bool_)
            same[1:] = (before[1:] == before[:-1]) & (word[1:] == word[:-1])
            # Equal so far, but one of the two has ended: the order is settled by length.
            past = (number + 1) * _WORD
            same[1:] &= (length[1:] == length[:-1]) | ((length[:-1] > past) & (length[1:] > past))
            heads = np.flatnonzero(~same)
            group[tied] = np.repeat(tied[heads], np.diff(np.append(heads, tied.size)))
            run = np.zeros(tied.size, np.bool_)
            run[1:] |= same[1:]
            run[:-1] |= same[1:]
            tied = tied[run & (length > past)]
            number += 1
        return rows
