"""The first checkpoint format: sorted tables that hold the tensors themselves.

    PREFIX, or                    ""         → for each tensor: name, shape, dtype, slices
    PREFIX-00000-of-00002 …       slice key  → the values of that slice (TensorProto)

Each table lists its own slices; a tensor may have slices in several tables. A whole tensor is one
slice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfprof.errors import InputError
from tfprof.read.checkpoint.slices import Slice, key_of, shape_of, slice_of
from tfprof.read.checkpoint.sorted_table import SortedTable
from tfprof.read.checkpoint.tensor_proto import values_of
from tfprof.read.checkpoint.tensors import DTYPES, Stored, Values, called
from tfprof.wire.decode import WireError
from tfprof.wire.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.columns.strings import U8


class _Listed(NamedTuple):
    """A tensor in the list of one table."""

    table: SortedTable
    data: U8


class TensorSlices:
    """The tensors in tables, given as (name, content); raises InputError."""

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
