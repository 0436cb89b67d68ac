"""Finds the operations among the events of a trace: their names and types.

NODE       node:Op on a host                the name of the node below that of its call
EAGER      EagerLocalExecute: Op            _eager/Op
COMPILED   an event with `hlo_op`           the node that its instruction comes from
KERNEL     on a line of an accelerator      see `kernels`
DATA       node:Op on a thread of tf.data   _tf_data/node, unless the program called it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import intern_rows, unique
from tfprof.read.expansion_limits import bounded
from tfprof.read.xplane import launches
from tfprof.read.xplane.event_table import EAGERLY, OTHER, RAN
from tfprof.read.xplane.kernels import either, kernels
from tfprof.read.xplane.planes import blank
from tfprof.read.xplane.runs import runs
from tfprof.read.xplane.trace import COMPILED, DATA, EAGER, KERNEL, NODE, taken

if TYPE_CHECKING:
    from tfprof.read.xplane.event_table import EventTable

_SYNC = b"SyncDevice"
_PS_IN_NS = 10**3


class Operations(NamedTuple):
    """One row per execution of an operation, in file order."""

    event: I64
    kind: I64
    name: Strings
    op: Strings
    function: Strings  # the function that the program called; empty if unknown
    called_ns: I64  # when the program called it, or -1


def operations(table: EventTable) -> Operations:
    """All executions."""
    nodes = _nodes(table)
    ran = kernels(table)
    on_device = _plain(ran.event, KERNEL, ran.name, ran.op)._replace(function=ran.function)
    parts = [nodes, _eager(table), *_compiled(table, nodes), on_device]
    for part in parts:
        bounded(part.name, table.file, part.op, part.function)
    columns: list[Any] = [
        Strings.concat(column) if isinstance(column[0], Strings) else np.concatenate(column)
        for column in zip(*parts, strict=True)
    ]
    order = np.argsort(columns[0], kind="stable")
    return Operations(*(taken(column, order) for column in columns))


def _plain(event: I64, kind: int, name: Strings, op: Strings) -> Operations:
    """Executions whose function is unknown."""
    unknown = np.full(event.size, -1, np.int64)
    return Operations(event, np.full(event.size, kind), name, op, blank(event.size), unknown)


def _below(table: EventTable, scope: Strings | bytes, name: Strings, is_below: Bool) -> Strings:
    """The names, of which some are below a scope, which may be the same for all."""
    if isinstance(scope, bytes):
        scope = Strings.of([scope]).take(np.zeros(len(name), np.int64))
    slash = Strings.of([b"", b"/"]).take(is_below.astype(np.int64))
    return table.joined(scope.where(is_below), table.joined(slash, name))


def _nodes(table: EventTable) -> Operations:
    event = table.rows(RAN)
    run = runs(table, event)
    name = table.joined(Strings.of(run.prefix).take(run.of_event), table.names(event))
    function = Strings.of(run.function).take(run.of_event)
    data = table.on_tf_data[event] & (function.length == 0)
    kind, op = np.where(data, DATA, NODE), table.kinds.op.take(table.space.event_kind[event])
    name = _below(table, b"_tf_data", name, data)
    return Operations(event, kind, name, op, function, run.start_ns)


def _eager(table: EventTable) -> Operations:
    event = _without_final_sync(table, table.rows(EAGERLY))
    event = event[~table.is_function[event]]
    op = table.names(event)
    name = _below(table, b"_eager", op, np.ones(event.size, np.bool_))
    return _plain(event, EAGER, name, op)


def _without_final_sync(table: EventTable, event: I64) -> I64:
    """*event* without the last ones if these wait for devices: whoever ends a trace does that."""
    by_time = event[np.argsort(table.ns[event], kind="stable")]
    is_sync = Strings.of([_SYNC]).find(table.names(by_time)) >= 0
    others = np.flatnonzero(~is_sync)
    last = int(others[-1]) + 1 if others.size else 0
    return np.sort(by_time[:last])


def _compiled(table: EventTable, nodes: Operations) -> list[Operations]:
    """XLA instructions that ran on a host, by whether their launch is known."""
    stats = table.space.event_stats
    event = unique(stats.owner[stats.named(b"hlo_op")])
    event = event[table.on_host[event] & ~table.on_launchers[event] & (table.what[event] == OTHER)]
    if not event.size:
        return []
    name, op = _instructions(table, event)
    at = table.placed.take(nodes.event).spans().around(table.placed.take(event))
    instruction = table.texts(b"hlo_op", event).intern()[0]
    program = table.numbers(b"program_id")[event]
    ran = launches.InstructionEvents(at, program, instruction, table.ns[event])
    at = launches.launched(_launches(table, nodes), ran)
    free, held = np.flatnonzero(at < 0), np.flatnonzero(at >= 0)
    node = at[held]
    label = nodes.name.take(node)
    # A function compiled as a whole runs as an operation with its own name; if a node of another
    # function calls it, its nodes are below that node.
    functions = table.names(np.flatnonzero(table.is_function)).distinct()
    names = _below(table, label, name.take(held), functions.find(label) < 0)
    kind, caller = np.full(held.size, COMPILED), nodes.function.take(node)
    inside = Operations(event[held], kind, names, op.take(held), caller, nodes.called_ns[node])
    # For the rest, the module names the function. If several nodes may have launched it, it is not
    # the function that the program called.
    function = table.texts(b"hlo_module", event[free]).mapped(launches.function_of)
    several = at[free] == launches.SEVERAL
    names = _below(table, function, name.take(free), several)
    outside = _plain(event[free], COMPILED, names, op.take(free))
    return [outside._replace(function=function.where(~several)), inside]


def _launches(table: EventTable, nodes: Operations) -> launches.Launches:
    """The events of nodes, some of which launch XLA programs."""
    node, start = intern_rows(nodes.name, nodes.function)[0], table.ns[nodes.event]
    return launches.Launches(node, start, start + table.placed.long[nodes.event] // _PS_IN_NS)


def _instructions(table: EventTable, event: I64) -> tuple[Strings, Strings]:
    """(name, op) of these events, from their instructions in the module."""
    instruction = table.texts(b"hlo_op", event)
    known = launches.instructions(table.space)
    at = known.find(launches.instruction_keys(table.numbers(b"program_id")[event], instruction))
    name = either(known.op_name, at, instruction)
    return name, either(known.op_type, at, either(known.opcode, at, instruction))
