"""profile.proto in protobuf wire format, whole columns of messages at a time.

    label   1a 04 08 05 10 0b        a message is a row of numbers: what is a field's tag, a length
    label   1a 05 08 05 10 8d 02     or a value makes no difference to how it is written, so rows
                                     of like messages are columns of numbers

As proto3 has it, a number that is 0 is left out, tag and all: it then takes no bytes.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.reporters.numbers import chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfprof.strings import I64, U64, Bool

_GROUP = 7
_MORE = 0x80
_NUMBER, _BYTES = 0, 2
_LIMITS = [np.uint64(1 << bits) for bits in range(_GROUP, 64, _GROUP)]
# A gzip header and trailer around zlib's widest window.
_GZIP = 31
# Bytes compressed at a time, so that many small pieces cost no call each.
_BATCH = 1 << 16


def varint(number: int) -> bytes:
    """*number*, not negative, in groups of seven bits, lowest first."""
    if number < len(_SHORT):
        return _SHORT[number]
    groups = bytearray()
    while number >= _MORE:
        groups.append(number & (_MORE - 1) | _MORE)
        number >>= _GROUP
    groups.append(number)
    return bytes(groups)


_SHORT: list[bytes] = []
_SHORT += [varint(number) for number in range(1 << 14)]


def bytes_field(field: int, content: bytes) -> bytes:
    """A text, a message or packed numbers as a field of a message."""
    return varint(field << 3 | _BYTES) + varint(len(content)) + content


class Column(NamedTuple):
    """A number of each row, or one for all, and how many bytes it takes there."""

    number: U64
    size: I64


def numbers(value: I64 | U64 | int) -> Column:
    """Numbers as they stand in a packed field; 0 is written out."""
    number = np.asarray(value).astype(np.uint64)
    size = np.ones(number.shape, np.int64)
    for limit in _LIMITS:
        more = number >= limit
        if not more.any():
            break
        size += more
    return Column(number, size)


def number_field(field: int, value: I64 | U64 | int) -> list[Column]:
    """A number as a field of a message."""
    tag, column = numbers(field << 3 | _NUMBER), numbers(value)
    told = column.number != 0
    return [Column(tag.number, tag.size * told), Column(column.number, column.size * told)]


def message(
    field: int, columns: Sequence[Column], present: Bool | bool = True  # noqa: FBT001, FBT002
) -> list[Column]:
    """A message, or packed numbers, as a field; *present* tells the rows that have it."""
    length = numbers(sum(column.size for column in columns))
    whole = [numbers(field << 3 | _BYTES), length, *columns]
    return [Column(number, size * present) for number, size in whole]


def row_bytes(columns: Sequence[Column], rows: int) -> Iterator[bytes]:
    """Each of *rows* rows."""
    for text, ends in encoded(columns, rows):
        yield from (text[first:last] for first, last in zip([0, *ends], ends, strict=False))


def encoded(columns: Sequence[Column], rows: int) -> Iterator[tuple[bytes, list[int]]]:
    """*rows* rows in runs: their bytes, and where each row ends in them."""
    number = [np.broadcast_to(column.number, rows) for column in columns]
    size = [np.broadcast_to(column.size, rows) for column in columns]
    for run in chunks(rows):
        sizes = np.stack([one[run] for one in size], axis=1)
        text = _written(np.stack([one[run] for one in number], axis=1).ravel(), sizes.ravel())
        yield text, np.cumsum(sizes.sum(axis=1)).tolist()


def _written(number: U64, size: I64) -> bytes:
    """Each number in as many bytes as its size."""
    text = np.empty(int(size.sum()), np.uint8)
    kept = np.flatnonzero(size)
    at, left, number = (np.cumsum(size) - size)[kept], size[kept], number[kept]
    while left.size:
        more = left > 1
        text[at] = (number & np.uint64(_MORE - 1)) | np.where(more, np.uint64(_MORE), np.uint64(0))
        at, left, number = at[more] + 1, left[more] - 1, number[more] >> np.uint64(_GROUP)
    return text.tobytes()


def gzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """*pieces* as a gzip file without a name or a time, so that equal reports are equal files."""
    compressor = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION, zlib.DEFLATED, _GZIP)
    batch: list[bytes] = []
    size = 0
    for piece in pieces:
        batch.append(piece)
        size += len(piece)
        if size >= _BATCH:
            yield compressor.compress(b"".join(batch))
            batch, size = [], 0
    yield compressor.compress(b"".join(batch))
    yield compressor.flush()
