"""The sections of a profile: samples, and the tables that they refer to by number.

KINDS are the numbers that a sample can hold, one row per metric.

sample     locations 2 1   values 1 1500   label 5=11        numbers only
location   2: function 2, line 11                            each once
function   2: name 3, file 4, first line -1                  each once
string     11: "net/fc/MatMul"                               each once; 0 is empty

The numbers of fields are those of profile.proto, github.com/google/pprof. A row of code view is a
line of a function:

/home/me/model.py:12:build      function  (/home/me/model.py, build, its first line)
                                title     model:build
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.views.code_view import GRADIENT_MARK, UNKNOWN_TEXT
from tfprof.views.drawing import ROOT_NAME
from tfprof.wire.encode import beside, field, joined, numbers, packed
from tfprof.writers.numbers import chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfprof.query.counted import Answer

_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING, _COMMENT = 1, 2, 4, 5, 6, 13
UNSIGNED = (1 << 64) - 1
# Samples written at a time: few enough that those of a deep tree, which are long, fit in memory.
_RUN = 1 << 12
# Longer strings are known by a digest: names a thousand scopes deep are long, and there are many.
_LONG = 64


class Kind(NamedTuple):
    """A row of the table; the name is the metric's."""

    name: str
    unit: str
    meaning: str


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("micros", "microseconds", "Sum of accelerator execution time and cpu execution time."),
        Kind("accelerator_micros", "microseconds", "Accelerator execution time."),
        Kind("cpu_micros", "microseconds", "CPU execution time."),
        Kind("bytes", "bytes", "Sum of operation total memory requests, excluding deallocations."),
        Kind("peak_bytes", "bytes", "Sum of operation peak memory usage."),
        Kind("residual_bytes", "bytes", "Sum of operation allocated memory after finish."),
        Kind("output_bytes", "bytes", "Sum of operation output size."),
        Kind("params", "count", "Model parameters."),
        Kind("float_ops", "count", "Model float operations (Only available if defined)."),
    )
}

# The first number of every sample; it is 1.
NODES = Kind("count", "count", "Graph nodes.")
NODE_LABEL = b"graph node:"


class Texts:
    """The strings, numbered in order of appearance; the empty string is 0."""

    def __init__(self) -> None:
        self._number: dict[bytes | int, int] = {b"": 0}
        self._columns: list[Strings] = []
        self._single: list[bytes] = [b""]  # what came since the last column
        # Texts of columns that nobody asks for again: how many, and (column, first, last row) of
        # those that come before the single ones.
        self._unlisted = 0
        self._run: tuple[Strings, int, int] | None = None

    def number(self, text: bytes) -> int:
        """The number of *text*; a new text gets a new number."""
        next_number = len(self._number) + self._unlisted
        number = self._number.setdefault(_key(text), next_number)
        if number == next_number:
            self._single.append(text)
        return number

    def numbers(self, texts: Strings) -> I64:
        """The number of each of *texts*."""
        known, before = self._number, len(self._number)
        runs = (texts.take(rows) for rows in chunks(len(texts), texts.length))
        each = (known.setdefault(_key(text), len(known)) for run in runs for text in run)
        result = np.fromiter(each, np.int64, len(texts))
        highest = np.maximum.accumulate(np.append(before - 1, result))
        new = np.flatnonzero(result > highest[:-1])  # where each new number stands first
        self._columns += [Strings.of(self._single), texts.take(new)]
        self._single = []
        return result

    def append(self, texts: Strings, first: int, last: int) -> range:
        """The numbers of these rows of *texts*; they are all different, and new now and later."""
        number = len(self._number) + self._unlisted
        self._unlisted += last - first
        if self._single or self._run is None:
            self._end_run()
            self._run = texts, first, last
        else:
            self._run = texts, self._run[1], last
        return range(number, number + last - first)

    def _end_run(self) -> None:
        if self._run is not None:
            texts, first, last = self._run
            self._columns.append(texts.take(slice(first, last)))
        self._columns.append(Strings.of(self._single))
        self._single, self._run = [], None

    def section(self) -> Iterator[bytes]:
        """All strings, by number, in pieces."""
        self._end_run()
        for column in self._columns:
            for rows in chunks(len(column), column.length):
                yield joined(*field(_STRING, column.take(rows)))


