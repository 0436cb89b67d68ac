"""Where the attributes of nodes stand. They are read when a question needs them.

    owner   [0, 0, 2]              a row each: the row of the graph it belongs to,
    start   [130, 171, 460]        and where its map entry stands in the file
    length  [38, 12, 90]

Few questions need attributes, and the tensors among them may be most of a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tfprof.columns.frozen import Frozen
from tfprof.columns.strings import I64, U8, Strings
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.read.source import Source

if TYPE_CHECKING:
    from tfprof.wire.decode import Field


class NodeAttributes(Protocol):
    """Attributes to be read later; a map entry is in wire format."""

    def __call__(self) -> tuple[I64, Strings]:
        """(row, map entry) of each attribute, by row."""
        ...

    def within(self, source: Source) -> NodeAttributes:
        """The same, read from *source*, which holds the bytes that they stand in."""
        ...


@dataclass(frozen=True, eq=False)
class StoredAttributes(Frozen):
    """Attributes that stand in a file as they are."""

    source: Source
    owner: I64
    start: I64
    length: I64

    @classmethod
    def of(cls, buffer: U8, entry: Field) -> StoredAttributes:
        """The map entries of this field in *buffer*."""
        return cls(Source("the graph", buffer), entry.message, entry.start, entry.value)

    def __call__(self) -> tuple[I64, Strings]:
        """(row, map entry) of each attribute, by row."""
        self.source.check()
        return self.owner, Strings(self.source.data, self.start, self.length)

    def within(self, source: Source) -> StoredAttributes:
        """The same, read from *source*, which holds the bytes that they stand in."""
        offset = _address(self.source.data) - _address(source.data) if self.owner.size else 0
        assert 0 <= offset <= source.data.size
        start = self.start + offset if offset else self.start
        return StoredAttributes(source, self.owner, start, self.length)


def _address(data: U8) -> int:
    address: int = data.__array_interface__["data"][0]
    return address
