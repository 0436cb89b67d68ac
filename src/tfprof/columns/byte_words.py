"""Operations on many slices of a blob at once, one eight-byte word per step.

    blob    conv1/weights…biases        start   [0, 16]        steps   conv1/we ights···
    words   the eight bytes from each offset on                        biases··

Slices are processed longest first, so those with words left are always a prefix, and in chunks
that stay in the CPU cache. NumPy gathers words at arbitrary offsets several times slower than
items of an array; so slices are grouped by their offset modulo eight, and for each group the blob
is viewed as an array of words from that byte on.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.foundation.named_tuples import NamedTuple
from tfprof.kernels.table import kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    I64 = NDArray[np.int64]
    U64 = NDArray[np.uint64]
    U8 = NDArray[np.uint8]
    Bool = NDArray[np.bool_]
else:  # numpy.typing takes longer to import than all of ours
    I64 = U64 = U8 = Bool = np.ndarray

WORD = 8
CHUNK = 1 << 15
# Fewer slices than this are faster processed as one group, at any offset.
_FEW = 1 << 12
_ANY_OFFSET = WORD  # the group of those, and of slices near the end of their blob
_SIZE_BITS = 11
# Bytes of a blob that are compared at a time.
_PART = 1 << 18
_LARGEST_SIZE = (1 << _SIZE_BITS) - 1

_MIX = np.uint64(0x9E3779B97F4A7C15)
_EVERY_BYTE = 0x0101010101010101
_LOWEST_BITS = np.uint64(_EVERY_BYTE)
_HIGHEST_BITS = np.uint64(_EVERY_BYTE << 7)
# The mask of the first n bytes of a word: words are little-endian, so the low ones.
_LOW_BYTES = np.array([(1 << (8 * count)) - 1 for count in range(WORD + 1)], np.uint64)


def words_of(blob: U8) -> U64:
    """The eight bytes at every offset of *blob*, little-endian; a view where possible."""
    if blob.size < WORD:
        blob = np.concatenate([blob, np.zeros(WORD, np.uint8)])
    blob = np.ascontiguousarray(blob)
    return np.ndarray((blob.size - WORD + 1,), "<u8", blob, 0, (1,))


def chunks(rows: int) -> Iterator[slice]:
    """The slices of rows that are processed together."""
    return (slice(first, first + CHUNK) for first in range(0, rows, CHUNK))


class _Words(NamedTuple):
    """The words of a blob; a step is from one word of a slice to the next."""

    items: NDArray[Any]
    step: int

    @classmethod
    def every(cls, blob: U8) -> _Words:
        """The words at every offset."""
        return cls(words_of(blob), WORD)

    @classmethod
    def each_eighth(cls, blob: U8, first: int) -> _Words:
        """The words at *first*, *first* + 8 and so on; void items need no alignment."""
        return cls(np.ndarray(((blob.size - first) // WORD,), "V8", blob, first), 1)

    def at(self, index: I64) -> U64:
        """The word at each index."""
        if self.step == WORD:
            every: U64 = self.items[index]
            return every
        return self.items.take(index).view(np.uint64)

    def somewhere(self, index: I64) -> U64:
        """The word at each index, even if it extends past the blob."""
        if self.step == WORD:
            return tails(self.items, index, np.full(index.size, WORD))
        return self.at(index)

    def tail(self, index: I64, left: I64) -> U64:
        """The first *left* bytes, at most eight, of the word at each index."""
        if self.step == WORD:
            return tails(self.items, index, left)
        word = self.items.take(index, mode="clip").view(np.uint64)
        word &= _LOW_BYTES[left]
        return word


class _Group(NamedTuple):
    """Slices that are processed together, longest first, and the index of their first words."""

    rows: I64
    size: I64
    words: _Words
    first_word: I64


def _groups(blob: U8, start: I64, length: I64) -> Iterator[_Group]:
    """All slices in groups; every slice is shorter than 2048 bytes."""
    blob = np.ascontiguousarray(blob)
    every = _Words.every(blob)
    for part in chunks(start.size):
        begin, size = start[part], length[part]
        if begin.size < _FEW:
            offset = np.full(begin.size, _ANY_OFFSET, np.uint16)
        else:
            offset = (begin & (WORD - 1)).astype(np.uint16)
            offset[begin + size > blob.size - WORD] = _ANY_OFFSET
        key = (offset << np.uint16(_SIZE_BITS)) | (_LARGEST_SIZE - size).astype(np.uint16)
        # NumPy radix-sorts uint16, many times faster than wider types.
        order = np.argsort(key, kind="stable")
        offsets = np.arange(WORD + 2, dtype=np.uint16) << np.uint16(_SIZE_BITS)
        edges = np.searchsorted(key[order], offsets)
        for number, (first, last) in enumerate(pairwise(edges.tolist())):
            if first == last:
                continue
            rows = order[first:last]
            if number == _ANY_OFFSET:
                words, index = every, begin[rows]
            else:
                words, index = _Words.each_eighth(blob, number), begin[rows] >> 3
            yield _Group(rows + part.start, size[rows], words, index)


def _words_at(blob: U8, start: I64) -> tuple[_Words, I64]:
    """(words, index of the first word of each slice that begins at *start*), in any order."""
    if blob.size and blob.size % WORD == 0 and not bool((start & (WORD - 1)).any()):
        return _Words.each_eighth(np.ascontiguousarray(blob), 0), start >> 3
    return _Words.every(blob), start


def tails(words: U64, at: I64, left: I64) -> U64:
    """The first *left* bytes, at most eight, of the word at each offset."""
    last = words.size - 1
    over = np.maximum(at - last, 0)
    word = words[np.minimum(at, last)]
    # Near the end of the blob these are the upper bytes of its last word.
    word >>= np.minimum(WORD * over, 63).astype(np.uint64)
    word &= _LOW_BYTES[left]
    return word


def mix(value: U64) -> U64:
    """A hash step: spreads every bit to all higher ones, and some of those back."""
    product = value * _MIX
    product ^= product >> np.uint64(29)
    return product


@kernel
def hashes(blob: U8, start: I64, length: I64, seed: np.uint64) -> U64:
    """A 64-bit hash of each slice."""
    result = np.empty(start.size, np.uint64)
    factor = seed | np.uint64(1)
    for rows, size, words, index in _groups(blob, start, length):
        mixed = size.astype(np.uint64) * factor ^ seed
        for count in _counts(size >> 3):
            mixed[:count] = _keyed_mix(words.at(index[:count]) ^ mixed[:count], factor)
            index[:count] += words.step
        result[rows] = _keyed_mix(mixed ^ words.tail(index, size & 7), factor)
    return result


def _keyed_mix(value: U64, factor: np.uint64) -> U64:
    """As `mix`, in place; which values collide depends on the *factor*."""
    # Without the first line, two words that differ in their highest bit alone differ in the same
    # bits for every factor, and a file can hold strings that always collide.
    value ^= value >> np.uint64(32)
    value *= factor
    value ^= value >> np.uint64(29)
    return value


@kernel
def equal(blob: U8, start: I64, other: U8, other_start: I64, length: I64) -> Bool:
    """Whether the slices at *start* and *other_start* are equal, for each pair."""
    result = np.empty(start.size, np.bool_)
    theirs, other_place = _words_at(other, other_start)
    for rows, size, words, index in _groups(blob, start, length):
        others = other_place[rows]
        differs = np.zeros(size.size, np.uint64)
        for count in _counts(size >> 3):
            differs[:count] |= words.at(index[:count]) ^ theirs.at(others[:count])
            index[:count] += words.step
            others[:count] += theirs.step
        left = size & 7
        differs |= words.tail(index, left) ^ theirs.tail(others, left)
        result[rows] = differs == 0
    return result


@kernel
def first(blob: U8, start: I64, length: I64, text: bytes) -> I64:
    """The offset of the first *text* in each slice; -1 if absent."""
    if len(text) > 1:
        slices = zip(start.tolist(), (start + length).tolist(), strict=True)
        found = (blob[begin:end].tobytes().find(text) for begin, end in slices)
        return np.fromiter(found, np.int64, start.size)
    result = np.empty(start.size, np.int64)
    wanted = np.uint64(text[0] * _EVERY_BYTE)
    for rows, size, words, index in _groups(blob, start, length):
        position = np.full(size.size, -1, np.int64)
        for number, count in enumerate(_counts((size + 7) >> 3)):
            unlike = words.somewhere(index[:count]) ^ wanted
            # After this, the lowest set bit of `alike` is in the lowest zero byte of `unlike`.
            alike = unlike - _LOWEST_BITS
            alike &= ~unlike
            alike &= _HIGHEST_BITS
            hit = np.flatnonzero(alike)
            hit = hit[position[hit] < 0]
            position[hit] = number * WORD + lowest_byte(alike[hit])
            index[:count] += words.step
        position[position >= size] = -1  # after the slice
        result[rows] = position
    return result


def count(blob: U8, byte: int) -> int:
    """How often *blob* has *byte*."""
    parts = (blob[first : first + _PART] for first in range(0, blob.size, _PART))
    return sum(int(np.count_nonzero(part == byte)) for part in parts)


def common(blob: U8, start: I64, limit: I64) -> None:
    """Lower each *limit* to the number of leading bytes shared with the slice before."""
    words, index = _words_at(blob, start)
    left = np.flatnonzero(limit)
    number = 0
    while left.size:
        at = index[left] + number * words.step
        before = index[left - 1] + number * words.step
        size = np.minimum(limit[left] - number * WORD, WORD)
        unlike = words.tail(at, size) ^ words.tail(before, size)
        differ = np.flatnonzero(unlike)
        limit[left[differ]] = number * WORD + lowest_byte(unlike[differ])
        number += 1
        left = left[(unlike == 0) & (limit[left] > number * WORD)]


def lowest_byte(word: U64) -> I64:
    """The index of the lowest nonzero byte of each word; no word is 0."""
    lowest_bit = word & (~word + np.uint64(1))
    return np.log2(lowest_bit.astype(np.float64)).astype(np.int64) // WORD


@kernel
def apart(blob: U8, start: I64, length: I64) -> tuple[U8, I64]:
    """(a blob of these slices at multiples of eight bytes, padded with 0xFF; their starts)."""
    size = (length + 7) >> 3
    at = np.cumsum(size) - size
    target = np.empty(int(size.sum()), np.uint64)
    for rows, size, words, index in _groups(blob, start, length):
        to = at[rows]
        for count in _counts(size >> 3):
            target[to[:count]] = words.at(index[:count])
            to[:count] += 1
            index[:count] += words.step
        left = size & 7
        rest = np.flatnonzero(left)
        target[to[rest]] = words.tail(index[rest], left[rest]) | ~_LOW_BYTES[left[rest]]
    return target.view(np.uint8), at << 3


@kernel
def put(blob: U8, at: I64, source: U8, start: I64, length: I64) -> None:
    """Copy each slice of *source* to offset *at* of *blob*."""
    rows = np.flatnonzero((length > 0) & (length < WORD))
    _put_bytes(blob, at[rows], source, start[rows], length[rows])
    rows = np.flatnonzero(length >= WORD)
    if rows.size:
        for part in chunks(rows.size):
            chunk = rows[part]
            _put_words(words_of(blob), at[chunk], words_of(source), start[chunk], length[chunk])


@kernel
def spill(blob: U8, at: I64, source: U8, start: I64, length: I64) -> None:
    """As `put`, in whole words: overwrites up to seven bytes after each slice with anything."""
    # These bytes must exist, and the caller must write them later.
    target, words = words_of(blob), words_of(source)
    last = words.size - 1
    for rows in chunks(length.size):
        by_length = _longest_first(length[rows])
        to, index = at[rows][by_length], start[rows][by_length]
        near_end = bool((index + length[rows][by_length] > last).any())
        for count in _counts(-(-length[rows][by_length] // WORD)):
            full = np.full(count, WORD) if near_end else None
            words_at = index[:count]
            target[to[:count]] = words[words_at] if full is None else tails(words, words_at, full)
            to[:count] += WORD
            index[:count] += WORD


def _put_bytes(blob: U8, at: I64, source: U8, start: I64, length: I64) -> None:
    index = 0
    while at.size:
        blob[at + index] = source[start + index]
        index += 1
        more = length > index
        at, start, length = at[more], start[more], length[more]


def _put_words(blob: U64, at: I64, source: U64, start: I64, length: I64) -> None:
    """As `_put_bytes`, eight at a time; the last word ends where the slice ends."""
    by_length = _longest_first(length)
    at, start, size = at[by_length], start[by_length], length[by_length]
    for number, count in enumerate(_counts(-(-size // WORD))):
        offset = np.minimum(number * WORD, size[:count] - WORD)
        blob[at[:count] + offset] = source[start[:count] + offset]


def _longest_first(length: I64) -> I64:
    """The rows by descending *length*, which is below 2^16."""
    # NumPy radix-sorts uint16, many times faster than wider types.
    return np.argsort(np.uint16(0xFFFF) - length.astype(np.uint16), kind="stable")


def _counts(words: I64) -> list[int]:
    """How many rows have a first word, a second one, and so on; *words* is descending."""
    most = int(words[0]) if words.size else 0
    counts: list[int] = np.searchsorted(-words, -np.arange(1, most + 1), "right").tolist()
    return counts
