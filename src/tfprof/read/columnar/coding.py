"""The bytes of a converted profile: a head, an index, and columns of narrow numbers.

    89 74 66 70 0D 0A 1A 0A     told by content; a transfer as text would spoil it
    format  checksum  size      of the index: 4, 4 and 8 bytes
    nodes.op u1 0 10001 5f3a…   the index, a line a column: name, kind, base, rows, checksum
    …
    columns                     in the order of the index, each from a multiple of 8 on

A number is stored in as few bytes as its column needs, little-endian. In `u2` it is what stands
there and the base; in `+u2` what stands there is how much it is more than the number before it.
The place of a column follows from the index, so none can overlap another or lie outside.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.errors import InputError
from tfprof.read.detect import CONVERTED_MAGIC as MAGIC

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, U8
    from tfprof.read.source import Source

# To be raised with every change of the columns that a file holds, and of how they are stored.
FORMAT: Final = 3
HEAD: Final = struct.Struct("<8sIIQ")
ALIGNMENT: Final = 8
TEXT: Final = "u1"
_RISING: Final = "+"
KINDS: Final = (
    *("u1", "u2", "u4", "i8"),
    *("+u1", "+u2", "+u4", "+i1", "+i2", "+i4"),
)
_WIDTH: Final = {kind: int(kind[-1]) for kind in KINDS}
_LEAST, _MOST = -(2**63), 2**63 - 1


class Damage(Exception):  # noqa: N818 - what is wrong with a file, not yet told to anyone
    """A file is not what was written; the text says how, behind "… is damaged: "."""


class Stored(NamedTuple):
    """A column as the index tells it, and where it stands."""

    kind: str
    base: int
    rows: int
    checksum: int
    begin: int
    end: int


class Columns:
    """The columns of a file by name; each is checked and decoded when it is asked for."""

    def __init__(self, source: Source) -> None:
        """Read head and index; raises InputError for a file of another format, else Damage."""
        self._data = source.data
        self._stored = _placed(_index(source), source.data.size)

    def __contains__(self, name: str) -> bool:
        return name in self._stored

    def numbers(self, name: str) -> I64:
        """The column of this *name*, which nobody else has."""
        stored, raw = self._raw(name)
        values = raw.view(f"<{stored.kind.removeprefix(_RISING)}")
        if stored.kind.startswith(_RISING):
            column = np.cumsum(values, dtype=np.int64)
        else:
            column = values.astype(np.int64)
        if stored.base:
            column += stored.base
        return column

    def text(self, name: str) -> U8:
        """The bytes of this *name*, likewise."""
        stored, raw = self._raw(name)
        if stored.kind != TEXT or stored.base:
            raise Damage(f"the column {name} holds no text")
        return raw.copy()

    def _raw(self, name: str) -> tuple[Stored, U8]:
        if name not in self._stored:
            raise Damage(f"there is no column {name}")
        stored = self._stored[name]
        raw = self._data[stored.begin : stored.end]
        if zlib.crc32(raw.data) != stored.checksum:
            raise Damage(f"the checksum of the column {name} does not fit")
        return stored, raw


def aligned(size: int) -> int:
    """The next place from *size* on where a column may begin."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _index(source: Source) -> bytes:
    """The index of a file."""
    data = source.data
    head = data[: HEAD.size].tobytes()
    if head[: len(MAGIC)] != MAGIC[: len(head)]:
        raise Damage("its first bytes were changed, as by a transfer as text")
    if len(head) < HEAD.size:
        raise Damage("it is cut off")
    _, version, checksum, size = HEAD.unpack(head)
    if version > FORMAT:
        raise InputError(
            f"{source.name} was written by a newer tfprof "
            f"(format {version}; this one reads up to {FORMAT})"
        )
    if not version:
        raise Damage("it has no format")
    if size > data.size - HEAD.size:
        raise Damage("it is cut off")
    index = data[HEAD.size : HEAD.size + size].tobytes()
    if zlib.crc32(index) != checksum:
        raise Damage("the checksum of its index does not fit")
    return index


def _placed(index: bytes, size: int) -> dict[str, Stored]:
    """The columns of the index and their places, which fill the file to its end."""
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
            raise Damage(f"its index has no such column as {name}")
        begin = aligned(end)
        end = begin + rows * _WIDTH[kind]
        stored[name] = Stored(kind, base, rows, checksum, begin, end)
    if len(stored) < len(lines):
        raise Damage("its index names a column twice")
    if end != size:
        raise Damage("it is cut off" if end > size else "there is something behind its end")
    return stored
