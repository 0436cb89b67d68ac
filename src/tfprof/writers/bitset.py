"""Bitset: a set of small numbers that finds the next member at or after any number.

    level 1                          1 1 0 1        one bit per word of level 0: is it not zero?
    level 0   0110 0000 … 1000 … 0000 … 0001        one bit per number

A word has 64 bits, so a million numbers make four levels, and a search touches each level twice at
most.
"""

from __future__ import annotations

_SHIFT = 6
_MASK = (1 << _SHIFT) - 1


class Bitset:
    """A set of numbers below *size*; empty at first."""

    def __init__(self, size: int) -> None:
        self._levels: list[list[int]] = []
        while not self._levels or size > 1:
            size = (size + _MASK) >> _SHIFT
            self._levels.append([0] * size)

    def add(self, number: int) -> None:
        """Add *number*."""
        for words in self._levels:
            at = number >> _SHIFT
            was = words[at]
            words[at] = was | 1 << (number & _MASK)
            if was:
                return
            number = at

    def remove(self, number: int) -> None:
        """Remove *number*, which is a member."""
        for words in self._levels:
            at = number >> _SHIFT
            words[at] ^= 1 << (number & _MASK)
            if words[at]:
                return
            number = at

    def at_or_after(self, number: int) -> int:
        """The lowest member that is *number* or more; -1 where there is none."""
        for height, words in enumerate(self._levels):
            at = number >> _SHIFT
            if at >= len(words):
                return -1
            rest = words[at] >> (number & _MASK)
            if rest:
                number += _lowest(rest)
                for below in reversed(self._levels[:height]):
                    number = number << _SHIFT | _lowest(below[number])
                return number
            number = at + 1
        return -1


def _lowest(word: int) -> int:
    """The place of the lowest 1 bit of *word*."""
    return (word & -word).bit_length() - 1
