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

Times are microseconds in a step. They are rounded so that the total of every scope is right to a
microsecond: an execution may be off by one, a sum of thousands is not.
"""

from __future__ import annotations

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import first_rows, sum_by, unique_inverse
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import ACCELERATOR, CPU, Profile, Step, own_notes
from tfprof.read.input_notes import outside_graph
from tfprof.read.merge import with_bare_nodes, with_extra_types, with_types
from tfprof.read.run_shapes import RecordedInputs, with_shape_source
from tfprof.read.runtime_names import node_of, without_numbers
from tfprof.read.xplane.node_matching import NodeMatcher
from tfprof.read.xplane.trace import Events, Memory, TraceColumns, taken

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
    matcher = NodeMatcher(profile, trace.events)
    node = matcher.nodes()
    notes = (*trace.notes, *own_notes(matcher.notes(node)))
    before = len(profile)
    profile, node = _with_names(profile, node, trace.events, matcher.absent)
    profile, memory_node = _with_memory_names(profile, trace.memory, node)
    profile = _placed(profile, trace, node)
    profile = _typed(profile, matcher.fused)
    runs, own_ps = fold_aliases(trace.events, node, matcher.has_own_name(node >= before))
    steps = _steps(profile, trace, (runs, node[runs], own_ps), memory_node)
    first = max((step.number for step in profile.steps), default=-1) + 1
    if profile.steps:
        steps = [replace(step, number=first + index) for index, step in enumerate(steps)]
    grown = replace(
        profile,
        steps=tuple(sorted((*profile.steps, *steps), key=lambda step: step.number)),
        notes=(*profile.notes, *notes),
    )
    exact = np.where((node < before) & matcher.exact, node, -1)
    number = np.array([step.number for step in steps], np.int64)[trace.events.step]
    return with_shape_source(grown, RecordedInputs(exact, trace.events.shapes, number))


def _in_steps(trace: TraceColumns) -> TraceColumns:
    """*trace* without events outside steps, for which it already has a note."""
    inside = trace.events.step >= 0
    if bool(inside.all()):
        return trace
    rows = np.flatnonzero(inside)
    row = np.append(np.cumsum(inside) - 1, -1)
    events = Events(*(taken(column, rows) for column in trace.events))
    memory = trace.memory._replace(event=row[trace.memory.event])
    return trace._replace(events=events, memory=memory)


# --- nodes ------------------------------------------------------------------------------------


def _with_names(profile: Profile, node: I64, events: Events, absent: Bool) -> tuple[Profile, I64]:
    """(*profile* with a node for each unmatched name, the node of each execution)."""
    rows = np.flatnonzero(node < 0)
    # Functions that the graph does not have are scopes, so that their nodes stay apart.
    slash = Strings.of([b"", b"/"]).take(absent[rows].astype(np.int64))
    function = events.function.take(rows).where(absent[rows])
    name = Strings.beside([function, slash, events.name.take(rows)])
    profile, added = _grown(profile, _own_names(profile, name), events.op.take(rows))
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
    free = device[node] < 0
    for accelerator in range(2):
        on_it = free & (trace.accelerator[trace.events.device] == accelerator)
        device[node[on_it]] = kind[trace.events.device[on_it]]
    return replace(profile, types=types, nodes=replace(profile.nodes, device=device))


def _typed(profile: Profile, pairs: list[tuple[int, bytes]]) -> Profile:
    if not pairs:
        return profile
    nodes, ops = zip(*pairs, strict=True)
    return with_extra_types(profile, np.array(nodes, np.int64), Strings.of(ops))


# --- steps ------------------------------------------------------------------------------------


def _steps(
    profile: Profile, trace: TraceColumns, runs: tuple[I64, I64, I64], memory_node: I64
) -> list[Step]:
    """The steps of the trace; *runs* are (row of the events, node, self time) of executions."""
    memory, (row, node, own_ps) = trace.memory, runs
    events = Events(*(taken(column, row) for column in trace.events))
    ran_nodes, index = unique_inverse(node)
    rank = profile.nodes.name.take(ran_nodes).rank()
    order = np.lexsort((events.start_ns, rank[index], events.step))
    us = np.zeros(node.size, np.int64)
    us[order] = _rounded(own_ps[order])
    by_time = np.lexsort((events.start_ns, events.step))
    begins = np.searchsorted(events.step[by_time], np.arange(trace.step_number.size + 1))
    by_end = np.lexsort((memory.end_ns, memory.step))
    held = np.searchsorted(memory.step[by_end], np.arange(trace.step_number.size + 1))
    counts_as = np.where(trace.accelerator > 0, ACCELERATOR, CPU)
    none = np.empty(0, np.int64)

    def step(row: int, number: int) -> Step:
        ran = by_time[begins[row] : begins[row + 1]]
        allocated = by_end[held[row] : held[row + 1]]
        zeros = np.zeros(allocated.size, np.int64)
        return Step(
            number=number,
            node=node[ran],
            device=events.device[ran],
            devices=trace.devices,
            start_us=np.maximum(events.start_ns[ran] // 1000, 1),
            us=us[ran],
            counts_as=counts_as[events.device[ran]],
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


def _rounded(own_ps: I64) -> I64:
    """Microseconds, rounded so that every prefix sum is right to one."""
    if float(own_ps.sum(dtype=np.float64)) > _LARGEST_SUM:
        return own_ps // _PS_IN_US
    return np.diff(np.cumsum(own_ps) // _PS_IN_US, prepend=0)


def fold_aliases(events: Events, node: I64, own_name: Bool) -> tuple[I64, I64]:
    """(the rows that are runs, their self times); *own_name*: events under the node's own name."""
    # Each device has its own runs.
    steps, devices = (int(column.max(initial=0)) + 1 for column in (events.step, events.device))
    _, group = unique_inverse((node * steps + events.step) * devices + events.device)
    is_run = _runs(group, events.label, own_name)
    order = np.lexsort((~is_run, events.start_ns, group))
    index = np.arange(order.size)
    first = np.searchsorted(group[order], group[order])
    # The last run before each event, or the first of its group.
    last = np.maximum.accumulate(np.where(is_run[order], index, -1))
    at_runs = np.flatnonzero(is_run[order])
    ahead = at_runs[np.searchsorted(at_runs, first)] if at_runs.size else first
    target = order[np.where(last >= first, last, ahead)]
    self_ps = sum_by(target, events.own_ps[order], order.size)
    rows = np.flatnonzero(is_run)
    return rows, self_ps[rows]


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
