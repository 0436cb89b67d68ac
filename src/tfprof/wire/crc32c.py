"""CRC-32C at memory speed with NumPy, instead of one table lookup per byte.

A checksum is the message, as a polynomial over GF(2), modulo a fixed polynomial P. P divides a
polynomial with four terms, whose highest power is far above the others:

    x^6777  ≡  x^484 + x^100 + 1   (mod P),     and squared k times, with every exponent times 2^k

So the first bytes of a message can be removed if they are XORed into three places after them,
and the checksum stays the same. With units of 64 bits (k = 6) that is three XORs of long runs;
with bytes (k = 3) at most 6,777 bytes remain. Their bits select the powers of x whose sum is the
checksum.

    message ──words──► 54 kB ──bytes──► 7 kB ──bits──► 32 bits

Files store masked checksums: rotated, plus a constant, because the CRC of bytes that contain their
own CRC is a poor check.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tfprof.columns.strings import U8

Units = TypeVar("Units", NDArray[np.uint64], NDArray[np.uint8])

# P with its bits reversed, without x^32: the first bit of a byte is its highest power.
_POLYNOMIAL = 0x82F63B78
_DEGREE = 6777
# The distances from a unit to its three targets; a run of units ends before its first target.
_DISTANCES = (_DEGREE - 484, _DEGREE - 100, _DEGREE)
_RUN = _DISTANCES[0]
_WORD = 8
# Four bytes before a message that are equivalent to the initial state of all ones.
_BEGIN = np.array([0x54, 0x64, 0x1F, 0x64], np.uint8)
# Bytes copied at a time, so that a checksum does not need a copy of all data.
_BLOCK = 1 << 20
_ALL_ONES = 0xFFFFFFFF
_MASK_DELTA = 0xA282EAD8
_EIGHT_ZEROS = 0x8C28B28A  # the checksum of eight zero bytes


def crc32c(*pieces: U8) -> int:
    """The checksum of the concatenated *pieces*."""
    left = _BEGIN
    for data in pieces:
        for first in range(0, data.size, _BLOCK):
            block = data[first : first + _BLOCK]
            # Leading zeros do not change the polynomial.
            zeros = np.zeros(-(left.size + block.size) % _WORD, np.uint8)
            left = _fold(np.concatenate([zeros, left, block]).view(np.uint64)).view(np.uint8)
    left = _fold(left.copy())
    bits = np.unpackbits(left, bitorder="little")
    return int(np.bitwise_xor.reduce(bits * _powers()[-bits.size :])) ^ _ALL_ONES


def masked(checksum: int) -> int:
    """The checksum as files store it."""
    return ((checksum >> 15 | checksum << 17) + _MASK_DELTA) & _ALL_ONES


def crc32c_words(words: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The checksum of each word's eight bytes, masked as files store it."""
    table = _byte_tables()
    bytes_of = words.astype("<u8").view(np.uint8).reshape(-1, _WORD)
    checksum = np.full(words.size, _EIGHT_ZEROS, np.uint32)
    for place in range(_WORD):
        checksum ^= table[place][bytes_of[:, place]]
    rotated = checksum >> np.uint32(15) | checksum << np.uint32(17)
    return rotated + np.uint32(_MASK_DELTA)


@cache
def _byte_tables() -> NDArray[np.uint32]:
    """What a byte at each place of eight changes in the checksum; a zero changes nothing."""
    tables = np.empty((_WORD, 256), np.uint32)
    power = np.arange(256, dtype=np.uint32)
    for place in reversed(range(_WORD)):
        for _ in range(_WORD):
            power = power >> np.uint32(1) ^ np.where(power & np.uint32(1), _POLYNOMIAL, 0).astype(
                np.uint32
            )
        tables[place] = power
    return tables


def _fold(units: Units) -> Units:
    """The last units, with all earlier ones folded in; overwrites *units*."""
    rest = max(units.size - _DEGREE, 0)
    for first in range(0, rest, _RUN):
        last = min(first + _RUN, rest)
        for distance in _DISTANCES:
            target = units[first + distance : last + distance]
            np.bitwise_xor(target, units[first:last], out=target)
    return units[rest:]


@cache
def _powers() -> NDArray[np.uint32]:
    """…, x^33, x^32 modulo P: the contributions of the last bits of a message."""
    powers = np.empty(_WORD * _DEGREE, np.uint32)
    power = _POLYNOMIAL
    for number in range(_DEGREE):
        powers[number] = power
        power = power >> 1 ^ (_POLYNOMIAL if power & 1 else 0)
    for first in range(_DEGREE, powers.size, _RUN):
        last = min(first + _RUN, powers.size)
        terms = [powers[first - distance : last - distance] for distance in _DISTANCES]
        powers[first:last] = terms[0] ^ terms[1] ^ terms[2]
    return powers[::-1].copy()
