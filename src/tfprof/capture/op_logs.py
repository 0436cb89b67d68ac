"""The op log of a graph (float operations, stacks, trainable variables), joined with the user's.

Entries are columns in graph order: with call stacks, one per operation; otherwise one per operation
with float operations. The remaining trainable variables follow. Joined with the user's log:

    entry of both           the user's numbers and stack if it has any, the types of both
    of the user alone       as it is; of entries with the same name the last counts
    of the graph alone      after the user's

The user's texts stay (Q22): they get new numbers, or those of equal texts.

After `RegisterStatistics("MyOp", "flops")` TensorFlow counts an op type that tfprof has no rule
for. Only those go to TensorFlow, which counts one node at a time.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.capture.call_stacks import NO_STACK, Texts, Traces
from tfprof.capture.tensorflow_internals import Internal, Part, require_tensorflow
from tfprof.columns.strings import I64, Strings
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.ops.counting import UNKNOWN_SHAPE, count
from tfprof.ops.table import rules
from tfprof.read import op_log
from tfprof.read.columns import OpLogColumns
from tfprof.read.saved_model import TRAINABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.capture.coerce import LiveGraph
    from tfprof.model import Profile
    from tfprof.tables.options import Flops

_FRAME_TEXTS: Final = ("frame_file", "frame_function", "frame_source")
_FRAME: Final = (*_FRAME_TEXTS, "frame_line", "frame_function_line")
_FLOPS: Final = "flops"
NO_LOG: Final = op_log.columns(np.empty(0, np.uint8))


def count_float_ops(profile: Profile, live: LiveGraph | None, flops: Flops) -> tuple[I64, int]:
    """(float operations of each node, how many nodes lack a shape), by rules and the registry."""
    if flops == "log":
        return np.zeros(len(profile), np.int64), 0
    counts = count(profile, flops)
    # The op types that TensorFlow counts, except in the installed release, which may be older.
    not_registered: set[str] = set()
    if live is not None and flops == "tensorflow":
        counted = {rule.op for rule in rules(flops).values() if rule.origin == "tensorflow"}
        not_registered = counted - registry()
    open_kinds = (kind for kind in counts.uncounted if kind.why == UNKNOWN_SHAPE)
    incomplete = sum(kind.nodes for kind in open_kinds if kind.op not in not_registered)
    if live is None:
        return counts.float_ops, incomplete
    # Op types that the program registered: its own count goes before our rules.
    node, by_program, unshaped = registered(live.graph, profile)
    float_ops = counts.float_ops.copy()
    types = profile.types.find(Strings.of(op.encode() for op in sorted(not_registered)))
    float_ops[np.isin(profile.nodes.op, types[types >= 0])] = 0
    float_ops[node] = by_program
    return float_ops, incomplete + unshaped


def own_log(
    profile: Profile, float_ops: I64, trainable: Sequence[str], traces: Traces | None, texts: Texts
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


def renumbered(log: OpLogColumns, texts: Texts) -> OpLogColumns:
    """*log* with the numbers of *texts*; a text that it refers to but lacks becomes `none`."""
    ids, row = np.unique(log.string_id, return_index=True)
    number = np.array([texts.number(text) for text in log.string.take(row).texts()], np.int64)

    def new_number(old: I64) -> I64:
        result = np.zeros(old.size, np.int64)
        known = np.isin(old, ids)
        result[known] = number[np.searchsorted(ids, old[known])]
        return result

    numbered: dict[str, Any] = {name: new_number(getattr(log, name)) for name in _FRAME_TEXTS}
    return replace(log, **numbered)


def joined(user: OpLogColumns, own: OpLogColumns) -> OpLogColumns:
    """Both logs as one, with the text numbers of *own*."""
    ids, first = user.name.intern()
    last = np.zeros(first.size, np.int64)
    np.maximum.at(last, ids, np.arange(ids.size))
    names = user.name.take(first)
    entry = names.find(own.name)
    new = np.flatnonzero(entry < 0)
    entry[new] = first.size + np.arange(new.size)

    float_ops = np.concatenate([user.float_ops[last], np.zeros(new.size, np.int64)])
    uncounted = float_ops[entry] == 0
    float_ops[entry[uncounted]] = own.float_ops[uncounted]

    stack = np.concatenate([user.stack[last], np.full(new.size, NO_STACK, np.int64)])
    frames = np.append(np.diff(user.stack_start), 0)[stack]
    taken = (frames[entry] == 0) & (own.stack >= 0)
    stack[entry[taken]] = own.stack[taken] + user.stack_start.size - 1

    type_entry, types = _types(user, last, own, entry)
    columns: dict[str, Any] = {
        name: np.append(getattr(user, name), getattr(own, name)) for name in _FRAME
    }
    return replace(
        own,
        name=Strings.concat([names, own.name.take(new)]),
        float_ops=float_ops,
        type_entry=type_entry,
        type=types,
        stack=stack,
        stack_start=np.concatenate([user.stack_start, user.stack_start[-1] + own.stack_start[1:]]),
        **columns,
    )


def _types(user: OpLogColumns, last: I64, own: OpLogColumns, entry: I64) -> tuple[I64, Strings]:
    """(entry, type) of all types that count, by entry, the user's first."""
    place = np.full(len(user.name), -1, np.int64)
    place[last] = np.arange(last.size)
    counts = np.flatnonzero(place[user.type_entry] >= 0)
    owner = np.concatenate([place[user.type_entry[counts]], entry[own.type_entry]])
    types = Strings.concat([user.type.take(counts), own.type])
    order = np.argsort(owner, kind="stable")
    return owner[order], types.take(order)