def _key(text: bytes) -> bytes | int:
    if len(text) <= _LONG:
        return text
    return int.from_bytes(blake2b(text, digest_size=16).digest(), "little")


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
        return joined(*field(_FUNCTION, *numbers({1: number, 2: name, 4: file, 5: first_line})))


class Frame(NamedTuple):
    """A line of a function."""

    function: Function
    title: bytes
    line: int  # from 0 to UNSIGNED, like the first line of the function


_ROOT = Frame(Function(b"", ROOT_NAME, 0), ROOT_NAME, 0)


def frames(answer: Answer) -> list[Frame]:
    """The frame of each row; equal frames are one object, and the root has no file."""
    # parity Q54: a row that frames of several files share stands for the first of them.
    stacks, drawing = answer.profile.stacks, answer.drawing
    assert drawing.frame is not None
    assert drawing.gradient is not None
    text = dict(zip(stacks.text_id.tolist(), stacks.text, strict=True))
    at = drawing.frame[answer.row[1:]]
    columns = (stacks.file, stacks.line, stacks.function, stacks.function_line)
    values = [column[at].tolist() for column in columns]
    known: dict[tuple[int, ...], Frame] = {}

    def frame(key: tuple[int, ...]) -> Frame:
        file_id, line, function_id, first_line, gradient = key
        file, name = text.get(file_id, UNKNOWN_TEXT), text.get(function_id, UNKNOWN_TEXT)
        name += GRADIENT_MARK if gradient else b""
        base = file.rpartition(b"/")[2]
        stem = base.rpartition(b".")[0] if b"." in base else base
        function = Function(file, name, first_line & UNSIGNED)
        return Frame(function, b"%b:%b" % (stem, name), line & UNSIGNED)

    rows = [_ROOT]
    for key in zip(*values, drawing.gradient[answer.row[1:]].tolist(), strict=True):
        if key not in known:
            known[key] = frame(key)
        rows.append(known[key])
    return rows


def function_section(number: I64, name: I64) -> bytes:
    """Functions that are in no file; *name* is the number of a string."""
    return joined(*field(_FUNCTION, *numbers({1: number, 2: name})))


def location_section(number: I64, function: I64, line: I64) -> bytes:
    """Locations, each a line of a function."""
    inside = field(4, *numbers({1: function, 2: line}))
    return joined(*field(_LOCATION, *numbers({1: number}), *inside))


def sample_section(
    paths: Iterable[bytes], values: I64, labels: Sequence[Strings]
) -> Iterator[bytes]:
    """Samples: *paths* (locations as varints, innermost first), rows of *values* and *labels*."""
    rows, width = values.shape
    left = iter(paths)
    for first in range(0, rows, _RUN):
        run = slice(first, first + _RUN)
        value = values[run]
        owner = np.repeat(np.arange(len(value)), width)
        sample = (
            *field(1, Strings.of(islice(left, len(value))), empty=False),
            *packed(2, owner, value.ravel(), len(value)),
            *(label.take(run) for label in labels),
        )
        yield joined(*field(_SAMPLE, *sample))


def label_column(key: int, text: I64) -> Strings:
    """A label of each sample; both are numbers of strings."""
    return beside(*field(3, *numbers({1: np.full(text.size, key), 2: text})))


def message(
    types: tuple[Sequence[int], Sequence[int]],
    samples: Iterable[bytes],
    places: bytes,
    texts: Texts,
    comments: Sequence[int],
) -> Iterator[bytes]:
    """The profile in pieces; *types* (names, units) and *comments* are numbers of strings."""
    names, units = map(np.array, types)
    yield joined(*field(_SAMPLE_TYPE, *numbers({1: names, 2: units})))
    yield from samples
    yield places
    yield from texts.section()
    owner = np.zeros(len(comments), np.int64)
    yield joined(*packed(_COMMENT, owner, np.array(comments), 1))


def columns_of(rows: Sequence[tuple[int, ...]], width: int) -> list[I64]:
    """The columns of a table of numbers from 0 to UNSIGNED."""
    return list(np.array(rows, np.uint64).astype(np.int64).reshape(-1, width).T)
