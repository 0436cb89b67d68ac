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

from tfprof import wordwise
from tfprof.wordwise import I64, U8, U64, WORD, Bool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["I64", "U8", "U64", "Bool", "Index", "Strings"]

# Longer strings are rare, and Python hashes, compares and copies one of them faster.
_LONG = 1024
# Rows longer than this on average are told apart faster by Python than a word at a time.
_WORDY = 160
# Rows that fill less of their blob than one part in this many are copied before they are searched.
_SPARSE = 3
_FIRST_SEED = np.uint64(0x2545F4914F6CDD1D)


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

    @classmethod
    def beside(cls, columns: Sequence[Strings]) -> Strings:
        """Each row the rows of all *columns*, one behind the other; the blob holds nothing else."""
        length = np.zeros(len(columns[0]), np.int64)
        for column in columns:
            length += column.length
        start = np.cumsum(length) - length
        blob = np.empty(int(length.sum()), np.uint8)
        at, left = start.copy(), length
        for column in columns:
            left = left - column.length
            # What is still to come in every row may be written over until then.
            column.put(blob, at, spare=int(left.min(initial=WORD)))
            at += column.length
        return cls(blob, start, length)

    def __len__(self) -> int:
        return int(self.start.size)

    def __getitem__(self, row: int) -> bytes:
        begin = int(self.start[row])
        return self.blob[begin : begin + int(self.length[row])].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        """The rows as bytes objects, one after the other."""
        if not len(self):
            return
        end = self.start + self.length
        low, high = int(self.start.min()), int(end.max())
        if high - low > _SPARSE * int(self.length.sum()):
            view = self._view
            for first, last in zip(self.start.tolist(), end.tolist(), strict=True):
                yield bytes(view[first:last])
            return
        text = self.blob[low:high].tobytes()
        for first, last in zip((self.start - low).tolist(), (end - low).tolist(), strict=True):
            yield text[first:last]

    def texts(self) -> Iterator[str]:
        """The rows as text; bytes that are no UTF-8 survive a later encode the same way."""
        return (row.decode("utf-8", "surrogateescape") for row in self)

    def take(self, rows: I64 | Bool | slice) -> Strings:
        """The given rows, on the same blob."""
        return Strings(self.blob, self.start[rows], self.length[rows])

    def compact(self) -> Strings:
        """The same rows on a blob that holds nothing else, in row order."""
        start = np.cumsum(self.length) - self.length
        total = int(self.length.sum())
        if total == self.blob.size and bool((start == self.start).all()):
            return self
        blob = np.empty(total, np.uint8)
        self.put(blob, start)
        return Strings(blob, start, self.length)

    def put(self, blob: U8, at: I64, spare: int = 0) -> None:
        """Copy each row to where *at* says; *spare* bytes behind each need not be kept."""
        short = np.where(self.length > _LONG, 0, self.length)
        copy = wordwise.spill if spare >= WORD - 1 else wordwise.put
        copy(blob, at, self.blob, self.start, short)
        for row in np.flatnonzero(self.length > _LONG).tolist():
            target, source, size = int(at[row]), int(self.start[row]), int(self.length[row])
            blob[target : target + size] = self.blob[source : source + size]

    def before(self, byte: bytes) -> Strings:
        """Each row up to, not including, the first *byte* in it."""
        first = self.first(byte)
        return Strings(self.blob, self.start, np.where(first < 0, self.length, first))

    def without_first(self, byte: bytes) -> Strings:
        """Each row less one leading *byte* where it has one."""
        has = np.zeros(len(self), np.int64)
        some = np.flatnonzero(self.length)
        has[some] = self.blob[self.start[some]] == byte[0]
        return Strings(self.blob, self.start + has, self.length - has)

    def positions(self, byte: bytes) -> tuple[I64, I64]:
        """Where *byte* stands: (row, offset in the row) pairs in row order."""
        apart = self if self._is_dense() else self.compact()
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

    def _is_dense(self) -> bool:
        """Whether the rows stand in the blob in their order, apart, with little between them."""
        if not len(self):
            return True
        end = self.start + self.length
        apart = bool(np.all(end[:-1] <= self.start[1:]))
        return apart and int(end[-1] - self.start[0]) <= _SPARSE * int(self.length.sum())

    @cached_property
    def _view(self) -> memoryview:
        """The blob as what Python slices without a copy."""
        return memoryview(np.ascontiguousarray(self.blob))  # type: ignore[arg-type]

    # --- eight bytes at a time ------------------------------------------------------------

    @cached_property
    def _words(self) -> U64:
        return wordwise.words_of(self.blob)

    def _word(self, rows: I64, number: int) -> U64:
        """The *number*-th word of each of *rows*; what is past a row's end reads as zeros."""
        left = np.clip(self.length[rows] - number * WORD, 0, WORD)
        return wordwise.tails(self._words, self.start[rows] + number * WORD, left)

    def hashes(self, seed: np.uint64) -> U64:
        """A 64-bit hash a row."""
        result = np.empty(len(self), np.uint64)
        short = np.where(self.length > _LONG, 0, self.length)
        for rows in wordwise.chunks(len(self)):
            result[rows] = wordwise.hashes(self._words, self.start[rows], short[rows], seed)
        for row in np.flatnonzero(self.length > _LONG).tolist():
            result[row] = np.uint64(hash((int(seed), self[row])) & 0xFFFFFFFFFFFFFFFF)
        return result

    def first(self, byte: bytes) -> I64:
        """Where *byte* stands first in each row; -1 where it does not."""
        result = np.empty(len(self), np.int64)
        short = np.where(self.length > _LONG, 0, self.length)
        for rows in wordwise.chunks(len(self)):
            result[rows] = wordwise.first(self._words, self.start[rows], short[rows], byte[0])
        for row in np.flatnonzero(self.length > _LONG).tolist():
            result[row] = self[row].find(byte)
        return result

    def same(self, rows: I64, other: Strings, other_rows: I64) -> Bool:
        """Whether each row of *rows* equals its partner of *other_rows* in *other*."""
        length = self.length[rows]
        equal: Bool = length == other.length[other_rows]
        # Of those that are not of equal length, and of long ones, nothing is compared here.
        short = np.where(equal & (length <= _LONG), length, 0)
        mine, others = self.start[rows], other.start[other_rows]
        for part in wordwise.chunks(rows.size):
            equal[part] &= wordwise.equal(
                self._words, mine[part], other._words, others[part], short[part]
            )
        for at in np.flatnonzero(equal & (length > _LONG)).tolist():
            equal[at] = self[int(rows[at])] == other[int(other_rows[at])]
        return equal

    def common_with_previous(self) -> I64:
        """How many leading bytes each row shares with the row before it; 0 for the first."""
        limit = np.zeros(len(self), np.int64)
        limit[1:] = np.minimum(self.length[1:], self.length[:-1])
        shared = limit.copy()
        left = np.arange(len(self), dtype=np.int64)
        number = 0
        while True:
            left = left[limit[left] > number * WORD]
            if not left.size:
                return shared
            unlike = self._word(left, number) ^ self._word(left - 1, number)
            differ = unlike != 0
            rows = left[differ]
            byte = wordwise.lowest_byte(unlike[differ])
            shared[rows] = np.minimum(limit[rows], number * WORD + byte)
            left = left[~differ]
            number += 1

    # --- numbering, looking up, sorting ---------------------------------------------------

    def intern(self) -> tuple[I64, I64]:
        """(id of each row, first row of each id); ids number distinct strings as they appear."""
        if len(self) and int(self.length.sum()) > _WORDY * len(self):
            return self._intern_wordy()
        seed = _FIRST_SEED
        while True:
            hashes = self.hashes(seed)
            order = np.argsort(hashes)
            ordered = hashes[order]
            head = np.ones(len(self), np.bool_)
            head[1:] = ordered[1:] != ordered[:-1]
            heads = np.flatnonzero(head)
            first = np.minimum.reduceat(order, heads) if heads.size else heads
            group = np.empty(len(self), np.int64)
            group[order] = np.cumsum(head) - 1
            again = np.flatnonzero(first[group] != np.arange(len(self)))
            if bool(self.same(again, self, first[group[again]]).all()):
                break
            seed = np.frombuffer(os.urandom(WORD), np.uint64)[0]
        appear = np.argsort(first, kind="stable")
        number = np.empty_like(appear)
        number[appear] = np.arange(appear.size)
        return number[group], first[appear]

    def _intern_wordy(self) -> tuple[I64, I64]:
        number: dict[bytes, int] = {}
        ids = np.empty(len(self), np.int64)
        for begin in range(0, len(self), wordwise.CHUNK):
            rows = slice(begin, begin + wordwise.CHUNK)
            texts = self.take(rows)
            ids[rows] = [number.setdefault(text, len(number)) for text in texts]
        first = np.full(len(number), len(self), np.int64)
        np.minimum.at(first, ids, np.arange(len(self)))
        return ids, first

    @cached_property
    def index(self) -> Index:
        """The look-up table of a column whose rows are all different."""
        seed = _FIRST_SEED
        while True:
            hashes = self.hashes(seed)
            row = np.argsort(hashes)
            hashes = hashes[row]
            if not bool((hashes[1:] == hashes[:-1]).any()):
                return Index(seed, hashes, row)
            seed = np.frombuffer(os.urandom(WORD), np.uint64)[0]

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
            past = (number + 1) * WORD
            same[1:] &= (length[1:] == length[:-1]) | ((length[:-1] > past) & (length[1:] > past))
            heads = np.flatnonzero(~same)
            group[tied] = np.repeat(tied[heads], np.diff(np.append(heads, tied.size)))
            run = np.zeros(tied.size, np.bool_)
            run[1:] |= same[1:]
            run[:-1] |= same[1:]
            tied = tied[run & (length > past)]
            number += 1
        return rows