# --- float operations that the program registered with TensorFlow ---


def registry() -> frozenset[str]:
    """The op types that the installed TensorFlow counts; older releases count fewer."""
    require_tensorflow("counting the float operations of a live graph", Part.GRAPHS)
    keys = [key.rpartition(",") for key in Internal.STATISTICS.load().list()]
    return frozenset(op for op, _, kind in keys if kind == _FLOPS)


def registered(graph: Any, profile: Profile) -> tuple[I64, I64, int]:
    """(nodes, their float operations, how many lack a shape) by rules of the program alone."""
    known = rules("tensorflow")
    types = [op for op in registry() if op not in known]
    places = profile.types.find(Strings.of(op.encode() for op in types))
    wanted = np.flatnonzero(np.isin(profile.nodes.op, places[places >= 0]))
    count = Internal.COUNT_STATISTICS.load()
    shaped = _ShapedGraph(graph, profile)
    node, float_ops, incomplete = [], [], 0
    names = profile.nodes.name.take(wanted).texts()
    for row, name in zip(wanted.tolist(), names, strict=True):
        node_def = graph.get_operation_by_name(name).node_def
        try:
            value = count(shaped, node_def, _FLOPS).value
        except ValueError:
            incomplete += 1
            continue
        if value:
            node.append(row)
            float_ops.append(int(value))
    return np.array(node, np.int64), np.array(float_ops, np.int64), incomplete


class _ShapedGraph:
    """A graph whose tensors have the shapes of a profile where their own are unknown."""

    def __init__(self, graph: Any, profile: Profile) -> None:  # a tf.Graph
        self._graph, self._profile = graph, profile

    def __getattr__(self, name: str) -> Any:  # an attribute of the graph
        return getattr(self._graph, name)

    def get_tensor_by_name(self, name: str) -> Any:  # a tensor
        """The tensor; if its shape is not fully known, a stand-in with the profile's shape."""
        tensor, outputs = self._graph.get_tensor_by_name(name), self._profile.outputs
        row = self._rows.get(tensor.op.name)
        if row is None or tensor.shape.is_fully_defined():
            return tensor
        place = int(outputs.start[row]) + tensor.value_index
        dims = outputs.shape[place] if place < outputs.start[row + 1] else []
        shape = type(tensor.shape)([None if size < 0 else size for size in dims])
        return _ShapedTensor(tensor, shape) if dims else tensor

    @cached_property
    def _rows(self) -> dict[str, int]:
        """The row of each node by name; looking up one name at a time takes far longer."""
        names = self._profile.nodes.name.texts()
        return {name: row for row, name in enumerate(names)}


class _ShapedTensor:
    def __init__(self, tensor: Any, shape: Any) -> None:
        self._tensor, self.shape = tensor, shape

    def __getattr__(self, name: str) -> Any:  # an attribute of the tensor
        return getattr(self._tensor, name)

    def get_shape(self) -> Any:  # a TensorShape
        return self.shape
