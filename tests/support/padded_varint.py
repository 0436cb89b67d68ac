"""Varints as nobody has to write them: in more bytes than they take."""

from __future__ import annotations


def varint(number: int, length: int = 1) -> bytes:
    """A number in as few bytes as it takes, or in *length* of them where that is more."""
    number &= 2**64 - 1
    digits: list[int] = []
    while number or len(digits) < length:
        digits.append(number & 127)
        number >>= 7
    return bytes([*(digit | 128 for digit in digits[:-1]), digits[-1]])
