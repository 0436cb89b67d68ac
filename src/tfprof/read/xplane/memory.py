"""Adds up the memory that each execution allocated, from the events of an allocator.

    MemoryAllocation    tf_op addr requested_bytes region_type       output or temp
    MemoryDeallocation  addr

An allocation is freed by the next deallocation at its address. It belongs to the execution during
which it happened or, if the trace has no event for that, to its operation and step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import first_rows, sum_by, unique_inverse
from tfprof.read.xplane.event_kinds import ALLOCATED, FREED
from tfprof.read.xplane.trace import Events, Memory, taken

if TYPE_CHECKING:
    from tfprof.read.xplane.event_table import EventTable
    from tfprof.read.xplane.nesting import Spans, Steps

_NEVER = np.iinfo(np.int64).max
# More memory than exists; larger sizes are clipped, so that sums do not overflow.
_MOST_BYTES = 1 << 50


class Allocations(NamedTuple):
    """One row per allocation."""

    op: Strings  # the node it is for
    event: I64  # the execution during which it happened, or -1
    moment_ns: I64
    until_ns: I64  # when it was freed
    requested: I64
    is_output: Bool
    step: I64
    step_end_ns: I64


class TraceMemory(NamedTuple):
    """The memory of each execution, and the size of each allocation without an operation."""

    memory: Memory
    nameless: I64


def memory(table: EventTable, events: Events, spans: Spans, steps: Steps) -> TraceMemory:
    """The memory that the executions with these *spans* allocated."""
    allocated, deallocated = table.rows(ALLOCATED), table.rows(FREED)
    placed, freed = table.placed.take(allocated), table.placed.take(deallocated)
    moment, event = table.ns(placed), spans.around(placed)
    step = np.where(event >= 0, np.append(events.step, -1)[event], steps.of(moment))
    addresses = (table.numbers(b"addr", rows) for rows in (allocated, deallocated))
    until = _freed(moment, table.ns(freed), *addresses)
    op = table.texts(b"tf_op", allocated)
    requested = np.clip(table.numbers(b"requested_bytes", allocated), 0, _MOST_BYTES)
    is_output = Strings.of([b"output"]).find(table.texts(b"region_type", allocated)) >= 0
    step_end = np.append(steps.end_ns, 0)[step]
    every = Allocations(op, event, moment, until, requested, is_output, step, step_end)
    named = op.length > 0
    rows = np.flatnonzero(named & (step >= 0))
    in_steps = Allocations(*(taken(column, rows) for column in every))
    return TraceMemory(_by_owner(events, in_steps), requested[~named & (step >= 0)])


def _by_owner(events: Events, allocations: Allocations) -> Memory:
    """Sums by execution or, if that has no event, by operation and step."""
    ids, _ = allocations.op.intern()
    # The key of an execution is its row; other keys are larger than all rows.
    other = events.what.size + allocations.step * max(ids.size, 1) + ids
    key = np.where(allocations.event >= 0, allocations.event, other)
    first, owner = first_rows(key)[1], unique_inverse(key)[1]
    event = allocations.event[first]
    last = np.zeros(first.size, np.int64)
    np.maximum.at(last, owner, allocations.moment_ns)
    ends = np.append(events.start_ns + events.long_ps // 1000, 0)[event]

    def total(rows: Bool | slice = slice(None)) -> I64:
        return sum_by(owner[rows], allocations.requested[rows], first.size)

    return Memory(
        event=event,
        name=allocations.op.take(first),
        step=allocations.step[first],
        end_ns=np.where(event >= 0, ends, last),
        requested=total(),
        peak=_peaks(allocations, owner, first.size),
        residual=total(allocations.until_ns > allocations.step_end_ns),
        output=total(allocations.is_output),
        temporary=total(~allocations.is_output),
    )


def _freed(moment_ns: I64, freed_ns: I64, address: I64, freed_address: I64) -> I64:
    """When each allocation was freed."""
    count = address.size
    addresses = np.concatenate([address, freed_address])
    moments = np.concatenate([moment_ns, freed_ns])
    # An address that is freed and allocated in the same nanosecond is freed first.
    allocates = np.arange(addresses.size) < count
    order = np.lexsort((allocates, moments, addresses))
    first, after = order[:-1], order[1:]
    ends = (addresses[first] == addresses[after]) & allocates[first] & ~allocates[after]
    until = np.full(count, _NEVER, np.int64)
    until[first[ends]] = moments[after[ends]]
    return until


def _peaks(allocations: Allocations, owner: I64, count: int) -> I64:
    """The most bytes that each owner held at a time."""
    if not owner.size:
        return np.zeros(count, np.int64)
    gone = np.flatnonzero(allocations.until_ns < _NEVER)
    who = np.concatenate([owner, owner[gone]])
    moment = np.concatenate([allocations.moment_ns, allocations.until_ns[gone]])
    change = np.concatenate([allocations.requested, -allocations.requested[gone]])
    order = np.lexsort((change, moment, who))
    who, change = who[order], change[order]
    held = np.cumsum(change)
    begins = np.flatnonzero(np.append(True, who[1:] != who[:-1]))
    before = held[begins] - change[begins]
    most = np.zeros(count, np.int64)
    most[who[begins]] = np.maximum.reduceat(held, begins) - before
    return most
