"""What operations allocated: the events of an allocator, added up by execution.

    MemoryAllocation    tf_op addr requested_bytes region_type       output or temp
    MemoryDeallocation  addr

An allocation is freed by the next deallocation at its address. It belongs to the execution that it
happened in; where a trace has no event of that, to its operation and step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import first_rows, places
from tfprof.read.xplane import event_kinds as kinds
from tfprof.read.xplane.trace import Memory, taken

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.read.xplane.event_table import Seen
    from tfprof.read.xplane.nesting import Spans
    from tfprof.read.xplane.steps import Steps
    from tfprof.read.xplane.trace import Events

_NEVER = np.iinfo(np.int64).max
# More than there is; what says so is cut off, so that sums stay numbers.
_MOST_BYTES = 1 << 50


class Allocations(NamedTuple):
    """A row an allocation."""

    op: Strings  # the node it is for; empty: not told
    event: I64  # the execution that it happened in, or -1
    address: I64
    moment_ns: I64
    requested: I64
    is_output: Bool
    step: I64
    step_end_ns: I64


class Found(NamedTuple):
    """What was allocated, and the bytes of each allocation that names no operation."""

    memory: Memory
    nameless: I64


def memory(seen: Seen, events: Events, spans: Spans, steps: Steps) -> Found:
    """What the executions allocated, whose *spans* these are."""
    given, back = seen.rows(kinds.ALLOCATED), seen.rows(kinds.FREED)
    address = seen.numbers(b"addr")
    event = spans.around(seen.frames.line[given], seen.frames.start[given])
    moment = seen.ns[given]
    step = np.where(event >= 0, np.append(events.step, -1)[event], steps.of(moment))
    every = Allocations(
        op=seen.texts(b"tf_op", given),
        event=event,
        address=address[given],
        moment_ns=moment,
        requested=np.clip(seen.numbers(b"requested_bytes")[given], 0, _MOST_BYTES),
        is_output=Strings.of([b"output"]).find(seen.texts(b"region_type", given)) >= 0,
        step=step,
        step_end_ns=np.append(steps.end_ns, 0)[step],
    )
    until = freed(every, address[back], seen.ns[back])
    named = every.op.length > 0
    kept = np.flatnonzero(named & (step >= 0))
    some = Allocations(*(taken(column, kept) for column in every))
    return Found(_by_owner(events, some, until[kept]), every.requested[~named & (step >= 0)])


def _by_owner(events: Events, allocations: Allocations, until: I64) -> Memory:
    """Sums by execution, or by operation and step where there is no event of it."""
    ids, _ = allocations.op.intern()
    # An execution is known by its row, the others by numbers behind all rows.
    behind = len(events.name) + allocations.step * max(ids.size, 1) + ids
    key = np.where(allocations.event >= 0, allocations.event, behind)
    first, owner = first_rows(key)[1], places(key)[1]
    sums = rows(allocations, until, owner, first.size)
    event = allocations.event[first]
    last = np.zeros(first.size, np.int64)
    np.maximum.at(last, owner, allocations.moment_ns)
    ends = np.append(events.start_ns + events.long_ps // 1000, 0)[event]
    return Memory(
        event=event,
        name=allocations.op.take(first),
        step=allocations.step[first],
        end_ns=np.where(event >= 0, ends, last),
        requested=sums.requested,
        peak=sums.peak,
        residual=sums.residual,
        output=sums.output,
        temporary=sums.temporary,
    )


class Rows(NamedTuple):
    """Sums over the allocations of each owner."""

    requested: I64
    peak: I64
    residual: I64
    output: I64
    temporary: I64


def freed(allocations: Allocations, address: I64, moment_ns: I64) -> I64:
    """When each allocation was freed, by deallocations at these addresses and moments."""
    count = allocations.address.size
    every = np.concatenate([allocations.address, address])
    moments = np.concatenate([allocations.moment_ns, moment_ns])
    # What is freed and given out again in the same nanosecond is freed first.
    gives = np.arange(every.size) < count
    order = np.lexsort((gives, moments, every))
    after = order[1:]
    first = order[:-1]
    ends = (every[first] == every[after]) & gives[first] & ~gives[after]
    until = np.full(count, _NEVER, np.int64)
    until[first[ends]] = moments[after[ends]]
    return until


def rows(allocations: Allocations, until: I64, owner: I64, count: int) -> Rows:
    """What the allocations of each of *count* owners come to; *until* is when each was freed."""
    left = until > allocations.step_end_ns
    return Rows(
        _sum(owner, allocations.requested, count),
        _peaks(allocations, until, owner, count),
        _sum(owner[left], allocations.requested[left], count),
        _sum(owner[allocations.is_output], allocations.requested[allocations.is_output], count),
        _sum(owner[~allocations.is_output], allocations.requested[~allocations.is_output], count),
    )


def _sum(owner: I64, amount: I64, count: int) -> I64:
    total = np.zeros(count, np.int64)
    np.add.at(total, owner, amount)
    return total


def _peaks(allocations: Allocations, until: I64, owner: I64, count: int) -> I64:
    """The most that each owner had at a time."""
    if not owner.size:
        return np.zeros(count, np.int64)
    gone = np.flatnonzero(until < _NEVER)
    who = np.concatenate([owner, owner[gone]])
    moment = np.concatenate([allocations.moment_ns, until[gone]])
    change = np.concatenate([allocations.requested, -allocations.requested[gone]])
    order = np.lexsort((change, moment, who))
    who, change = who[order], change[order]
    held = np.cumsum(change)
    begins = np.flatnonzero(np.append(True, who[1:] != who[:-1]))
    before = held[begins] - change[begins]
    most = np.zeros(count, np.int64)
    most[who[begins]] = np.maximum.reduceat(held, begins) - before
    return most
