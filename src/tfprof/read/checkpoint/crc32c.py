"""CRC-32C at memory speed, without a table step a byte.

A checksum is the message, read as a polynomial over one bit, modulo a fixed polynomial P. P has
a multiple of four terms, so far in front of everything else stands a single power:

    x^6777  ≡  x^484 + x^100 + 1   (mod P),     and squared k times, with every exponent times 2^k

So the first bytes of a message may be taken away if they are XORed into three places behind them,
and the checksum stays the same. Where each unit is a word of 64 bits (k = 6) that is three XORs of
long runs; the same on bytes (k = 3) leaves at most 6,777 bytes. Their bits pick the powers of x
whose sum is the checksum.

    message ──words──► 54 kB ──bytes──► 7 kB ──bits──► 32 bits

Files store checksums masked: rotated and shifted by a constant, so that the checksum of bytes that
hold a checksum is no special number.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tfprof.columns.strings import U8

Units = TypeVar("Units", NDArray[np.uint64], NDArray[np.uint8])

# P with its bits reversed, x^32 left out: the first bit of a byte is its highest power.
_POLYNOMIAL = 0x82F63B78
_DEGREE = 6777
# How far behind a unit the three places stand; all units of one run lie in front of the first.
_PLACES = (_DEGREE - 484, _DEGREE - 100, _DEGREE)
_RUN = _PLACES[0]
_WORD = 8
# Four bytes in front of a message stand for the state of all ones that the checksum begins with.
_BEGIN = np.array([0x54, 0x64, 0x1F, 0x64], np.uint8)
# Bytes copied at a time, so that the checksum of a gigabyte needs no gigabyte.
_BLOCK = 1 << 20
_ALL_ONES = 0xFFFFFFFF
_MASK_DELTA = 0xA282EAD8


def crc32c(*pieces: U8) -> int:
    """The checksum of the bytes of all *pieces*, one after the other."""
    left = _BEGIN
    for data in pieces:
        for first in range(0, data.size, _BLOCK):
            left = _shorter(left, data[first : first + _BLOCK])
    left = _fold(left.copy())
    bits = np.unpackbits(left, bitorder="little")
    return int(np.bitwise_xor.reduce(bits * _powers()[-bits.size :])) ^ _ALL_ONES


def masked(checksum: int) -> int:
    """The checksum as files store it."""
    return ((checksum >> 15 | checksum << 17) + _MASK_DELTA) & _ALL_ONES


def _shorter(before: U8, data: U8) -> U8:
    """A short message with the checksum of *before* and *data*."""
    size = before.size + data.size
    # Zeros in front of a message are no power of x: they add nothing.
    message = np.concatenate([np.zeros(-size % _WORD, np.uint8), before, data])
    return _fold(message.view(np.uint64)).view(np.uint8)


def _fold(units: Units) -> Units:
    """The last units, with all units before them folded in; *units* is used up."""
    rest = max(units.size - _DEGREE, 0)
    for first in range(0, rest, _RUN):
        last = min(first + _RUN, rest)
        for place in _PLACES:
            target = units[first + place : last + place]
            np.bitwise_xor(target, units[first:last], out=target)
    return units[rest:]


@cache
def _powers() -> NDArray[np.uint32]:
    """…, x^33, x^32 modulo P: what the last bits of a message count for."""
    powers = np.empty(_WORD * _DEGREE, np.uint32)
    power = _POLYNOMIAL
    for number in range(_DEGREE):
        powers[number] = power
        power = power >> 1 ^ (_POLYNOMIAL if power & 1 else 0)
    for first in range(_DEGREE, powers.size, _RUN):
        last = min(first + _RUN, powers.size)
        terms = [powers[first - place : last - place] for place in _PLACES]
        powers[first:last] = terms[0] ^ terms[1] ^ terms[2]
    return powers[::-1].copy()
