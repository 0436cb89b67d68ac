"""Reads sorted tables of byte strings (SSTables), which checkpoints store their entries in.

    ┌──────────┬──────────┬─ … ─┬───────┬────────────────────────────────────────────┐
    │ block    │ block    │     │ index │ footer: handles of meta-index and index,   │
    │ a … conv │ conv … m │     │ block │ padding, magic                    48 bytes │
    └──────────┴──────────┴─ … ─┴───────┴────────────────────────────────────────────┘

    block   entry*  restart*  number of restarts   then, outside its size: kind 1, checksum 4
    entry   bytes shared with the previous key, further key bytes, value bytes; the key's further
            bytes; the value

The index has an entry per block: a key not below the block's last one, and its handle: offset and
size. Only the index block is read at once; a block is read, checked and unpacked when something in
it is looked up.

Blocks may be compressed in Snappy's block format:

    ┌────────┬─────────┬──────┬─────────┬──────┬─
    │ length │ literal │ copy │ literal │ copy │ …     length: of the unpacked bytes, a varint
    └────────┴─────────┴──────┴─────────┴──────┴─

The two low bits of an element's first byte, its tag, give its kind: 0 is a literal, bytes to copy
from the input; 1, 2 and 3 are copies of earlier output, whose distance back is stored in eleven
bits (three of them in the tag), two bytes or four bytes. A copy may overlap its own output.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.errors import InputError
from tfprof.read.detect import TABLE_MAGIC
from tfprof.tables.limits import beyond, unpacked_most
from tfprof.wire.crc32c import crc32c, masked
from tfprof.wire.decode import WireError, buffer_view
from tfprof.wire.scalar import ONE_BYTE, decode_varint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import U8

_FOOTER = 48
_TRAILER = 5
_NUMBER = 4
_PLAIN, _SNAPPY = 0, 1
# Unpacked blocks to cache: neighbours in a table are often read one after the other.
_CACHED_BLOCKS = 16
# The memory that an entry takes besides its key, which may be empty.
_ENTRY_BYTES = 64
_KIND = 3
_LITERAL, _NEAR_COPY = 0, 1
# The length of a literal longer than this is after the tag, in one to four bytes.
_SHORT_LITERAL = 60
_DISTANCE_BYTES = {2: 2, 3: 4}
_LONGEST_HEAD = 5


class BlockHandle(NamedTuple):
    """The position of a block, without its trailer."""

    offset: int
    size: int


class Block(NamedTuple):
    """Keys in ascending order; the value of key i is data[start[i]:end[i]]."""

    data: U8
    keys: list[bytes]
    start: list[int]
    end: list[int]

    def value(self, row: int) -> U8:
        """The value of the key in this row."""
        return self.data[self.start[row] : self.end[row]]


class SortedTable:
    """The entries of the table *data* in the file *name*; raises InputError."""

    def __init__(self, name: str, data: U8) -> None:
        self.name = name
        self._data = data
        # A key that repeats the previous one takes three bytes, however long it is. Keys are kept
        # as bytes objects, so their limit is lower.
        self._most_key_bytes = unpacked_most(data.size) // 10
        index = self._read(self._index_handle())
        self._last_keys = index.keys
        self._handles = [self._handle(index.value(row), 0)[0] for row in range(len(index.keys))]
        # A small file could have any number of blocks that overlap.
        for before, after in pairwise(self._handles):
            if after.offset < before.offset + before.size + _TRAILER:
                raise self._damaged(after.offset, f"overlaps the one at byte {before.offset}")
        self._block = lru_cache(_CACHED_BLOCKS)(self._read)

    def __iter__(self) -> Iterator[tuple[bytes, U8]]:
        """All keys, in order, with their values."""
        key_bytes = 0
        for handle in self._handles:
            block = self._block(handle)
            key_bytes += sum(map(len, block.keys)) + len(block.keys) * _ENTRY_BYTES
            if key_bytes > self._most_key_bytes:
                raise self._damaged(handle.offset, f"cannot be read: {_repetitive()}")
            for row, key in enumerate(block.keys):
                yield key, block.value(row)

    def get(self, key: bytes) -> U8 | None:
        """The value of *key*, or None."""
        number = bisect_left(self._last_keys, key)
        if number == len(self._handles):
            return None
        block = self._block(self._handles[number])
        row = bisect_left(block.keys, key)
        exists = row < len(block.keys) and block.keys[row] == key
        return block.value(row) if exists else None

    def _index_handle(self) -> BlockHandle:
        size = self._data.size
        if size < _FOOTER or self._data[-len(TABLE_MAGIC) :].tobytes() != TABLE_MAGIC:
            raise InputError(
                f"{self.name} is cut off or not a checkpoint: at byte {max(size - _FOOTER, 0)} of "
                f"{size} there is no footer of a sorted table"
            )
        footer = self._data[-_FOOTER : -len(TABLE_MAGIC)]
        _, after = self._handle(footer, 0)
        return self._handle(footer, after)[0]

    def _handle(self, data: U8, at: int) -> tuple[BlockHandle, int]:
        """(the block handle at *at*, the position after it)."""
        try:
            offset, at = decode_varint(buffer_view(data), at, data.size)
            size, at = decode_varint(buffer_view(data), at, data.size)
        except WireError:
            raise InputError(f"{self.name} is damaged: the handle of a block is cut off") from None
        return BlockHandle(offset, size), at

    def _read(self, handle: BlockHandle) -> Block:
        """The block at *handle*, checked and unpacked."""
        offset, size = handle
        end = offset + size
        if end + _TRAILER > self._data.size - _FOOTER:
            raise InputError(
                f"{self.name} is cut off or damaged: a block should fill bytes {offset} to "
                f"{end + _TRAILER} of {self._data.size}"
            )
        kind = int(self._data[end])
        expected = int.from_bytes(self._data[end + 1 : end + _TRAILER].tobytes(), "little")
        if masked(crc32c(self._data[offset : end + 1])) != expected:
            raise self._damaged(offset, "does not match its checksum")
        data = self._data[offset:end]
        try:
            if kind == _SNAPPY:
                data = unpacked(data)
            elif kind != _PLAIN:
                raise self._damaged(offset, f"is compressed in an unknown way (kind {kind})")
            return _entries(data, self._most_key_bytes)
        except WireError as problem:
            raise self._damaged(offset, f"cannot be read: {problem} of the block") from None

    def _damaged(self, offset: int, problem: str) -> InputError:
        return InputError(f"{self.name} is damaged: the block at byte {offset} {problem}")


def _entries(data: U8, most_key_bytes: int) -> Block:
    """The entries of an unpacked block; raises WireError."""
    stop = data.size - _NUMBER
    restarts = int.from_bytes(data[max(stop, 0) :].tobytes(), "little")
    stop -= _NUMBER * restarts
    if stop < 0:
        raise WireError(0, f"{data.size} bytes, too few for {restarts} restarts,")
    view = buffer_view(data)
    block = Block(data, [], [], [])
    key, at, key_bytes = b"", 0, 0
    while at < stop:
        begin = at
        (shared, further, length), at = _lengths(view, at, stop)
        start = at + further
        if shared > len(key) or start + length > stop:
            raise WireError(begin, "entry longer than its block")
        key = key[:shared] + bytes(view[at:start])
        at = start + length
        key_bytes += len(key) + _ENTRY_BYTES
        if key_bytes > most_key_bytes:
            raise WireError(begin, _repetitive())
        block.keys.append(key)
        block.start.append(start)
        block.end.append(at)
    return block


def _repetitive() -> str:
    return (
        "names far longer than their table; tfprof accepts a tenth of "
        f"{beyond('unpack_ratio').removeprefix('at most ')}"
    )


def _lengths(view: memoryview, at: int, stop: int) -> tuple[tuple[int, int, int], int]:
    """(the three numbers at the beginning of an entry, the position after them)."""
    if at + 3 <= stop and max(view[at : at + 3]) <= ONE_BYTE:
        return (view[at], view[at + 1], view[at + 2]), at + 3
    shared, at = decode_varint(view, at, stop)
    further, at = decode_varint(view, at, stop)
    length, at = decode_varint(view, at, stop)
    return (shared, further, length), at


def unpacked(data: U8) -> U8:
    """The decompressed *data*; raises WireError."""
    stop = data.size
    size, at = decode_varint(buffer_view(data), 0, stop)
    # Padding, so that the head of a truncated element can be read.
    packed = data.tobytes() + bytes(_LONGEST_HEAD)
    result = bytearray()
    while at < stop:
        begin = at
        if packed[at] & _KIND == _LITERAL:
            length, at = _literal(packed, at)
            result += packed[at : at + length]
            at += length
        else:
            length, distance, at = _copy(packed, at)
            if not 0 < distance <= len(result):
                raise WireError(begin, "copy from before the beginning")
            first = len(result) - distance
            piece = result[first : first + length]
            result += piece if length <= distance else (piece * (length // distance + 1))[:length]
        if at > stop or len(result) > size:
            raise WireError(begin, f"truncated element, or more than the stated {size} bytes")
    if len(result) != size:
        raise WireError(stop, f"{len(result)} bytes instead of the stated {size}")
    return np.frombuffer(result, np.uint8)


def _literal(packed: bytes, at: int) -> tuple[int, int]:
    """(the length of the literal at *at*, where its bytes begin)."""
    length = packed[at] >> 2
    if length < _SHORT_LITERAL:
        return length + 1, at + 1
    after = at + 1 + length - _SHORT_LITERAL + 1
    return int.from_bytes(packed[at + 1 : after], "little") + 1, after


def _copy(packed: bytes, at: int) -> tuple[int, int, int]:
    """(length, distance back, the position after it) of the copy at *at*."""
    tag = packed[at]
    if tag & _KIND == _NEAR_COPY:
        return 4 + (tag >> 2 & 7), tag >> 5 << 8 | packed[at + 1], at + 2
    after = at + 1 + _DISTANCE_BYTES[tag & _KIND]
    return (tag >> 2) + 1, int.from_bytes(packed[at + 1 : after], "little"), after
