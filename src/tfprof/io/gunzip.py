"""Unpack a gzip file piece by piece.

A file may have several members, as parallel packers write them, and zeros behind the last, as tapes
do. The unpacked size is unknown beforehand: the size field in the file wraps at four gigabytes. A
file that unpacks to far more than any profile is rejected as soon as it does.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from tfprof.tables.limits import beyond, unpacked_most

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tfprof.columns.strings import U8

MAGIC = b"\x1f\x8b"
# Zeros are packed a thousandfold: a piece of this size unpacks to 32 MB.
PIECE = 1 << 15
# Text of equal layers, or of constants that are zero, is packed hundreds of times: up to this size,
# four times the ratio is accepted.
_SMALL = 128 << 20
_HEADER_AND_TRAILER = 31  # for zlib, with its widest window


class GzipError(ValueError):
    """What is wrong, as the rest of a sentence that begins with the file's name."""


def unpacked(packed: U8, progress: Callable[[int], None] = lambda _: None) -> U8:
    """The unpacked bytes; *progress* is called with the packed bytes read. Raises GzipError."""
    return joined(pieces(packed, progress))


def joined(unpacked_pieces: Iterable[bytes]) -> U8:
    """The bytes of all pieces."""
    data = bytearray()
    for piece in unpacked_pieces:
        data += piece
    return np.frombuffer(data, np.uint8)


def pieces(packed: U8, progress: Callable[[int], None] = lambda _: None) -> Iterator[bytes]:
    """The same, one piece at a time."""
    data = memoryview(packed)  # type: ignore[arg-type]  # arrays are buffers; typeshed cannot say so
    most = max(unpacked_most(len(data)), min(_SMALL, unpacked_most(len(data) * 4)))
    at = size = 0
    while at < len(data):
        if at and not data[at]:
            at = _past_zeros(packed, at)
            continue
        if bytes(data[at : at + 2]) != MAGIC:
            raise _damaged(f"what follows byte {at} is no part of it")
        for after, piece in _member(data, at):
            size += len(piece)
            if size > most:
                raise GzipError(
                    f"unpacks to far more than a profile does: {size:,} bytes by byte "
                    f"{after:,} of {len(data):,}; tfprof accepts {beyond('unpack_ratio')}"
                )
            progress(after)
            at = after
            yield piece


def _member(data: memoryview, at: int) -> Iterator[tuple[int, bytes]]:
    """The unpacked pieces of the member at *at*, each with the end of its packed bytes."""
    unpacker = zlib.decompressobj(_HEADER_AND_TRAILER)
    while not unpacker.eof:
        if at >= len(data):
            raise _damaged("it is cut off")
        try:
            piece = unpacker.decompress(data[at : at + PIECE])
        except zlib.error as problem:
            raise _damaged(str(problem)) from None
        at = min(at + PIECE, len(data)) - len(unpacker.unused_data)
        yield at, piece


def _past_zeros(packed: U8, at: int) -> int:
    """Where the zeros that begin at *at* end."""
    for first in range(at, packed.size, PIECE):
        others = np.flatnonzero(packed[first : first + PIECE])
        if others.size:
            return first + int(others[0])
    return int(packed.size)


def _damaged(what: str) -> GzipError:
    return GzipError(f"is a damaged gzip file: {what}")
