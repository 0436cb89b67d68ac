"""A gzip file unpacked as it is read: of what is packed, only a piece is ever held.

It may have several members, one behind the other, as parallel packers write them, and zeros behind
the last, as tapes do. How long it is unpacked is not known before: its own word for it ends at
four gigabytes.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.strings import U8

MAGIC = b"\x1f\x8b"
# Packed a thousandfold, as zeros are, a piece of this size is 64 MB.
_PIECE = 1 << 16
_HEADER_AND_TRAILER = 31  # for zlib, with its widest window


class GzipError(ValueError):
    """What is wrong with the file, as a part of a sentence."""


def unpacked(packed: U8, told: Callable[[int], None] = lambda _: None) -> U8:
    """The bytes inside; *told* is given how many packed ones are read. Raises GzipError."""
    data = memoryview(packed)  # type: ignore[arg-type]  # arrays are buffers; typeshed cannot say so
    made = bytearray()
    at = 0
    while at < len(data):
        if at and not data[at]:
            at = _past_zeros(packed, at)
            continue
        if bytes(data[at : at + 2]) != MAGIC:
            raise GzipError(f"what follows byte {at} is no part of it")
        at = _member(data, at, made, told)
    return np.frombuffer(made, np.uint8)


def _member(data: memoryview, at: int, made: bytearray, told: Callable[[int], None]) -> int:
    """Unpack the member at *at* behind what is *made*; where it ends."""
    unpacker = zlib.decompressobj(_HEADER_AND_TRAILER)
    while not unpacker.eof:
        if at >= len(data):
            raise GzipError("it is cut off")
        try:
            made += unpacker.decompress(data[at : at + _PIECE])
        except zlib.error as problem:
            raise GzipError(str(problem)) from None
        at = min(at + _PIECE, len(data)) - len(unpacker.unused_data)
        told(at)
    return at


def _past_zeros(packed: U8, at: int) -> int:
    """Where the zeros that begin at *at* end."""
    for first in range(at, packed.size, _PIECE):
        others = np.flatnonzero(packed[first : first + _PIECE])
        if others.size:
            return first + int(others[0])
    return int(packed.size)
