"""Reads the steps of a saved profile: stored by node in the file, returned by step.

ProfileNode ─execs*─► step, ExecProfile ─┬─ accelerator_execs*, cpu_execs*   device → times
                         a record        ├─ devices*        all that have a stat of the node
                                         ├─ all_start_micros, latest_end_micros
                                         ├─ memory_execs* ─► output_memory*
                                         └─ allocations*
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, U8, Strings
from tfprof.errors import InputError
from tfprof.model import ACCELERATOR, ACCELERATOR_RUN, CPU, UNTIMED, Step
from tfprof.tables.limits import beyond, limit
from tfprof.wire import maps
from tfprof.wire.decode import BYTES, VARINT, Field, WireError, scan

if TYPE_CHECKING:
    from tfprof.wire.maps import Messages

_RUNS, _ALL_START, _LATEST_END, _DEVICES, _MEMORY, _ALLOCATIONS = 1, 2, 3, 6, 7, 11
_PAIR = 2
_CONVERTED = ("record", "device")  # the columns of executions that a Step does not take as they are
_TIMES = {4: ACCELERATOR, 5: CPU}
_RECORD = {
    **dict.fromkeys((_RUNS, _ALL_START, _LATEST_END), VARINT),
    **dict.fromkeys((*_TIMES, _DEVICES, _MEMORY, _ALLOCATIONS), BYTES),
}


def steps(buffer: U8, listed: I64, records: Messages, name: str) -> tuple[Step, ...]:
    """The steps that are listed or have records; raises InputError if there are too many."""
    numbers = np.unique(np.append(listed, records.key)).tolist()
    if len(numbers) > limit("steps"):
        raise InputError(f"{name} has {len(numbers):,} steps; tfprof accepts {beyond('steps')}")
    order = np.lexsort((records.owner, records.key))
    node, key = records.owner[order], records.key[order]
    field = scan(buffer, records.start[order], records.end[order], _RECORD)
    devices, ran = _executions(buffer, field, node.size)
    held, output_row, outputs = _memory(buffer, field[_MEMORY])
    allocation = field[_ALLOCATIONS]
    allocated = scan(buffer, allocation.start, allocation.end, {1: VARINT, 2: VARINT})
    allocation_us, allocation_bytes = (allocated[n].last(allocation.start.size) for n in (1, 2))

    def step(number: int) -> Step:
        first, last = np.searchsorted(key, number, "left"), np.searchsorted(key, number, "right")

        def within(record: I64) -> slice:
            return slice(*np.searchsorted(record, [first, last]).tolist())

        runs, memories = within(ran.record), within(field[_MEMORY].message)
        out = slice(*np.searchsorted(output_row, [memories.start, memories.stop]).tolist())
        allocations = within(allocation.message)
        used, device = np.unique(ran.device[runs], return_inverse=True)
        return Step(
            number=number,
            node=node[ran.record[runs]],
            device=device,
            devices=devices.take(used),
            **{n: column[runs] for n, column in ran._asdict().items() if n not in _CONVERTED},
            memory_node=node[field[_MEMORY].message[memories]],
            **{n: column[memories] for n, column in held.items()},
            allocation_node=node[allocation.message[allocations]],
            allocation_us=allocation_us[allocations],
            allocation_bytes=allocation_bytes[allocations],
            output_row=output_row[out] - memories.start,
            **{n: column[out] for n, column in outputs.items()},
        )

    return tuple(map(step, numbers))


class _Executions(NamedTuple):
    """The executions of all records, in order; the columns have the names of a Step's."""

    record: I64
    device: I64
    start_us: I64
    us: I64
    counts_as: I64


