"""Profile + columns of a trace → Profile: its executions become steps, matched to graph nodes.

    in the graph              matched by any of its runtime names (`runtime_names`)
    fused                     a node that it fused, which also gets the fused type
    compiled by XLA           the node that its instruction names
    not in the graph          a new node below `_not_in_graph`
    no graph                  every name is a node

Events under other names of a node are folded into the node's runs. If the node has events under its
own name, these are its runs; else the events of its rarest name. The time of the other events is
added to the run before them.

    net/while/enter/_4    ├─┤                          one run of net/while …
    net/while/merge/_9        ├─┤   ├─┤   ├─┤          … also takes this time
    net/while/exit/_12                        ├─┤

So it is with the kernels of one instruction of an XLA program, such as `splitKreduce_kernel`.

Times are microseconds in a step. They are rounded so that the total of every scope is right to a
microsecond: an execution may be off by one, a sum of thousands is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.blocks import blocks
from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import (
    combined,
    first_rows,
    stable_order,
    sum_by,
    unique,
    unique_inverse,
)
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.units import plural
from tfprof.model import ACCELERATOR, ACCELERATOR_RUN, CPU, Profile, Step, own_notes
from tfprof.read.input_notes import outside_graph
from tfprof.read.merge import with_bare_nodes, with_extra_types, with_types
from tfprof.read.run_shapes import RecordedInputs, with_shape_source
from tfprof.read.runtime_names import node_of, without_numbers
from tfprof.read.xplane.node_matching import NodeMatcher
from tfprof.read.xplane.programs import with_programs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.read.xplane.trace import Events, Memory, Names, TraceColumns

_PLANNED = (
    "output_bytes is what XLA plans for each instruction; those that work in the buffer of another "
    "have 0"
)
# The types of instructions with most float operations.
_WORK = (b"dot", b"convolution", b"custom-call", b"fusion")
_ALL_STREAMS = b"/stream:all"
_PS_IN_US = 10**6
_LARGEST_SUM = 2.0**62
# Columns of a Step that a trace does not fill.
_NOT_TRACED = (
    *("allocation_node", "allocation_us", "allocation_bytes"),
    *("output_row", "output_slot", "output_bytes", "output_pointer"),
)


def with_trace(profile: Profile, trace: TraceColumns) -> Profile:
    """*profile* with the steps of *trace*, numbered after its own."""
    trace = _in_steps(trace)
    profile, programs = with_programs(profile, trace)
    events, matcher = trace.events, NodeMatcher(profile, trace.events, programs)
    named = matcher.nodes()  # the node of each name
    notes = (*trace.notes, *own_notes(matcher.notes(named)))
    before = len(profile)
    profile, named = _with_names(profile, named, events.names, matcher.absent)
    node, own_name = named[events.what], matcher.has_own_name(named, named >= before)
    profile, memory_node = _with_memory_names(profile, trace.memory, node)
    profile = _placed(profile, trace, node)
    profile = _typed(profile, matcher.fused)
    runs, own_ps = fold_aliases(events, node, own_name[events.what])
    joined = np.zeros(named.size, np.bool_)
    if programs is not None:  # no host records the runs of instructions
        joined = named < before
        silent = _without_events(profile, node, before)
        notes = (*notes, *own_notes(programs.others.notes), *own_notes(silent))
        if not len(trace.memory.name):
            trace, memory_node = _with_planned(trace, node, programs.output_bytes)
            notes = (*notes, *own_notes([_PLANNED] * bool(memory_node.size)))
    steps = _steps(profile, trace, (runs, own_ps, node, joined), memory_node)
    first = max((step.number for step in profile.steps), default=-1) + 1
    if profile.steps:
        steps = [replace(step, number=first + index) for index, step in enumerate(steps)]
    grown = replace(
        profile,
        steps=tuple(sorted((*profile.steps, *steps), key=lambda step: step.number)),
        notes=(*profile.notes, *notes),
        peaks=profile.peaks or trace.peaks,
    )
    exact = np.where((named < before) & matcher.exact, named, -1)
    number = np.array([step.number for step in steps], np.int64)
    rows = np.flatnonzero(events.shapes.length)
    recorded = exact[events.what[rows]], events.shapes.take(rows), number[events.step[rows]]
    return with_shape_source(grown, RecordedInputs(*recorded))


def _without_events(profile: Profile, node: I64, programs: int) -> Iterator[str]:
    """A sentence if work of the programs, which are the first nodes, left no event."""
    of_type = profile.types.find(Strings.of(_WORK))
    silent = np.isin(profile.nodes.op, of_type[of_type >= 0])
    silent &= profile.regions.of_nodes(len(profile)) < 0
    silent[programs:] = silent[node] = False
    if count := int(np.count_nonzero(silent)):
        yield (
            f"{plural(count, 'instruction has', 'instructions have')} no events in the trace, as "
            "in command buffers of GPUs: float operations count each as often as its program ran"
        )


def _with_planned(trace: TraceColumns, node: I64, size: I64) -> tuple[TraceColumns, I64]:
    """(*trace* with the bytes that XLA plans for what nodes return, the node of each row)."""
    events = trace.events
    has_bytes = np.flatnonzero(np.append(size, 0)[np.minimum(node, size.size)])
    # However often an instruction runs in a step, it has one buffer.
    _, first = combined(events.step[has_bytes], node[has_bytes])
    row = has_bytes[first]
    none, nodes = np.zeros(row.size, np.int64), node[row]
    memory = trace.memory._replace(
        event=row, name=events.name.take(row), step=events.step[row], end_ns=events.start_ns[row],
        requested=none, peak=none, residual=none, output=size[nodes], temporary=none,
    )  # fmt: skip
    return trace._replace(memory=memory), nodes


def _in_steps(trace: TraceColumns) -> TraceColumns:
    """*trace* without events outside steps, for which it already has a note."""
    inside = trace.events.step >= 0
    if bool(inside.all()):
        return trace
    row = np.append(np.cumsum(inside) - 1, -1)
    memory = trace.memory._replace(event=row[trace.memory.event])
    return trace._replace(events=trace.events.take(np.flatnonzero(inside)), memory=memory)


# --- nodes ------------------------------------------------------------------------------------


def _with_names(profile: Profile, node: I64, names: Names, absent: Bool) -> tuple[Profile, I64]:
    """(*profile* with a node for each unmatched name, the node of each name)."""
    rows = np.flatnonzero(node < 0)
    # Functions that the graph does not have are scopes, so that their nodes stay apart.
    slash = Strings.of([b"", b"/"]).take(absent[rows].astype(np.int64))
    function = names.function.take(rows).where(absent[rows])
    name = Strings.beside([function, slash, names.name.take(rows)])
    profile, added = _grown(profile, _own_names(profile, name), names.op.take(rows))
    node = node.copy()
    node[rows] = added
    covered = profile.covered.copy()
    covered[node] = True
    return replace(profile, covered=covered), node


def _own_names(profile: Profile, names: Strings) -> Strings:
    """The names of new nodes for *names* that are not in the graph."""
    plain = without_numbers(names)
    if not bool(profile.in_graph.any()):
        return plain
    return outside_graph(plain, np.arange(len(plain)))


def _grown(profile: Profile, name: Strings, op: Strings) -> tuple[Profile, I64]:
    """(*profile* with these nodes added unless it has them, the row of each)."""
    ids, first = name.intern()
    known = profile.nodes.name.find(name.take(first))
    new = first[known < 0]
    if not new.size:
        return profile, known[ids]
    known[known < 0] = len(profile) + np.arange(new.size)
    return with_bare_nodes(profile, name.take(new), op.take(new)), known[ids]


def _with_memory_names(profile: Profile, memory: Memory, ran: I64) -> tuple[Profile, I64]:
    """(*profile* with nodes for allocations, the node of each row); executions are of *ran*."""
    node = np.append(ran, -1)[memory.event]
    rows = np.flatnonzero(node < 0)
    node[rows] = node_of(profile, memory.name.take(rows))
    rows = np.flatnonzero(node < 0)
    names = memory.name.take(rows)
    profile, added = _grown(profile, _own_names(profile, names), names)
    node[rows] = added
    return profile, node


def _placed(profile: Profile, trace: TraceColumns, node: I64) -> Profile:
    """*profile* with a device for each node that ran: an accelerator if it ran on one."""
    names = Strings.of(name.removesuffix(_ALL_STREAMS) for name in trace.devices)
    types, kind = with_types(profile.types, names)
    device = profile.nodes.device.copy()
    is_free = device < 0
    for accelerator in range(2):
        is_it = trace.accelerator == accelerator
        for block in blocks(node.size if is_it.any() else 0):
            ran, on = node[block], trace.events.device[block]
            on_it = is_free[ran] & is_it[on]
            device[ran[on_it]] = kind[on[on_it]]
    return replace(profile, types=types, nodes=replace(profile.nodes, device=device))


def _typed(profile: Profile, pairs: list[tuple[int, bytes]]) -> Profile:
    if not pairs:
        return profile
    nodes, ops = zip(*pairs, strict=True)
    return with_extra_types(profile, np.array(nodes, np.int64), Strings.of(ops))


# --- steps ------------------------------------------------------------------------------------


def _steps(
    profile: Profile, trace: TraceColumns, runs: tuple[I64, I64, I64, Bool], memory_node: I64
) -> list[Step]:
    """The steps of the trace; *runs* are (row of the events, self time) and the node of events.

    And of names, whether they are instructions whose runs no host records.
    """
    row, own_ps, node, joined = runs
    rank = np.empty(len(profile), np.int64)
    ran_nodes = unique(node)
    rank[ran_nodes] = profile.nodes.name.take(ran_nodes).rank()
    ran = _ByStep(trace.events.step[row], trace.step_number.size)
    events, memory = trace.events, trace.memory
    by_end = np.lexsort((memory.end_ns, memory.step))
    held = np.searchsorted(memory.step[by_end], np.arange(trace.step_number.size + 1))
    counts_as = np.where(trace.accelerator > 0, ACCELERATOR, CPU)
    rounded = _Rounded(own_ps)
    none = np.empty(0, np.int64)

    def step(index: int, number: int) -> Step:
        here = ran.rows(index)
        here = here[np.argsort(events.start_ns[row[here]], kind="stable")]
        at = row[here]
        nodes, device = node[at], events.device[at]
        kind = counts_as[device]
        alone = joined[events.what[at]] & (kind == ACCELERATOR)
        # Rounding goes by step, then by name, then by time.
        by_name = stable_order(rank[nodes])
        us = np.empty(at.size, np.int64)
        us[by_name] = rounded.next(own_ps[here[by_name]])
        allocated = by_end[held[index] : held[index + 1]]
        zeros = np.zeros(allocated.size, np.int64)
        return Step(
            number=number,
            node=nodes,
            device=device,
            devices=trace.devices,
            start_us=np.maximum(events.start_ns[at] // 1000, 1),
            us=us,
            counts_as=np.where(alone, ACCELERATOR_RUN, kind),
            memory_node=memory_node[allocated],
            memory_us=memory.end_ns[allocated] // 1000,
            requested=memory.requested[allocated],
            peak=memory.peak[allocated],
            residual=memory.residual[allocated],
            output=memory.output[allocated],
            in_use=zeros,
            on_host=np.ones(allocated.size, np.bool_),
            temporary=memory.temporary[allocated],
            persistent=zeros,
            **dict.fromkeys(_NOT_TRACED, none),
        )

    return [step(*pair) for pair in enumerate(trace.step_number.tolist())]


class _ByStep:
    """The rows of each step."""

    def __init__(self, step: I64, count: int) -> None:
        self._order = stable_order(step)
        self._begins = np.append(0, np.cumsum(np.bincount(step, minlength=count)))

    def rows(self, step: int) -> I64:
        """The rows of a step, ascending."""
        return self._order[self._begins[step] : self._begins[step + 1]]


class _Rounded:
    """Microseconds, rounded so that every prefix sum is right to one."""

    def __init__(self, own_ps: I64) -> None:
        self._is_huge = float(own_ps.sum(dtype=np.float64)) > _LARGEST_SUM
        self._before = 0  # the sum so far

    def next(self, own_ps: I64) -> I64:
        """The next *own_ps* of all."""
        if self._is_huge:
            return own_ps // _PS_IN_US
        sums = np.cumsum(np.append(self._before, own_ps))
        self._before = int(sums[-1])
        return np.diff(sums // _PS_IN_US)


def fold_aliases(events: Events, node: I64, own_name: Bool) -> tuple[I64, I64]:
    """(the rows that are runs, their self times); *own_name*: events under the node's own name."""
    if own_name.all():
        return np.arange(node.size), events.own_ps
    is_run, self_ps = own_name.copy(), events.own_ps.copy()
    # Where all events of a node have its own name, each is a run.
    has_other = np.zeros(int(node.max(initial=-1)) + 1, np.bool_)
    has_other[node[~own_name]] = True
    rows = np.flatnonzero(has_other[node])
    # Each device has its own runs.
    group = combined(*(column[rows] for column in (node, events.step, events.device)))[0]
    label = events.names.label[events.what[rows]]
    is_run[rows] = runs = _runs(group, label, own_name[rows])
    order = np.lexsort((~runs, events.start_ns[rows], group))
    index = np.arange(order.size)
    first = np.searchsorted(group[order], group[order])
    # The last run before each event, or the first of its group.
    last = np.maximum.accumulate(np.where(runs[order], index, -1))
    at_runs = np.flatnonzero(runs[order])
    ahead = at_runs[np.searchsorted(at_runs, first)] if at_runs.size else first
    target = order[np.where(last >= first, last, ahead)]
    self_ps[rows] = sum_by(target, events.own_ps[rows[order]], order.size)
    result = np.flatnonzero(is_run)
    return result, self_ps[result]


def _runs(group: I64, label: I64, own_name: Bool) -> Bool:
    """Which rows are runs: those with the node's own name, else those of the rarest label."""
    has_own = np.zeros(int(group.max(initial=-1)) + 1, np.bool_)
    has_own[group[own_name]] = True
    labels = int(label.max(initial=0)) + 1
    pair, index = unique_inverse(group * labels + label)
    count = np.bincount(index, minlength=pair.size)
    by_count = np.lexsort((pair, count, pair // labels))
    rarest = np.zeros(pair.size, np.bool_)
    rarest[by_count[first_rows((pair // labels)[by_count])[1]]] = True
    runs: Bool = np.where(has_own[group], own_name, rarest[index])
    return runs
