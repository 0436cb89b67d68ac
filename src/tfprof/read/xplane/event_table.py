"""EventTable: the events of a trace, with the class, time and place of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.read.expansion_limits import bounded
from tfprof.read.xplane.event_kinds import EAGERLY, OTHER, Kinds
from tfprof.read.xplane.nesting import LineEvents
from tfprof.read.xplane.planes import Space, device_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tfprof.columns.strings import I64, Bool, Strings

_HOST, _TF_DATA, _LAUNCHERS = b"/host:", b"tf_data_", b"Host Threads/"  # beginnings of names
_PS_IN_NS = 1000
_LATEST_NS = 1 << 61


class EventTable(NamedTuple):
    """All events of a trace, one row each."""

    space: Space
    kinds: Kinds
    what: NDArray[np.int8]  # the class from `kinds`; OTHER unless the event is on a host
    placed: LineEvents
    line_ns: I64  # the beginning of each line, since 1970
    is_function: Bool  # whether it is a call of a function by the program
    on_host: Bool
    on_device: Bool  # on a line of an accelerator that counts
    on_tf_data: Bool  # on a thread of tf.data
    on_launchers: Bool  # on a line with the host's launches of kernels, which repeat their hlo_op
    file: str  # its name in messages

    def rows(self, what: int) -> I64:
        """The events of this class."""
        return np.flatnonzero(self.what == what)

    def ns(self, placed: LineEvents) -> I64:
        """The start of each of these events, since 1970."""
        return self.line_ns[placed.line] + placed.start // _PS_IN_NS

    def names(self, rows: I64) -> Strings:
        """The names of what ran in these events."""
        return bounded(self.kinds.name.take(self.space.event_kind[rows]), self.file)

    def numbers(self, stat: bytes, rows: I64) -> I64:
        """The numeric stat with this name of these events; 0 if absent."""
        return self.space.event_stats.numbers(stat, rows)

    def texts(self, stat: bytes, rows: I64) -> Strings:
        """The string stat with this name of these events; empty if absent."""
        return bounded(self.space.event_stats.texts(stat, rows), self.file)


def event_table(space: Space, file: str) -> EventTable:
    """The events of a trace."""
    of_kind = space.kinds
    of_host = space.plane.which(lambda name: name.startswith(_HOST))[space.line_plane]
    on_host = of_host[space.event_line]
    what = np.append(of_kind.what, OTHER).astype(np.int8)[space.event_kind]
    what[~on_host] = OTHER
    # The start of each event: lines count from the beginning of the trace or from 1970.
    rows = space.plane_stats.named(b"profile_start_time")
    base = int(space.plane_stats.number[rows[0]]) if rows.size else 0
    base = min(max(base, 0), _LATEST_NS)
    begins = np.where(space.line_ns < base, base, 0) + space.line_ns
    return EventTable(
        space,
        of_kind,
        what,
        LineEvents(space.event_line, space.event_ps, space.event_long_ps),
        begins,
        (what == EAGERLY) & np.append(_functions(space, of_kind, file), False)[space.event_kind],
        on_host,
        device_lines(space)[space.event_line],
        space.line.which(lambda name: name.startswith(_TF_DATA))[space.event_line],
        space.line.which(lambda name: name.startswith(_LAUNCHERS))[space.event_line],
        file,
    )


def _functions(space: Space, of_kind: Kinds, file: str) -> Bool:
    """Which kinds of events are function calls, according to the stats of surrounding events."""
    stats = space.event_stats
    rows = stats.named(b"eager_op")
    is_function = stats.numbers(b"is_func", stats.owner[rows]) != 0
    texts = bounded(stats.text.take(rows[is_function]), file)
    is_call: Bool = texts.distinct().find(of_kind.name) >= 0
    return is_call
