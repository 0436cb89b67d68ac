"""Reads the step stats of a RunMetadata in wire format into columns.

RunMetadata ─step_stats─► StepStats ─► DeviceStepStats* ─┬─ device
                                                         └─ NodeExecStats*  one row each
NodeExecStats ─┬─ name, start, end
               ├─ memory*        an allocator: total, peak, live, in use
               ├─ output*        ─► tensor ─► allocation: requested, allocated
               └─ memory_stats   temporary and persistent bytes

For graphs with functions, `details` also reads these: nodes run under names not in the graph.

    timeline_label        "[cpu 1KB 1KB] loop/body/_1/mm = MatMul(x, y)"          the real operation
    partition_graphs      node "loop/body/_1/mm" ─► original "mm" in "loop_body_3"  the real name
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from tfprof.columns.strings import I64, U8, Strings
from tfprof.columns.unique import sum_by
from tfprof.read.columns import RunColumns, RunDetails
from tfprof.read.in_chunks import in_chunks
from tfprof.wire.decode import BYTES, VARINT, Field, scan, whole

_OPERATION: Final = re.compile(rb" = (\w+)\(")


def columns(buffer: U8) -> RunColumns | None:
    """The step stats of a RunMetadata, or None if it has none; raises WireError."""
    step_stats = scan(buffer, *whole(buffer), {1: BYTES})[1]
    if not step_stats.start.size:
        return None
    device = scan(buffer, step_stats.start, step_stats.end, {1: BYTES})[1]
    field = scan(buffer, device.start, device.end, {1: BYTES, 2: BYTES})
    owners = ("allocation_stat", "output_stat", "output")
    return RunColumns(
        device=Strings(buffer, *field[1].last_slice(device.start.size)),
        stat_device=field[2].message,
        **in_chunks(buffer, field[2], _stat_columns, owners, free=True),
    )


def _stat_columns(buffer: U8, stat: Field) -> dict[str, Any]:
    count = stat.start.size
    wanted = {1: BYTES, 2: VARINT, 4: VARINT, 6: BYTES, 7: BYTES, 12: BYTES}
    part = scan(buffer, stat.start, stat.end, wanted)
    own = scan(buffer, part[12].start, part[12].end, {1: VARINT, 3: VARINT})
    return {
        "name": Strings(buffer, *part[1].last_slice(count)),
        "start_us": part[2].last(count),
        "end_rel_us": part[4].last(count),
        "temp_bytes": _through(part[12], own[1], count),
        "persistent_bytes": _through(part[12], own[3], count),
        **_allocators(buffer, part[6], count),
        **_outputs(buffer, part[7]),
        "output": part[7],
    }


def _allocators(buffer: U8, memory: Field, count: int) -> dict[str, Any]:
    """The sums over the allocators of each stat, and the allocation records of GPU allocators."""
    rows = memory.start.size
    wanted = {1: BYTES, 2: VARINT, 3: VARINT, 4: VARINT, 5: VARINT, 6: BYTES}
    part = scan(buffer, memory.start, memory.end, wanted)
    gpu = Strings(buffer, *part[1].last_slice(rows)).which(lambda name: b"GPU" in name)
    in_use = np.zeros(count, np.int64)
    np.maximum.at(in_use, memory.message[gpu], part[5].last(rows)[gpu])
    on_gpu = np.flatnonzero(gpu[part[6].message])
    record = scan(buffer, part[6].start[on_gpu], part[6].end[on_gpu], {1: VARINT, 2: VARINT})
    return {
        "total_bytes": sum_by(memory.message, part[2].last(rows), count),
        "peak_bytes": sum_by(memory.message, part[3].last(rows), count),
        "live_bytes": sum_by(memory.message, part[4].last(rows), count),
        "gpu_allocators": sum_by(memory.message, gpu.astype(np.int64), count),
        "bytes_in_use": in_use,
        "allocation_stat": memory.message[part[6].message[on_gpu]],
        "allocation_us": record[1].last(on_gpu.size),
        "allocation_bytes": record[2].last(on_gpu.size),
    }


def _outputs(buffer: U8, output: Field) -> dict[str, Any]:
    """The allocated outputs; the size is the larger of requested and allocated bytes."""
    part = scan(buffer, output.start, output.end, {1: VARINT, 3: BYTES})
    tensor = part[3]
    allocation = scan(buffer, tensor.start, tensor.end, {4: BYTES})[4]
    wanted = {1: VARINT, 2: VARINT, 6: VARINT}
    size = scan(buffer, allocation.start, allocation.end, wanted)
    rows = allocation.start.size
    row = tensor.message[allocation.message]
    return {
        "output_stat": output.message[row],
        "output_slot": part[1].last(output.start.size).astype(np.int32).astype(np.int64)[row],
        "output_bytes": np.maximum(size[1].last(rows), size[2].last(rows)),
        "output_pointer": size[6].last(rows),
    }


def _through(outer: Field, inner: Field, count: int) -> I64:
    """The last value of a field one message deeper, by the outermost message."""
    column = np.zeros(count, np.int64)
    column[outer.message[inner.message]] = inner.value
    return column


def outputs(buffer: U8) -> tuple[Strings, Field]:
    """(name of each stat, the NodeOutput messages of the stats) of a RunMetadata."""
    stat = stats(buffer)
    part = scan(buffer, stat.start, stat.end, {1: BYTES, 7: BYTES})
    return Strings(buffer, *part[1].last_slice(stat.start.size)), part[7]


def stats(buffer: U8) -> Field:
    """The NodeExecStats of all devices of a RunMetadata; raises WireError."""
    step_stats = scan(buffer, *whole(buffer), {1: BYTES})[1]
    device = scan(buffer, step_stats.start, step_stats.end, {1: BYTES})[1]
    return scan(buffer, device.start, device.end, {2: BYTES})[2]


def details(buffer: U8) -> RunDetails:
    """The details of the RunMetadata in *buffer*; raises WireError."""
    stat, graph = stats(buffer), scan(buffer, *whole(buffer), {3: BYTES})[3]
    label = scan(buffer, stat.start, stat.end, {8: BYTES})[8]
    labels = Strings(buffer, *label.last_slice(stat.start.size))
    node = scan(buffer, graph.start, graph.end, {1: BYTES})[1]
    field = scan(buffer, node.start, node.end, {1: BYTES, 6: BYTES})
    name = Strings(buffer, *field[1].last_slice(node.start.size))
    origin = scan(buffer, field[6].start, field[6].end, {1: BYTES, 2: BYTES})
    count = field[6].start.size
    original, function = (Strings(buffer, *origin[number].last_slice(count)) for number in (1, 2))
    triples = zip(name.take(field[6].message), original, function, strict=True)
    return RunDetails(
        Strings.of(match[1] if match else b"" for match in map(_OPERATION.search, labels)),
        {new: (old, inside) for new, old, inside in triples if old},
    )
