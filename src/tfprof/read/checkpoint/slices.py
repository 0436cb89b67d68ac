"""Slices of tensors, and the keys they are stored under.

    a variable of 7x3 in three pieces       rows 0-2     rows 3-4     rows 5-6
    slice: (start, length) per dimension  (0,3)(0,3)   (3,2)(0,3)   (5,2)(0,3)

The key of a piece is encoded so that keys sort by bytes as names and numbers do:

    ┌───┬──────────────┬───────────────┬───────┬────────┬───────┬────────┬─
    │ 0 │ name, 00 01  │ 1, dimensions │ start │ length │ start │ length │ …
    └───┴──────────────┴───────────────┴───────┴────────┴───────┴────────┴─

In the name, 00 becomes 00 FF and FF becomes FF 00, so that 00 01 ends it. A number has as many
leading one bits as it has bytes, a zero bit, and its value; the encoding of a negative number n is
the complement of that of ~n. A full dimension may have length -1.

The first checkpoint format stores the tensors themselves in sorted tables of such keys. Each table
lists its own slices; a tensor may have slices in several tables. A whole tensor is one slice.

    PREFIX, or                    ""         → for each tensor: name, shape, dtype, slices
    PREFIX-00000-of-00002 …       slice key  → the values of that slice (TensorProto)
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tfprof.errors import InputError
from tfprof.foundation.arguments import INT64_MAX
from tfprof.read.checkpoint.sorted_table import SortedTable
from tfprof.read.checkpoint.tensors import DTYPES, Slice, Stored, Values, called, values_of
from tfprof.wire.decode import WireError
from tfprof.wire.scalar import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.columns.strings import U8

Box = tuple[slice, ...]

UNCUT = -1
_SPECIAL = re.compile(rb"[\0\xff]")
# The first byte of every key of a piece; no name of a graph node begins with it.
PIECE = b"\0"
# The most that every supported NumPy version allows.
_MOST_DIMENSIONS = 32
_MOST_OF_TENSORFLOW = 254


def shape_of(data: U8) -> tuple[int, ...]:
    """The shape in a TensorShapeProto; raises WireError unless it is fully known."""
    message = Message(data)
    shape = tuple(Message(dim).signed(1) for dim in message.parts(2))
    if message.number(3) or any(dim < 0 for dim in shape):
        raise WireError(0, "shape that is not fully known")
    if len(shape) > _MOST_OF_TENSORFLOW or prod(shape) > INT64_MAX:
        raise WireError(0, "shape that no tensor can have")
    return shape


def slice_of(data: U8) -> Slice:
    """The slice in a TensorSliceProto; raises WireError."""
    extents = map(Message, Message(data).parts(1))
    return tuple((extent.signed(1), extent.signed(2, UNCUT)) for extent in extents)


def key_of(name: bytes, piece: Slice) -> bytes:
    """The key of a piece of the tensor *name*."""
    numbers = b"".join(_number(start) + _number(length) for start, length in piece)
    escaped = _SPECIAL.sub(lambda byte: byte[0] + bytes([byte[0][0] ^ 0xFF]), name)
    count = len(piece).to_bytes((len(piece).bit_length() + 7) // 8, "big")
    return PIECE + escaped + b"\0\1" + bytes([len(count)]) + count + numbers


def _number(number: int) -> bytes:
    if number < 0:
        return bytes(byte ^ 0xFF for byte in _number(~number))
    size = number.bit_length() // 7 + 1
    return (number | ((1 << size) - 1) << 7 * size).to_bytes(size, "big")


def boxes(shape: Sequence[int], pieces: Sequence[Slice], title: str) -> list[Box]:
    """The index of each piece in a tensor; raises InputError if they do not fill its *shape*."""
    result = [_box(shape, piece, title) for piece in pieces]
    held = sum(map(elements, result))
    if held != prod(shape):
        raise InputError(f"{title} is incomplete: its pieces hold {held} of {prod(shape)} values")
    if len(pieces) > 1 and len(shape) > _MOST_DIMENSIONS:
        raise InputError(f"{title} is in pieces and has more than {_MOST_DIMENSIONS} dimensions")
    return result


def elements(box: Box) -> int:
    """How many values a box holds."""
    return prod(side.stop - side.start for side in box)


def _box(shape: Sequence[int], piece: Slice, title: str) -> Box:
    if len(piece) != len(shape):
        raise InputError(f"{title} has {len(shape)} dimensions, but a piece has {len(piece)}")
    box = []
    for (start, length), dim in zip(piece, shape, strict=True):
        end = dim if length == UNCUT else start + length
        if not 0 <= start <= end <= dim:
            raise InputError(f"{title} has a piece outside its shape {tuple(shape)}: {piece}")
        box.append(slice(start, end))
    return tuple(box)


class _Listed(NamedTuple):
    """A tensor in the list of one table."""

    table: SortedTable
    data: U8


class TensorSlices:
    """The tensors of tables, which are (name, content); raises InputError."""

    def __init__(self, files: Sequence[tuple[str, U8]]) -> None:
        self._listed: dict[bytes, list[_Listed]] = {}
        for file, data in files:
            table = SortedTable(file, data)
            try:
                self._add(table)
            except WireError as problem:
                raise InputError(f"{file} is damaged: list of tensors: {problem}") from None
        self.names = sorted(self._listed)

    def _add(self, table: SortedTable) -> None:
        contents = table.get(b"")
        if contents is None:
            raise InputError(f"{table.name} is not a checkpoint: it has no list of tensors")
        listing = Message(Message(contents).part(1))
        for data in listing.parts(1):
            name = Message(data).part(1).tobytes()
            self._listed.setdefault(name, []).append(_Listed(table, data))

    def stored(self, name: bytes) -> Stored:
        """The dtype, shape and slices of the tensor *name*, and how to read its values."""
        kinds = set()
        tables: dict[Slice, SortedTable] = {}
        for table, data in self._listed[name]:
            try:
                fields = Message(data)
                kinds.add((fields.number(3), shape_of(fields.part(2))))
                tables.update(dict.fromkeys(map(slice_of, fields.parts(4)), table))
            except WireError as problem:
                raise _damaged(table, name, f": {problem}") from None
            if len(kinds) > 1 or not tables:
                differs = " has no slices, or another dtype or shape in another table"
                raise _damaged(table, name, differs)
        ((dtype, shape),) = kinds

        def read(part: Slice | None) -> Values:
            assert part is not None, "in this format every tensor has slices"
            return _values(tables[part], name, part, dtype)

        return Stored(dtype, shape, tuple(tables), read)


def _values(table: SortedTable, name: bytes, part: Slice, dtype: int) -> Values:
    """The values of one slice."""
    value = table.get(key_of(name, part))
    if value is None:
        raise _damaged(table, name, " lacks a slice that is listed")
    try:
        piece = Message(Message(value).part(2)).part(3)
        return values_of(piece, DTYPES[dtype])
    except WireError as problem:
        raise _damaged(table, name, f": {problem}") from None


def _damaged(table: SortedTable, name: bytes, problem: str) -> InputError:
    return InputError(f"{table.name} is damaged: {called(name)}{problem}")
