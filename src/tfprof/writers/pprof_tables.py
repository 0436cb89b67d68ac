"""The sections of a profile: samples, and the tables that they refer to by number.

sample     locations 2 1   values 1 1500   label 5=11        numbers only
location   2: function 2, line 11                            each once
function   2: name 3, file 4, first line -1                  each once
string     11: "net/fc/MatMul"                               each once; 0 is the empty one

The numbers of fields are those of profile.proto, github.com/google/pprof.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.wire.encode import beside, field, numbers, packed
from tfprof.writers.numbers import chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfprof.columns.strings import I64

_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING, _COMMENT = 1, 2, 4, 5, 6, 13
UNSIGNED = (1 << 64) - 1
# Samples written at a time: few enough that those of a deep tree, which are long, fit in memory.
_RUN = 1 << 12
# Longer strings are known by a digest.
_LONG = 64


class Texts:
    """The strings, numbered in order of appearance; the empty one is 0.

    Names a thousand scopes deep are long, and every scope has one. So a long string is stored as a
    digest and the place where to find it again.
    """

    def __init__(self) -> None:
        self._number: dict[bytes | int, int] = {b"": 0}
        self._columns: list[Strings] = []
        self._single: list[bytes] = [b""]  # what came since the last column

    def number(self, text: bytes) -> int:
        """The number of *text*; a new text gets a new number."""
        next_number = len(self._number)
        number = self._number.setdefault(_key(text), next_number)
        if number == next_number:
            self._single.append(text)
        return number

    def numbers(self, texts: Strings) -> I64:
        """The number of each of *texts*."""
        known = self._number
        before = len(known)
        runs = (texts.take(rows) for rows in chunks(len(texts), texts.length))
        each = (known.setdefault(_key(text), len(known)) for run in runs for text in run)
        result = np.fromiter(each, np.int64, len(texts))
        self._columns += [Strings.of(self._single), texts.take(_first_of_each(result, before))]
        self._single = []
        return result

    def section(self) -> Iterator[bytes]:
        """All strings, by number, in pieces."""
        for column in (*self._columns, Strings.of(self._single)):
            for rows in chunks(len(column), column.length):
                yield _joined(*field(_STRING, column.take(rows)))


def _key(text: bytes) -> bytes | int:
    if len(text) <= _LONG:
        return text
    return int.from_bytes(blake2b(text, digest_size=16).digest(), "little")


def _first_of_each(number: I64, before: int) -> I64:
    """Where each number that is not below *before* stands first; they come in order."""
    highest = np.maximum.accumulate(np.append(before - 1, number))
    return np.flatnonzero(number > highest[:-1])


class Function(NamedTuple):
    """What identifies a function; functions are listed in this order."""

    file: bytes
    name: bytes
    first_line: int  # from 0 to UNSIGNED: a negative one is sorted as a huge one


class Functions:
    """The functions, numbered from 1 in order of appearance."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._entry: dict[Function, tuple[int, int, int, int]] = {}

    def number(self, function: Function, title: bytes) -> int:
        """The number of *function*, which reports call *title*; a new one gets a new number."""
        if function not in self._entry:
            name, file = self._texts.number(title), self._texts.number(function.file)
            self._entry[function] = len(self._entry) + 1, name, file, function.first_line
        return self._entry[function][0]

    def section(self) -> bytes:
        """All functions, sorted."""
        number, name, file, first_line = columns_of(
            [self._entry[function] for function in sorted(self._entry)], 4
        )
        return _joined(*field(_FUNCTION, *numbers({1: number, 2: name, 4: file, 5: first_line})))


def function_section(number: I64, name: I64) -> bytes:
    """Functions that are in no file; *name* is the number of a string."""
    return _joined(*field(_FUNCTION, *numbers({1: number, 2: name})))


def location_section(number: I64, function: I64, line: I64) -> bytes:
    """Locations, each a line of a function."""
    inside = field(4, *numbers({1: function, 2: line}))
    return _joined(*field(_LOCATION, *numbers({1: number}), *inside))


def sample_section(
    paths: Iterable[bytes], values: I64, labels: Sequence[Strings]
) -> Iterator[bytes]:
    """Samples: the path of each, a row of *values*, and a row of each of *labels*.

    A path is the locations as varints, the innermost first.
    """
    rows, width = values.shape
    left = iter(paths)
    for first in range(0, rows, _RUN):
        run = slice(first, first + _RUN)
        value = values[run]
        owner = np.repeat(np.arange(len(value)), width)
        yield _joined(
            *field(
                _SAMPLE,
                *field(1, Strings.of(islice(left, len(value))), empty=False),
                *packed(2, owner, value.ravel(), len(value)),
                *(label.take(run) for label in labels),
            )
        )


def label_column(key: int, text: I64) -> Strings:
    """A label of each sample; both are numbers of strings."""
    return beside(*field(3, *numbers({1: np.full(text.size, key), 2: text})))


def sample_type_section(name: Sequence[int], unit: Sequence[int]) -> bytes:
    """What the values of samples are; both are numbers of strings."""
    return _joined(*field(_SAMPLE_TYPE, *numbers({1: np.array(name), 2: np.array(unit)})))


def comment_section(texts: Sequence[int]) -> bytes:
    """What viewers print above a report: numbers of strings."""
    return _joined(*packed(_COMMENT, np.zeros(len(texts), np.int64), np.array(texts), 1))


def columns_of(rows: Sequence[tuple[int, ...]], width: int) -> list[I64]:
    """The columns of a table of numbers from 0 to UNSIGNED."""
    return list(np.array(rows, np.uint64).astype(np.int64).reshape(-1, width).T)


def _joined(*columns: Strings) -> bytes:
    return beside(*columns).blob.tobytes()
