"""Reads the step stats of a RunMetadata in wire format into columns.

RunMetadata ─step_stats─► StepStats ─► DeviceStepStats* ─┬─ device
                                                         └─ NodeExecStats*  one row each
NodeExecStats ─┬─ name, start, end
               ├─ memory*        an allocator: total, peak, live, in use
               ├─ output*        ─► tensor ─► allocation: requested, allocated
               └─ memory_stats   temporary and persistent bytes
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.columns.strings import I64, U8, Strings
from tfprof.read.columns import RunColumns
from tfprof.wire.decode import BYTES, VARINT, Field, scan, whole


def columns(buffer: U8) -> RunColumns | None:
    """The step stats of a RunMetadata, or None if it has none; raises WireError."""
    step_stats = scan(buffer, *whole(buffer), {1: BYTES})[1]
    if not step_stats.start.size:
        return None
    device = scan(buffer, step_stats.start, step_stats.end, {1: BYTES})[1]
    field = scan(buffer, device.start, device.end, {1: BYTES, 2: BYTES})
    stat = field[2]
    count = stat.start.size
    part = scan(
        buffer,
        stat.start,
        stat.end,
        {1: BYTES, 2: VARINT, 4: VARINT, 6: BYTES, 7: BYTES, 12: BYTES},
    )
    allocators = _allocators(buffer, part[6], count)
    outputs = _outputs(buffer, part[7])
    own = scan(buffer, part[12].start, part[12].end, {1: VARINT, 3: VARINT})
    return RunColumns(
        device=Strings(buffer, *field[1].last_slice(device.start.size)),
        stat_device=stat.message,
        name=Strings(buffer, *part[1].last_slice(count)),
        start_us=part[2].last(count),
        end_rel_us=part[4].last(count),
        total_bytes=allocators.total,
        peak_bytes=allocators.peak,
        live_bytes=allocators.live,
        gpu_allocators=allocators.gpu,
        bytes_in_use=allocators.in_use,
        temp_bytes=_through(part[12], own[1], count),
        persistent_bytes=_through(part[12], own[3], count),
        allocation_stat=allocators.record_stat,
        allocation_us=allocators.record_us,
        allocation_bytes=allocators.record_bytes,
        output_stat=outputs.stat,
        output_slot=outputs.slot,
        output_bytes=outputs.size,
        output_pointer=outputs.pointer,
    )


class _Allocators(NamedTuple):
    """The sums over the allocators of each stat, and the allocation records of GPU allocators."""

    total: I64
    peak: I64
    live: I64
    gpu: I64
    in_use: I64
    record_stat: I64
    record_us: I64
    record_bytes: I64


def _allocators(buffer: U8, memory: Field, count: int) -> _Allocators:
    rows = memory.start.size
    wanted = {1: BYTES, 2: VARINT, 3: VARINT, 4: VARINT, 5: VARINT, 6: BYTES}
    part = scan(buffer, memory.start, memory.end, wanted)
    names = Strings(buffer, *part[1].last_slice(rows))
    ids, first = names.intern()
    gpu = np.array([b"GPU" in name for name in names.take(first)], np.bool_)[ids]
    in_use = np.zeros(count, np.int64)
    np.maximum.at(in_use, memory.message[gpu], part[5].last(rows)[gpu])
    on_gpu = np.flatnonzero(gpu[part[6].message])
    record = scan(buffer, part[6].start[on_gpu], part[6].end[on_gpu], {1: VARINT, 2: VARINT})
    return _Allocators(
        _sum(memory.message, part[2].last(rows), count),
        _sum(memory.message, part[3].last(rows), count),
        _sum(memory.message, part[4].last(rows), count),
        _sum(memory.message, gpu.astype(np.int64), count),
        in_use,
        memory.message[part[6].message[on_gpu]],
        record[1].last(on_gpu.size),
        record[2].last(on_gpu.size),
    )


class _Outputs(NamedTuple):
    """The allocated outputs."""

    stat: I64
    slot: I64
    size: I64
    pointer: I64


def _outputs(buffer: U8, output: Field) -> _Outputs:
    """The outputs; the size is the larger of requested and allocated bytes."""
    part = scan(buffer, output.start, output.end, {1: VARINT, 3: BYTES})
    tensor = part[3]
    allocation = scan(buffer, tensor.start, tensor.end, {4: BYTES})[4]
    wanted = {1: VARINT, 2: VARINT, 6: VARINT}
    size = scan(buffer, allocation.start, allocation.end, wanted)
    rows = allocation.start.size
    row = tensor.message[allocation.message]
    return _Outputs(
        output.message[row],
        part[1].last(output.start.size).astype(np.int32).astype(np.int64)[row],
        np.maximum(size[1].last(rows), size[2].last(rows)),
        size[6].last(rows),
    )


def _through(outer: Field, inner: Field, count: int) -> I64:
    """The last value of a field one message deeper, by the outermost message."""
    column = np.zeros(count, np.int64)
    column[outer.message[inner.message]] = inner.value
    return column


def _sum(owner: I64, value: I64, count: int) -> I64:
    column = np.zeros(count, np.int64)
    np.add.at(column, owner, value)
    return column