def _executions(buffer: U8, field: dict[int, Field], count: int) -> tuple[Strings, _Executions]:
    """(devices, executions) of *count* records."""
    # A device that is listed without an execution gets an untimed row.
    timed = [_timed(buffer, field[number]) for number in _TIMES]
    listed = field[_DEVICES]
    has_device = np.zeros(count, np.bool_)
    for records in (listed.message, *(times.record for times in timed)):
        has_device[records] = True
    # Every record that the original writes lists a device; give one without any a nameless device.
    bare = np.flatnonzero(~has_device)
    names = Strings(
        buffer,
        np.concatenate([*(times.device_start for times in timed), listed.start, bare * 0]),
        np.concatenate([*(times.device_length for times in timed), listed.value, bare * 0]),
    )
    ids, first = names.intern()
    record = np.concatenate([times.record for times in timed])
    ran = _Executions(
        record,
        ids[: record.size],
        np.concatenate([times.start_us for times in timed]),
        np.concatenate([times.us for times in timed]),
        np.repeat([*_TIMES.values()], [times.record.size for times in timed]),
    )
    # What ran, though on no host, ran on its accelerator.
    only_there = field[_RUNS].last(count) > 0
    only_there[ran.record[ran.counts_as == CPU]] = False
    ran.counts_as[(ran.counts_as == ACCELERATOR) & only_there[ran.record]] = ACCELERATOR_RUN
    pair = np.append(listed.message, bare) * first.size + ids[record.size :]
    pair = np.setdiff1d(pair, record * first.size + ran.device)
    start, end = (field[number].last(count) for number in (_ALL_START, _LATEST_END))
    untimed = _untimed(pair // max(first.size, 1), pair % max(first.size, 1), ran, start, end)
    every = _Executions(*map(np.append, ran, untimed))
    order = np.argsort(every.record, kind="stable")
    return names.take(first).compact(), _Executions(*(column[order] for column in every))


def _untimed(record: I64, device: I64, ran: _Executions, start: I64, end: I64) -> _Executions:
    """The untimed rows of devices."""
    # They may begin before or end after the timed ones; only the record's *start* and *end* show
    # it. Then the record's first untimed row, or an additional one, covers that span.
    known_start = np.full(start.size, np.iinfo(np.int64).max)
    known_end = np.zeros(start.size, np.int64)
    timed = np.flatnonzero(ran.start_us > 0)
    np.minimum.at(known_start, ran.record[timed], ran.start_us[timed])
    np.maximum.at(known_end, ran.record[timed], ran.start_us[timed] + ran.us[timed])
    wider = (start > 0) & ((start != known_start) | (end != known_end))
    without = np.setdiff1d(np.flatnonzero(wider), record)
    one_of = np.zeros(start.size, np.int64)
    one_of[ran.record] = ran.device
    record, device = np.append(record, without), np.append(device, one_of[without])
    spanned, first = np.unique(record, return_index=True)
    first = first[wider[spanned]]
    start_us, us = np.zeros(record.size, np.int64), np.zeros(record.size, np.int64)
    start_us[first] = start[record[first]]
    us[first] = (end - start)[record[first]]
    return _Executions(record, device, start_us, us, np.full(record.size, UNTIMED))


class _Times(NamedTuple):
    """Executions with a start and a duration, and the slices of their device names."""

    record: I64
    device_start: I64
    device_length: I64
    start_us: I64
    us: I64


def _timed(buffer: U8, entry: Field) -> _Times:
    """The executions in a map from devices to times; raises WireError if a time is not a pair."""
    count = entry.start.size
    part = scan(buffer, entry.start, entry.end, {1: BYTES, 2: BYTES})
    name = Strings(buffer, *part[1].last_slice(count))
    start, length = part[2].last_slice(count)
    rows = maps.last_of(entry.message, name.intern()[0])
    pair = scan(buffer, start[rows], (start + length)[rows], {1: BYTES})[1]
    owner, value = maps.repeated(buffer, pair.start, pair.end, 1)
    first = np.searchsorted(owner, np.arange(pair.start.size + 1))
    short = np.flatnonzero(np.diff(first) < _PAIR)
    if short.size:
        raise WireError(int(pair.start[short[0]]), "an execution without start and duration")
    rows, at = rows[pair.message], first[:-1]
    device = name.start[rows], name.length[rows]
    return _Times(entry.message[rows], *device, value[at], value[at + 1])


def _memory(buffer: U8, entry: Field) -> tuple[dict[str, Any], I64, dict[str, Any]]:
    """(columns of a Step about memory, the memory row of each output, columns about outputs)."""
    count = entry.start.size
    part = scan(buffer, entry.start, entry.end, {**dict.fromkeys(range(1, 11), VARINT), 11: BYTES})
    number = {n: part[n].last(count) for n in range(1, 11)}
    # A node's memory is on its own device. If a file has both, the accelerator's counts.
    on_host = (number[4] == 0) & (number[5] == 0)
    held = {
        "memory_us": number[1],
        "requested": number[6],
        "peak": number[7],
        "residual": number[8],
        "output": number[9],
        "in_use": number[10],
        "on_host": on_host,
        "temporary": np.where(on_host, number[2], number[4]),
        "persistent": np.where(on_host, number[3], number[5]),
    }
    output = maps.messages(buffer, part[11])
    part = scan(buffer, output.start, output.end, {1: VARINT, 2: VARINT})
    size, pointer = (part[n].last(output.key.size) for n in (1, 2))
    slots = {"output_slot": output.key, "output_bytes": size, "output_pointer": pointer}
    return held, output.owner, slots
