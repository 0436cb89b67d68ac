"""Reads an XSpace in wire format into columns: planes, lines, events and their stats.

XSpace ─► XPlane* ─┬─ name                     "/host:CPU", "/device:GPU:0", "Task Environment"
                   ├─ XLine*  ─► XEvent*       a thread or a stream, and what happened on it
                   ├─ event metadata           the kinds of events and their names
                   ├─ stat metadata            the names of stats, and strings they refer to
                   └─ XStat*
XEvent ─► kind, offset, duration, XStat*

Metadata are numbered per plane; here every event and stat has the row of its metadata. Stats that
nobody asks for are skipped, and so are events of hosts that have none of the others and whose kind
has no class (`event_kinds`): half of a trace, or more.

/host:CPU                  …/device:cpu:0
/device:GPU:0              …/device:gpu:0/stream:all      its name in a session's RunMetadata
  Stream #13(Compute)      counts
  XLA Modules, Steps, …    repeat what is on the streams, so they do not count;
                           `XLA Ops` counts if a device has no streams, as TPUs, and
                           `TensorFlow Ops` if it has neither
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.blocks import blocks
from tfprof.columns.growing import Growing
from tfprof.columns.mapped_pages import release_pages
from tfprof.columns.strings import I64, U8, Bool, Strings
from tfprof.columns.unique import unique_inverse
from tfprof.read.xplane.event_kinds import OTHER, Kinds, event_kinds
from tfprof.wire.decode import BYTES, FIXED64, VARINT, Field, scan, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# No real time is later: eleven days in picoseconds, and the year 2116 in nanoseconds.
_LONGEST_PS = 10**18
_LATEST_NS = 1 << 62
_HOST, _DEVICE = b"/host:", b"/device:"
# The stats that `Stats` has; the others are skipped.
STATS: Final = frozenset({
    b"profile_start_time", b"profile_options", b"tfprof_step", b"step_num", b"id", b"is_func",
    b"eager_op", b"shape", b"tf_op", b"annotation", b"addr", b"requested_bytes", b"region_type",
    b"hlo_op", b"hlo_module", b"hlo_category", b"program_id", b"Hlo Proto", b"run_id",
    b"correlation_id",
    b"peak_teraflops_per_second", b"peak_hbm_bw_gigabytes_per_second", b"memory_bandwidth",
})  # fmt: skip
_NO_FRACTIONS: Final[Mapping[int, int]] = MappingProxyType({})
# A table of all numbers finds metadata if these numbers are at most so many times their count.
_CLOSE = 64
_TASK = b"/job:localhost/replica:0/task:0"
_DEVICE_NAME = re.compile(rb"/device:([A-Za-z_]+):(\d+).*")
XLA_MODULES, TENSORFLOW_OPS = b"XLA Modules", b"TensorFlow Ops"
# The lines that count: of each device, those of the first kind that it has.
_COUNTED = [re.compile(line) for line in (rb"(?i)stream\b.*", b"XLA Ops", TENSORFLOW_OPS)]


class Stats(NamedTuple):
    """The stats of many owners, one row per stat."""

    owner: I64  # ascending
    name: I64  # a row of `names`, or -1
    names: Strings  # distinct
    number: I64  # of a plane's fractions: their bits
    text: Strings  # stored in the stat or referred to by it

    def named(self, name: bytes) -> I64:
        """The rows of the stats with this name."""
        assert name in STATS, "only these are read"
        row = int(self.names.find(Strings.of([name]))[0])
        return np.flatnonzero(self.name == row) if row >= 0 else np.empty(0, np.int64)

    def numbers(self, name: bytes, owners: I64) -> I64:
        """The number that each of *owners* has under this name; 0 if absent."""
        result, rows = np.zeros(owners.size, np.int64), self.named(name)
        for block, row in self._found(rows, owners):
            result[block] = np.where(row >= 0, self.number[row], 0)
        return result

    def texts(self, name: bytes, owners: I64) -> Strings:
        """The string that each of *owners* has under this name; empty if absent."""
        result, rows = blank(owners.size), self.named(name)
        for block, row in self._found(rows, owners):
            result.start[block] = self.text.start[row]
            result.length[block] = self.text.length[row] * (row >= 0)
        return Strings(self.text.blob, result.start, result.length) if rows.size else result

    def _found(self, rows: I64, owners: I64) -> Iterator[tuple[slice, I64]]:
        """(a slice of *owners*, the last of these *rows* that each has, or -1), slice by slice."""
        known = self.owner[rows]
        for block in blocks(owners.size if rows.size else 0):
            at = np.searchsorted(known, owners[block], "right") - 1
            yield block, np.where(known[at] == owners[block], rows[at], -1)


class Events(NamedTuple):
    """Events that count."""

    line: I64
    kind: I64
    ps: I64
    long_ps: I64
    stats: Stats


class Space(NamedTuple):
    """The parts of an XSpace that tfprof uses."""

    plane: Strings  # names
    plane_stats: Stats
    line: Strings  # names
    line_plane: I64
    line_ns: I64
    kind: Strings  # names of event metadata
    kind_id: I64  # its number in its plane
    kind_plane: I64
    kind_display: Strings
    kind_stats: Stats
    kinds: Kinds
    event_line: I64  # ascending
    event_kind: I64  # a row of `kind`, or -1
    event_ps: I64  # since the line's beginning
    event_long_ps: I64
    event_stats: Stats


def read_space(buffer: U8) -> Space:
    """The columns of an XSpace; raises WireError."""
    plane = scan(buffer, *whole(buffer), {1: BYTES})[1]
    part = scan(buffer, plane.start, plane.end, {2: BYTES, 3: BYTES, 4: BYTES, 5: BYTES, 6: BYTES})
    plane_name = Strings(buffer, *part[2].last_slice(plane.start.size))
    kind_number, kind = _metadata(buffer, part[4], {2: BYTES, 4: BYTES, 5: BYTES})
    stat_number, stat = _metadata(buffer, part[5], {2: BYTES})
    kinds, number_of_stats = kind_number.number.size, stat_number.number.size
    line = part[3]
    of_line = scan(buffer, line.start, line.end, {2: BYTES, 3: VARINT, 4: BYTES})
    stats = _StatReader.of(
        buffer, stat_number, Strings(buffer, *stat[2].last_slice(number_of_stats))
    )
    lines = line.start.size
    kind_name, display = (Strings(buffer, *kind[part].last_slice(kinds)) for part in (2, 4))
    of_kind = event_kinds(kind_name, display)
    counts = np.append(of_kind.what, OTHER) != OTHER
    is_host = plane_name.which(lambda name: name.startswith(_HOST))
    reader = _EventReader(buffer, line.message, is_host, kind_number, counts, stats)
    events = reader.read(of_line.pop(4))
    return Space(
        plane=plane_name,
        plane_stats=stats.read(part[6], np.arange(plane.start.size), {2: FIXED64}),
        line=Strings(buffer, *of_line[2].last_slice(lines)),
        line_plane=line.message,
        line_ns=np.clip(of_line[3].last(lines), 0, _LATEST_NS // 2),
        kind=kind_name,
        kind_id=kind_number.number,
        kind_plane=kind_number.plane,
        kind_display=display,
        kind_stats=stats.read(kind[5], kind_number.plane),
        kinds=of_kind,
        event_line=events.line,
        event_kind=events.kind,
        event_ps=events.ps,
        event_long_ps=events.long_ps,
        event_stats=events.stats,
    )


def _metadata(
    buffer: U8, entry: Field, wanted: dict[int, int]
) -> tuple[_Numbers, dict[int, Field]]:
    """(numbers, fields) of the metadata in the entries of a map."""
    part = scan(buffer, entry.start, entry.end, {1: VARINT, 2: BYTES})
    count = entry.start.size
    start, length = part[2].last_slice(count)
    numbers = _Numbers.of(entry.message, part[1].last(count))
    return numbers, scan(buffer, start, start + length, wanted)


class _Numbers(NamedTuple):
    """The number of each metadata in its plane."""

    plane: I64
    number: I64
    width: int  # of a plane in the table or in the keys
    table: I64  # the last row with each number, or -1, and -1 at its end; empty: there is none
    # Without a table, sorted here: `find` runs for every block of events.
    distinct: I64  # numbers
    key: I64  # plane and index in `distinct`, ascending
    row: I64  # of each key

    @classmethod
    def of(cls, plane: I64, number: I64) -> _Numbers:
        """A table of all numbers, where they are small; otherwise sorted keys."""
        planes, width = int(plane.max(initial=-1)) + 1, int(number.max(initial=-1)) + 1
        nothing = np.empty(0, np.int64)
        if int(number.min(initial=0)) < 0 or planes * width > _CLOSE * number.size:
            distinct, index = unique_inverse(number)
            key = plane * distinct.size + index
            row = np.argsort(key, kind="stable")
            return cls(plane, number, distinct.size, nothing, distinct, key[row], row)
        table = np.full(planes * width + 1, -1, np.int64)
        table[plane * width + number] = np.arange(number.size)
        return cls(plane, number, width, table, nothing, nothing, nothing)

    def find(self, plane: I64, wanted: I64) -> I64:
        """The last row with the *wanted* number in a plane, or -1."""
        if not self.number.size or not wanted.size:
            return np.full(wanted.size, -1, np.int64)
        if self.table.size:
            at, end = plane * self.width + wanted, self.table.size - 1
            # No entry of a map names this plane, or this number.
            at[(wanted < 0) | (wanted >= self.width) | (at > end)] = end
            found: I64 = self.table[at]
            return found
        index = np.minimum(np.searchsorted(self.distinct, wanted), self.width - 1)
        key = plane * self.width + index
        at = np.searchsorted(self.key, key, "right") - 1
        fits = (self.key[at] == key) & (self.distinct[index] == wanted)
        return np.where(fits, self.row[at], -1)


class _StatReader(NamedTuple):
    """Reads stats, whose names and strings are metadata of their plane."""

    buffer: U8
    numbers: _Numbers
    text: Strings  # of the metadata: a name, or a string that a stat refers to
    name: I64  # a row of `names`; -1: not in STATS
    names: Strings

    @classmethod
    def of(cls, buffer: U8, numbers: _Numbers, text: Strings) -> _StatReader:
        """A reader of the stats with these metadata."""
        names = Strings.of(sorted(STATS))
        return cls(buffer, numbers, text, np.append(names.find(text), -1), names)

    def read(
        self, stat: Field, owner_plane: I64, fractions: Mapping[int, int] = _NO_FRACTIONS
    ) -> Stats:
        """The stats in the messages of the owners; with *fractions* only where they have some."""
        number = scan(self.buffer, stat.start, stat.end, {1: VARINT})[1].last(stat.start.size)
        name = self.name[self.numbers.find(owner_plane[stat.message], number)]
        used = np.flatnonzero(name >= 0)
        owner, start, length = (column[used] for column in stat)
        wanted = {3: VARINT, 4: VARINT, 5: BYTES, 6: BYTES, 7: VARINT, **fractions}
        part = scan(self.buffer, start, start + length, wanted)
        number = part[3].last(used.size)
        number[part[4].message] = part[4].value
        for field in fractions:
            bits = self.buffer[part[field].start[:, None] + np.arange(8)]
            number[part[field].message] = bits.view("<i8").reshape(-1)
        start, length = part[5].last_slice(used.size)
        start[part[6].message], length[part[6].message] = part[6].start, part[6].value
        refers = part[7].message
        text = self.numbers.find(owner_plane[owner[refers]], part[7].value)
        known = np.flatnonzero(text >= 0)
        start[refers[known]] = self.text.start[text[known]]
        length[refers[known]] = self.text.length[text[known]]
        return Stats(owner, name[used], self.names, number, Strings(self.buffer, start, length))


class _EventReader(NamedTuple):
    """Reads the events of lines."""

    buffer: U8
    line_plane: I64
    is_host: Bool
    kinds: _Numbers
    counts: Bool  # the kinds of events of hosts that count even without stats
    stats: _StatReader

    def read(self, event: Field) -> Events:
        """The events that count, and their stats."""
        count, before = event.start.size, 0
        # What is known of the events takes the place of where they are: no more memory is needed.
        columns = (event.message, np.empty(count, np.int64), event.start, event.value)
        stats = [Growing() for _ in range(5)]
        for block in blocks(count):
            line, start, length = (column[block] for column in event)
            begin, end = int(start[0]), int(start[-1] + length[-1])
            rows, parts, read = self._counted(line, start, start + length)
            for column, part in zip(columns, parts, strict=True):
                column[before : before + rows.size] = part
            owner = before + np.searchsorted(rows, read.owner)
            pieces = (owner, read.name, read.number, read.text.start, read.text.length)
            for growing, piece in zip(stats, pieces, strict=True):
                growing.add(piece, block.stop / count)
            before += rows.size
            release_pages(self.buffer, begin, end)
        line, kind, start, long = (column[:before] for column in columns)
        owner, name, number, *text = (growing.column() for growing in stats)
        of_events = Stats(owner, name, self.stats.names, number, Strings(self.buffer, *text))
        return Events(line, kind, start, long, of_events)

    def _counted(self, line: I64, start: I64, end: I64) -> tuple[I64, tuple[I64, ...], Stats]:
        """(the rows of events that count, their columns, stats) of some events."""
        part = scan(self.buffer, start, end, {1: VARINT, 2: VARINT, 3: VARINT, 4: BYTES})
        plane = self.line_plane[line]
        stats = self.stats.read(part[4], plane)
        kind = self.kinds.find(plane, part[1].last(line.size))
        counts = self.counts[kind] | ~self.is_host[plane]
        counts[stats.owner] = True
        rows = np.flatnonzero(counts)
        at, long = (np.clip(part[key].last(line.size)[rows], 0, _LONGEST_PS) for key in (2, 3))
        return rows, (line[rows], kind[rows], at, long), stats


def blank(count: int) -> Strings:
    """So many empty strings."""
    return Strings(np.empty(0, np.uint8), *np.zeros((2, count), np.int64))


def device_of(plane: bytes) -> bytes:
    """The device of a plane, with its name in a session's RunMetadata."""
    match = _DEVICE_NAME.fullmatch(plane)
    if match is None:
        return _TASK + b"/device:cpu:0"
    return b"%b/device:%b:%b/stream:all" % (_TASK, match[1].lower(), match[2])


def device_lines(space: Space) -> Bool:
    """Which lines of accelerators count: of each device, those of the first kind that it has."""
    is_open = space.plane.which(lambda name: name.startswith(_DEVICE))
    counted = np.zeros(len(space.line), np.bool_)
    for pattern in _COUNTED:
        chosen = space.line.which(pattern.fullmatch) & is_open[space.line_plane]
        counted |= chosen
        is_open[space.line_plane[chosen]] = False
    return counted
