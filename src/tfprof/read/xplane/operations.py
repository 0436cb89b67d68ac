"""Finds the operations among the events of a trace: their names and types.

NODE       node:Op on a host                the name of the node below that of its call
EAGER      EagerLocalExecute: Op            _eager/Op
COMPILED   an event with `hlo_op`           the node that its instruction comes from
KERNEL     on a line of an accelerator      see `kernels`
DATA       node:Op on a thread of tf.data   _tf_data/node, unless the program called it

A function that is not inlined is started during the event of the node that calls it, and its nodes
run on any thread under their bare names. These events lead back to the call:

    python    EagerLocalExecute: __inference_step_12 ├───────────────────┤
                FunctionRun id=7                        ├─┤
    thread 1  ExecutorState::Process id=7                  ├───────────────────┤
                net/call:PartitionedCall                      ├────┤
                  FunctionRun id=8                              ├┤
    thread 2  ExecutorState::Process id=8                         ├──────┤
                inside/product:MatMul                               ├──┤

So the last one is `net/call/inside/product` of `__inference_step_12`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import intern_rows, unique, unique_inverse
from tfprof.read.expansion_limits import bounded
from tfprof.read.xplane import launches
from tfprof.read.xplane.event_table import DONE, EAGERLY, OTHER, PROCESS, RAN, RUN
from tfprof.read.xplane.kernels import either, kernels
from tfprof.read.xplane.nesting import count_before
from tfprof.read.xplane.planes import blank
from tfprof.read.xplane.trace import COMPILED, DATA, EAGER, KERNEL, NODE, taken

if TYPE_CHECKING:
    from tfprof.read.xplane.event_table import EventTable
    from tfprof.read.xplane.nesting import LineEvents

_SYNC = b"SyncDevice"
_PS_IN_NS = 10**3
# Names are built for at most so many nested calls.
_DEEPEST = 64
# All such names together have at most so many bytes; no real program has more.
_MOST_BYTES = 64 << 20


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
    run = _runs(table, event)
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


# --- the call that each node ran for ---


class _Runs(NamedTuple):
    """The call that each node's event ran for."""

    prefix: list[bytes]  # distinct prefixes of names, such as "net/call/"
    function: list[bytes]  # for each prefix, the function that the program called
    of_event: I64  # the row of these for each event
    start_ns: I64  # when the program called it; -1 if unknown


def _runs(table: EventTable, event: I64) -> _Runs:
    """The call that each *event* of a node ran for."""
    ran = table.placed.take(event)
    run = _run_of_each(table, ran)
    chains = _Chains(table, event, run)
    distinct, inverse = unique_inverse(run)
    of_run = [chains.resolve(number) for number in distinct.tolist()]
    of_event, start = np.array(of_run, np.int64).reshape(-1, 2)[inverse].T
    # Events on the thread of the call itself, such as a function that XLA compiled.
    directly = chains.calls.around(ran)
    plain = np.flatnonzero((run < 0) & (directly >= 0))
    rows, inverse = unique_inverse(directly[plain])
    called = [chains.row(b"", chains.functions[row]) for row in rows.tolist()]
    of_event[plain] = np.array(called, np.int64)[inverse]
    start[plain] = chains.called_ns[directly[plain]]
    prefix, function = zip(*chains.names, strict=True)
    return _Runs([*prefix], [*function], of_event, start)


class _Chains:
    """The chain of calls that leads to each run, as a prefix of names; each is built once."""

    def __init__(self, table: EventTable, event: I64, run: I64) -> None:
        called, started = np.flatnonzero(table.is_function), table.placed.take(table.rows(RUN))
        self.calls = table.placed.take(called).spans()  # of functions, by the program
        self.functions, self.called_ns = table.names(called), table.ns[called]
        self._node_names, self._run_of_node = table.names(event), run.tolist()
        # The node, and the call of the program, that started each run.
        self._node = table.placed.take(event).spans().around(started).tolist()
        self._program = self.calls.around(started).tolist()
        self._known: dict[int, tuple[int, int]] = {}
        self._rows = {(b"", b""): 0}
        self._spent = 0
        self.names = [(b"", b"")]  # (prefix, function)

    def row(self, prefix: bytes, function: bytes) -> int:
        """The row of this pair in `names`."""
        if (prefix, function) not in self._rows:
            self._rows[prefix, function] = len(self.names)
            self.names.append((prefix, function))
            self._spent += len(prefix)
        return self._rows[prefix, function]

    def resolve(self, run: int) -> tuple[int, int]:
        """(row of `names`, time of the program's call) of a run."""
        chain: list[int] = []
        while run >= 0 and run not in self._known and len(chain) < _DEEPEST and run not in chain:
            chain.append(run)
            run = self._run_of_node[self._node[run]] if self._node[run] >= 0 else -1
        known, moment = self._known.get(run, (0, -1))
        for inner in reversed(chain):
            prefix, function = self.names[known]
            node, program = self._node[inner], self._program[inner]
            if program >= 0:
                moment, function = int(self.called_ns[program]), self.functions[program]
            if node >= 0 and self._spent < _MOST_BYTES:
                prefix += self._node_names[node] + b"/"
            known = self.row(prefix, function)
            self._known[inner] = known, moment
        return known, moment


def _run_of_each(table: EventTable, ran: LineEvents) -> I64:
    """The FunctionRun, by its place among these, that each event *ran* for; or -1."""
    started, process, done = map(table.rows, (RUN, PROCESS, DONE))
    run_id = table.numbers(b"id")
    around = table.placed.take(process).spans().around(ran)
    number = np.append(run_id[process], 0)[around]
    # A thread that was still working when the trace ended has no Process event; the next event at
    # the end of a node, on the same line, also has the number.
    rest = np.flatnonzero(around < 0)
    line, start, long = ran.take(rest)
    ends = table.placed.take(done)
    done = done[np.lexsort((ends.start, ends.line))]
    ends = table.placed.take(done)
    after = count_before(ends.line, ends.start, line, start + long - 1)
    known = around >= 0
    known[rest] = np.append(ends.line, -1)[after] == line
    number[rest] = np.append(run_id[done], 0)[after]
    order = np.argsort(run_id[started], kind="stable")
    ids = run_id[started][order]
    at = np.searchsorted(ids, number)
    fits = known & (np.append(ids, 0)[at] == number) & (at < ids.size)
    return np.where(fits, np.append(order, -1)[at], -1)
