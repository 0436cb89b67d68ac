"""The step of each execution: that of an XLA program may run long after the marker of its step.

    python     train 0 ├─┤ train 1 ├─┤         JAX returns before the work is done
                 PjitFunction(f)
    thread           f ├──────────────┤├──────────────┤
                       run_id 8        run_id 9

The calls of a function launch the runs of its module one after the other, so the second run is of
`train 1`. A kernel of a GPU has the `correlation_id` of its launch by a thread of the host. If the
launch is unknown, work is of the last step that began before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.unique import first_rows, unique_inverse
from tfprof.model import own_notes
from tfprof.read.xplane.event_kinds import CALLED
from tfprof.read.xplane.launches import is_of_tensorflow
from tfprof.read.xplane.nesting import steps
from tfprof.read.xplane.trace import KERNEL

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool, Strings
    from tfprof.read.xplane.event_table import EventTable
    from tfprof.read.xplane.nesting import Steps
    from tfprof.read.xplane.operations import Operations
    from tfprof.read.xplane.trace import Names

_NO_MARKERS = "no work ran after the markers of steps in the trace, so it is one step"
# What the names of a function and of its module differ in: `<lambda>` and `jit__lambda`.
_DIFFERS = re.compile(rb"[\W_]+")


def with_steps(
    table: EventTable, ran: Operations, began_ns: I64, windows: Steps
) -> tuple[Steps, I64]:
    """(the steps, the step of each execution, or -1); *windows* are those of the markers."""
    called = np.where(ran.called_ns < 0, began_ns, ran.called_ns)
    # An operation belongs to the step that called it, even if it runs later.
    step = windows.of(called)
    later = _run_later(ran.names)
    if not later.any():
        return windows, step
    rows = np.flatnonzero(later[ran.what] & (ran.called_ns < 0))
    launched = _called(table, ran, _launched(table, ran.event[rows], began_ns[rows]), rows)
    step[rows] = np.searchsorted(windows.start_ns, launched, "right") - 1
    if (step < 0).all():
        none = np.empty(0, np.int64)
        windows = steps(none, none, none, table.file)._replace(notes=own_notes([_NO_MARKERS]))
        step = windows.of(called)
    return windows, step


def _run_later(names: Names) -> Bool:
    """Which names are of programs other than TensorFlow's, or of kernels beside them."""
    row, first = names.module.intern()
    of_tensorflow = names.module.take(first).which(is_of_tensorflow)[row]
    foreign: Bool = (names.instruction.length > 0) & ~of_tensorflow
    kernel = (names.kind == KERNEL) & (names.instruction.length == 0)
    result: Bool = foreign | (kernel & foreign.any())
    return result


def _launched(table: EventTable, event: I64, began_ns: I64) -> I64:
    """When a thread of the host launched each kernel; if that is unknown, when it began."""
    launches = np.flatnonzero(table.on_launchers)
    number = table.numbers(b"correlation_id", launches)
    launches, number = launches[number != 0], number[number != 0]
    if not launches.size:
        return began_ns
    number, first = first_rows(number)
    wanted = table.numbers(b"correlation_id", event)
    at = np.minimum(np.searchsorted(number, wanted), number.size - 1)
    moment = table.ns(table.placed.take(launches[first]))[at]
    return np.where(number[at] == wanted, np.minimum(moment, began_ns), began_ns)


def _called(table: EventTable, ran: Operations, began_ns: I64, rows: I64) -> I64:
    """When JAX was called for each of these executions; if that is unknown, *began_ns*."""
    result = began_ns.copy()
    name, called_ns = _calls(table)
    functions = name.distinct()
    of_name = functions.find(ran.names.module.mapped(_plain))
    module, number = of_name[ran.what[rows]], table.numbers(b"run_id", ran.event[rows])
    known = np.flatnonzero((module >= 0) & (number != 0))
    if not known.size:
        return result
    # The runs and the calls of each function, in order of time.
    numbers, index = unique_inverse(number[known])
    runs, run = unique_inverse(module[known] * numbers.size + index)
    of_run, of_call = runs // numbers.size, functions.find(name)
    order = np.lexsort((called_ns, of_call))
    of_call, called_ns = of_call[order], called_ns[order]
    counts = [np.bincount(column, minlength=len(functions)) for column in (of_run, of_call)]
    fits = counts[0] == counts[1]
    launched = np.full(runs.size, -1, np.int64)
    launched[fits[of_run]] = called_ns[fits[of_call]]
    first = np.full(runs.size, np.iinfo(np.int64).max)
    np.minimum.at(first, run, result[known])
    # If one run begins before its call, they do not belong together.
    fits[of_run[first < launched]] = False
    is_sure = fits[of_run][run]
    result[known[is_sure]] = launched[run[is_sure]]
    return result


def _calls(table: EventTable) -> tuple[Strings, I64]:
    """(the plain name of the function, the time) of each call that is not inside another."""
    placed = table.placed.take(table.rows(CALLED)).spans()
    outer = np.flatnonzero(placed.parents() < 0)
    rows = placed.in_order(table.rows(CALLED))[outer]
    return table.names(rows).mapped(_plain), table.ns(table.placed.take(rows))


def _plain(name: bytes) -> bytes:
    """What the names of a function and of its module have in common."""
    return _DIFFERS.sub(b"", name.removeprefix(b"jit_").removeprefix(b"jit("))
