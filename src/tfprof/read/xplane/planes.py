"""Reads an XSpace in wire format into columns: planes, lines, events and their stats.

XSpace ─► XPlane* ─┬─ name                     "/host:CPU", "/device:GPU:0", "Task Environment"
                   ├─ XLine*  ─► XEvent*       a thread or a stream, and what happened on it
                   ├─ event metadata           the kinds of events and their names
                   ├─ stat metadata            the names of stats, and strings they refer to
                   └─ XStat*
XEvent ─► kind, offset, duration, XStat*

Metadata are numbered per plane; here every event and stat has the row of its metadata.

/host:CPU                  …/device:cpu:0
/device:GPU:0              …/device:gpu:0/stream:all      its name in a session's RunMetadata
  Stream #13(Compute)      counts
  XLA Modules, Steps, …    repeat what is on the streams, so they do not count;
                           `XLA Ops` counts if a device has no streams, as TPUs, and
                           `TensorFlow Ops` if it has neither
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from tfprof.columns.strings import I64, U8, Bool, Strings
from tfprof.read.xplane.nesting import count_before
from tfprof.wire.decode import BYTES, VARINT, Field, scan, whole

# No real time is later: eleven days in picoseconds, and the year 2116 in nanoseconds.
_LONGEST_PS = 10**18
_LATEST_NS = 1 << 62
_DEVICE = b"/device:"
_TASK = b"/job:localhost/replica:0/task:0"
_DEVICE_NAME = re.compile(rb"/device:([A-Za-z_]+):(\d+).*")
XLA_MODULES, TENSORFLOW_OPS = b"XLA Modules", b"TensorFlow Ops"
# The lines that count: of each device, those of the first kind that it has.
_COUNTED = [re.compile(line) for line in (rb"(?i)stream\b.*", b"XLA Ops", TENSORFLOW_OPS)]


class Stats(NamedTuple):
    """The stats of many owners, one row per stat."""

    owner: I64
    name: I64  # a row of `names`, or -1
    names: Strings  # distinct
    number: I64
    text: Strings  # stored in the stat or referred to by it

    def named(self, name: bytes) -> I64:
        """The rows of the stats with this name."""
        row = int(self.names.find(Strings.of([name]))[0])
        return np.flatnonzero(self.name == row) if row >= 0 else np.empty(0, np.int64)

    def numbers(self, name: bytes, count: int) -> I64:
        """The number that each of *count* owners has under this name; 0 if absent."""
        column, rows = np.zeros(count, np.int64), self.named(name)
        column[self.owner[rows]] = self.number[rows]
        return column

    def texts(self, name: bytes, count: int) -> Strings:
        """The string that each of *count* owners has under this name; empty if absent."""
        row = np.full(count, -1, np.int64)
        rows = self.named(name)
        row[self.owner[rows]] = rows
        return self.text.take(row).where(row >= 0) if len(self.text) else blank(count)


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
    event_line: I64  # ascending
    event_kind: I64  # a row of `kind`, or -1
    event_ps: I64  # since the line's beginning
    event_long_ps: I64
    event_stats: Stats


def read_space(buffer: U8) -> Space:
    """The columns of an XSpace; raises WireError."""
    plane = scan(buffer, *whole(buffer), {1: BYTES})[1]
    part = scan(buffer, plane.start, plane.end, {2: BYTES, 3: BYTES, 4: BYTES, 5: BYTES, 6: BYTES})
    kind_plane, kind_id, kind = _metadata(buffer, part[4], {2: BYTES, 4: BYTES, 5: BYTES})
    stat_plane, stat_id, stat = _metadata(buffer, part[5], {2: BYTES})
    stat_name = Strings(buffer, *stat[2].last_slice(stat_id.size))
    line = part[3]
    of_line = scan(buffer, line.start, line.end, {2: BYTES, 3: VARINT, 4: BYTES})
    event = of_line[4]
    of_event = scan(buffer, event.start, event.end, {1: VARINT, 2: VARINT, 3: VARINT, 4: BYTES})
    event_plane = line.message[event.message]
    stats = _StatReader(buffer, stat_plane, stat_id, stat_name)
    count, lines = event.start.size, line.start.size
    return Space(
        plane=Strings(buffer, *part[2].last_slice(plane.start.size)),
        plane_stats=stats.read(part[6], np.arange(plane.start.size)),
        line=Strings(buffer, *of_line[2].last_slice(lines)),
        line_plane=line.message,
        line_ns=np.clip(of_line[3].last(lines), 0, _LATEST_NS // 2),
        kind=Strings(buffer, *kind[2].last_slice(kind_id.size)),
        kind_id=kind_id,
        kind_plane=kind_plane,
        kind_display=Strings(buffer, *kind[4].last_slice(kind_id.size)),
        kind_stats=stats.read(kind[5], kind_plane),
        event_line=event.message,
        event_kind=_metadata_row(kind_plane, kind_id, event_plane, of_event[1].last(count)),
        event_ps=np.clip(of_event[2].last(count), 0, _LONGEST_PS),
        event_long_ps=np.clip(of_event[3].last(count), 0, _LONGEST_PS),
        event_stats=stats.read(of_event[4], event_plane),
    )


def _metadata(
    buffer: U8, entry: Field, wanted: dict[int, int]
) -> tuple[I64, I64, dict[int, Field]]:
    """(plane, number, fields) of the metadata in the entries of a map."""
    part = scan(buffer, entry.start, entry.end, {1: VARINT, 2: BYTES})
    count = entry.start.size
    start, length = part[2].last_slice(count)
    return entry.message, part[1].last(count), scan(buffer, start, start + length, wanted)


class _StatReader(NamedTuple):
    """Reads stats, whose names and strings are metadata of their plane."""

    buffer: U8
    plane: I64
    number: I64
    name: Strings

    def read(self, stat: Field, owner_plane: I64) -> Stats:
        """The stats in the messages of the owners."""
        count = stat.start.size
        wanted = {1: VARINT, 3: VARINT, 4: VARINT, 5: BYTES, 6: BYTES, 7: VARINT}
        part = scan(self.buffer, stat.start, stat.end, wanted)
        plane = owner_plane[stat.message]
        ids, first = self.name.intern()
        row = _metadata_row(self.plane, self.number, plane, part[1].last(count))
        number = part[3].last(count)
        number[part[4].message] = part[4].value
        start, length = part[5].last_slice(count)
        start[part[6].message], length[part[6].message] = part[6].start, part[6].value
        refers = part[7].message
        text = _metadata_row(self.plane, self.number, plane[refers], part[7].value)
        known = np.flatnonzero(text >= 0)
        start[refers[known]] = self.name.start[text[known]]
        length[refers[known]] = self.name.length[text[known]]
        texts = Strings(self.buffer, start, length)
        return Stats(stat.message, np.append(ids, -1)[row], self.name.take(first), number, texts)


def _metadata_row(plane: I64, number: I64, of_plane: I64, wanted: I64) -> I64:
    """The last metadata row with the *wanted* number in a plane, or -1."""
    if not number.size or not wanted.size:
        return np.full(wanted.size, -1, np.int64)
    order = np.lexsort((number, plane))
    at = count_before(plane[order], number[order], of_plane, wanted) - 1
    row = order[np.maximum(at, 0)]
    fits = (at >= 0) & (plane[row] == of_plane) & (number[row] == wanted)
    return np.where(fits, row, -1)


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
