"""A column of byte strings: slices of one blob, without a Python object per row.

    blob    …conv1/weightsconv1/biases…        start  [1, 14]    length  [13, 12]

Slices may overlap or repeat, so taking rows, cutting suffixes and naming parent scopes copy no
text. Columns are processed eight bytes at a time: `intern` gives equal strings the same id, `find`
looks one column up in another, `order` sorts by bytes.

Equality never relies on a hash alone: every match is compared byte for byte, and if two different
strings of a column have the same hash, the column is hashed again with another seed.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns import byte_words
from tfprof.columns.byte_words import I64, U8, U64, WORD, Bool
from tfprof.columns.mapped_pages import release_pages
from tfprof.columns.string_index import Index
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.kernels.table import KERNELS, kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["I64", "U8", "U64", "Bool", "Strings"]

# Longer strings are rare; Python hashes, compares and copies them faster.
_LONG = 1024
# Of a larger blob, pages are freed behind a search.
_LARGE = 1 << 22
# With fewer rows than this, or a longer average row, Python interns faster.
_FEW, _WORDY = 32, 160
# Rows that fill less than 1/_SPARSE of their blob are copied before they are searched.
_SPARSE = 3
_PADDING = 0xFF
# Bytes of text that become bytes objects at a time.
_MOST_AT_A_TIME = 1 << 22
FIRST_SEED = np.uint64(0x2545F4914F6CDD1D)


@dataclass(frozen=True, eq=False)
class Strings:
    """Rows of bytes; all columns cut from this one share its `blob`."""

    blob: U8
    start: I64
    length: I64

    @classmethod
    def of(cls, rows: Iterable[bytes]) -> Strings:
        """A column of *rows*."""
        rows = list(rows)
        length = np.fromiter(map(len, rows), np.int64, len(rows))
        blob = np.frombuffer(b"".join(rows), np.uint8)
        return cls(blob, np.cumsum(length) - length, length)

    @classmethod
    def concat(cls, parts: Iterable[Strings]) -> Strings:
        """The rows of all *parts* in a new blob, each at a multiple of eight bytes."""
        nonempty = [part for part in parts if len(part)]
        if len(nonempty) == 1:
            return nonempty[0].apart()
        pieces = [part.apart() for part in nonempty]
        offset = np.cumsum([0, *(part.blob.size for part in pieces)])
        none, starts = np.empty(0, np.int64), zip(pieces, offset, strict=False)
        result = cls(
            np.concatenate([np.empty(0, np.uint8), *(part.blob for part in pieces)]),
            np.concatenate([none, *(part.start + at for part, at in starts)]),
            np.concatenate([none, *(part.length for part in pieces)]),
        )
        vars(result)["is_apart"] = True
        return result

    def apart(self) -> Strings:
        """The same rows on a blob of their own, each at a multiple of eight bytes."""
        if "is_apart" in vars(self):
            return self
        if bool((self.length > _LONG).any()):
            padded = (self.length + WORD - 1) // WORD * WORD
            start = np.cumsum(padded) - padded
            blob = np.full(int(padded.sum()), _PADDING, np.uint8)
            self.put(blob, start)
        else:
            blob, start = byte_words.apart(self.blob, self.start, self.length)
        result = Strings(blob, start, self.length)
        vars(result)["is_apart"] = True
        if "index" in vars(self):  # the rows have the same content, so the index fits both
            vars(result)["index"] = self.index
        return result

    @classmethod
    def beside(cls, columns: Sequence[Strings]) -> Strings:
        """The *columns* joined row by row; the blob holds nothing else."""
        length = np.zeros(len(columns[0]), np.int64)
        for column in columns:
            length += column.length
        start = np.cumsum(length) - length
        blob = np.empty(int(length.sum()), np.uint8)
        at, left = start.copy(), length
        for column in columns:
            left = left - column.length
            # The bytes of later columns may be overwritten until they are copied.
            column.put(blob, at, spare=int(left.min(initial=WORD)))
            at += column.length
        return cls(blob, start, length)

    def __len__(self) -> int:
        return int(self.start.size)

    def __getitem__(self, row: int) -> bytes:
        begin = int(self.start[row])
        return self.blob[begin : begin + int(self.length[row])].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        """The rows as bytes objects, created in batches."""
        until = np.cumsum(self.length)
        first = before = 0
        while first < len(self):
            last = int(np.searchsorted(until, before + _MOST_AT_A_TIME, "right"))
            last = min(max(last, first + 1), first + byte_words.CHUNK)
            yield from self.take(slice(first, last)).tolist()
            first, before = last, int(until[min(last, len(self)) - 1])

    def tolist(self) -> list[bytes]:
        """The rows as bytes objects."""
        if not len(self):
            return []
        end = self.start + self.length
        low, high = int(self.start.min()), int(end.max())
        if high - low > _SPARSE * int(self.length.sum()):
            return self.compact().tolist()
        text = self.blob[low:high].tobytes()
        spans = zip((self.start - low).tolist(), (end - low).tolist(), strict=True)
        return [text[first:last] for first, last in spans]

    def texts(self) -> Iterator[str]:
        """The rows as str; invalid UTF-8 survives encoding with surrogateescape."""
        return (row.decode("utf-8", "surrogateescape") for row in self)

    def take(self, rows: I64 | Bool | slice) -> Strings:
        """These rows, on the same blob."""
        return Strings(self.blob, self.start[rows], self.length[rows])

    def where(self, kept: Bool) -> Strings:
        """The rows that are *kept*; the others are empty."""
        return Strings(self.blob, self.start, self.length * kept)

    def distinct(self) -> Strings:
        """The different rows, in order of first appearance."""
        return self.take(self.intern()[1])

    def mapped(self, change: Callable[[bytes], bytes]) -> Strings:
        """What *change* makes of each row; it is called once per different row."""
        ids, first = self.intern()
        return Strings.of(map(change, self.take(first))).take(ids)

    def which(self, test: Callable[[bytes], object]) -> Bool:
        """Whether each row passes *test*, which is called once per different row."""
        ids, first = self.intern()
        return np.array([bool(test(row)) for row in self.take(first)], np.bool_)[ids]

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
        """Copy each row to offset *at* of *blob*; *spare* bytes after it may be overwritten."""
        copy = byte_words.spill if spare >= WORD - 1 else byte_words.put
        copy(blob, at, self.blob, self.start, self._short)
        for row in np.flatnonzero(self.length > _LONG).tolist():
            target, source, size = int(at[row]), int(self.start[row]), int(self.length[row])
            blob[target : target + size] = self.blob[source : source + size]

    def before(self, byte: bytes) -> Strings:
        """Each row up to, not including, the first *byte* in it."""
        first = self.first(byte)
        return Strings(self.blob, self.start, np.where(first < 0, self.length, first))

    def around(self) -> Strings:
        """The rows up to their last slash: the scopes of names; nothing where they have none."""
        row, offset = self.positions(b"/")
        length = np.zeros(len(self), np.int64)
        length[row] = offset  # of a row's slashes the last is written last
        return Strings(self.blob, self.start, length)

    def without_first(self, byte: bytes) -> Strings:
        """Each row without its leading *byte*, if it has one."""
        if self.length.all():
            has = self.blob.take(self.start) == byte[0]
        else:
            has, nonempty = np.zeros(len(self), np.bool_), np.flatnonzero(self.length)
            has[nonempty] = self.blob[self.start[nonempty]] == byte[0]
        return Strings(self.blob, self.start + has, self.length - has)

    def positions(self, byte: bytes) -> tuple[I64, I64]:
        """(row, offset in the row) of every *byte*, in row order."""
        dense = self if self._is_dense() else self.compact()
        nonempty = np.flatnonzero(dense.length)
        if not nonempty.size:
            return nonempty, nonempty
        start, end = dense.start[nonempty], dense.start[nonempty] + dense.length[nonempty]
        low, high = int(start[0]), int(end[-1])
        hits = np.flatnonzero(dense.blob[low:high] == byte[0]) + low
        # Hits between two rows belong to neither.
        first, last = np.searchsorted(hits, start), np.searchsorted(hits, end)
        count = last - first
        row = np.repeat(nonempty, count)
        before = np.cumsum(count) - count
        inside = hits[np.arange(row.size) + np.repeat(first - before, count)]
        return row, inside - np.repeat(start, count)

    def _is_dense(self) -> bool:
        """Whether the rows are in blob order, do not overlap, and have small gaps."""
        if not len(self):
            return True
        end = self.start + self.length
        apart = bool(np.all(end[:-1] <= self.start[1:]))
        return apart and int(end[-1] - self.start[0]) <= _SPARSE * int(self.length.sum())

    # --- eight bytes at a time ------------------------------------------------------------

    @property
    def _short(self) -> I64:
        """The length of each row; 0 for long ones."""
        return self.length * (self.length <= _LONG)

    def hashes(self, seed: np.uint64) -> U64:
        """A 64-bit hash of each row."""
        result = byte_words.hashes(self.blob, self.start, self._short, seed)
        for row in np.flatnonzero(self.length > _LONG).tolist():
            result[row] = np.uint64(hash((int(seed), self[row])) & 0xFFFFFFFFFFFFFFFF)
        return result

    def first(self, text: bytes) -> I64:
        """The offset of the first *text*, which is not empty, in each row; -1 if absent."""
        result = byte_words.first(self.blob, self.start, self._short, text)
        for row in np.flatnonzero(self.length > _LONG).tolist():
            result[row] = self[row].find(text)
        return result

    def same(self, rows: I64, other: Strings, other_rows: I64) -> Bool:
        """Whether each of *rows* equals the matching one of *other_rows* in *other*."""
        length = self.length[rows]
        equal: Bool = length == other.length[other_rows]
        # Length 0, so nothing is compared, for rows of unequal length and for long ones.
        short = length * (equal & (length <= _LONG))
        equal &= byte_words.equal(
            self.blob, self.start[rows], other.blob, other.start[other_rows], short
        )
        for at in np.flatnonzero(equal & (length > _LONG)).tolist():
            equal[at] = self[int(rows[at])] == other[int(other_rows[at])]
        return equal

    def common_with_previous(self) -> I64:
        """How many leading bytes each row shares with the row before it; 0 for the first."""
        shared = np.zeros(len(self), np.int64)
        shared[1:] = np.minimum(self.length[1:], self.length[:-1])
        byte_words.common(self.blob, self.start, shared)
        return shared

    # --- interning, lookup, sorting -------------------------------------------------------

    def intern(self) -> tuple[I64, I64]:
        """(id of each row, first row of each id); ids are in order of first appearance."""
        ids, first, index = intern_slices(self.blob, self.start, self.length)
        if index is not None and first.size == len(self):
            vars(self).setdefault("index", index)
        return ids, first

    @cached_property
    def index(self) -> object:
        """The lookup table of a column of distinct strings."""
        return index_slices(self.blob, self.start, self.length)

    def find(self, wanted: Strings) -> I64:
        """The row of each of *wanted* in this column of distinct strings; -1 if absent."""
        if not len(self):
            return np.full(len(wanted), -1, np.int64)
        rows = np.empty(len(wanted), np.int64)
        for part in byte_words.chunks(len(wanted)):
            chunk = wanted.take(part)
            rows[part] = find_slices(self, self.index, chunk)
            if wanted.blob.size > _LARGE and len(chunk):
                begin, last = int(chunk.start[0]), int(chunk.start[-1])
                release_pages(wanted.blob, begin, last)
        return rows

    def rank(self) -> I64:
        """The position of each row in byte order."""
        rank = np.empty(len(self), np.int64)
        rank[self.order()] = np.arange(len(self))
        return rank

    def order(self) -> I64:
        """The rows in ascending order of their bytes; equal ones keep their order."""
        return order_slices(self.blob, self.start, self.length)


# --- the kernels behind them --------------------------------------------------------------


@kernel
def intern_slices(blob: U8, start: I64, length: I64) -> tuple[I64, I64, object]:
    """(id of each slice, first row of each id, the index of the slices if they all differ)."""
    rows = Strings(blob, start, length)
    if len(rows) <= _FEW or int(length.sum()) > _WORDY * len(rows):
        return (*_intern_one_by_one(rows), None)
    return _intern_by_hash(rows)


def _intern_by_hash(rows: Strings) -> tuple[I64, I64, Index | None]:
    seed = FIRST_SEED
    while True:
        hashes = rows.hashes(seed)
        order = np.argsort(hashes)
        ordered = hashes[order]
        head = np.ones(len(rows), np.bool_)
        head[1:] = ordered[1:] != ordered[:-1]
        heads = np.flatnonzero(head)
        first = np.minimum.reduceat(order, heads) if heads.size else heads
        group = np.empty(len(rows), np.int64)
        group[order] = np.cumsum(head) - 1
        again = np.flatnonzero(first[group] != np.arange(len(rows)))
        if bool(rows.same(again, rows, first[group[again]]).all()):
            break
        seed = np.frombuffer(os.urandom(WORD), np.uint64)[0]
    if first.size == len(rows):
        return np.arange(len(rows)), np.arange(len(rows)), Index.of(seed, ordered, order)
    appear = np.argsort(first, kind="stable")
    number = np.empty_like(appear)
    number[appear] = np.arange(appear.size)
    return number[group], first[appear], None


def _intern_one_by_one(rows: Strings) -> tuple[I64, I64]:
    number: dict[bytes, int] = {}
    each = (number.setdefault(text, len(number)) for text in rows)
    ids = np.fromiter(each, np.int64, len(rows))
    first = np.full(len(number), len(rows), np.int64)
    np.minimum.at(first, ids, np.arange(len(rows)))
    return ids, first


@kernel
def index_slices(blob: U8, start: I64, length: I64) -> object:
    """The index of these different slices."""
    rows, seed = Strings(blob, start, length), FIRST_SEED
    while True:
        hashes = rows.hashes(seed)
        row = np.argsort(hashes)
        hashes = hashes[row]
        if not bool((hashes[1:] == hashes[:-1]).any()):
            return Index.of(seed, hashes, row)
        seed = np.frombuffer(os.urandom(WORD), np.uint64)[0]


@kernel
def find_slices(known: Strings, index: object, wanted: Strings) -> I64:
    """The row of each of *wanted* among the *known* with this index; -1 if absent."""
    if not isinstance(index, Index):  # of the compiled core, which leaves these strings to us
        index = KERNELS["index_slices"].reference(known.blob, known.start, known.length)
    assert isinstance(index, Index)
    rows = index.candidates(wanted.hashes(index.seed))
    rows[~wanted.same(np.arange(len(wanted)), known, rows)] = -1
    return rows


@kernel
def order_slices(blob: U8, start: I64, length: I64) -> I64:
    """The rows in ascending order of their bytes; equal ones keep their order."""
    # Names mostly come in sorted runs, which Python's sort exploits.
    rows = Strings(blob, start, length).tolist()
    return np.array(sorted(range(len(rows)), key=rows.__getitem__), np.int64)


def clean_text(text: str) -> str:
    """*text* that can be written anywhere: bytes that are not UTF-8 are replaced."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
