"""Reads an OpLogProto in wire format into columns, and adds them to a profile.

    OpLogProto ─┬─ log_entries* ─► name, float_ops, types*, code_def ─► traces*
                └─ id_to_string*     the strings that the traces refer to by id

Many nodes share a call stack, so stacks are compared by their bytes and decoded once each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfprof.columns.strings import I64, U8, Strings
from tfprof.columns.unique import first_rows
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Profile, Stacks, own_notes
from tfprof.read import input_notes
from tfprof.read.columns import OpLogColumns
from tfprof.read.in_chunks import in_chunks
from tfprof.read.merge import with_types
from tfprof.wire import maps
from tfprof.wire.decode import BYTES, VARINT, Field, scan, whole

_FRAME = {"file": 6, "line": 2, "function": 7, "function_line": 5, "source": 8}
_INT32 = ("line", "function_line")


def columns(buffer: U8) -> OpLogColumns:
    """The entries of an op log; raises WireError."""
    top = scan(buffer, *whole(buffer), {1: BYTES, 2: BYTES})
    entry = in_chunks(buffer, top[1], _entry_columns, ("type", "trace"))
    types = entry.pop("type")
    stack, start, frames = read_stacks(buffer, entry.pop("trace"), top[1].start.size)
    text = maps.messages(buffer, top[2])
    return OpLogColumns(
        **entry,
        type_entry=types.message,
        type=types.strings(buffer),
        stack=stack,
        stack_start=start,
        **{f"frame_{name}": column for name, column in frames.items()},
        string_id=text.key,
        string=Strings(buffer, text.start, text.end - text.start),
    )


def _entry_columns(buffer: U8, entry: Field) -> dict[str, Any]:
    count = entry.start.size
    field = scan(buffer, entry.start, entry.end, {1: BYTES, 2: VARINT, 3: BYTES, 4: BYTES})
    name = Strings(buffer, *field[1].last_slice(count))
    return {"name": name, "float_ops": field[2].last(count), "type": field[3], "trace": field[4]}


def read_stacks(buffer: U8, trace: Field, count: int) -> tuple[I64, I64, dict[str, Any]]:
    """(the stack of each of *count* owners or -1, where stacks begin, the columns of frames)."""
    ids, first = trace.strings(buffer).intern()
    stack = np.full(count, -1, np.int64)
    stack[trace.message] = ids
    frame = scan(buffer, trace.start[first], trace.end[first], {1: BYTES})[1]
    part = scan(buffer, frame.start, frame.end, dict.fromkeys(_FRAME.values(), VARINT))
    frames = {name: part[number].last(frame.start.size) for name, number in _FRAME.items()}
    # Protobuf reads the low 32 bits of an int32, with their sign.
    lines = {name: frames[name].astype(np.int32).astype(np.int64) for name in _INT32}
    return stack, np.searchsorted(frame.message, np.arange(first.size + 1)), {**frames, **lines}


def with_op_log(profile: Profile, log: OpLogColumns, node: I64 | None = None) -> Profile:
    """*profile* with the op log's data on its nodes; entries of other names are ignored.

    *node* is the node of each entry, -1 for none, where it is known already.
    """
    node = profile.nodes.name.find(log.name) if node is None else node
    entry = np.flatnonzero(node >= 0)
    typed = np.flatnonzero(node[log.type_entry] >= 0)
    types, typed_as = with_types(profile.types, log.type.take(typed))
    float_ops = profile.nodes.float_ops.copy()
    counted = entry[log.float_ops[entry] != 0]
    float_ops[node[counted]] = log.float_ops[counted]
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
        notes=(*profile.notes, *own_notes(input_notes.of_op_log(log, node))),
        has_traces=profile.has_traces or bool(traced.size),
    )


def _with_stacks(stacks: Stacks, log: OpLogColumns) -> Stacks:
    known = np.isin(log.string_id, stacks.text_id)
    _, first = first_rows(log.string_id)
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
