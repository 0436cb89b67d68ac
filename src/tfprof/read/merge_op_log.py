"""Profile + columns of an op log → Profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import first_rows
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Profile, Stacks
from tfprof.read import input_notes
from tfprof.read.merge import with_types

if TYPE_CHECKING:
    from tfprof.read.columns import OpLogColumns


def with_op_log(profile: Profile, log: OpLogColumns) -> Profile:
    """*profile* with the op log's data on its nodes; entries of other names are ignored."""
    node = profile.nodes.name.find(log.name)
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
        notes=(*profile.notes, *input_notes.of_op_log(log, node)),
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
