"""The second checkpoint format: an index, and the tensors' bytes in one or more data files.

    PREFIX.index                  sorted table:  ""         → header: data files, byte order
                                                 name       → type, shape, piece, offset, size, crc
                                                 name       → type, shape, slices
                                                 slice key  → … of that slice
    PREFIX.data-00000-of-00002    the values, end to end
    PREFIX.data-00001-of-00002

Strings are stored as their lengths (varints), a checksum of the lengths, and their bytes. Both
checksums treat a length as four bytes, or as eight if it needs more than four.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from itertools import accumulate, pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.errors import InputError
from tfprof.read.checkpoint.slices import PIECE, key_of, shape_of, slice_of
from tfprof.read.checkpoint.sorted_table import SortedTable
from tfprof.read.checkpoint.tensors import (
    DTYPES,
    STRING,
    ByteOrder,
    Slice,
    Stored,
    Values,
    called,
    from_bytes,
)
from tfprof.wire.crc32c import crc32c, masked
from tfprof.wire.decode import WireError
from tfprof.wire.scalar import MOST_BYTES, ONE_BYTE, Message
from tfprof.wire.varint_columns import varint_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8, U64

_BYTE_ORDERS: dict[int, ByteOrder] = {0: "little", 1: "big"}
_CHECKSUM = 4
_FOUR_BYTES = 0xFFFFFFFF


class Entry(NamedTuple):
    """The index entry of a tensor or of one slice of it."""

    dtype: int
    shape: tuple[int, ...]
    piece: int
    offset: int
    size: int
    checksum: int
    slices: tuple[Slice, ...]


class Bundle:
    """The tensors of the checkpoint *prefix*, whose index is *index*; raises InputError.

    *opener* opens a data file when a tensor in it is first read.
    """

    def __init__(self, prefix: str, index: U8, opener: Callable[[str], U8]) -> None:
        self._prefix = prefix
        self._index = f"{prefix}.index"
        self._opener = opener
        self._opened: dict[int, U8] = {}
        self._entries = dict(SortedTable(self._index, index))
        header = self._header()
        self._pieces = header.signed(1)
        order = header.number(2)
        if order not in _BYTE_ORDERS:
            raise InputError(f"{self._index} is damaged: its header has byte order {order}")
        self._byte_order = _BYTE_ORDERS[order]
        self.names = sorted(key for key in self._entries if not key.startswith(PIECE))

    def _header(self) -> Message:
        if b"" not in self._entries:
            raise InputError(f"{self._index} is not the index of a checkpoint: it has no header")
        try:
            return Message(self._entries.pop(b""))
        except WireError as problem:
            raise InputError(f"{self._index} is damaged: header: {problem}") from None

    def stored(self, name: bytes) -> Stored:
        """The index entry of the tensor *name*, and how to read its values."""
        entry = self._entry(name, name)

        def read(part: Slice | None) -> Values:
            if part is None:
                return self._values(name, entry)
            of_part = self._entry(key_of(name, part), name)
            if of_part.dtype != entry.dtype:
                raise InputError(
                    f"{self._index} is damaged: a slice of {called(name)} has another dtype"
                )
            return self._values(name, of_part)

        return Stored(entry.dtype, entry.shape, entry.slices, read)

    def _values(self, name: bytes, entry: Entry) -> Values:
        """The values of *entry*; checks their checksum."""
        data, title = self._data(entry, name)
        count, dtype = prod(entry.shape), DTYPES[entry.dtype]
        values: Values
        if entry.dtype == STRING:
            values, checksum = self._strings(data, count, title)
        else:
            width = np.dtype(dtype.layout).itemsize
            if data.size != count * width:
                raise InputError(
                    f"{title} has {data.size} bytes, but its shape {entry.shape} of "
                    f"{dtype.name} needs {count * width}"
                )
            checksum = crc32c(data)
            values = from_bytes(dtype, data, self._byte_order)
        if masked(checksum) != entry.checksum:
            raise InputError(f"{title} does not match its checksum")
        return values

    def _entry(self, key: bytes, name: bytes) -> Entry:
        if key not in self._entries:
            raise InputError(f"{self._index} is damaged: a slice of {called(name)} is missing")
        try:
            fields = Message(self._entries[key])
            return Entry(
                dtype=fields.number(1),
                shape=shape_of(fields.part(2)),
                piece=fields.signed(3),
                offset=fields.signed(4),
                size=fields.signed(5),
                checksum=fields.number(6),
                slices=tuple(map(slice_of, fields.parts(7))),
            )
        except WireError as problem:
            raise InputError(f"{self._index} is damaged: {called(name)}: {problem}") from None

    def _data(self, entry: Entry, name: bytes) -> tuple[U8, str]:
        """(the bytes of an entry, the beginning of a message about them)."""
        if not 0 <= entry.piece < self._pieces:
            raise InputError(
                f"{self._index} is damaged: {called(name)} is in piece {entry.piece} of "
                f"{self._pieces}"
            )
        file = f"{self._prefix}.data-{entry.piece:05d}-of-{self._pieces:05d}"
        if entry.piece not in self._opened:
            try:
                self._opened[entry.piece] = self._opener(file)
            except FileNotFoundError:
                raise InputError(
                    f"{file} does not exist; expected piece {entry.piece + 1} of {self._pieces} "
                    f"of the checkpoint {self._prefix}, with {called(name)}"
                ) from None
        data = self._opened[entry.piece]
        end = entry.offset + entry.size
        if not 0 <= entry.offset <= end <= data.size:
            raise InputError(
                f"{file} is cut off: {called(name)} should fill bytes {entry.offset} to {end}, "
                f"but there are {data.size}"
            )
        if self._overlap:
            raise InputError(f"{self._index} is damaged: it gives {self._overlap} the same bytes")
        title = f"{file} is damaged: {called(name)} at bytes {entry.offset} to {end}"
        return data[entry.offset : end], title

    @cached_property
    def _overlap(self) -> str:
        """Two tensors that share bytes, which no writer does; "" if there are none."""
        # Without this check, a thousand names for the same gigabyte would be read as a terabyte.
        spans = []
        for key in self._entries:
            # An error in another tensor is reported when that tensor is read.
            with suppress(InputError):
                entry = self._entry(key, key)
                spans.append((entry.piece, entry.offset, entry.offset + entry.size, key))
        nonempty = sorted(span for span in spans if span[1] < span[2])
        for (piece, _, end, key), (next_piece, offset, _, next_key) in pairwise(nonempty):
            if piece == next_piece and offset < end:
                return f"{called(key)} and {called(next_key)}"
        return ""

    def _strings(self, data: U8, count: int, title: str) -> tuple[list[bytes], int]:
        """(*count* strings, the checksum of all of *data*)."""
        last = np.flatnonzero(data[: MOST_BYTES * count] <= ONE_BYTE)[:count]
        after = int(last[-1]) + 1 if last.size else 0
        begin = after + _CHECKSUM
        try:
            lengths = varint_run(data[:after])
        except WireError as problem:
            raise InputError(f"{title}: {problem} of its lengths") from None
        ends = list(accumulate(lengths.tolist(), initial=begin))
        if len(lengths) != count or ends[-1] != data.size:
            raise InputError(f"{title} does not hold {count} strings of the stated lengths")
        length_bytes = _length_bytes(lengths, self._byte_order)
        written = int.from_bytes(data[after:begin].tobytes(), self._byte_order)
        if masked(crc32c(length_bytes)) != written:
            raise InputError(f"{title} does not match the checksum of its lengths")
        text = data.tobytes()
        strings = [text[first:last] for first, last in pairwise(ends)]
        return strings, crc32c(length_bytes, data[after:])


def _length_bytes(lengths: U64, byte_order: ByteOrder) -> U8:
    """The lengths of strings as the bytes that checksums cover."""
    if not bool((lengths > _FOUR_BYTES).any()):
        return lengths.astype(np.dtype(np.uint32).newbyteorder(byte_order)).view(np.uint8)
    sizes = lengths.tolist()
    each = [size.to_bytes(4 if size <= _FOUR_BYTES else 8, byte_order) for size in sizes]
    return np.frombuffer(b"".join(each), np.uint8)
