"""Which events of a trace are operations that ran: their names and types.

NODE       node:Op on a host                the name of the node, and its call's before it
EAGER      EagerLocalExecute: Op            _eager/Op
COMPILED   an event with `hlo_op`           the node that its instruction is of
KERNEL     on a stream of an accelerator    what `tf_op` or `hlo_op` says
DATA       node:Op on a thread of tf.data   _tf_data/node, unless the program called it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import distinct, first_rows, places
from tfprof.read.xplane import event_kinds as kinds
from tfprof.read.xplane import hlo
from tfprof.read.xplane.expansion_limits import bounded
from tfprof.read.xplane.launches import SEVERAL, Instructions, Launches, functions_of, launched
from tfprof.read.xplane.runs import Given, runs
from tfprof.read.xplane.trace import COMPILED, DATA, EAGER, KERNEL, NODE

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.read.xplane.event_table import Seen
    from tfprof.read.xplane.runs import Runs

_EAGER, _TF_DATA = b"_eager/", b"_tf_data/"
_PS_IN_NS = 10**3


class Operations(NamedTuple):
    """A row an operation that ran, in the order of the trace."""

    event: I64
    kind: I64
    name: Strings
    op: Strings
    function: Strings  # what the program called, empty where that is not known
    called_ns: I64  # when it did, or -1


def operations(seen: Seen) -> Operations:
    """All that ran."""
    nodes = _nodes(seen)
    parts = [nodes, _eager(seen), *_compiled(seen, nodes), _kernels(seen)]
    for part in parts:
        bounded(part.name, seen.file, part.op, part.function)
    event, kind, called = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("event", "kind", "called_ns")
    )
    name, op, function = (
        Strings.concat(getattr(part, name) for part in parts) for name in ("name", "op", "function")
    )
    order = np.argsort(event, kind="stable")
    return Operations(
        event[order],
        kind[order],
        name.take(order),
        op.take(order),
        function.take(order),
        called[order],
    )


def _plain(event: I64, kind: int, name: Strings, op: Strings) -> Operations:
    """Those of which no function is known."""
    return Operations(
        event,
        np.full(event.size, kind),
        name,
        op,
        _blank(event.size),
        np.full(event.size, -1, np.int64),
    )


def _blank(count: int) -> Strings:
    none = np.zeros(count, np.int64)
    return Strings(np.empty(0, np.uint8), none, none)


def _behind(seen: Seen, scope: bytes, name: Strings) -> Strings:
    return seen.beside(Strings.of([scope]).take(np.zeros(len(name), np.int64)), name)


def _nodes(seen: Seen) -> Operations:
    event = seen.rows(kinds.RAN)
    run = _runs(seen, event)
    name = seen.beside(Strings.of(run.prefix).take(run.of_event), seen.names(event))
    function = Strings.of(run.function).take(run.of_event)
    data = seen.on_tf_data[event] & (function.length == 0)
    both = Strings.concat([name, _behind(seen, _TF_DATA, name)])
    return Operations(
        event,
        np.where(data, DATA, NODE),
        both.take(np.arange(event.size) + event.size * data),
        seen.kinds.op.take(seen.space.event_kind[event]),
        function,
        run.start_ns,
    )


def _runs(seen: Seen, event: I64) -> Runs:
    called = np.flatnonzero(seen.is_function)
    started, process, done = map(seen.rows, (kinds.RUN, kinds.PROCESS, kinds.DONE))
    number = seen.numbers(b"id")
    return runs(
        Given(
            seen.frames.take(event),
            seen.names(event),
            seen.frames.take(called),
            seen.names(called),
            seen.ns[called],
            seen.frames.take(started),
            number[started],
            seen.frames.take(process),
            number[process],
            seen.frames.take(done),
            number[done],
        )
    )


def _eager(seen: Seen) -> Operations:
    event = np.flatnonzero((seen.what == kinds.EAGERLY) & ~seen.is_function)
    op = seen.names(event)
    return _plain(event, EAGER, _behind(seen, _EAGER, op), op)


def _compiled(seen: Seen, nodes: Operations) -> list[Operations]:
    """Instructions that XLA made and a host ran, by whether their launch is known."""
    told = seen.space.event_stats
    event = distinct(told.owner[told.named(b"hlo_op")])
    event = event[seen.on_host[event] & (seen.what[event] == kinds.OTHER)]
    if not event.size:
        return []
    name, op = _instructions(seen, event)
    launches = seen.frames.take(nodes.event).spans()
    at = launches.around(seen.frames.line[event], seen.frames.start[event])
    instruction = seen.texts(b"hlo_op", event).intern()[0]
    program = seen.numbers(b"program_id")[event]
    at = launched(_launches(seen, nodes), Instructions(at, program, instruction, seen.ns[event]))
    free, held = np.flatnonzero(at < 0), np.flatnonzero(at >= 0)
    node = at[held]
    label = nodes.name.take(node)
    # A function that is compiled as a whole runs as an operation of its own name; one that a
    # node of another calls has its nodes below that.
    called = seen.names(np.flatnonzero(seen.is_function))
    whole = called.take(called.intern()[1]).find(label) >= 0
    below = seen.beside(label, _behind(seen, b"/", name.take(held)))
    both = Strings.concat([below, name.take(held)])
    inside = Operations(
        event[held],
        np.full(held.size, COMPILED),
        both.take(np.arange(held.size) + held.size * whole),
        op.take(held),
        nodes.function.take(node),
        nodes.called_ns[node],
    )
    # Of what is left, the module tells the function; it is not the one that the program called
    # where other nodes may have launched it.
    function = functions_of(seen.texts(b"hlo_module", event[free]))
    several = at[free] == SEVERAL
    below = seen.beside(function, _behind(seen, b"/", name.take(free)))
    names = Strings.concat([name.take(free), below])
    names = names.take(np.arange(free.size) + free.size * several)
    outside = _plain(event[free], COMPILED, names, op.take(free))
    called = function.take(np.arange(free.size))
    called = Strings(called.blob, called.start, called.length * ~several)
    return [outside._replace(function=called), inside]


def _launches(seen: Seen, nodes: Operations) -> Launches:
    """The events of nodes, among which are those that launch what XLA compiled."""
    name, function = nodes.name.intern()[0], nodes.function.intern()[0]
    _, node = places(name * (int(function.max(initial=0)) + 1) + function)
    start = seen.ns[nodes.event]
    return Launches(node, start, start + seen.frames.long[nodes.event] // _PS_IN_NS)


def _instructions(seen: Seen, event: I64) -> tuple[Strings, Strings]:
    """(name, op) of these events, by what the module says of their instruction."""
    instruction = seen.texts(b"hlo_op", event)
    known = hlo.instructions(seen.space)
    at = known.find(hlo.keys(seen.numbers(b"program_id")[event], instruction))
    name = either(known.op_name, at, instruction)
    return name, either(known.op_type, at, either(known.opcode, at, instruction))


def _kernels(seen: Seen) -> Operations:
    event = np.flatnonzero(seen.on_device)
    if not event.size:
        return _plain(event, KERNEL, _blank(0), _blank(0))
    space = seen.space
    kind = space.event_kind[event]
    of_kind = space.kind_stats.texts(b"tf_op", len(space.kind))
    label = either(of_kind, kind, seen.texts(b"tf_op", event))
    name, op = _instructions(seen, event)
    own = either(space.kind, kind, _blank(event.size))
    texts = (label, name, op, own)
    bounded(label, seen.file, name, op, own)
    row = np.zeros(event.size, np.int64)
    for column in texts:
        ids, first = column.intern()
        _, row = places(row * max(first.size, 1) + ids)
    distinct_rows = first_rows(row)[1]
    pairs = [_kernel(*one) for one in zip(*(one.take(distinct_rows) for one in texts), strict=True)]
    names, ops = (Strings.of(pair[part] for pair in pairs).take(row) for part in range(2))
    return _plain(event, KERNEL, names, ops)


def _kernel(label: bytes, name: bytes, op: bytes, own: bytes) -> tuple[bytes, bytes]:
    """(node, op) of what ran on an accelerator, whichever of its names tells them."""
    node, kind = kinds.node_and_op(label)
    if kind:
        return node, kind
    return label or name or own, op or own


def either(known: Strings, row: I64, other: Strings) -> Strings:
    """That of *known* where there is a row and it is not empty, else that of *other*."""
    if not len(known):
        return other
    there = (row >= 0) & (known.length[row] > 0)
    both = Strings.concat([known, other])
    return both.take(np.where(there, row, len(known) + np.arange(len(other))))
