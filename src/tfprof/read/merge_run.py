"""Profile + columns of a run → Profile: which nodes ran where, their time and memory.

A name that is not in the graph becomes a node. The first plain cpu or gpu with a stat of a node is
the node's own device. Time is counted on that device and on accelerator "stream:all" devices,
memory only on the own device.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from tfprof.columns import byte_words
from tfprof.columns.frozen import packed, share_columns
from tfprof.columns.strings import Strings
from tfprof.columns.unique import first_rows, sum_by
from tfprof.foundation.lazy_dataclasses import fields, replace
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.model import ACCELERATOR, CPU, UNTIMED, Note, Profile, Step, own_notes
from tfprof.read import input_notes
from tfprof.read.input_notes import outside_graph
from tfprof.read.merge import find_before, with_bare_nodes, with_types
from tfprof.tables.limits import limit

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.read.columns import RunColumns

CANONICAL = re.compile(rb".*/(device:gpu|gpu|device:cpu|cpu):\d+")
# Stats under these names belong to the runtime, not to the model.
_RUNTIME_NAMES = (b"RecvTensor", b"_SOURCE")
_COLON = b":"


class _Stats(NamedTuple):
    """The stats of a run that belong to a node, and which of them count."""

    row: I64  # of the run's columns
    node: I64
    device: I64  # of the run's distinct devices
    counted: Bool
    with_memory: I64  # those on the node's own device that have a start time


def with_run(profile: Profile, number: int, run: RunColumns) -> Profile:
    """*profile* with the stats of one run, added to step *number*."""
    devices = _devices(run.device)
    node, name = _find_nodes(profile.nodes.name, run.name)
    notes = [*own_notes(input_notes.of_run(profile, run, number, node))]
    if len(profile.regions):
        from tfprof.read.run_functions import with_functions  # noqa: PLC0415 - few graphs need it

        matched = with_functions(profile, run, node)
        node, run = matched.node, matched.run
        if matched.absent.size:
            name = outside_graph(name, matched.absent)
            notes += own_notes(input_notes.of_absent_functions(run, number, matched.absent))
    node, profile = _find_or_add(profile, node, name)
    row = np.flatnonzero(node >= 0)
    node, device = node[row], devices.row[run.stat_device[row]]
    profile, since = _placed(profile, node, device, devices)
    own_device = profile.nodes.device[node] == profile.types.find(devices.name)[device]
    # A nameless device is a node's own device until the node is placed on another one.
    nameless = (devices.name.length == 0)[device] & (np.arange(node.size) < since[node])
    on_own_device = nameless | (own_device & devices.canonical[device])
    own = np.flatnonzero(on_own_device)
    timed = run.start_us[row[own]] > 0
    notes += _memory_notes(run, row[own], timed)
    # parity Q51: stats of a placed node on another canonical device are ignored.
    counted = on_own_device | ~devices.canonical[device]
    step = _step(number, run, devices, _Stats(row, node, device, counted, own[timed]))
    others = [other for other in profile.steps if other.number != number]
    if others:
        share_columns(step, others[-1])
    for other in profile.steps:
        if other.number == number:
            step = _joined_steps(other, step)
    misses_stream = bool(devices.gpu.any() and not (devices.gpu & devices.stream).any())
    return replace(
        profile,
        steps=tuple(sorted((*others, step), key=lambda s: s.number)),
        misses_accelerator_stream=profile.misses_accelerator_stream or misses_stream,
        notes=(*profile.notes, *notes),
    )


# The rows of the names of the run before, by the names of nodes. Most runs list the same names.
_recent: WeakKeyDictionary[Strings, I64] = WeakKeyDictionary()


def _find_nodes(known: Strings, written: Strings) -> tuple[I64, Strings]:
    """find_before(known, written, b":"), where most rows are those of the run before."""
    row = _recent.get(known)
    if row is None or row.size != len(written):
        row, name = find_before(known, written, _COLON)
        if len(known) and not byte_words.count(known.blob, _COLON[0]):
            _recent[known] = row.astype(np.int32)
        return row, name
    row = row.astype(np.int64)
    length = known.length[row]
    fits = (row >= 0) & (written.length >= length)
    longer = np.flatnonzero(fits & (written.length > length))
    fits[longer] = written.blob[written.start[longer] + length[longer]] == _COLON[0]
    name = Strings(written.blob, written.start, np.where(fits, length, 0))
    fits &= name.same(np.arange(row.size), known, row)
    rest = np.flatnonzero(~fits)
    parts = written.take(rest).before(_COLON)
    name.length[rest], row[rest] = parts.length, known.find(parts)
    return row, name


class _Devices(NamedTuple):
    """The distinct devices of a run in lower case, and their kinds."""

    name: Strings
    row: I64  # of each device as listed in the file
    canonical: Bool  # a plain cpu or gpu, which can be a node's own device
    stream: Bool  # an accelerator's collected stream
    host: Bool  # a cpu, going by its name
    gpu: Bool


def _devices(listed: Strings) -> _Devices:
    lower = listed.mapped(bytes.lower)
    row, first = lower.intern()
    name = lower.take(first)

    def named(word: bytes) -> Bool:
        return name.which(lambda device: word in device)

    kinds = map(named, (b"stream:all", b"cpu", b"gpu"))
    return _Devices(name, row, name.which(CANONICAL.fullmatch), *kinds)


def _find_or_add(profile: Profile, node: I64, name: Strings) -> tuple[I64, Profile]:
    """(node of each name or -1, profile): names that are not in the graph become nodes."""
    # Such a node's op is its name. It counts as covered only from its second stat on. *node* is the
    # row of each known *name*, else -1.
    covered = profile.covered.copy()
    covered[node[node >= 0]] = True
    missing = np.flatnonzero(node < 0)
    unknown = name.take(missing)
    ids, first = unknown.intern()
    model = unknown.take(first).which(lambda n: n not in _RUNTIME_NAMES and b"MEMCPY" not in n)
    added = unknown.take(first[model])
    row = np.full(first.size, -1, np.int64)
    row[model] = len(profile) + np.arange(len(added))
    node[missing] = row[ids]
    again = np.bincount(ids, minlength=first.size)[model] > 1
    profile = replace(profile, covered=covered)
    if not len(added):
        return node, profile
    grown = with_bare_nodes(profile, added, added)
    return node, replace(grown, covered=np.concatenate([covered, again]))


def _placed(profile: Profile, node: I64, device: I64, devices: _Devices) -> tuple[Profile, I64]:
    """(*profile* with each unplaced node on its first canonical device, from which stat on)."""
    fresh = np.flatnonzero(devices.canonical[device] & (profile.nodes.device[node] < 0))
    nodes, first = first_rows(node[fresh])
    types, kind = with_types(profile.types, devices.name.take(device[fresh[first]]))
    placed = profile.nodes.device.copy()
    placed[nodes] = kind
    since = np.where(profile.nodes.device >= 0, 0, node.size)
    since[nodes] = fresh[first]
    grown = replace(profile, types=types, nodes=replace(profile.nodes, device=placed))
    return grown, since


def _memory_notes(run: RunColumns, stat: I64, timed: Bool) -> list[Note]:
    unusual = np.flatnonzero(~timed | (run.gpu_allocators[stat] > 1))
    shown = unusual[: limit("notes")]
    names = run.name.take(stat[shown]).texts()
    gpus = run.gpu_allocators[stat[shown]].tolist()
    notes = [
        Note(
            f"found {gpu} gpu allocator for 1 node" if ok else f"{name} has no start time, skipping"
        )
        for name, gpu, ok in zip(names, gpus, timed[shown].tolist(), strict=True)
    ]
    if shown.size < unusual.size:
        notes.append(Note(f"… {unusual.size:,} such stats in all (--limit_notes shows more)"))
    return notes


def _step(number: int, run: RunColumns, devices: _Devices, stats: _Stats) -> Step:
    """The step of these *stats*; each column is packed before the next one is computed."""
    held = stats.row[stats.with_memory]
    temp, persistent = run.temp_bytes[held], run.persistent_bytes[held]
    with_temp = persistent + temp
    memory_node = stats.node[stats.with_memory]
    return Step(
        number=number,
        devices=devices.name,
        **_times(run, devices, stats),
        memory_node=packed(memory_node),
        memory_us=packed(run.start_us[held] + run.end_rel_us[held]),
        requested=packed(run.total_bytes[held] + with_temp),
        peak=packed(run.peak_bytes[held] + with_temp),
        residual=packed(run.live_bytes[held] + persistent),
        in_use=packed(run.bytes_in_use[held]),
        on_host=devices.host[stats.device[stats.with_memory]],
        temporary=packed(temp),
        persistent=packed(persistent),
        **_memory(run, held, memory_node),
    )


def _times(run: RunColumns, devices: _Devices, stats: _Stats) -> dict[str, Any]:
    """The executions of a step."""
    rows, device = stats.row[stats.counted], stats.device[stats.counted]
    start, end = run.start_us[rows], run.end_rel_us[rows]
    counts_as = np.where(devices.canonical, CPU, UNTIMED)
    counts_as[devices.stream] = ACCELERATOR
    return {
        "node": packed(stats.node[stats.counted]),
        "device": packed(device),
        "start_us": packed(start),
        "us": packed(np.where(end == 0, 1, end)),  # parity Q35: 0 counts as one microsecond
        "counts_as": packed(np.where(start > 0, counts_as[device], UNTIMED)),
    }


def _memory(run: RunColumns, held: I64, memory_node: I64) -> dict[str, Any]:
    """The allocations and outputs of the stats *held*, which are those of *memory_node*."""
    memory_row = np.full(len(run.name), -1, np.int64)
    memory_row[held] = np.arange(held.size)
    allocated = np.flatnonzero(memory_row[run.allocation_stat] >= 0)
    output_row = memory_row[run.output_stat]
    put_out = np.flatnonzero(output_row >= 0)
    output_row, output_bytes = output_row[put_out], run.output_bytes[put_out]
    return {
        "output": packed(sum_by(output_row, output_bytes, held.size)),
        "allocation_node": packed(memory_node[memory_row[run.allocation_stat[allocated]]]),
        "allocation_us": packed(run.allocation_us[allocated]),
        "allocation_bytes": packed(run.allocation_bytes[allocated]),
        "output_row": packed(output_row),
        "output_slot": packed(run.output_slot[put_out]),
        "output_bytes": packed(output_bytes),
        "output_pointer": packed(run.output_pointer[put_out]),
    }


def _joined_steps(first: Step, second: Step) -> Step:
    devices, row = with_types(first.devices, second.devices)
    second = replace(
        second, device=row[second.device], output_row=second.output_row + first.memory_node.size
    )
    columns = {
        column.name: np.concatenate([getattr(first, column.name), getattr(second, column.name)])
        for column in fields(Step)
        if column.name not in {"number", "devices"}
    }
    return Step(number=first.number, devices=devices, **columns)
