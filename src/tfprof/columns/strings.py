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
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns import byte_words as wordwise
from tfprof.columns.byte_words import I64, U8, U64, WORD, Bool
from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["I64", "U8", "U64", "Bool", "Index", "Strings"]

# Longer strings are rare, and Python hashes, compares and copies one of them faster.
_LONG = 1024
# Rows longer than this on average are told apart faster by Python than a word at a time.
_WORDY = 160
# Rows that fill less of their blob than one part in this many are copied before they are searched.
_SPARSE = 3
# More hashes in one bucket than this are searched by halves.
_BUCKET_STEPS = 8
_PADDING = 0xFF
# So many bytes of text become bytes objects at a time.
_MOST_AT_A_TIME = 1 << 22
_LAST_HASH = np.uint64(0xFFFFFFFFFFFFFFFF)
_FIRST_SEED = np.uint64(0x2545F4914F6CDD1D)


class Index(NamedTuple):
    """The hashes of a column's distinct strings in ascending order, and a row of each."""

    seed: np.uint64
    hashes: U64  # and the largest number there is behind them
    row: I64
    shift: np.uint64
    bucket: I64  # where the hashes begin whose upper bits are 0, 1, 2 and so on

    @classmethod
    def of(cls, seed: np.uint64, hashes: U64, row: I64) -> Index:
        """That of these ascending *hashes*; there are about two buckets for each."""
        bits = row.size.bit_length() + 1
        shift = np.uint64(64 - bits)
        count = np.bincount((hashes >> shift).view(np.int64), minlength=1 << bits)
        return cls(seed, np.append(hashes, _LAST_HASH), row, shift, np.cumsum(count) - count)

    def candidates(self, wanted: U64) -> I64:
        """The one row whose string may have each of the *wanted* hashes."""
        at = self.bucket[(wanted >> self.shift).view(np.int64)]
        behind = np.flatnonzero(self.hashes[at] < wanted)
        for _ in range(_BUCKET_STEPS):
            if not behind.size:
                break
            at[behind] += 1
            behind = behind[self.hashes[at[behind]] < wanted[behind]]
        else:
            at[behind] = np.searchsorted(self.hashes, wanted[behind])
        return self.row[np.minimum(at, self.row.size - 1)]


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
        """The rows of all *parts* in a new blob, each at a multiple of eight bytes."""
        filled = [part for part in parts if len(part)]
        if len(filled) == 1:
            return filled[0].apart()
        pieces = [part.apart() for part in filled]
        offset = np.cumsum([0, *(part.blob.size for part in pieces)])
        return cls(
            np.concatenate([np.empty(0, np.uint8), *(part.blob for part in pieces)]),
            np.concatenate(
                [
                    np.empty(0, np.int64),
                    *(p.start + o for p, o in zip(pieces, offset, strict=False)),
                ]
            ),
            np.concatenate([np.empty(0, np.int64), *(part.length for part in pieces)]),
        )

    def apart(self) -> Strings:
        """The same rows on a blob of their own, each at a multiple of eight bytes."""
        if bool((self.length > _LONG).any()):
            padded = (self.length + WORD - 1) // WORD * WORD
            start = np.cumsum(padded) - padded
            blob = np.full(int(padded.sum()), _PADDING, np.uint8)
            self.put(blob, start)
        else:
            blob, start = wordwise.apart(self.blob, self.start, self.length)
        result = Strings(blob, start, self.length)
        if "index" in vars(self):  # it tells rows by what is in them, so it is that of both
            vars(result)["index"] = self.index
        return result

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
        """The rows as bytes objects, of which there are never many at a time."""
        until = np.cumsum(self.length)
        first = before = 0
        while first < len(self):
            last = int(np.searchsorted(until, before + _MOST_AT_A_TIME, "right"))
            last = min(max(last, first + 1), first + wordwise.CHUNK)
            yield from self.take(slice(first, last)).tolist()
            first, before = last, int(until[min(last, len(self)) - 1])

    def tolist(self) -> list[bytes]:
        """The rows as bytes objects."""
        if not len(self):
            return []
        end = self.start + self.length
        low, high = int(self.start.min()), int(end.max())
        if high - low > _SPARSE * int(self.length.sum()):
            view = self._view
            places = zip(self.start.tolist(), end.tolist(), strict=True)
            return [bytes(view[first:last]) for first, last in places]
        text = self.blob[low:high].tobytes()
        places = zip((self.start - low).tolist(), (end - low).tolist(), strict=True)
        return [text[first:last] for first, last in places]

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
        short = self._short
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
        start, end = apart.start[full], apart.start[full] + apart.length[full]
        low, high = int(start[0]), int(end[-1])
        found = np.flatnonzero(apart.blob[low:high] == byte[0]) + low
        # What stands between two rows is none of theirs.
        first, last = np.searchsorted(found, start), np.searchsorted(found, end)
        count = last - first
        at = np.repeat(full, count)
        before = np.cumsum(count) - count
        inside = found[np.arange(at.size) + np.repeat(first - before, count)]
        return at, inside - np.repeat(start, count)

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

    @property
    def _short(self) -> I64:
        """The length of each row, 0 in place of a long one's."""
        return self.length * (self.length <= _LONG)

    def hashes(self, seed: np.uint64) -> U64:
        """A 64-bit hash a row."""
        result = wordwise.hashes(self.blob, self.start, self._short, seed)
        for row in np.flatnonzero(self.length > _LONG).tolist():
            result[row] = np.uint64(hash((int(seed), self[row])) & 0xFFFFFFFFFFFFFFFF)
        return result

    def first(self, byte: bytes) -> I64:
        """Where *byte* stands first in each row; -1 where it does not."""
        result = wordwise.first(self.blob, self.start, self._short, byte[0])
        for row in np.flatnonzero(self.length > _LONG).tolist():
            result[row] = self[row].find(byte)
        return result

    def same(self, rows: I64, other: Strings, other_rows: I64) -> Bool:
        """Whether each row of *rows* equals its partner of *other_rows* in *other*."""
        length = self.length[rows]
        equal: Bool = length == other.length[other_rows]
        # Of those that are not of equal length, and of long ones, nothing is compared here.
        short = length * (equal & (length <= _LONG))
        equal &= wordwise.equal(
            self.blob, self.start[rows], other.blob, other.start[other_rows], short
        )
        for at in np.flatnonzero(equal & (length > _LONG)).tolist():
            equal[at] = self[int(rows[at])] == other[int(other_rows[at])]
        return equal

    def common_with_previous(self) -> I64:
        """How many leading bytes each row shares with the row before it; 0 for the first."""
        shared = np.zeros(len(self), np.int64)
        shared[1:] = np.minimum(self.length[1:], self.length[:-1])
        wordwise.common(self.blob, self.start, shared)
        return shared

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
        if first.size == len(self):
            vars(self).setdefault("index", Index.of(seed, ordered, order))
            return np.arange(len(self)), np.arange(len(self))
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
                return Index.of(seed, hashes, row)
            seed = np.frombuffer(os.urandom(WORD), np.uint64)[0]

    def find(self, wanted: Strings) -> I64:
        """The row of each of *wanted* in this column of distinct strings; -1 where it is not."""
        if not len(self):
            return np.full(len(wanted), -1, np.int64)
        index = self.index  # another thread may put one with another seed in its place
        found = index.candidates(wanted.hashes(index.seed))
        found[~wanted.same(np.arange(len(wanted)), self, found)] = -1
        return found

    def rank(self) -> I64:
        """The place of each row in byte order."""
        rank = np.empty(len(self), np.int64)
        rank[self.order()] = np.arange(len(self))
        return rank

    def order(self) -> I64:
        """The rows in ascending order of their bytes; equal ones keep their order."""
        # Names mostly come in runs that are in order, of which Python's sort makes use.
        rows = self.tolist()
        return np.array(sorted(range(len(rows)), key=rows.__getitem__), np.int64)


def clean_text(text: str) -> str:
    """*text* that can be written anywhere: bytes that are not UTF-8 are replaced."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
