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
from tfprof.read.xplane.nesting import count_before

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool, Strings
    from tfprof.read.xplane.event_table import LineEvents

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


class RunEvents(NamedTuple):
    """The events from which runs are found."""

    ran: LineEvents  # nodes
    names: Strings  # of the nodes
    called: LineEvents  # functions that the program called
    functions: Strings  # their names
    called_ns: I64
    started: LineEvents  # FunctionRun
    started_id: I64
    process: LineEvents  # ExecutorState::Process
    process_id: I64
    done: LineEvents  # ExecutorPropagateOutputs
    done_id: I64


def runs(events: RunEvents) -> Runs:
    """The call that each node's event ran for."""
    run = _run_of_each(events)
    chains = _Chains(events, run)
    distinct, inverse = unique_inverse(run)
    of_run = [chains.resolve(number) for number in distinct.tolist()]
    of_event, start = np.array(of_run, np.int64).reshape(-1, 2)[inverse].T
    # Events on the thread of the call itself, such as a function that XLA compiled.
    directly = events.called.spans().around(events.ran.line, events.ran.start)
    plain = np.flatnonzero((run < 0) & (directly >= 0))
    rows, inverse = unique_inverse(directly[plain])
    called = [chains.row(b"", events.functions[row]) for row in rows.tolist()]
    of_event[plain] = np.array(called, np.int64)[inverse]
    start[plain] = events.called_ns[directly[plain]]
    prefix, function = zip(*chains.names, strict=True)
    return Runs([*prefix], [*function], of_event, start)


class _Chains:
    """The chain of calls that leads to each run, as a prefix of names; each is built once."""

    def __init__(self, events: RunEvents, run: I64) -> None:
        started = (events.started.line, events.started.start)
        self._events = events
        self._node = events.ran.spans().around(*started).tolist()  # the node that started each run
        self._program = events.called.spans().around(*started).tolist()
        self._run_of_node = run.tolist()
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
                moment = int(self._events.called_ns[program])
                function = self._events.functions[program]
            if node >= 0 and self._spent < _MOST_BYTES:
                prefix += self._events.names[node] + b"/"
            known = self.row(prefix, function)
            self._known[inner] = known, moment
        return known, moment


def _run_of_each(events: RunEvents) -> I64:
    """The row in `started` of each node's event, or -1."""
    process = events.process.spans().around(events.ran.line, events.ran.start)
    number = np.append(events.process_id, 0)[process]
    # A thread that was still working when the trace ended has no Process event; the event at the
    # end of a node also has the number.
    rest = np.flatnonzero(process < 0)
    after, exists = _next(events.done, events.ran.take(rest))
    number[rest] = np.where(exists, np.append(events.done_id, 0)[after], 0)
    known = process >= 0
    known[rest] = exists
    order = np.argsort(events.started_id, kind="stable")
    ids = events.started_id[order]
    at = np.searchsorted(ids, number)
    fits = known & (np.append(ids, 0)[at] == number) & (at < ids.size)
    return np.where(fits, np.append(order, -1)[at], -1)


def _next(events: LineEvents, ran: LineEvents) -> tuple[I64, Bool]:
    """(the next event on the line after each event, whether there is one)."""
    order = np.lexsort((events.start, events.line))
    lines, starts = events.line[order], events.start[order]
    at = count_before(lines, starts, ran.line, ran.start + ran.long - 1)
    return np.append(order, -1)[at], np.append(lines, -1)[at] == ran.line
