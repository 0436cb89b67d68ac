"""What an event file holds for a profile, and where.

    Event ─┬─ 2 step
           ├─ 4 GraphDef                        tf.summary.graph, FileWriter.add_graph, tf_keras
           ├─ 5 Summary ─ 1 Value* ─┬─ 1 tag
           │                        ├─ 8 tensor ─ 8 string    what the plugin stores
           │                        └─ 9 metadata ─ 1 plugin ─ 1 name, a row of _PLUGINS
           ├─ 8 tagged run ─┬─ 1 tag            FileWriter.add_run_metadata
           │                └─ 2 RunMetadata
           └─ 9 MetaGraphDef                    FileWriter.add_meta_graph

Everything else is skipped without being read.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.errors import InputError
from tfprof.read.events.records import Records, check_event
from tfprof.read.source import Source
from tfprof.tables.formats import FORMATS
from tfprof.wire.decode import BYTES, VARINT, WireError, scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, U8
    from tfprof.tables.formats import Format
    from tfprof.wire.decode import Field

GRAPH, META_GRAPH, RUN, FUNCTIONS, MODEL = "graph", "meta_graph", "run", "functions", "model"
# tf.summary.trace_export writes runs, and the functions that ran; Keras writes its model.
_PLUGINS: Final = {
    b"graph_run_metadata": RUN,
    b"graph_run_metadata_graph": FUNCTIONS,
    b"graph_keras_model": MODEL,
}
_LONGEST_NAME: Final = max(map(len, _PLUGINS))
_SHORTEST_NAME: Final = min(map(len, _PLUGINS))
_MOST: Final = 100_000


class Part(Source):
    """A message inside an Event of an event file, as a source of its own."""

    def __init__(  # noqa: PLR0913, PLR0917 - one parameter per attribute
        self,
        file: Source,
        kind: str,
        event: tuple[int, int],
        place: tuple[int, int],
        tag: bytes = b"",
        step: int = 0,
    ) -> None:
        super().__init__(file.name)
        self.file, self.kind, self.tag, self.step = file, kind, tag, step
        self.event, self._place = event, place

    @cached_property
    def format(self) -> Format | None:
        """By its field of the Event."""
        return FORMATS.get(self.kind)

    def inside(self, kind: str, start: int, end: int) -> Part:
        """The message at these bytes of this one."""
        first, _ = self._place
        place = first + start, first + end
        return Part(self.file, kind, self.event, place, self.tag, self.step)

    def check_event(self) -> None:
        """Raise InputError if the Event does not have its checksum."""
        try:
            check_event(self.file.data, *self.event)
        except WireError as problem:
            raise damaged(self.file, problem) from None

    def check(self) -> None:
        """As `check_event`: a file that only grew is no problem."""
        self.check_event()

    def let_go(self) -> None:
        """Free the memory of the file until it is needed again."""
        self.file.let_go()

    def _read(self) -> U8:
        start, end = self._place
        return self.file.data[start:end]

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_data": None}


class Contents(NamedTuple):
    """The parts of an event file, in file order."""

    parts: list[Part]
    records: int
    cut_off: tuple[str, ...]  # the files that end inside a record


def damaged(file: Source, problem: WireError) -> InputError:
    """The error of a damaged event file."""
    return InputError(f"{file.name} is a damaged event file: {problem}")


def contents(file: Source) -> Contents:
    """The parts of the event file *file*; raises InputError."""
    records = Records(file.data)
    parts: list[Part] = []
    try:
        for start, end in records:
            found = islice(_in_events(file, start, end), _MOST + 1)
            parts += sorted(found, key=lambda part: part.event)
            if len(parts) > _MOST:
                raise InputError(f"{file.name} holds more than {_MOST:,} graphs and runs")
    except WireError as problem:
        raise damaged(file, problem) from None
    return Contents(parts, records.count, (file.name,) if records.cut_off else ())


def _in_events(file: Source, start: I64, end: I64) -> Iterator[Part]:
    """The parts in these Events; raises WireError."""
    data = file.data
    field = scan(data, start, end, {2: VARINT, 4: BYTES, 5: BYTES, 8: BYTES, 9: BYTES})
    step = field[2].last(start.size)

    def part(kind: str, event: int, at: int, length: int, tag: bytes = b"") -> Part:
        record = int(start[event]), int(end[event])
        return Part(file, kind, record, (at, at + length), tag, int(step[event]))

    for number, kind in ((4, GRAPH), (9, META_GRAPH)):
        for place in _rows(field[number]):
            yield part(kind, *place)
    for event, at, length in _rows(field[8]):
        run = scan(data, np.array([at]), np.array([at + length]), {1: BYTES, 2: BYTES})
        (begin,), (size,) = run[2].last_slice(1)
        yield part(RUN, event, int(begin), int(size), Strings(data, *run[1].last_slice(1))[0])
    for row in _stored(data, field[5]):
        yield part(*row)


def _rows(field: Field) -> Iterator[tuple[int, int, int]]:
    return zip(field.message.tolist(), field.start.tolist(), field.value.tolist(), strict=True)


def _stored(data: U8, summary: Field) -> Iterator[tuple[str, int, int, int, bytes]]:
    """(kind, event, start, length, tag) of what the plugins in _PLUGINS stored."""
    value = scan(data, summary.start, summary.end, {1: BYTES})[1]
    metadata = scan(data, value.start, value.end, {9: BYTES})[9]
    plugin = scan(data, metadata.start, metadata.end, {1: BYTES})[1]
    name = scan(data, plugin.start, plugin.end, {1: BYTES})[1]
    # Names of other plugins are mostly shorter.
    for row in np.flatnonzero(name.value >= _SHORTEST_NAME).tolist():
        first, size = name.start[row], min(name.value[row], _LONGEST_NAME + 1)
        kind = _PLUGINS.get(data[first : first + size].tobytes())
        if kind is not None:
            owner = metadata.message[plugin.message[name.message[row : row + 1]]]
            part = scan(data, value.start[owner], value.end[owner], {1: BYTES, 8: BYTES})
            stored = scan(data, part[8].start, part[8].end, {8: BYTES})[8]
            tag = Strings(data, *part[1].last_slice(1))[0]
            event = int(summary.message[value.message[owner]][0])
            for _, at, length in islice(_rows(stored), 1):
                yield kind, event, at, length, tag
