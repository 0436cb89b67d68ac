r"""Reads a tar archive from its beginning to its end, piece by piece as it comes.

    header ─► content ─► header ─► content ─► … ─► zeros

Headers are blocks of 512 bytes. A header of type x, g, L or K has content that describes the member
after it: pax records ("30 path=a/long/name\n") or a long name. Python's tarfile believes the sizes
of these, and its time grows with their square (3.11.9, 3.12.5). Here time grows with the bytes in
the archive, and a header of more than a megabyte is an error.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.foundation.named_tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BLOCK: Final = 512
_LONGEST_HEADER: Final = 1 << 20  # of names and records: a path has at most 4,096 bytes
_MOST_DIGITS: Final = 20

_NAME, _SIZE, _SUM = slice(0, 100), slice(124, 136), slice(148, 156)
_TYPE, _MAGIC, _PREFIX = slice(156, 157), slice(257, 265), slice(345, 500)
_GNU: Final = b"ustar  \0"  # whose headers have no prefix
# Whether another block with the map of a sparse file follows: in its header, in such a block.
_MORE_OF_SPARSE, _MORE_AGAIN = 482, 504

_PAX, _PAX_OF_ALL, _LONG_NAME, _LONG_LINK, _SPARSE = (b"x", b"X"), b"g", b"L", b"K", b"S"
_FILES: Final = (b"0", b"\0", b"7")
_WITHOUT_CONTENT: Final = (b"1", b"2", b"3", b"4", b"5", b"6")  # links, devices, folders


class TarError(ValueError):
    """What is wrong, as the rest of a sentence."""


class Member(NamedTuple):
    """What headers say of a member."""

    name: str
    size: int  # of its content, in bytes
    is_file: bool  # a regular one, whose content stands in the archive as it is


class Pieces:
    """Pieces of a file, as they come, read as a file."""

    def __init__(self, pieces: Iterator[bytes | memoryview]) -> None:
        self._pieces, self._piece = pieces, memoryview(b"")
        self.at = 0  # how many bytes were read

    def read(self, size: int) -> bytes:
        """So many bytes; fewer at the end."""
        return b"".join(self._parts(size))

    def skip(self, size: int) -> None:
        """Go past so many bytes; raises TarError where there are fewer."""
        if sum(map(len, self._parts(size))) < size:
            raise TarError("it is cut off")

    def exactly(self, size: int) -> bytes:
        """So many bytes; raises TarError where there are fewer."""
        data = self.read(size)
        if len(data) < size:
            raise TarError("it is cut off")
        return data

    def finish(self) -> None:
        """Go past the rest: behind it, a gzip file has a checksum."""
        for _ in self._parts(sys.maxsize):
            pass

    def _parts(self, size: int) -> Iterator[memoryview]:
        while size:
            while not self._piece and (piece := next(self._pieces, None)) is not None:
                self._piece = memoryview(piece)
            if not self._piece:
                break
            part, self._piece = self._piece[:size], self._piece[size:]
            size -= len(part)
            self.at += len(part)
            yield part


def members(archive: Pieces) -> Iterator[Member]:
    """Each member; *archive* reads its content next, or what the caller wants of it."""
    of_all: dict[bytes, bytes] = {}
    said: dict[bytes, bytes] = {}  # of the next member
    while any(header := archive.read(BLOCK)):
        if len(header) < BLOCK and not said:
            break  # the end is cut off, or behind it stands something else
        _check(header)
        kind = header[_TYPE]
        size = 0 if kind in _WITHOUT_CONTENT else _number(header[_SIZE])
        if kind in (*_PAX, _PAX_OF_ALL, _LONG_NAME, _LONG_LINK):
            text = _extension(archive, size)
            if kind == _LONG_NAME:
                said[b"path"] = text.partition(b"\0")[0]
            elif kind != _LONG_LINK:
                (of_all if kind == _PAX_OF_ALL else said).update(_used_records(text))
            continue
        more = kind == _SPARSE and header[_MORE_OF_SPARSE]
        while more:
            more = archive.exactly(BLOCK)[_MORE_AGAIN]
        member = _member(header, kind, size, {**of_all, **said})
        end = archive.at + member.size
        yield member
        archive.skip(end - archive.at)
        archive.read(-end % BLOCK)
        said = {}
    archive.finish()


def _check(header: bytes) -> None:
    """Raise TarError unless the checksum is right; programs of old add signed bytes."""
    if len(header) < BLOCK:
        raise TarError("it is cut off")
    summed = header[: _SUM.start] + b" " * 8 + header[_SUM.stop :]
    declared = _number(header[_SUM])
    if declared != sum(summed) and declared != np.frombuffer(summed, np.int8).sum(dtype=np.int64):
        raise TarError("a header has a wrong checksum")


def _number(field: bytes) -> int:
    """A number in a header: octal digits, or binary."""
    if field[:1] == b"\x80":
        return int.from_bytes(field[1:], "big")
    digits = field.partition(b"\0")[0].strip() or b"0"
    if not digits.isdigit() or b"8" in digits or b"9" in digits:
        raise TarError("a header has a field that is no number")
    return int(digits, 8)


def _extension(archive: Pieces, size: int) -> bytes:
    """The content of a header that says more of the next member."""
    if size > _LONGEST_HEADER:
        raise TarError(f"a header declares {size:,} bytes; tfprof accepts {_LONGEST_HEADER:,}")
    text = archive.exactly(size)
    archive.read(-size % BLOCK)
    return text


def _used_records(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    for key, value in _records(text):
        if key in (b"path", b"size"):
            yield key, value
        elif key.startswith(b"GNU.sparse."):
            yield b"sparse", value


def _records(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of pax records."""
    at = 0
    while text[at : at + 1].strip(b"\0"):
        digits = text[at : at + _MOST_DIGITS].partition(b" ")[0]
        end = at + int(digits) if digits.isdigit() else 0
        key, equals, value = text[at + len(digits) + 1 : max(end - 1, 0)].partition(b"=")
        if not equals or text[end - 1 : end] != b"\n":
            raise TarError("a pax header is no list of records")
        yield key, value
        at = end


def _member(header: bytes, kind: bytes, size: int, said: Mapping[bytes, bytes]) -> Member:
    name = header[_NAME].partition(b"\0")[0]
    if header[_MAGIC] != _GNU and (prefix := header[_PREFIX].partition(b"\0")[0]):
        name = prefix + b"/" + name
    if digits := said.get(b"size"):
        if len(digits) > _MOST_DIGITS or not digits.isdigit():
            raise TarError("a pax header has no size")
        size = int(digits)
    name = said.get(b"path") or name
    is_folder = kind in _FILES and name.endswith(b"/")  # as old programs write it
    return Member(
        name.rstrip(b"/").decode("utf-8", "surrogateescape"),
        0 if is_folder or kind in _WITHOUT_CONTENT else size,
        kind in _FILES and not is_folder and b"sparse" not in said,
    )
