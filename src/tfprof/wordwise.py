"""Byte strings eight bytes at a time: many slices of a blob advance together, a word a step.

    blob    conv1/weights…biases        start   [0, 16]        steps   conv1/we ights···
    words   the eight bytes from each offset on                        biases··

Slices are worked on longest first, so that those with a word left are always the first ones, and
a few thousand at a time, so that what is made of them stays in the processor's cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]
Bool = NDArray[np.bool_]

WORD = 8
CHUNK = 1 << 14

_MIX = np.uint64(0x9E3779B97F4A7C15)
_EVERY_BYTE = 0x0101010101010101
_LOWEST_BITS = np.uint64(_EVERY_BYTE)
# The first bytes of a word, by how many: words are little-endian, so the lower ones.
_LOW_BYTES = np.array([(1 << (8 * count)) - 1 for count in range(WORD + 1)], np.uint64)
_HIGHEST_BITS = _LOW_BYTES & np.uint64(_EVERY_BYTE << 7)
_LARGEST_SHORT = np.uint16(0xFFFF)


def words_of(blob: U8) -> U64:
    """The eight bytes at every offset of *blob*, little-endian; a view where it can be one."""
    if blob.size < WORD:
        blob = np.concatenate([blob, np.zeros(WORD, np.uint8)])
    blob = np.ascontiguousarray(blob)
    return np.ndarray((blob.size - WORD + 1,), "<u8", blob, 0, (1,))


def chunks(rows: int) -> Iterator[slice]:
    """Runs of rows that are worked on together."""
    return (slice(first, first + CHUNK) for first in range(0, rows, CHUNK))


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


def hashes(words: U64, start: I64, length: I64, seed: np.uint64) -> U64:
    """A 64-bit hash of each slice of a chunk."""
    by_length = _longest_first(length)
    at, size = start[by_length], length[by_length]
    mixed = size.astype(np.uint64) * _MIX ^ seed
    for count in _counts(size // WORD):
        mixed[:count] = mix(words[at[:count]] ^ mixed[:count])
        at[:count] += WORD
    result = np.empty_like(mixed)
    result[by_length] = mix(mixed ^ tails(words, at, size % WORD))
    return result


def equal(words: U64, start: I64, other: U64, other_start: I64, length: I64) -> Bool:
    """Whether each slice of a chunk is the same in both blobs."""
    by_length = _longest_first(length)
    mine, others, size = start[by_length], other_start[by_length], length[by_length]
    differs = np.zeros(size.size, np.uint64)
    for count in _counts(size // WORD):
        differs[:count] |= words[mine[:count]] ^ other[others[:count]]
        mine[:count] += WORD
        others[:count] += WORD
    left = size % WORD
    differs |= tails(words, mine, left) ^ tails(other, others, left)
    result = np.empty(size.size, np.bool_)
    result[by_length] = differs == 0
    return result


def first(words: U64, start: I64, length: I64, byte: int) -> I64:
    """Where *byte* stands first in each slice of a chunk; -1 where it does not."""
    by_length = _longest_first(length)
    at, size = start[by_length], length[by_length]
    wanted = np.uint64(byte * _EVERY_BYTE)
    position = np.full(size.size, -1, np.int64)
    for number, count in enumerate(_counts(-(-size // WORD))):
        left = np.minimum(size[:count] - number * WORD, WORD)
        unlike = tails(words, at[:count], left) ^ (wanted & _LOW_BYTES[left])
        # The lowest bit of what follows is in the lowest byte of `unlike` that is zero.
        alike = (unlike - _LOWEST_BITS) & ~unlike & _HIGHEST_BITS[left]
        hit = np.flatnonzero(alike)
        hit = hit[position[hit] < 0]
        position[hit] = number * WORD + lowest_byte(alike[hit])
        at[:count] += WORD
    result = np.empty_like(position)
    result[by_length] = position
    return result


def lowest_byte(word: U64) -> I64:
    """The number of the lowest byte that is not zero; of words that are not."""
    lowest_bit = word & (~word + np.uint64(1))
    return np.log2(lowest_bit.astype(np.float64)).astype(np.int64) // WORD


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
    return np.argsort(_LARGEST_SHORT - length.astype(np.uint16), kind="stable")


def _counts(words: I64) -> list[int]:
    """How many rows have a first word, a second one, and so on; *words* descend."""
    most = int(words[0]) if words.size else 0
    counts: list[int] = np.searchsorted(-words, -np.arange(1, most + 1), "right").tolist()
    return counts
