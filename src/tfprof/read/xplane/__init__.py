"""XPlane: reads traces of the TensorFlow 2 profiler into steps of a Profile.

    read_trace(source) ──► TraceColumns ──► with_trace(profile, trace) ──► Profile

planes       bytes → columns                   nesting        steps, self times
event_table  the class of each event           memory         allocations of each execution
operations   which events are operations,      kernels        what ran on accelerators
             and which call each ran for       launches       instructions of XLA programs
merge        the graph node of each operation  programs       the nodes of these instructions
                                               program_steps  the step of each execution
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.unique import unique_inverse
from tfprof.foundation.units import plural
from tfprof.model import own_notes
from tfprof.read.read_files import read_wire
from tfprof.read.xplane import launches, trace
from tfprof.read.xplane.event_table import EventTable, event_table
from tfprof.read.xplane.memory import TraceMemory, memory
from tfprof.read.xplane.merge import with_trace
from tfprof.read.xplane.nesting import Steps, steps
from tfprof.read.xplane.operations import operations
from tfprof.read.xplane.peaks import peaks
from tfprof.read.xplane.planes import Space, device_of, read_space
from tfprof.read.xplane.program_steps import with_steps
from tfprof.read.xplane.trace import TraceColumns
from tfprof.tables.formats import TRACE
from tfprof.wire.decode import VARINT, scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, U8, Strings
    from tfprof.read.source import Source

__all__ = ["TraceColumns", "columns", "read_trace", "with_trace"]
_CPU = b"/device:cpu:0"
_PS_IN_NS, _PS_IN_US = 10**3, 10**6


def read_trace(source: Source, weights: str | None = None, devices: str = "one") -> TraceColumns:
    """The columns of a trace; *weights* and *devices* as in `read_hlo`. Raises InputError."""
    read = read_wire(source, TRACE, lambda data: columns(data, source.name))
    return read._replace(source=source, weights=weights, of_devices=devices)


def columns(data: U8, name: str = "the trace") -> TraceColumns:
    """The columns of a trace; raises WireError, or InputError if it exceeds a limit."""
    space = read_space(data)
    table = event_table(space, name)
    ran = operations(table)
    placed = table.placed.take(ran.event)
    moment = table.ns(placed)
    windows, step = with_steps(table, ran, moment, _steps(table, name))
    of_device, devices = _devices(space, placed.line)
    spans = placed.spans()
    events = trace.Events(
        what=ran.what,
        line=placed.line,
        device=of_device,
        start_ns=moment,
        own_ps=spans.own(),
        long_ps=placed.long,
        step=step,
        shapes=table.texts(b"shape", ran.event),
        names=ran.names,
    )
    allocated = memory(table, events, spans, windows)
    level = _level(space)
    return TraceColumns(
        devices=devices,
        accelerator=np.array([not device.endswith(_CPU) for device in devices], np.int64),
        step_number=windows.number,
        events=events,
        memory=allocated.memory,
        level=level,
        notes=(*windows.notes, *own_notes(_notes(events, allocated, level))),
        programs=launches.programs(space),
        peaks=peaks(space),
    )


def _steps(table: EventTable, name: str) -> Steps:
    stats = table.space.event_stats
    # The steps of a capture, or those that the program or Keras marked.
    marked = stats.named(b"tfprof_step")
    marked = marked if marked.size else stats.named(b"step_num")
    marked = marked[table.on_host[stats.owner[marked]]]
    placed = table.placed.take(stats.owner[marked])
    return steps(stats.number[marked], table.ns(placed), placed.long // _PS_IN_NS, name)


def _devices(space: Space, line: I64) -> tuple[I64, Strings]:
    devices = space.plane.mapped(device_of)
    ids, first = devices.intern()
    used, row = unique_inverse(ids[space.line_plane][line])
    return row, devices.take(first[used]).compact()


def _level(space: Space) -> int:
    """The level of the host's tracer, from the options in the trace."""
    rows = space.plane_stats.named(b"profile_options")[:1]
    text = space.plane_stats.text.take(rows)
    level = scan(text.blob, text.start, text.start + text.length, {2: VARINT})[2]
    return int(level.value[-1]) if level.value.size else trace.UNKNOWN_LEVEL


def _notes(events: trace.Events, allocated: TraceMemory, level: int) -> Iterator[str]:
    """Notes on what is missing from the trace and on events outside steps."""
    if not events.step.size:
        yield "the trace has no events of operations"
    outside = events.step < 0
    if outside.any():
        own = int(events.own_ps[outside].sum()) // _PS_IN_US
        yield (
            f"{np.count_nonzero(outside):,} of {events.step.size:,} executions in the trace, "
            f"{own:,} us, are outside all steps and are ignored"
        )
    # The rest is about TensorFlow: other programs have no such operations, and other allocators.
    if not np.isin(events.names.kind, (trace.NODE, trace.EAGER, trace.DATA)).any():
        return
    if trace.UNKNOWN_LEVEL < level < trace.FULL_LEVEL:
        yield (
            f"the trace was recorded at level {level}: cheap operations and input shapes are "
            "missing (tfprof.capture() records everything)"
        )
    if not len(allocated.memory.name):
        yield (
            "the trace has no memory events: set TF_CPU_ALLOCATOR_USE_BFC=1 in the environment "
            "before the program imports TensorFlow, so that the CPU allocator records them"
        )
    if allocated.nameless.size:
        count, size = allocated.nameless.size, int(allocated.nameless.sum())
        ignored = "names no operation and is" if count == 1 else "name no operation and are"
        yield f"{plural(count, 'allocation')}, {size:,} bytes, {ignored} ignored"
