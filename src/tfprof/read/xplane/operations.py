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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.blocks import blocks
from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import combined, intern_rows, unique, unique_inverse
from tfprof.read.expansion_limits import check_rows
from tfprof.read.xplane import launches
from tfprof.read.xplane.compiled_nodes import XLA
from tfprof.read.xplane.event_kinds import DONE, EAGERLY, OTHER, PROCESS, RAN, RUN
from tfprof.read.xplane.kernels import kernels, without_number
from tfprof.read.xplane.launches import either
from tfprof.read.xplane.nesting import count_before
from tfprof.read.xplane.planes import blank
from tfprof.read.xplane.trace import COMPILED, DATA, EAGER, KERNEL, NODE, Names

if TYPE_CHECKING:
    from tfprof.read.xplane.event_table import EventTable
    from tfprof.read.xplane.nesting import LineEvents, Spans

_SYNC = b"SyncDevice"
_PS_IN_NS = 10**3
# Names are built for at most so many nested calls.
_DEEPEST = 64
# All such names together have at most so many bytes; no real program has more.
_MOST_BYTES = 64 << 20


class Operations(NamedTuple):
    """One row per execution of an operation, in file order."""

    event: I64
    what: I64  # a row of the names
    called_ns: I64  # when the program called it, or -1
    names: Names


def operations(table: EventTable) -> Operations:
    """All executions."""
    nodes = _nodes(table)
    parts = [nodes, _eager(table), *_compiled(table, nodes), _kernels(table)]
    before = 0
    for index, (event, what, called_ns, names) in enumerate(parts):
        check_rows(what, table.file, names.name, names.op, names.function)
        parts[index] = Operations(event, what + before if before else what, called_ns, names)
        before += names.kind.size
    # Most are nodes, which are in file order; the others are put between them.
    others = [np.concatenate(column) for column in [*zip(*parts[1:], strict=True)][:3]]
    order = np.argsort(others[0], kind="stable")
    at = np.searchsorted(nodes.event, others[0][order], "right")
    columns = zip(parts[0][:3], others, strict=True)
    event, what, called_ns = (np.insert(column, at, more[order]) for column, more in columns)
    names, what = Names.joined([part.names for part in parts]).used(what)
    return Operations(event, what, called_ns, names)


def _plain(event: I64, what: I64, names: Names) -> Operations:
    """Executions of which it is unknown when the program called them."""
    return Operations(event, what, np.full(event.size, -1, np.int64), names)


def _below(scope: Strings | bytes, name: Strings, is_below: Bool) -> Strings:
    """The names, of which some are below a scope, which may be the same for all."""
    if isinstance(scope, bytes):
        scope = Strings.of([scope]).take(np.zeros(len(name), np.int64))
    slash = Strings.of([b"", b"/"]).take(is_below.astype(np.int64))
    return Strings.beside([scope.where(is_below), slash, name])


def _nodes(table: EventTable) -> Operations:
    event = table.rows(RAN)
    run = _runs(table, event)
    prefixes, functions = Strings.of(run.prefix), Strings.of(run.function)
    data = table.on_tf_data[event] & (functions.length == 0)[run.of_event]
    kind = table.space.event_kind[event]
    what, first = combined(run.of_event, kind, data.astype(np.int64))
    of_run, kind, data = run.of_event[first], kind[first], data[first]
    parts = [prefixes.take(of_run), table.kinds.name.take(kind)]
    check_rows(what, table.file, *parts)
    name = _below(b"_tf_data", Strings.beside(parts), data)
    op, function = table.kinds.op.take(kind), functions.take(of_run)
    names = Names.plain(name, op, function, np.where(data, DATA, NODE), kind + 1)
    return Operations(event, what, run.start_ns, names)


def _eager(table: EventTable) -> Operations:
    event = _without_final_sync(table, table.rows(EAGERLY))
    event = event[~table.is_function[event]]
    label, what = unique_inverse(table.space.event_kind[event] + 1)
    op = table.kinds.name.take(label - 1)
    name = _below(b"_eager", op, np.ones(label.size, np.bool_))
    kind = np.full(label.size, EAGER)
    return _plain(event, what, Names.plain(name, op, blank(label.size), kind, label))


