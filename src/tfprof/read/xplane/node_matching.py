"""Matches the names in a trace to graph nodes, with notes on what may surprise.

a runtime name of a node         that node (`runtime_names`)
arguments and results            the node that calls the function
an operation of oneDNN           the node, whose type has another name: `_MklMatMul` for MatMul
a fused operation                a node that it fused, which also gets the fused type

    graph    Conv2D ─► BiasAdd ─► Relu     `_FusedConv2D` runs under the name of Relu; it counts
    runs                  _FusedConv2D     for Conv2D, an input of Relu that does most of the work
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import combined, sum_by, unique_inverse
from tfprof.foundation.arguments import shown
from tfprof.foundation.units import first_few, plural
from tfprof.read.input_notes import NOT_IN_GRAPH
from tfprof.read.merge import data_inputs, with_types
from tfprof.read.runtime_names import is_added, node_of
from tfprof.read.xplane.compiled_nodes import XLA
from tfprof.read.xplane.launches import either
from tfprof.read.xplane.trace import COMPILED, DATA, EAGER, KERNEL, NODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.model import Profile
    from tfprof.read.xplane.programs import InstructionNodes
    from tfprof.read.xplane.trace import Events

_ARGUMENT_OPS = (b"_Arg", b"_Retval")
_PS_IN_US = 10**6
_EXAMPLES = 3
_FUSED = re.compile(rb"_(?:Mkl(?:Native)?|OneDnn)?(Fused(\w+?))(?:Ex)?")
# TensorFlow runs these in place of others where oneDNN is on, as it is on many processors.
_ONEDNN = re.compile(rb"_Mkl(?:Native)?(?!Native|Fused)(\w+?)(?:WithBias)?")
_VERSION = re.compile(rb"V\d+")
# Fused chains are short, and few nodes have many inputs.
_STEPS_BACK, _MOST_NODES = 6, 64


class NodeMatcher:
    """Finds the graph node of each of the names that ran."""

    def __init__(
        self, profile: Profile, events: Events, programs: InstructionNodes | None = None
    ) -> None:
        self._programs = programs  # the graph, if it is not one of TensorFlow
        self._profile, self._events, self._names = profile, events, events.names
        self._has_graph = bool(profile.in_graph.any())
        self.fused: list[tuple[int, bytes]] = []  # (node, type) of fused operations
        self.exact = np.zeros(len(self._names.name), np.bool_)  # whether exactly that node ran
        self.is_fused = np.zeros(len(self._names.name), np.bool_)
        # Which names are of a function that is not in the graph.
        self.absent = np.zeros(len(self._names.name), np.bool_)

    def nodes(self) -> I64:
        """The node of each name, or -1."""
        profile, names = self._profile, self._names
        node = np.full(len(names.name), -1, np.int64)
        if not len(profile):
            return node
        if self._programs is not None:
            return self._programs.find(names)
        inside = np.flatnonzero(np.isin(names.kind, (NODE, COMPILED, KERNEL)))
        ran = names.op.mapped(graph_type)
        # Without a graph, a name is a node, whichever function it is in.
        of_graph = (names.function, ran) if self._has_graph else ()
        columns = (names.name, *of_graph)
        node[inside] = node_of(profile, *(column.take(inside) for column in columns))
        self._match_arguments(node)
        types, op = with_types(profile.types, ran)
        same = np.append(profile.nodes.op, -1)[node] == op
        self.exact = same & (names.kind == NODE) & ~names.name.which(is_added)
        self._match_fused(node, np.flatnonzero((node >= 0) & ~same), op, types)
        if self._has_graph:
            # Find the functions without any node in the graph.
            row, first = names.function.intern()
            is_absent = names.function.length[first] > 0
            is_absent[row[node >= 0]] = False
            self.absent = is_absent[row]
        return node

    def _match_arguments(self, node: I64) -> None:
        """Match arguments and results of a function to the node that calls it."""
        ops = Strings.of(_ARGUMENT_OPS)
        rows = np.flatnonzero((node < 0) & (ops.find(self._names.op) >= 0))
        if not rows.size:
            return
        calls = self._names.name.take(rows).mapped(lambda name: name.rpartition(b"/")[0])
        functions = self._names.function.take(rows)
        calls = either(calls, np.arange(rows.size), functions)
        node[rows] = node_of(self._profile, calls, functions)

    def _match_fused(self, node: I64, rows: I64, op: I64, types: Strings) -> None:
        rows = rows[types.which(is_fused)[op[rows]]]
        pairs, inverse = unique_inverse(node[rows] * len(types) + op[rows])
        matched = []
        for pair in pairs.tolist():
            named, kind = divmod(pair, len(types))
            inner = fused_node(self._profile, named, types[kind])
            matched.append(inner if inner >= 0 else named)
            self.fused.append((matched[-1], types[kind]))
        node[rows] = np.array(matched, np.int64)[inverse]
        self.is_fused[rows] = True

    def has_own_name(self, node: I64, is_new: Bool) -> Bool:
        """Which names are those of the nodes themselves: *is_new* nodes have no others."""
        if self._programs is not None:
            # The events of an instruction are its runs, unless each run has several kernels.
            _, first = combined(node, self._names.label)
            several = np.bincount(node[first], minlength=int(node.max(initial=0)) + 1) > 1
            return is_new | ~several[node]
        result: Bool = is_new | self.exact | self.is_fused | (self._names.kind == KERNEL)
        return result

    def notes(self, node: I64) -> Iterator[str]:
        """Notes on executions that are matched in an unexpected way, or not at all."""
        if not self._has_graph:
            return
        names = self._names
        count = np.bincount(self._events.what, minlength=node.size)
        own_ps = sum_by(self._events.what, self._events.own_ps, node.size)
        if fused := int(count[self.is_fused].sum()):
            name = self._profile.nodes.name
            pairs = [f"{_text(op)} for {shown(_text(name[at]))}" for at, op in self.fused]
            yield (
                f"{plural(fused, 'execution')} of fused operations counted for a fused node: "
                f"{first_few(pairs, _EXAMPLES)}"
            )
        compiled = int(count[(names.kind == COMPILED) & (node >= 0)].sum())
        if compiled and self._programs is None:
            yield (
                f"{plural(compiled, 'execution')} of instructions that XLA compiled; one that "
                "comes from several nodes counts for the node that it is named after"
            )
        if unmatched := int(count[node < 0].sum()):
            total, own = max(int(own_ps.sum()), 1), int(own_ps[node < 0].sum())
            yield (
                f"{unmatched:,} of {int(count.sum()):,} executions, {own // _PS_IN_US:,} us "
                f"({100 * own / total:.1f} %), are not of nodes in the graph: "
                f"see {NOT_IN_GRAPH.decode()}{self._outside_graphs(own_ps)}"
            )

    def _outside_graphs(self, own_ps: I64) -> str:
        names = self._names
        micros = {
            where: int(own_ps[names.kind == kind].sum()) // _PS_IN_US
            for kind, where in ((EAGER, "outside functions"), (DATA, "in functions of tf.data"))
        }
        added = names.name.which(lambda name: name.startswith(XLA))
        micros["in instructions that XLA added"] = int(own_ps[added].sum()) // _PS_IN_US
        if self.absent.any():
            absent = [*map(shown, names.function.take(self.absent).distinct().texts())]
            where = f"in functions that the graph does not have: {first_few(absent, _EXAMPLES)}"
            micros[where] = int(own_ps[self.absent].sum()) // _PS_IN_US
        parts = [f"{us:,} us ran {where}" for where, us in micros.items() if us]
        return f" ({', '.join(parts)})" if parts else ""


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def graph_type(op: bytes) -> bytes:
    """The operation type that a graph has in place of *op*, which may be one of oneDNN."""
    match = _ONEDNN.fullmatch(op)
    return match[1] if match else op


def is_fused(op: bytes) -> bool:
    """Whether this operation type is a fused one."""
    return _FUSED.fullmatch(op) is not None


def fused_node(profile: Profile, node: int, op: bytes) -> int:
    """The node that the fused *op*, which ran under the name of *node*, counts for; -1 if none."""
    match = _FUSED.fullmatch(op)
    assert match is not None, "the caller passes fused operations only"
    wanted = {_VERSION.sub(b"", name) for name in match.groups()}
    waiting, visited = [node], {node}
    for _ in range(_STEPS_BACK + 1):
        for candidate in waiting:
            if _VERSION.sub(b"", profile.types[int(profile.nodes.op[candidate])]) in wanted:
                return candidate
        before = (source for each in waiting for source, _ in data_inputs(profile.edges, each))
        waiting = [each for each in dict.fromkeys(before) if each >= 0 and each not in visited]
        waiting = waiting[:_MOST_NODES]
        visited.update(waiting)
    return -1
