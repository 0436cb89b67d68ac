"""The file format of converted profiles: a head, an index, and columns of compact numbers.

    89 74 66 70 0D 0A 1A 0A     identifies the format; a text-mode transfer would change it
    format  checksum  size      of the index: 4, 4 and 8 bytes
    nodes.op u1 0 10001 5f3a…   the index, one line per column: name, kind, base, rows, checksum
    …
    columns                     in the order of the index, each at a multiple of 8 bytes

A number is stored in as few bytes as its column needs, little-endian. In `u2` it is the difference
from the base; in `+u2` the difference from the number before it. The position of a column follows
from the index, so columns cannot overlap or be outside the file.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.errors import InputError
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.read.detect import CONVERTED_MAGIC as MAGIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, U8
    from tfprof.read.source import Source

# Increase this whenever the columns of a file or their encoding change.
FORMAT: Final = 3
HEAD: Final = struct.Struct("<8sIIQ")
ALIGNMENT: Final = 8
TEXT: Final = "u1"
_RISING: Final = "+"
KINDS: Final = (*("u1", "u2", "u4", "i8"), *("+u1", "+u2", "+u4", "+i1", "+i2", "+i4"))
_WIDTH: Final = {kind: int(kind[-1]) for kind in KINDS}
_LEAST, _MOST = -(2**63), 2**63 - 1


class Damage(Exception):  # noqa: N818 - becomes an InputError once the file name is known
    """What is wrong with a file; the message continues "… is damaged: "."""


class Stored(NamedTuple):
    """The index entry of a column, and its position."""

    kind: str
    base: int
    rows: int
    checksum: int
    begin: int
    end: int


class Columns:
    """The columns of a file by name; each is checked and decoded on demand."""

    def __init__(self, source: Source) -> None:
        """Read head and index; raises InputError for a newer format, else Damage."""
        self.name, self._data = source.name, source.data
        self._stored = _placed(_index(source), source.data.size)

    def __contains__(self, name: str) -> bool:
        return name in self._stored

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def rows(self, name: str) -> int:
        """How many rows the column *name* has."""
        return self.stored(name).rows

    def stored(self, name: str) -> Stored:
        """The index entry of the column *name*; raises Damage where there is none."""
        if name not in self._stored:
            raise Damage(f"there is no column {name}")
        return self._stored[name]

    def numbers(self, name: str) -> I64:
        """The numeric column *name*, as a new array."""
        stored, raw = self.raw(name)
        values = raw.view(f"<{stored.kind.removeprefix(_RISING)}")
        rising = stored.kind.startswith(_RISING)
        column = np.cumsum(values, dtype=np.int64) if rising else values.astype(np.int64)
        if stored.base:
            column += stored.base
        return column

    def text(self, name: str) -> U8:
        """The text column *name*, as a new array."""
        stored, raw = self.raw(name)
        if stored.kind != TEXT or stored.base:
            raise Damage(f"the column {name} does not hold text")
        return raw if raw.flags.owndata else raw.copy()

    def raw(self, name: str) -> tuple[Stored, U8]:
        """The index entry of a column and its bytes, which match its checksum; else Damage."""
        stored = self.stored(name)
        raw = self._data[stored.begin : stored.end]
        if zlib.crc32(raw.data) != stored.checksum:
            raise Damage(f"the checksum of the column {name} does not match")
        return stored, raw


def aligned(size: int) -> int:
    """The first position from *size* on where a column may begin."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _index(source: Source) -> bytes:
    data = source.data
    head = data[: HEAD.size].tobytes()
    if head[: len(MAGIC)] != MAGIC[: len(head)]:
        raise Damage("its first bytes were changed, as by a text-mode transfer")
    if len(head) < HEAD.size:
        raise Damage("it is cut off")
    _, version, checksum, size = HEAD.unpack(head)
    if version > FORMAT:
        raise InputError(
            f"{source.name} was written by a newer tfprof "
            f"(format {version}; this one reads up to {FORMAT})"
        )
    if not version:
        raise Damage("it has no format version")
    if size > data.size - HEAD.size:
        raise Damage("it is cut off")
    index = data[HEAD.size : HEAD.size + size].tobytes()
    if zlib.crc32(index) != checksum:
        raise Damage("the checksum of its index does not match")
    return index


def _placed(index: bytes, size: int) -> dict[str, Stored]:
    """The columns of the index and their positions, which must fill the file."""
    stored: dict[str, Stored] = {}
    end = HEAD.size + len(index)
    lines = index.splitlines()
    for line in lines:
        try:
            name, kind, base_text, rows_text, checksum_text = line.decode("ascii").split(" ")
            base, rows, checksum = int(base_text), int(rows_text), int(checksum_text, 16)
        except ValueError:
            raise Damage("its index cannot be read") from None
        if kind not in KINDS or rows < 0 or not _LEAST <= base <= _MOST:
            raise Damage(f"its index has an invalid entry for the column {name}")
        begin = aligned(end)
        end = begin + rows * _WIDTH[kind]
        stored[name] = Stored(kind, base, rows, checksum, begin, end)
    if len(stored) < len(lines):
        raise Damage("its index repeats a column")
    if end != size:
        raise Damage("it is cut off" if end > size else "it has data after its end")
    return stored
