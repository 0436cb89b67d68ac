"""Seen: the events of a trace, with what each is and when and where it was.

The parts of the reading share it: operations, runs, memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.read.xplane import event_kinds as kinds
from tfprof.read.xplane.devices import device_lines
from tfprof.read.xplane.expansion_limits import bounded
from tfprof.read.xplane.nesting import Spans

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.read.xplane.event_kinds import Kinds
    from tfprof.read.xplane.planes import Space

_HOST, _TF_DATA = b"/host:", b"tf_data_"
_NS_PER_PS = 1000
_LATEST_NS = 1 << 61


class Frames(NamedTuple):
    """Events on lines, in picoseconds since each line's beginning."""

    line: I64
    start: I64
    long: I64

    def take(self, rows: I64) -> Frames:
        """Some of them."""
        return Frames(self.line[rows], self.start[rows], self.long[rows])

    def spans(self) -> Spans:
        """To look moments up in."""
        return Spans.of(*self)


class Seen(NamedTuple):
    """All events of a trace: a row each."""

    space: Space
    kinds: Kinds
    what: I64  # as `kinds` has it; OTHER for what is not of a host
    frames: Frames
    ns: I64  # when each began, since 1970
    is_function: Bool  # whether it is the call of a function by the program
    on_host: Bool
    on_device: Bool  # on a line of an accelerator that counts
    on_tf_data: Bool  # on a thread of tf.data
    file: str  # as messages call it

    def rows(self, what: int) -> I64:
        """The events that are this."""
        return np.flatnonzero(self.what == what)

    def names(self, rows: I64) -> Strings:
        """What ran in these events."""
        return bounded(self.kinds.name.take(self.space.event_kind[rows]), self.file)

    def numbers(self, stat: bytes) -> I64:
        """A number that is said of every event, 0 where it is not."""
        return self.space.event_stats.numbers(stat, self.what.size)

    def texts(self, stat: bytes, rows: I64) -> Strings:
        """A text that is said of these events, empty where it is not."""
        every = self.space.event_stats.texts(stat, self.what.size)
        return bounded(every.take(rows), self.file)

    def beside(self, one: Strings, other: Strings) -> Strings:
        """The texts of *one*, each with that of *other* behind it."""
        return Strings.beside([bounded(one, self.file, other), other])


def seen(read: Space, file: str) -> Seen:
    """The events of a trace."""
    of_kind = kinds.kinds(read)
    plane = read.line_plane[read.event_line]
    on_host = np.array([one.startswith(_HOST) for one in read.plane], np.bool_)[plane]
    what = np.append(of_kind.what, kinds.OTHER)[read.event_kind]
    what = np.where(on_host, what, kinds.OTHER)
    tf_data = np.array([one.startswith(_TF_DATA) for one in read.line], np.bool_)
    return Seen(
        read,
        of_kind,
        what,
        Frames(read.event_line, read.event_ps, read.event_long_ps),
        _moments(read),
        (what == kinds.EAGERLY)
        & np.append(_functions(read, of_kind, file), False)[read.event_kind],
        on_host,
        device_lines(read)[read.event_line],
        tf_data[read.event_line],
        file,
    )


def _moments(read: Space) -> I64:
    """When each event began: lines count from the beginning of the trace, or from 1970."""
    rows = read.plane_stats.named(b"profile_start_time")
    base = int(read.plane_stats.number[rows[0]]) if rows.size else 0
    base = min(max(base, 0), _LATEST_NS)
    begins = np.where(read.line_ns < base, base, 0) + read.line_ns
    moments: I64 = begins[read.event_line] + read.event_ps // _NS_PER_PS
    return moments


def _functions(read: Space, of_kind: Kinds, file: str) -> Bool:
    """Which kinds of events are calls of a function, as what is around them says."""
    told = read.event_stats
    is_function = told.numbers(b"is_func", read.event_line.size) != 0
    rows = told.named(b"eager_op")
    rows = rows[is_function[told.owner[rows]]]
    texts = bounded(told.text.take(rows), file)
    _, first = texts.intern()
    found: Bool = texts.take(first).find(of_kind.name) >= 0
    return found
