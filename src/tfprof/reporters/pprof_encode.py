"""A pprof file: tables that number what samples refer to, and a message in a gzip container.

    sample     locations 2 1   values 1 1500   labels 5=11       numbers only
    location   2: function 2, line 11                            each once
    function   2: name 3, file 4, start line -1                  each once
    string     11: "net/fc/MatMul"                               each once; 0 is the empty one

The message is profile.proto of github.com/google/pprof in protobuf wire format. It is written by
hand: a sample is a few slices joined, never an object a field.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.reporters.numbers import chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.strings import I64

_GROUP = 7
_MORE = 0x80
UNSIGNED = (1 << 64) - 1
_SHIFTS = np.arange(0, 64, _GROUP, dtype=np.uint64)
# A gzip header and trailer around zlib's widest window.
_GZIP = 31
# Bytes compressed at a time, so that many small pieces cost no call each.
_BATCH = 1 << 16

_PROFILE = {"sample_type": 1, "sample": 2, "location": 4, "function": 5, "string": 6, "comment": 13}


def varint(number: int) -> bytes:
    """*number* in groups of seven bits, lowest first; a negative one takes ten bytes."""
    left = number & UNSIGNED
    groups = bytearray()
    while left >= _MORE:
        groups.append(left & (_MORE - 1) | _MORE)
        left >>= _GROUP
    groups.append(left)
    return bytes(groups)


_SHORT = [varint(number) for number in range(1 << 14)]


def varint_rows(table: I64) -> Iterator[bytes]:
    """Each row of *table* as varints, one behind the other."""
    for rows in chunks(len(table)):
        shifted = table[rows].astype(np.uint64)[:, :, np.newaxis] >> _SHIFTS
        used = shifted > 0
        used[:, :, 0] = True
        groups = (shifted & np.uint64(_MORE - 1)).astype(np.uint8)
        groups[:, :, :-1] |= np.where(used[:, :, 1:], np.uint8(_MORE), np.uint8(0))
        text = groups[used].tobytes()
        end = np.cumsum(used.sum(axis=(1, 2))).tolist()
        yield from (text[first:last] for first, last in zip([0, *end], end, strict=False))


def length(part: bytes) -> bytes:
    """How long *part* is, as it stands before it."""
    size = len(part)
    return _SHORT[size] if size < len(_SHORT) else varint(size)


def number_field(field: int, number: int) -> bytes:
    """A number in a message; 0 is what is left out."""
    return varint(field << 3) + varint(number) if number else b""


def bytes_field(field: int, content: bytes) -> bytes:
    """A text, a message or packed numbers in a message."""
    return varint(field << 3 | 2) + length(content) + content


def section(name: str, parts: Iterable[bytes]) -> Iterator[bytes]:
    """Each of *parts* as an entry of this section of the profile."""
    tag = varint(_PROFILE[name] << 3 | 2)
    return (tag + length(part) + part for part in parts)


class Texts:
    """The strings, numbered as they come; the empty one is 0."""

    def __init__(self) -> None:
        self._number = {b"": 0}

    def number(self, text: bytes) -> int:
        """The number of *text*, a new one where it is new."""
        return self._number.setdefault(text, len(self._number))

    def section(self) -> Iterator[bytes]:
        """All strings, by number."""
        return section("string", self._number)


class Function(NamedTuple):
    """What tells functions apart, and the order they are listed in."""

    file: bytes
    name: bytes
    first_line: int  # from 0 to 2^64 - 1: a negative one is sorted, and written, as a huge one


class Functions:
    """The functions, numbered from 1 as they come."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._entry: dict[Function, tuple[int, bytes]] = {}

    def number(self, function: Function, title: bytes) -> int:
        """The number of *function*, which reports call *title*; a new one where it is new."""
        if function not in self._entry:
            number = len(self._entry) + 1
            name, file = self._texts.number(title), self._texts.number(function.file)
            self._entry[function] = (
                number,
                number_field(1, number)
                + number_field(2, name)
                + number_field(4, file)
                + number_field(5, function.first_line),
            )
        return self._entry[function][0]

    def section(self) -> Iterator[bytes]:
        """All functions, sorted."""
        return section("function", (self._entry[one][1] for one in sorted(self._entry)))


def location(number: int, function: int, line: int = 0) -> bytes:
    """A place in a function."""
    inside = number_field(1, function) + number_field(2, line)
    return number_field(1, number) + bytes_field(4, inside)


def label(key: int, text: int) -> bytes:
    """A label of a sample; both are numbers of strings."""
    return bytes_field(3, number_field(1, key) + number_field(2, text))


def value_type(name: int, unit: int) -> bytes:
    """What a value of a sample is; both are numbers of strings."""
    return number_field(1, name) + number_field(2, unit)


def comments(numbers: Iterable[int]) -> Iterator[bytes]:
    """The section of comments, which are numbers of strings."""
    return section("comment", [b"".join(map(varint, numbers))])


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
