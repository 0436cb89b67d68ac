"""Reads an OpLogProto in wire format into columns.

    OpLogProto ─┬─ log_entries* ─► name, float_ops, types*, code_def ─► traces*
                └─ id_to_string*     the strings that the traces refer to by id

Many nodes share a call stack, so stacks are compared by their bytes and decoded once each.
"""

from __future__ import annotations

import numpy as np

from tfprof.columns.strings import I64, U8, Strings
from tfprof.read.columns import OpLogColumns
from tfprof.wire import maps
from tfprof.wire.decode import BYTES, VARINT, scan, whole


def columns(buffer: U8) -> OpLogColumns:
    """The entries of an op log; raises WireError."""
    top = scan(buffer, *whole(buffer), {1: BYTES, 2: BYTES})
    entry = top[1]
    count = entry.start.size
    field = scan(buffer, entry.start, entry.end, {1: BYTES, 2: VARINT, 3: BYTES, 4: BYTES})
    stack = np.full(count, -1, np.int64)
    ids, first = field[4].strings(buffer).intern()
    stack[field[4].message] = ids
    traces = scan(buffer, field[4].start[first], field[4].end[first], {1: BYTES})[1]
    frames = traces.start.size
    part = scan(
        buffer,
        traces.start,
        traces.end,
        {2: VARINT, 5: VARINT, 6: VARINT, 7: VARINT, 8: VARINT},
    )
    text = maps.messages(buffer, top[2])
    return OpLogColumns(
        name=Strings(buffer, *field[1].last_slice(count)),
        float_ops=field[2].last(count),
        type_entry=field[3].message,
        type=field[3].strings(buffer),
        stack=stack,
        stack_start=np.searchsorted(traces.message, np.arange(first.size + 1)),
        frame_file=part[6].last(frames),
        frame_line=_int32(part[2].last(frames)),
        frame_function=part[7].last(frames),
        frame_function_line=_int32(part[5].last(frames)),
        frame_source=part[8].last(frames),
        string_id=text.key,
        string=Strings(buffer, text.start, text.end - text.start),
    )


def _int32(value: I64) -> I64:
    """The low 32 bits with their sign, as protobuf reads an int32."""
    return value.astype(np.int32).astype(np.int64)