def _without_final_sync(table: EventTable, event: I64) -> I64:
    """*event* without the last ones if these wait for devices: whoever ends a trace does that."""
    by_time = event[np.argsort(table.ns(table.placed.take(event)), kind="stable")]
    is_sync = Strings.of([_SYNC]).find(table.kinds.name) >= 0
    others = np.flatnonzero(~is_sync[table.space.event_kind[by_time]])
    last = int(others[-1]) + 1 if others.size else 0
    return np.sort(by_time[:last])


def _compiled(table: EventTable, nodes: Operations) -> list[Operations]:
    """XLA instructions that ran on a host, by whether their launch is known."""
    stats = table.space.event_stats
    event = unique(stats.owner[stats.named(b"hlo_op")])
    event = event[table.on_host[event] & ~table.on_launchers[event] & (table.what[event] == OTHER)]
    if not event.size:
        return []
    instruction = table.texts(b"hlo_op", event).intern()[0]
    program, placed = table.numbers(b"program_id", event), table.placed.take(event)
    row, first = combined(unique_inverse(program)[1], instruction)
    known = _instructions(table, event[first])
    name, op = known.name, known.op
    label = table.space.event_kind[event] + 1
    at = table.placed.take(nodes.event).spans().around(placed)
    ran = launches.InstructionEvents(at, program, instruction, table.ns(placed))
    at = launches.launched(_launches(table, nodes), ran)
    free, held = np.flatnonzero(at < 0), np.flatnonzero(at >= 0)
    node = at[held]
    what, first = combined(nodes.what[node], row[held], label[held])
    caller, of_row = nodes.what[node][first], row[held][first]
    scope = nodes.names.name.take(caller)
    # A function compiled as a whole runs as an operation with its own name; if a node of another
    # function calls it, its nodes are below that node.
    functions = table.names(np.flatnonzero(table.is_function)).distinct()
    check_rows(what, table.file, scope, name.take(of_row))
    of_node = ~known.added[of_row]
    names = _below(scope, name.take(of_row), (functions.find(scope) < 0) & of_node)
    function = nodes.names.function.take(caller).where(of_node)
    kind = np.full(first.size, COMPILED)
    inner = Names(
        names, op.take(of_row), function, kind, label[held][first], *known.identity(of_row)
    )
    inside = Operations(event[held], what, nodes.called_ns[node], inner)
    # For the rest, the module names the function. If several nodes may have launched it, it is not
    # the function that the program called.
    modules, several = table.texts(b"hlo_module", event[free]), at[free] == launches.SEVERAL
    module = modules.intern()[0]
    what, first = combined(module, row[free], label[free], several.astype(np.int64))
    function, of_row, several = modules.take(first), row[free][first], several[first]
    function = function.mapped(launches.function_of)
    check_rows(what, table.file, function, name.take(of_row))
    several |= known.added[of_row]
    names = _below(function, name.take(of_row), several & ~known.added[of_row])
    kind = np.full(first.size, COMPILED)
    outer = Names(
        *(names, op.take(of_row), function.where(~several), kind, label[free][first]),
        *known.identity(of_row),
    )
    return [_plain(event[free], what, outer), inside]


