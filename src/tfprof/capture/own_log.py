"""The op log of a graph: float operations, call stacks, trainable variables.

It consists of columns; no message is created per node. Entries are in graph order: with call
stacks, one per operation; otherwise one per operation with float operations. The remaining
trainable variables follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.capture.statistics import registered, registry
from tfprof.capture.traces import NO_STACK
from tfprof.columns.strings import I64, Strings
from tfprof.ops.counting import UNKNOWN_SHAPE, count
from tfprof.ops.table import rules
from tfprof.read import op_log
from tfprof.read.columns import OpLogColumns
from tfprof.read.saved_model import TRAINABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.capture.live_graph import LiveGraph
    from tfprof.capture.traces import Texts, Traces
    from tfprof.model import Profile
    from tfprof.tables.options import Flops

NO_LOG: Final = op_log.columns(np.empty(0, np.uint8))


class Counted(NamedTuple):
    """The float operations of each node, and how many nodes lack a shape to count by."""

    float_ops: I64
    incomplete: int


def count_float_ops(profile: Profile, live: LiveGraph | None, flops: Flops) -> Counted:
    """The counts of our rules and, for a live graph, of TensorFlow's registry."""
    if flops == "log":
        return Counted(np.zeros(len(profile), np.int64), 0)
    counts = count(profile, flops)
    not_registered = _not_registered(live, flops)
    incomplete = sum(
        kind.nodes
        for kind in counts.uncounted
        if kind.why == UNKNOWN_SHAPE and kind.op not in not_registered
    )
    if live is None:
        return Counted(counts.float_ops, incomplete)
    # Op types that the program registered: its own count goes before our rules.
    others = registered(live.graph, profile, rules("tensorflow"))
    float_ops = counts.float_ops.copy()
    types = profile.types.find(Strings.of(op.encode() for op in sorted(not_registered)))
    float_ops[np.isin(profile.nodes.op, types[types >= 0])] = 0
    float_ops[others.node] = others.float_ops
    return Counted(float_ops, incomplete + others.incomplete)


def _not_registered(live: LiveGraph | None, flops: Flops) -> set[str]:
    """The op types that TensorFlow counts, except in the installed release, which may be older."""
    if live is None or flops != "tensorflow":
        return set()
    counted = {rule.op for rule in rules(flops).values() if rule.origin == "tensorflow"}
    return counted - registry()


def own_log(
    profile: Profile,
    float_ops: I64,
    trainable: Sequence[str],
    traces: Traces | None,
    texts: Texts,
) -> OpLogColumns:
    """The entries of the nodes of *profile*, which are in the order of the traced operations."""
    listed = np.flatnonzero(float_ops) if traces is None else np.arange(len(profile))
    names = profile.nodes.name.take(listed)
    variables = Strings.of(name.encode() for name in trainable)
    ids, first = variables.intern()
    distinct = variables.take(first)
    entry = names.find(distinct)
    new = np.flatnonzero(entry < 0)
    entry[new] = listed.size + np.arange(new.size)
    none = np.full(new.size, NO_STACK, np.int64)
    typed = np.sort(entry[ids])
    start, frames, stack = _stacks(traces, profile, listed)
    return OpLogColumns(
        name=Strings.concat([names, distinct.take(new)]),
        float_ops=np.concatenate([float_ops[listed], np.zeros(new.size, np.int64)]),
        type_entry=typed,
        type=Strings.of([TRAINABLE]).take(np.zeros(typed.size, np.int64)),
        stack=np.concatenate([stack, none]),
        stack_start=start,
        frame_file=frames[0],
        frame_line=frames[1],
        frame_function=frames[2],
        frame_function_line=np.full(frames.shape[1], -1, np.int64),
        frame_source=frames[3],
        string_id=np.arange(len(texts)),
        string=texts.column(),
    )


def _stacks(traces: Traces | None, profile: Profile, listed: I64) -> tuple[I64, I64, I64]:
    """(where each stack begins, all frames, the stack of each of the *listed* nodes)."""
    if traces is None:
        no_frames = np.empty((4, 0), np.int64)
        return np.zeros(1, np.int64), no_frames, np.full(listed.size, NO_STACK, np.int64)
    stack = np.full(len(profile), NO_STACK, np.int64)
    stack[: len(traces)] = traces.of_operation
    regions = profile.regions
    # Nodes inside functions get the stack of the outermost call.
    outermost = regions.call.copy()
    for region, outer in enumerate(regions.of_node[regions.call].tolist()):
        outermost[region] = outermost[outer] if outer >= 0 else regions.call[region]
    inside = np.flatnonzero(regions.of_node >= 0)
    stack[inside] = stack[outermost[regions.of_node[inside]]]
    return traces.start, traces.frames(), stack[listed]
