"""A gzip file unpacked as it is read: of what is packed, only a piece is ever held.

It may have several members, one behind the other, as parallel packers write them, and zeros behind
the last, as tapes do. How long it is unpacked is not known before: its own word for it ends at
four gigabytes. What unpacks to far more than any profile does is not unpacked to its end.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from tfprof.tables.limits import beyond, unpacked_most

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.columns.strings import U8

MAGIC = b"\x1f\x8b"
# Packed a thousandfold, as zeros are, a piece of this size is 64 MB.
_PIECE = 1 << 16
_HEADER_AND_TRAILER = 31  # for zlib, with its widest window


class GzipError(ValueError):
    """What is wrong with the file, as the rest of a sentence that begins with its name."""


def unpacked(packed: U8, told: Callable[[int], None] = lambda _: None) -> U8:
    """The bytes inside; *told* is given how many packed ones are read. Raises GzipError."""
    data = memoryview(packed)  # type: ignore[arg-type]  # arrays are buffers; typeshed cannot say so
    most = unpacked_most(len(data))
    made = bytearray()
    at = 0
    while at < len(data):
        if at and not data[at]:
            at = _past_zeros(packed, at)
            continue
        if bytes(data[at : at + 2]) != MAGIC:
            raise _damaged(f"what follows byte {at} is no part of it")
        for after, piece in _member(data, at):
            made += piece
            if len(made) > most:
                raise GzipError(
                    f"unpacks to far more than a profile does: {len(made):,} bytes by byte "
                    f"{after:,} of {len(data):,}; tfprof accepts {beyond('unpack_ratio')}"
                )
            told(after)
            at = after
    return np.frombuffer(made, np.uint8)


def _member(data: memoryview, at: int) -> Iterator[tuple[int, bytes]]:
    """The pieces of the member at *at*, unpacked, each with where what was packed ends."""
    unpacker = zlib.decompressobj(_HEADER_AND_TRAILER)
    while not unpacker.eof:
        if at >= len(data):
            raise _damaged("it is cut off")
        try:
            piece = unpacker.decompress(data[at : at + _PIECE])
        except zlib.error as problem:
            raise _damaged(str(problem)) from None
        at = min(at + _PIECE, len(data)) - len(unpacker.unused_data)
        yield at, piece


def _past_zeros(packed: U8, at: int) -> int:
    """Where the zeros that begin at *at* end."""
    for first in range(at, packed.size, _PIECE):
        others = np.flatnonzero(packed[first : first + _PIECE])
        if others.size:
            return first + int(others[0])
    return int(packed.size)


def _damaged(what: str) -> GzipError:
    return GzipError(f"is a damaged gzip file: {what}")
