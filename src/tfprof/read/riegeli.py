"""Reads the records of a Riegeli file, as chunked SavedModels are stored.

    file ──64 KiB─► blocks, each with a header of 24 bytes in the middle of whatever it interrupts
    chunk ─┬─ header of 40 bytes: sizes, type, number of records
           └─ "r": compression ─ sizes of the records ─ records

TensorFlow compresses with Brotli, which needs the package brotli. Checksums are not checked: they
are not those of any library that is at hand, and all lengths are checked without them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.errors import InputError
from tfprof.tables.limits import beyond, unpacked_most
from tfprof.wire.scalar import WireError, buffer_view, decode_varint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import U8

_BLOCK, _BLOCK_HEADER, _CHUNK_HEADER = 1 << 16, 24, 40
_USABLE: Final = _BLOCK - _BLOCK_HEADER
_RECORDS, _WITHOUT_RECORDS = ord("r"), b"smp"
_NONE, _BROTLI = 0, ord("b")
# For the compression, and the length of the sizes.
_MOST_HEAD: Final = 11
_LONGEST_SIZE: Final = 10  # bytes of a varint


def records(data: U8, file: str) -> list[Record]:
    """The records of the file *data*; raises WireError, and InputError with the name *file*."""
    found: list[Record] = []
    at, left = 0, unpacked_most(data.size)
    while at < data.size:
        body = _after(at, _CHUNK_HEADER)
        header = buffer_view(_gathered(data, at, body))
        size, kind = int.from_bytes(header[8:16], "little"), header[24]
        count, unpacked = (int.from_bytes(header[a:b], "little") for a, b in ((25, 32), (32, 40)))
        end = _after(at, _CHUNK_HEADER + size)
        if end > data.size:
            raise WireError(at, "chunk longer than the file")
        if at + count > data.size:  # a chunk has at least as many bytes as records
            raise WireError(at, "more records than bytes")
        if kind == _RECORDS:
            left -= unpacked
            if left < 0:
                raise InputError(
                    f"{file} unpacks to far more than a profile does; tfprof accepts "
                    f"{beyond('unpack_ratio')}"
                )
            found += _records(_Chunk(data, body, end, unpacked, file, count), count)
        elif kind not in _WITHOUT_RECORDS:
            raise InputError(
                f"{file} has chunks of type {chr(kind)!r}, which tfprof does not read; "
                "save the model again without options for the writer of chunks"
            )
        # A chunk has at least as many bytes as records.
        at = max(end, at + count + max(-(at + count) % _BLOCK - _USABLE + 1, 0))
    return found


class _Chunk:
    """Some records: their sizes, then their contents one after the other."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a chunk is
        self, data: U8, start: int, end: int, size: int, file: str, count: int
    ) -> None:
        self._data, self._end, self._size, self._file = data, end, size, file
        head = buffer_view(_gathered(data, start, min(_after(start, _MOST_HEAD), end)))
        self._compression = head[0] if len(head) else _NONE
        length, used = decode_varint(head, 1, len(head))
        self._values = _after(start, used + length)
        if self._values > end:
            raise WireError(start, "sizes longer than their chunk")
        sizes = _gathered(data, _after(start, used), self._values)
        self.sizes = self._plain(sizes, _LONGEST_SIZE * count)

    @cached_property
    def values(self) -> memoryview:
        """The contents of all records."""
        return self._plain(_gathered(self._data, self._values, self._end), self._size)

    def _plain(self, packed: U8, most: int) -> memoryview:
        """*packed* without compression, of at most so many bytes."""
        view = buffer_view(packed)
        if self._compression == _NONE:
            return view
        if self._compression != _BROTLI:
            raise InputError(
                f"{self._file} is compressed with another method than Brotli; "
                "save the model again with the default compression, or as saved_model.pb"
            )
        try:
            import brotli  # noqa: PLC0415 - few have such files
        except ImportError:
            brotli = None
        # Older ones unpack without an end.
        if not hasattr(getattr(brotli, "Decompressor", None), "can_accept_more_data"):
            raise InputError(f"{self._file} is compressed with Brotli: pip install 'brotli>=1.2'")
        size, at = decode_varint(view, 0, len(view))
        if size > most:
            raise WireError(at, "impossible length of compressed data")
        try:
            plain = brotli.Decompressor().process(view[at:], output_buffer_limit=size + 1)
        except brotli.error as problem:
            raise WireError(at, str(problem)) from None
        if len(plain) != size:
            raise WireError(at, "compressed data of another length")
        return memoryview(plain)


class Record(NamedTuple):
    """A record; it is unpacked when it is needed."""

    chunk: _Chunk
    start: int
    end: int

    @property
    def data(self) -> memoryview:
        """The content; raises WireError, InputError."""
        if self.end > len(self.chunk.values):
            raise WireError(self.start, "record longer than its chunk")
        return self.chunk.values[self.start : self.end]


def _records(chunk: _Chunk, count: int) -> Iterator[Record]:
    at = start = 0
    for _ in range(count):
        size, at = decode_varint(chunk.sizes, at, len(chunk.sizes))
        yield Record(chunk, start, start + size)
        start += size


def _after(at: int, size: int) -> int:
    """The position after *size* bytes from *at* on and the headers of blocks between them."""
    headers = (size + (at + _USABLE - 1) % _BLOCK) // _USABLE
    return at + size + headers * _BLOCK_HEADER


def _gathered(data: U8, start: int, end: int) -> U8:
    """The bytes from *start* to *end* without the headers of blocks; raises WireError."""
    if end > data.size:
        raise WireError(start, "chunk longer than the file")
    blocks = range(start // _BLOCK * _BLOCK, max(end, start + 1), _BLOCK)
    parts = [data[max(start, at + _BLOCK_HEADER) : min(end, at + _BLOCK)] for at in blocks]
    return np.ascontiguousarray(parts[0]) if len(parts) == 1 else np.concatenate(parts)