def _launches(table: EventTable, nodes: Operations) -> launches.Launches:
    """The events of nodes, some of which launch XLA programs."""
    node = intern_rows(nodes.names.name, nodes.names.function)[0][nodes.what]
    placed = table.placed.take(nodes.event)
    start = table.ns(placed)
    return launches.Launches(node, start, start + placed.long // _PS_IN_NS)


class _Compiled(NamedTuple):
    """What events of instructions ran."""

    name: Strings
    op: Strings
    program: I64
    module: Strings
    instruction: Strings
    added: Bool  # whether XLA added it for no node

    def identity(self, rows: I64) -> tuple[I64, Strings, Strings]:
        """The program, its name and the instruction of these rows."""
        return self.program[rows], self.module.take(rows), self.instruction.take(rows)


def _instructions(table: EventTable, event: I64) -> _Compiled:
    """What these events ran, by their instructions in the module."""
    instruction, module = table.texts(b"hlo_op", event), table.texts(b"hlo_module", event)
    program = table.numbers(b"program_id", event)
    known = launches.instructions(table.space, program)
    at = known.find(launches.instruction_keys(program, instruction))
    # TensorFlow's name of an instruction is a node. Others are known by their module.
    _, first = module.intern()
    others = module.take(first[~module.take(first).which(launches.is_of_tensorflow)])
    is_other = (others.find(module) >= 0) & (module.length > 0)
    own = _below(module, instruction, is_other)
    name = either(known.op_name, np.where(is_other, -1, at), own)
    op = either(known.op_type, at, either(known.opcode, at, instruction.mapped(without_number)))
    added = name.which(lambda text: text.startswith(XLA))
    return _Compiled(name, op, program, module, instruction, added)


def _kernels(table: EventTable) -> Operations:
    ran = kernels(table)
    what, first = combined(ran.what, table.space.event_kind[ran.event] + 1)
    rows, label = ran.what[first], table.space.event_kind[ran.event[first]] + 1
    name, op, function = (column.take(rows) for column in (ran.name, ran.op, ran.function))
    identity = ran.program[rows], ran.module.take(rows), ran.instruction.take(rows)
    names = Names(name, op, function, np.full(first.size, KERNEL), label, *identity)
    return _plain(ran.event, what, names)


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
    chains = _Chains(table, event, ran.spans(), run)
    distinct, inverse = unique_inverse(run)
    of_run = [chains.resolve(number) for number in distinct.tolist()]
    of_event, start = (column[inverse] for column in np.array(of_run, np.int64).reshape(-1, 2).T)
    # Events on the thread of the call itself, such as a function that XLA compiled.
    plain = np.flatnonzero(run < 0)
    directly = chains.calls.around(ran.take(plain))
    plain, directly = plain[directly >= 0], directly[directly >= 0]
    rows, inverse = unique_inverse(directly)
    called = [chains.row(b"", chains.functions[row]) for row in rows.tolist()]
    of_event[plain] = np.array(called, np.int64)[inverse]
    start[plain] = chains.called_ns[directly]
    prefix, function = zip(*chains.names, strict=True)
    return _Runs([*prefix], [*function], of_event, start)


class _Chains:
    """The chain of calls that leads to each run, as a prefix of names; each is built once."""

    def __init__(self, table: EventTable, event: I64, ran: Spans, run: I64) -> None:
        called, started = np.flatnonzero(table.is_function), table.placed.take(table.rows(RUN))
        placed = table.placed.take(called)
        self.calls = placed.spans()  # of functions, by the program
        self.functions, self.called_ns = table.names(called), table.ns(placed)
        self._node_names, self._run_of_node = table.names(event), run
        # The node, and the call of the program, that started each run.
        self._node = ran.around(started).tolist()
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
            run = int(self._run_of_node[self._node[run]]) if self._node[run] >= 0 else -1
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
    run_id = table.numbers(b"id", started)
    order = np.argsort(run_id, kind="stable")
    ids, runs = np.append(run_id[order], 0), np.append(order, -1)

    def started_as(number: I64) -> I64:
        """The run with each number, or -1; one more row is -1."""
        result = np.full(number.size + 1, -1, np.int64)
        for block in blocks(number.size):
            at = np.searchsorted(ids[:-1], number[block])
            result[block] = np.where(ids[at] == number[block], runs[at], -1)
        return result

    of_process = started_as(table.numbers(b"id", process))
    around = table.placed.take(process).spans().around(ran)
    run: I64 = of_process[around]
    # A thread that was still working when the trace ended has no Process event; the next event at
    # the end of a node, on the same line, also has the number.
    rest = np.flatnonzero(around < 0)
    line, start, long = ran.take(rest)
    ends = table.placed.take(done).spans()
    after = count_before(ends.line, ends.start, line, start + long - 1)
    is_known = np.append(ends.line, -1)[after] == line
    of_end = started_as(ends.in_order(table.numbers(b"id", done)))
    run[rest] = np.where(is_known, of_end[after], -1)
    return run
