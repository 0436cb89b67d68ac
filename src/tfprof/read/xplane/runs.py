"""Finds the call that each node ran for.

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

from tfprof.columns.unique import unique_inverse
from tfprof.read.xplane.event_table import DONE, PROCESS, RUN, EventTable
from tfprof.read.xplane.nesting import count_before

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.read.xplane.nesting import LineEvents

# Names are built for at most so many nested calls.
_DEEPEST = 64
# All such names together have at most so many bytes; no real program has more.
_MOST_BYTES = 64 << 20


class Runs(NamedTuple):
    """The call that each node's event ran for."""

    prefix: list[bytes]  # distinct prefixes of names, such as "net/call/"
    function: list[bytes]  # for each prefix, the function that the program called
    of_event: I64  # the row of these for each event
    start_ns: I64  # when the program called it; -1 if unknown


def runs(table: EventTable, event: I64) -> Runs:
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
    return Runs([*prefix], [*function], of_event, start)


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
