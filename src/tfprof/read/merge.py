"""Profile + columns of a file → Profile.

    with_graph    nodes of a new name; the first of a name wins
    with_run      times and memory of one step; nodes that only the run knows
    with_op_log   types, float operations and call stacks for nodes that are there

Each is a pure function; rows already in a Profile keep their numbers.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.model import ACCELERATOR, CPU, UNTIMED, Edges, Note, Outputs, Stacks, Step
from tfprof.shapes import Shapes
from tfprof.strings import I64, Bool, Strings

if TYPE_CHECKING:
    from tfprof.model import Profile
    from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns

_CANONICAL = re.compile(rb".*/(device:gpu|gpu|device:cpu|cpu):\d+")
# Stats under these names belong to the runtime, not to the model.
_RUNTIME_NAMES = (b"RecvTensor", b"_SOURCE")


def with_graph(profile: Profile, graph: GraphColumns) -> Profile:
    """*profile* with the nodes of *graph* whose names it does not have."""
    _, first = graph.name.intern()
    new = first[profile.nodes.name.find(graph.name.take(first)) < 0]
    row = np.full(len(graph.name), -1, np.int64)
    row[new] = np.arange(new.size)
    types, op = _with_types(profile.types, graph.op.take(new))
    shaped = row[graph.shape_node]
    listed = row[graph.output_node]
    grown = _with_nodes(
        replace(profile, types=types),
        graph.name.take(new),
        op,
        _shapes_of(new.size, graph.shape, shaped),
    )
    old = profile.outputs
    outputs = Outputs(
        np.concatenate([old.start, old.start[-1] + _ends(listed[listed >= 0], new.size)]),
        _joined(old.shape, graph.output_shape.take(np.flatnonzero(listed >= 0))),
    )
    taken = np.flatnonzero(row[graph.input_node] >= 0)
    names = graph.input_name.take(taken).before(b":").without_first(b"^")
    return _with_edges(
        replace(grown, outputs=outputs), profile, _ends(row[graph.input_node[taken]], new.size), names
    )


def with_run(profile: Profile, number: int, run: RunColumns) -> Profile:
    """*profile* with the stats of one run, added to step *number*."""
    devices = _devices(run.device)
    name = run.name.before(b":")
    node, profile = _find_or_add(profile, name)
    known = np.flatnonzero(node >= 0)
    node, device = node[known], devices.row[run.stat_device[known]]
    profile = _placed(profile, node, device, devices)
    type_of_device = profile.types.find(devices.name)
    placed = profile.nodes.device[node]
    on_own_device = (placed >= 0) & (placed == type_of_device[device])
    # parity Q51: what another canonical device says of a placed node is left out altogether.
    counted = on_own_device | ~devices.canonical[device]
    own = np.flatnonzero(on_own_device)
    timed = run.start_us[known[own]] > 0
    notes = _memory_notes(run, known[own], timed)
    step = _step(number, run, devices, node, device, known, counted, own[timed])
    others = [one for one in profile.steps if one.number != number]
    for one in profile.steps:
        if one.number == number:
            step = _joined_steps(one, step)
    return replace(
        profile,
        steps=tuple(sorted((*others, step), key=lambda s: s.number)),
        misses_accelerator_stream=profile.misses_accelerator_stream
        or (devices.any_gpu and not devices.any_stream),
        notes=(*profile.notes, *notes),
    )


def with_op_log(profile: Profile, log: OpLogColumns) -> Profile:
    """*profile* with what the log says of its nodes; entries of other names are left out."""
    node = profile.nodes.name.find(log.name)
    entry = np.flatnonzero(node >= 0)
    typed = np.flatnonzero(node[log.type_entry] >= 0)
    types, typed_as = _with_types(profile.types, log.type.take(typed))
    float_ops = profile.nodes.float_ops.copy()
    given = entry[log.float_ops[entry] != 0]
    float_ops[node[given]] = log.float_ops[given]
    traced = entry[log.stack[entry] >= 0]
    stack = np.full(len(profile), -1, np.int64)
    stack[node[traced[::-1]]] = log.stack[traced[::-1]] + profile.stacks.start.size - 1
    stack = np.where(profile.nodes.stack >= 0, profile.nodes.stack, stack)
    return replace(
        profile,
        types=types,
        typed_node=np.concatenate([profile.typed_node, node[log.type_entry[typed]]]),
        typed_as=np.concatenate([profile.typed_as, typed_as]),
        nodes=replace(profile.nodes, float_ops=float_ops, stack=stack),
        stacks=_with_stacks(profile.stacks, log),
        has_traces=profile.has_traces or bool(traced.size),
        _kept={},
    )


# --- nodes, types and edges -------------------------------------------------------------------


def _with_types(types: Strings, wanted: Strings) -> tuple[Strings, I64]:
    """(types with every string of *wanted*, the row of each)."""
    ids, first = wanted.intern()
    distinct = wanted.take(first)
    new = distinct.take(types.find(distinct) < 0)
    grown = Strings.concat([types, new]) if len(new) else types
    return grown, grown.find(distinct)[ids]


def _with_nodes(profile: Profile, name: Strings, op: I64, shape: Shapes) -> Profile:
    """*profile* with more nodes at the end, without inputs or outputs yet."""
    nodes, count = profile.nodes, len(name)
    none = np.full(count, -1, np.int64)
    return replace(
        profile,
        nodes=replace(
            nodes,
            name=Strings.concat([nodes.name, name]),
            op=np.concatenate([nodes.op, op]),
            device=np.concatenate([nodes.device, none]),
            float_ops=np.concatenate([nodes.float_ops, np.zeros(count, np.int64)]),
            stack=np.concatenate([nodes.stack, none]),
            shape=_joined(nodes.shape, shape),
        ),
        covered=np.concatenate([profile.covered, np.zeros(count, np.bool_)]),
        _kept={},
    )


def _with_edges(grown: Profile, before: Profile, ends: I64, names: Strings) -> Profile:
    """*grown* with the inputs of its new nodes, and the old unknown names tried again."""
    old = before.edges
    unknown = Strings.concat([old.unknown, names])
    ids, first = unknown.intern()
    distinct = unknown.take(first)
    found = grown.nodes.name.find(distinct)
    still = np.flatnonzero(found < 0)
    found[still] = -1 - np.arange(still.size)
    resolved = found[ids]
    waiting = old.source < 0
    source = old.source.copy()
    source[waiting] = resolved[-1 - old.source[waiting]]
    edges = Edges(
        np.concatenate([old.start, old.start[-1] + ends]),
        np.concatenate([source, resolved[len(old.unknown) :]]),
        distinct.take(still).compact(),
    )
    return replace(grown, edges=edges)


def _ends(owner: I64, count: int) -> I64:
    """Where the items of each of *count* owners end, for items in order of their owner."""
    return np.cumsum(np.bincount(owner, minlength=count)).astype(np.int64)


def _shapes_of(count: int, shapes: Shapes, owner: I64) -> Shapes:
    """The shape of each of *count* owners; those of owner -1 are left out."""
    at = np.full(count, -1, np.int64)
    kept = np.flatnonzero(owner >= 0)
    at[owner[kept]] = kept
    return shapes.take(at)


def _joined(one: Shapes, other: Shapes) -> Shapes:
    return Shapes(
        np.concatenate([one.start, one.start[-1] + other.start[1:]]),
        np.concatenate([one.dim, other.dim]),
    )


def _with_stacks(stacks: Stacks, log: OpLogColumns) -> Stacks:
    known = np.isin(log.string_id, stacks.text_id)
    _, first = np.unique(log.string_id, return_index=True)
    new = np.sort(first[~known[first]])
    return Stacks(
        np.concatenate([stacks.start, stacks.start[-1] + log.stack_start[1:]]),
        np.concatenate([stacks.file, log.frame_file]),
        np.concatenate([stacks.line, log.frame_line]),
        np.concatenate([stacks.function, log.frame_function]),
        np.concatenate([stacks.function_line, log.frame_function_line]),
        np.concatenate([stacks.source, log.frame_source]),
        np.concatenate([stacks.text_id, log.string_id[new]]),
        Strings.concat([stacks.text, log.string.take(new)]),
    )


# --- runs -------------------------------------------------------------------------------------


class _Devices(NamedTuple):
    """The distinct devices of a run in lower case, and what their names tell."""

    name: Strings
    row: I64  # of each device as listed in the file
    canonical: Bool  # a plain cpu or gpu, which can be a node's own device
    stream: Bool  # an accelerator's collected stream

    any_gpu: bool
    any_stream: bool


def _devices(listed: Strings) -> _Devices:
    lower = Strings.of(name.lower() for name in listed)
    row, first = lower.intern()
    names = list(lower.take(first))
    return _Devices(
        Strings.of(names),
        row,
        np.array([_CANONICAL.fullmatch(name) is not None for name in names], np.bool_),
        np.array([b"stream:all" in name for name in names], np.bool_),
        any(b"gpu" in name for name in names),
        any(b"gpu" in name and b"stream:all" in name for name in names),
    )


def _find_or_add(profile: Profile, name: Strings) -> tuple[I64, Profile]:
    """(node of each name or -1, profile): names the graph does not know become nodes.

    Such a node's op is its name. It counts as covered only from its second stat on.
    """
    node = profile.nodes.name.find(name)
    covered = profile.covered.copy()
    covered[node[node >= 0]] = True
    missing = np.flatnonzero(node < 0)
    unknown = name.take(missing)
    ids, first = unknown.intern()
    model = np.array(
        [n not in _RUNTIME_NAMES and b"MEMCPY" not in n for n in unknown.take(first)], np.bool_
    )
    added = unknown.take(first[model])
    row = np.full(first.size, -1, np.int64)
    row[model] = len(profile) + np.arange(len(added))
    node[missing] = row[ids]
    again = np.bincount(ids, minlength=first.size)[model] > 1
    profile = replace(profile, covered=covered)
    if not len(added):
        return node, profile
    types, op = _with_types(profile.types, added)
    grown = _with_nodes(replace(profile, types=types), added, op, Shapes.none(len(added)))
    grown.covered[len(profile) :] = again
    no_inputs = np.zeros(len(added), np.int64)
    old = profile.outputs
    grown = replace(
        grown, outputs=Outputs(np.concatenate([old.start, old.start[-1] + no_inputs]), old.shape)
    )
    return node, _with_edges(grown, profile, no_inputs, Strings.of([]))


def _placed(profile: Profile, node: I64, device: I64, devices: _Devices) -> Profile:
    """*profile* with the first canonical device of each node that had none."""
    fresh = np.flatnonzero(devices.canonical[device] & (profile.nodes.device[node] < 0))
    nodes, first = np.unique(node[fresh], return_index=True)
    chosen = device[fresh[first]]
    types, kind = _with_types(profile.types, devices.name.take(chosen))
    placed = profile.nodes.device.copy()
    placed[nodes] = kind
    return replace(
        profile, types=types, nodes=replace(profile.nodes, device=placed), _kept={}
    )


def _memory_notes(run: RunColumns, stat: I64, timed: Bool) -> list[Note]:
    odd = np.flatnonzero(~timed | (run.gpu_allocators[stat] > 1))
    names = run.name.take(stat[odd]).texts()
    gpus = run.gpu_allocators[stat[odd]].tolist()
    return [
        Note(f"found {gpu} gpu allocator for 1 node" if ok else f"{name} has no start time, skipping")
        for name, gpu, ok in zip(names, gpus, timed[odd].tolist(), strict=True)
    ]


def _step(
    number: int,
    run: RunColumns,
    devices: _Devices,
    node: I64,
    device: I64,
    stat: I64,
    counted: Bool,
    memory: I64,
) -> Step:
    """The step's rows: *stat* are the rows of *run* that *node* and *device* belong to."""
    rows = stat[counted]
    start = run.start_us[rows]
    kept_device = device[counted]
    counts_as = np.where(devices.canonical[kept_device], CPU, UNTIMED)
    counts_as[devices.stream[kept_device]] = ACCELERATOR
    counts_as[start <= 0] = UNTIMED
    end = run.end_rel_us[rows]
    held = stat[memory]
    persistent, temp = run.persistent_bytes[held], run.temp_bytes[held]
    return Step(
        number=number,
        node=node[counted],
        device=kept_device,
        devices=devices.name,
        start_us=start,
        us=np.where(end == 0, 1, end),  # parity Q35: no time at all counts as a microsecond
        counts_as=counts_as,
        memory_node=node[memory],
        requested=run.total_bytes[held] + persistent + temp,
        peak=run.peak_bytes[held] + persistent + temp,
        residual=run.live_bytes[held] + persistent,
        output=run.output_bytes[held],
    )


def _joined_steps(one: Step, other: Step) -> Step:
    """Two runs given the same number: one step that did both."""
    devices, row = _with_types(one.devices, other.devices)
    other = replace(other, device=row[other.device])
    columns = {
        column.name: np.concatenate([getattr(one, column.name), getattr(other, column.name)])
        for column in fields(Step)
        if column.name not in {"number", "devices"}
    }
    return Step(number=one.number, devices=devices, **columns)
