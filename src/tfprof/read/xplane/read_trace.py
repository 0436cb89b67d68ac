"""An XSpace → TraceColumns: what ran, when, where, for how long, and what it allocated.

planes      bytes as columns                  steps    windows of time
seen        what each event is                memory   who allocated what
operations  which are operations that ran     nesting  what is inside of what
runs        which call they ran for           hlo      instructions that XLA made
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import places
from tfprof.model import Note
from tfprof.read.xplane.devices import device
from tfprof.read.xplane.event_table import seen
from tfprof.read.xplane.memory import memory
from tfprof.read.xplane.operations import operations
from tfprof.read.xplane.planes import space
from tfprof.read.xplane.steps import steps
from tfprof.read.xplane.trace import FULL_LEVEL, UNKNOWN_LEVEL, Events, TraceColumns
from tfprof.wire.decode import VARINT, scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, U8
    from tfprof.read.xplane.event_table import Seen
    from tfprof.read.xplane.memory import Found
    from tfprof.read.xplane.planes import Space
    from tfprof.read.xplane.steps import Steps

_CPU = b"/device:cpu:0"
_PS_IN_NS, _PS_IN_US = 10**3, 10**6


def columns(data: U8, name: str = "the trace") -> TraceColumns:
    """What the trace tells. Raises WireError, or InputError where it has too many steps."""
    read = space(data)
    every = seen(read, name)
    windows = _steps(every, name)
    ran = operations(every)
    moment = every.ns[ran.event]
    of_device, devices = _devices(read, ran.event)
    spans = every.frames.take(ran.event).spans()
    events = Events(
        name=ran.name,
        op=ran.op,
        function=ran.function,
        kind=ran.kind,
        label=read.event_kind[ran.event] + 1,
        line=every.frames.line[ran.event],
        device=of_device,
        start_ns=moment,
        own_ps=spans.own(),
        long_ps=every.frames.long[ran.event],
        # What runs later than the step that asked for it is of that step.
        step=windows.of(np.where(ran.called_ns >= 0, ran.called_ns, moment)),
        shapes=every.texts(b"shape", ran.event),
    )
    found = memory(every, events, spans, windows)
    level = _level(read)
    return TraceColumns(
        lines=read.line,
        devices=devices,
        accelerator=np.array([not one.endswith(_CPU) for one in devices], np.int64),
        step_number=windows.number,
        events=events,
        memory=found.memory,
        level=level,
        notes=(*windows.notes, *_notes(events, found, level)),
    )


def _steps(every: Seen, name: str) -> Steps:
    told = every.space.event_stats
    # The steps of a capture, or those that the program or Keras marked.
    marked = told.named(b"tfprof_step")
    marked = marked if marked.size else told.named(b"step_num")
    marked = marked[every.on_host[told.owner[marked]]]
    event = told.owner[marked]
    return steps(told.number[marked], every.ns[event], every.frames.long[event] // _PS_IN_NS, name)


def _devices(read: Space, event: I64) -> tuple[I64, Strings]:
    """(the device of each event, their names)."""
    ids, first = Strings.of(device(one) for one in read.plane).intern()
    used, place = places(ids[read.line_plane[read.event_line[event]]])
    return place, Strings.of(device(read.plane[row]) for row in first[used].tolist())


def _level(read: Space) -> int:
    """The level of the host's tracer, as the options say that were in force."""
    rows = read.plane_stats.named(b"profile_options")[:1]
    text = read.plane_stats.text.take(rows)
    level = scan(text.blob, text.start, text.start + text.length, {2: VARINT})[2]
    return int(level.value[-1]) if level.value.size else UNKNOWN_LEVEL


def _notes(events: Events, found: Found, level: int) -> Iterator[Note]:
    """What the trace does not hold, and what of it is in no step."""
    if not events.step.size:
        yield _note("the trace has no event of an operation")
    outside = np.flatnonzero(events.step < 0)
    if outside.size:
        own = int(events.own_ps[outside].sum()) // _PS_IN_US
        yield _note(
            f"{outside.size:,} of {events.step.size:,} executions in the trace, {own:,} us, are in "
            "no step and left out"
        )
    if UNKNOWN_LEVEL < level < FULL_LEVEL:
        yield _note(
            f"the trace was taken at level {level}: cheap operations and the shapes of inputs are "
            "missing (tfprof.capture() records all)"
        )
    if not len(found.memory.name):
        yield _note(
            "the trace has no memory events: TF_CPU_ALLOCATOR_USE_BFC=1 in the environment of the "
            "program, set before it imports TensorFlow, has the allocator of the CPU record them"
        )
    if found.nameless.size:
        yield _note(
            f"{found.nameless.size:,} allocations, {int(found.nameless.sum()):,} bytes, name no "
            "operation and are left out"
        )


def _note(text: str) -> Note:
    return Note(text, ours=True)
