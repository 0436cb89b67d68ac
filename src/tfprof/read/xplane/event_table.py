"""EventTable: the events of a trace, with the class, time and place of each.

The name of an event's kind (XEventMetadata) gives its class:

layer/MatMul:MatMul            a node ran; also `_send_x_0:_Send`, whose display name is empty
EagerLocalExecute: MatMul      an operation ran, or a function was called, outside a graph
FunctionRun                    a function was started; `id` is the number of this run
ExecutorState::Process         a thread works for the run `id`
ExecutorPropagateOutputs       a node of the run `id` is done
MemoryAllocation, MemoryDeallocation
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.read.expansion_limits import bounded
from tfprof.read.xplane.nesting import LineEvents
from tfprof.read.xplane.planes import Space, device_lines

_HOST, _TF_DATA, _LAUNCHERS = b"/host:", b"tf_data_", b"Host Threads/"  # beginnings of names
_NS_PER_PS = 1000
_LATEST_NS = 1 << 61
OTHER, RAN, EAGERLY, RUN, PROCESS, DONE, ALLOCATED, FREED = range(8)
_NODE = re.compile(rb"([^:]+):([A-Za-z_][\w.>]*)")
_EAGERLY = b"EagerLocalExecute: "
_BY_NAME = {
    b"FunctionRun": RUN,
    b"ExecutorState::Process": PROCESS,
    b"ExecutorPropagateOutputs": DONE,
    b"MemoryAllocation": ALLOCATED,
    b"MemoryDeallocation": FREED,
}


class EventTable(NamedTuple):
    """All events of a trace, one row each."""

    space: Space
    kinds: Kinds
    what: I64  # the class from `kinds`; OTHER unless the event is on a host
    placed: LineEvents
    ns: I64  # the start of each, since 1970
    is_function: Bool  # whether it is a call of a function by the program
    on_host: Bool
    on_device: Bool  # on a line of an accelerator that counts
    on_tf_data: Bool  # on a thread of tf.data
    on_launchers: Bool  # on a line with the host's launches of kernels, which repeat their hlo_op
    file: str  # its name in messages

    def rows(self, what: int) -> I64:
        """The events of this class."""
        return np.flatnonzero(self.what == what)

    def names(self, rows: I64) -> Strings:
        """The names of what ran in these events."""
        return bounded(self.kinds.name.take(self.space.event_kind[rows]), self.file)

    def numbers(self, stat: bytes) -> I64:
        """The numeric stat with this name of every event; 0 if absent."""
        return self.space.event_stats.numbers(stat, self.what.size)

    def texts(self, stat: bytes, rows: I64) -> Strings:
        """The string stat with this name of these events; empty if absent."""
        column = self.space.event_stats.texts(stat, self.what.size)
        return bounded(column.take(rows), self.file)

    def joined(self, left: Strings, right: Strings) -> Strings:
        """The strings of *left* and *right* joined row by row."""
        return Strings.beside([bounded(left, self.file, right), right])


def event_table(space: Space, file: str) -> EventTable:
    """The events of a trace."""
    of_kind = _kinds(space)
    on_host = space.plane.which(lambda name: name.startswith(_HOST))
    on_host = on_host[space.line_plane[space.event_line]]
    what = np.where(on_host, np.append(of_kind.what, OTHER)[space.event_kind], OTHER)
    # The start of each event: lines count from the beginning of the trace or from 1970.
    rows = space.plane_stats.named(b"profile_start_time")
    base = int(space.plane_stats.number[rows[0]]) if rows.size else 0
    base = min(max(base, 0), _LATEST_NS)
    begins = np.where(space.line_ns < base, base, 0) + space.line_ns
    start_ns: I64 = begins[space.event_line] + space.event_ps // _NS_PER_PS
    return EventTable(
        space,
        of_kind,
        what,
        LineEvents(space.event_line, space.event_ps, space.event_long_ps),
        start_ns,
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
    is_function = stats.numbers(b"is_func", space.event_line.size) != 0
    rows = stats.named(b"eager_op")
    texts = bounded(stats.text.take(rows[is_function[stats.owner[rows]]]), file)
    is_call: Bool = texts.distinct().find(of_kind.name) >= 0
    return is_call


class Kinds(NamedTuple):
    """One row per kind of event."""

    what: I64
    name: Strings  # of the node, or of what ran eagerly
    op: Strings


def _kinds(space: Space) -> Kinds:
    rows = list(map(_classified, space.kind, space.kind_display))
    what = np.array([event_class for event_class, _, _ in rows], np.int64)
    return Kinds(what, Strings.of(name for _, name, _ in rows), Strings.of(op for *_, op in rows))


def node_and_op(name: bytes) -> tuple[bytes, bytes]:
    """(node, op) of a name `node:Op`; both empty for other names."""
    match = _NODE.fullmatch(name)
    return (match[1], match[2]) if match else (b"", b"")


def _classified(name: bytes, display: bytes) -> tuple[int, bytes, bytes]:
    if name in _BY_NAME:
        return _BY_NAME[name], b"", b""
    if name.startswith(_EAGERLY):
        called = name[len(_EAGERLY) :]
        return EAGERLY, called, called
    node, op = node_and_op(name)
    if op and (display == op or (not display and op.startswith(b"_"))):
        return RAN, node, op
    return OTHER, b"", b""
