"""Byte strings eight bytes at a time: many slices of a blob advance together, a word a step.

    blob    conv1/weights…biases        start   [0, 16]        steps   conv1/we ights···
    words   the eight bytes from each offset on                        biases··

Slices are worked on longest first, so that those with a word left are always the first ones, and
some thousand at a time, so that what is made of them stays in the processor's cache. NumPy gathers
words from any offset several times slower than items of an array; so slices are grouped by what
their offset leaves divided by eight, and the blob is, from that byte on, an array of such items.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]
Bool = NDArray[np.bool_]

WORD = 8
CHUNK = 1 << 15
# Fewer slices than this are faster worked on as one group, from any offset.
_FEW = 1 << 12
_ANY_OFFSET = WORD  # the group of those; also of slices too near to the end of their blob
_SIZE_BITS = 11
_LARGEST_SIZE = (1 << _SIZE_BITS) - 1

_MIX = np.uint64(0x9E3779B97F4A7C15)
_EVERY_BYTE = 0x0101010101010101
_LOWEST_BITS = np.uint64(_EVERY_BYTE)
_HIGHEST_BITS = np.uint64(_EVERY_BYTE << 7)
# The first bytes of a word, by how many: words are little-endian, so the lower ones.
_LOW_BYTES = np.array([(1 << (8 * count)) - 1 for count in range(WORD + 1)], np.uint64)


def words_of(blob: U8) -> U64:
    """The eight bytes at every offset of *blob*, little-endian; a view where it can be one."""
    if blob.size < WORD:
        blob = np.concatenate([blob, np.zeros(WORD, np.uint8)])
    blob = np.ascontiguousarray(blob)
    return np.ndarray((blob.size - WORD + 1,), "<u8", blob, 0, (1,))


def chunks(rows: int) -> Iterator[slice]:
    """Runs of rows that are worked on together."""
    return (slice(first, first + CHUNK) for first in range(0, rows, CHUNK))


class _Words(NamedTuple):
    """The words of a blob; a step is from one word of a slice to the next."""

    items: NDArray[Any]
    step: int

    @classmethod
    def every(cls, blob: U8) -> _Words:
        """Those at any offset."""
        return cls(words_of(blob), WORD)

    @classmethod
    def each_eighth(cls, blob: U8, first: int) -> _Words:
        """Those at *first*, *first* + 8 and so on; as items of no type, which need no alignment."""
        return cls(np.ndarray(((blob.size - first) // WORD,), "V8", blob, first), 1)

    def at(self, place: I64) -> U64:
        """The word at each place."""
        if self.step == WORD:
            every: U64 = self.items[place]
            return every
        return self.items.take(place).view(np.uint64)

    def somewhere(self, place: I64) -> U64:
        """The word at each place, also where it is not all in the blob."""
        if self.step == WORD:
            return tails(self.items, place, np.full(place.size, WORD))
        return self.at(place)

    def tail(self, place: I64, left: I64) -> U64:
        """The word at each place, with only the first *left* bytes of it, eight at most."""
        if self.step == WORD:
            return tails(self.items, place, left)
        word = self.items.take(place, mode="clip").view(np.uint64)
        word &= _LOW_BYTES[left]
        return word


class _Group(NamedTuple):
    """Slices that are worked on together, longest first, and the place of their first words."""

    rows: I64
    size: I64
    words: _Words
    place: I64


def _groups(blob: U8, start: I64, length: I64) -> Iterator[_Group]:
    """All slices in groups; each is shorter than 2048 bytes."""
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
        # Numbers of two bytes are sorted by counting, many times faster than longer ones.
        order = np.argsort(key, kind="stable")
        offsets = np.arange(WORD + 2, dtype=np.uint16) << np.uint16(_SIZE_BITS)
        edges = np.searchsorted(key[order], offsets)
        for number, (first, last) in enumerate(pairwise(edges.tolist())):
            if first == last:
                continue
            rows = order[first:last]
            if number == _ANY_OFFSET:
                words, place = every, begin[rows]
            else:
                words, place = _Words.each_eighth(blob, number), begin[rows] >> 3
            yield _Group(rows + part.start, size[rows], words, place)


def _words_at(blob: U8, start: I64) -> tuple[_Words, I64]:
    """(words, places) of slices that begin at *start*, in whatever order."""
    if blob.size and blob.size % WORD == 0 and not bool((start & (WORD - 1)).any()):
        return _Words.each_eighth(np.ascontiguousarray(blob), 0), start >> 3
    return _Words.every(blob), start


def tails(words: U64, at: I64, left: I64) -> U64:
    """The word at each place, with only the first *left* bytes of it, eight at most."""
    last = words.size - 1
    over = np.maximum(at - last, 0)
    word = words[np.minimum(at, last)]
    # Near the end of the blob the bytes wanted are the upper ones of its last word.
    word >>= np.minimum(WORD * over, 63).astype(np.uint64)
    word &= _LOW_BYTES[left]
    return word


def mix(value: U64) -> U64:
    """Every bit of *value* spread over all that are higher, and some of those back again."""
    product = value * _MIX
    product ^= product >> np.uint64(29)
    return product


def hashes(blob: U8, start: I64, length: I64, seed: np.uint64) -> U64:
    """A 64-bit hash of each slice."""
    result = np.empty(start.size, np.uint64)
    for rows, size, words, place in _groups(blob, start, length):
        mixed = size.astype(np.uint64) * _MIX ^ seed
        for count in _counts(size >> 3):
            mixed[:count] = mix(words.at(place[:count]) ^ mixed[:count])
            place[:count] += words.step
        result[rows] = mix(mixed ^ words.tail(place, size & 7))
    return result


def equal(blob: U8, start: I64, other: U8, other_start: I64, length: I64) -> Bool:
    """Whether each slice is the same in both blobs."""
    result = np.empty(start.size, np.bool_)
    theirs, other_place = _words_at(other, other_start)
    for rows, size, words, place in _groups(blob, start, length):
        others = other_place[rows]
        differs = np.zeros(size.size, np.uint64)
        for count in _counts(size >> 3):
            differs[:count] |= words.at(place[:count]) ^ theirs.at(others[:count])
            place[:count] += words.step
            others[:count] += theirs.step
        left = size & 7
        differs |= words.tail(place, left) ^ theirs.tail(others, left)
        result[rows] = differs == 0
    return result


def first(blob: U8, start: I64, length: I64, byte: int) -> I64:
    """Where *byte* stands first in each slice; -1 where it does not."""
    result = np.empty(start.size, np.int64)
    wanted = np.uint64(byte * _EVERY_BYTE)
    for rows, size, words, place in _groups(blob, start, length):
        position = np.full(size.size, -1, np.int64)
        for number, count in enumerate(_counts((size + 7) >> 3)):
            unlike = words.somewhere(place[:count]) ^ wanted
            # The lowest bit of what follows is in the lowest byte of `unlike` that is zero.
            alike = unlike - _LOWEST_BITS
            alike &= ~unlike
            alike &= _HIGHEST_BITS
            hit = np.flatnonzero(alike)
            hit = hit[position[hit] < 0]
            position[hit] = number * WORD + lowest_byte(alike[hit])
            place[:count] += words.step
        position[position >= size] = -1  # behind the slice
        result[rows] = position
    return result


def common(blob: U8, start: I64, limit: I64) -> None:
    """Lower each *limit* to the number of leading bytes that a slice shares with the one before."""
    words, place = _words_at(blob, start)
    left = np.flatnonzero(limit)
    number = 0
    while left.size:
        at = place[left] + number * words.step
        before = place[left - 1] + number * words.step
        size = np.minimum(limit[left] - number * WORD, WORD)
        unlike = words.tail(at, size) ^ words.tail(before, size)
        differ = np.flatnonzero(unlike)
        limit[left[differ]] = number * WORD + lowest_byte(unlike[differ])
        number += 1
        left = left[(unlike == 0) & (limit[left] > number * WORD)]


def lowest_byte(word: U64) -> I64:
    """The number of the lowest byte that is not zero; of words that are not."""
    lowest_bit = word & (~word + np.uint64(1))
    return np.log2(lowest_bit.astype(np.float64)).astype(np.int64) // WORD


def apart(blob: U8, start: I64, length: I64) -> tuple[U8, I64]:
    """(a blob with these slices, where they begin): each at a multiple of eight bytes.

    What is between them is 0xFF.
    """
    size = (length + 7) >> 3
    at = np.cumsum(size) - size
    target = np.empty(int(size.sum()), np.uint64)
    for rows, size, words, place in _groups(blob, start, length):
        to = at[rows]
        for count in _counts(size >> 3):
            target[to[:count]] = words.at(place[:count])
            to[:count] += 1
            place[:count] += words.step
        left = size & 7
        rest = np.flatnonzero(left)
        target[to[rest]] = words.tail(place[rest], left[rest]) | ~_LOW_BYTES[left[rest]]
    return target.view(np.uint8), at << 3


def put(blob: U8, at: I64, source: U8, start: I64, length: I64) -> None:
    """Copy each slice of *source* to where *at* says in *blob*."""
    rows = np.flatnonzero((length > 0) & (length < WORD))
    _put_bytes(blob, at[rows], source, start[rows], length[rows])
    rows = np.flatnonzero(length >= WORD)
    if rows.size:
        for part in chunks(rows.size):
            some = rows[part]
            _put_words(words_of(blob), at[some], words_of(source), start[some], length[some])


def spill(blob: U8, at: I64, source: U8, start: I64, length: I64) -> None:
    """As `put`, whole words at a time: up to seven bytes behind each slice become anything.

    These bytes must be there, and whoever calls writes them later.
    """
    target, words = words_of(blob), words_of(source)
    last = words.size - 1
    for rows in chunks(length.size):
        by_length = _longest_first(length[rows])
        to, place = at[rows][by_length], start[rows][by_length]
        near_end = bool((place + length[rows][by_length] > last).any())
        for count in _counts(-(-length[rows][by_length] // WORD)):
            whole = np.full(count, WORD) if near_end else None
            some = place[:count]
            target[to[:count]] = words[some] if whole is None else tails(words, some, whole)
            to[:count] += WORD
            place[:count] += WORD


def _put_bytes(blob: U8, at: I64, source: U8, start: I64, length: I64) -> None:
    place = 0
    while at.size:
        blob[at + place] = source[start + place]
        place += 1
        more = length > place
        at, start, length = at[more], start[more], length[more]


def _put_words(blob: U64, at: I64, source: U64, start: I64, length: I64) -> None:
    """As `_put_bytes`, eight at a time; the last eight are the last of the slice."""
    by_length = _longest_first(length)
    at, start, size = at[by_length], start[by_length], length[by_length]
    for number, count in enumerate(_counts(-(-size // WORD))):
        offset = np.minimum(number * WORD, size[:count] - WORD)
        blob[at[:count] + offset] = source[start[:count] + offset]


def _longest_first(length: I64) -> I64:
    """The rows in descending order of their *length*, which is below 2^16."""
    # Numbers of two bytes are sorted by counting, many times faster than longer ones.
    return np.argsort(np.uint16(0xFFFF) - length.astype(np.uint16), kind="stable")


def _counts(words: I64) -> list[int]:
    """How many rows have a first word, a second one, and so on; *words* descend."""
    most = int(words[0]) if words.size else 0
    counts: list[int] = np.searchsorted(-words, -np.arange(1, most + 1), "right").tolist()
    return counts
