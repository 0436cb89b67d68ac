"""Runs of functions: which call each node ran for.

A function that the runtime keeps as one is started by the event of the node that calls it, and its
nodes run on any thread under their bare names. What leads back:

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

from tfprof.columns.unique import places
from tfprof.read.xplane.nesting import count_before

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool, Strings
    from tfprof.read.xplane.event_table import Frames

# Calls inside of calls that names are put together for.
_DEEPEST = 64
# So long are all such names together at most; no program has as many.
_MOST_BYTES = 64 << 20


class Runs(NamedTuple):
    """What each node's event ran for."""

    prefix: list[bytes]  # distinct: what stands before the name, such as "net/call/"
    function: list[bytes]  # of each of these: what the program called
    of_event: I64  # rows of these
    start_ns: I64  # when the program called it; -1: not known


class Given(NamedTuple):
    """What the runs are found by."""

    ran: Frames  # nodes
    names: Strings  # of the nodes
    called: Frames  # functions that the program called
    functions: Strings  # their names
    called_ns: I64
    started: Frames  # FunctionRun
    started_id: I64
    process: Frames  # ExecutorState::Process
    process_id: I64
    done: Frames  # ExecutorPropagateOutputs
    done_id: I64


def runs(given: Given) -> Runs:
    """What each node's event ran for."""
    run = _run_of_each(given)
    chains = _Chains(given, run)
    distinct, back = places(run)
    of_run = np.array([chains.tell(one) for one in distinct.tolist()], np.int64).reshape(-1, 2)
    of_event, start = of_run[back, 0], of_run[back, 1]
    # What ran on the thread of the call itself, such as a function that XLA compiled.
    directly = given.called.spans().around(given.ran.line, given.ran.start)
    plain = np.flatnonzero((run < 0) & (directly >= 0))
    rows, back = places(directly[plain])
    called = [chains.place(b"", given.functions[row]) for row in rows.tolist()]
    of_event[plain] = np.array(called, np.int64)[back]
    start[plain] = given.called_ns[directly[plain]]
    prefix, function = zip(*chains.names, strict=True)
    return Runs([*prefix], [*function], of_event, start)


class _Chains:
    """The calls that lead to a run, as the beginning of names; each put together once."""

    def __init__(self, given: Given, run: I64) -> None:
        started = (given.started.line, given.started.start)
        self._given = given
        self._node = given.ran.spans().around(*started).tolist()  # that started each run
        self._program = given.called.spans().around(*started).tolist()
        self._run_of_node = run.tolist()
        self._told: dict[int, tuple[int, int]] = {}
        self._places = {(b"", b""): 0}
        self._spent = 0
        self.names = [(b"", b"")]  # (prefix, function)

    def place(self, prefix: bytes, function: bytes) -> int:
        """The row of these in `names`."""
        if (prefix, function) not in self._places:
            self._places[prefix, function] = len(self.names)
            self.names.append((prefix, function))
            self._spent += len(prefix)
        return self._places[prefix, function]

    def tell(self, run: int) -> tuple[int, int]:
        """(row of `names`, moment of the program's call) of a run."""
        chain: list[int] = []
        while run >= 0 and run not in self._told and len(chain) < _DEEPEST and run not in chain:
            chain.append(run)
            run = self._run_of_node[self._node[run]] if self._node[run] >= 0 else -1
        known, moment = self._told.get(run, (0, -1))
        for inner in reversed(chain):
            prefix, function = self.names[known]
            node, program = self._node[inner], self._program[inner]
            if program >= 0:
                moment = int(self._given.called_ns[program])
                function = self._given.functions[program]
            if node >= 0 and self._spent < _MOST_BYTES:
                prefix += self._given.names[node] + b"/"
            known = self.place(prefix, function)
            self._told[inner] = known, moment
        return known, moment


def _run_of_each(given: Given) -> I64:
    """The row in `started` of each node's event, or -1."""
    process = given.process.spans().around(given.ran.line, given.ran.start)
    number = np.append(given.process_id, 0)[process]
    # A thread that was still at work when the trace ended has no Process; what it says as it is
    # done with a node has the number, too.
    lost = np.flatnonzero(process < 0)
    after, found = _next(given.done, given.ran.take(lost))
    number[lost] = np.where(found, np.append(given.done_id, 0)[after], 0)
    known = process >= 0
    known[lost] = found
    order = np.argsort(given.started_id, kind="stable")
    ids = given.started_id[order]
    at = np.searchsorted(ids, number)
    fits = known & (np.append(ids, 0)[at] == number) & (at < ids.size)
    return np.where(fits, np.append(order, -1)[at], -1)


def _next(frames: Frames, ran: Frames) -> tuple[I64, Bool]:
    """(the next frame on the line behind each event, whether there is one)."""
    order = np.lexsort((frames.start, frames.line))
    lines, starts = frames.line[order], frames.start[order]
    at = count_before(lines, starts, ran.line, ran.start + ran.long - 1)
    return np.append(order, -1)[at], np.append(lines, -1)[at] == ran.line
