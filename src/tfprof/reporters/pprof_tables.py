"""The sections of a profile: samples, and the tables that they refer to by number.

    sample     locations 2 1   values 1 1500   label 5=11        numbers only
    location   2: function 2, line 11                            each once
    function   2: name 3, file 4, first line -1                  each once
    string     11: "net/fc/MatMul"                               each once; 0 is the empty one
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.reporters.pprof_encode import (
    bytes_field,
    encoded,
    message,
    number_field,
    numbers,
    row_bytes,
    varint,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfprof.reporters.pprof_encode import Column
    from tfprof.strings import I64, U64, Bool

_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING, _COMMENT = 1, 2, 4, 5, 6, 13
# Entries put together at a time: the samples of a deep tree are long.
_RUN = 256
UNSIGNED = (1 << 64) - 1


class Texts:
    """The strings, numbered as they come; the empty one is 0."""

    def __init__(self) -> None:
        self._number = {b"": 0}

    def number(self, text: bytes) -> int:
        """The number of *text*, a new one where it is new."""
        return self._number.setdefault(text, len(self._number))

    def numbers(self, texts: Iterable[bytes]) -> I64:
        """The number of each of *texts*."""
        known = self._number
        return np.array([known.setdefault(text, len(known)) for text in texts], np.int64)

    def section(self) -> Iterator[bytes]:
        """All strings, by number."""
        return _entries(_STRING, self._number)


class Function(NamedTuple):
    """What tells functions apart, and the order they are listed in."""

    file: bytes
    name: bytes
    first_line: int  # from 0 to UNSIGNED: a negative one is sorted, and written, as a huge one


class Functions:
    """The functions, numbered from 1 as they come."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._entry: dict[Function, tuple[int, int, int, int]] = {}

    def number(self, function: Function, title: bytes) -> int:
        """The number of *function*, which reports call *title*; a new one where it is new."""
        if function not in self._entry:
            name, file = self._texts.number(title), self._texts.number(function.file)
            self._entry[function] = len(self._entry) + 1, name, file, function.first_line
        return self._entry[function][0]

    def section(self) -> Iterator[bytes]:
        """All functions, sorted."""
        return function_section(*columns_of([self._entry[one] for one in sorted(self._entry)], 4))


def function_section(
    number: I64 | U64, name: I64 | U64, file: U64 | int = 0, first_line: U64 | int = 0
) -> Iterator[bytes]:
    """Functions; *name* and *file* are numbers of strings."""
    parts = [
        *number_field(1, number),
        *number_field(2, name),
        *number_field(4, file),
        *number_field(5, first_line),
    ]
    return _rows(message(_FUNCTION, parts), number.size)


def location_section(
    number: I64 | U64, function: I64 | U64, line: U64 | int = 0
) -> Iterator[bytes]:
    """Locations, each a line of a function."""
    inside = message(4, [*number_field(1, function), *number_field(2, line)])
    return _rows(message(_LOCATION, [*number_field(1, number), *inside]), number.size)


def sample_section(
    paths: Iterable[bytes], columns: Sequence[Column], rows: int
) -> Iterator[bytes]:
    """Samples, each a path (see `path_field`) and a row of *columns*."""
    rest = row_bytes(columns, rows)
    return _entries(_SAMPLE, (path + row for path, row in zip(paths, rest, strict=True)))


def path_field(locations: bytes) -> bytes:
    """The path of a sample: varints of locations, the innermost first."""
    return bytes_field(1, locations) if locations else b""


def value_field(*metrics: I64 | int) -> list[Column]:
    """The numbers of a sample, one for each sample type."""
    return message(2, [numbers(metric) for metric in metrics])


def label_field(key: int, text: I64 | int, present: Bool | bool = True) -> list[Column]:  # noqa: FBT001, FBT002
    """A label of a sample; both are numbers of strings."""
    return message(3, [*number_field(1, key), *number_field(2, text)], present)


def sample_type_section(name: Sequence[int], unit: Sequence[int]) -> Iterator[bytes]:
    """What the values of samples are; both are numbers of strings."""
    parts = [*number_field(1, np.array(name)), *number_field(2, np.array(unit))]
    return _rows(message(_SAMPLE_TYPE, parts), len(name))


def comment_section(texts: Iterable[int]) -> Iterator[bytes]:
    """What viewers print above a report."""
    yield bytes_field(_COMMENT, b"".join(map(varint, texts)))


def columns_of(rows: Sequence[tuple[int, ...]], width: int) -> list[U64]:
    """The columns of a table of numbers from 0 to UNSIGNED."""
    return list(np.array(rows, np.uint64).reshape(-1, width).T)


def _rows(columns: Sequence[Column], rows: int) -> Iterator[bytes]:
    return (text for text, _ in encoded(columns, rows))


def _entries(field: int, parts: Iterable[bytes]) -> Iterator[bytes]:
    """Each of *parts* as a field of the profile, in runs."""
    tag, left = bytes_field(field, b"")[:-1], iter(parts)
    while run := list(islice(left, _RUN)):
        yield b"".join([tag + varint(len(part)) + part for part in run])
