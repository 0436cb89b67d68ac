"""Graph view: each node below the first that consumes it, depth first.

    loss ◄─ mul ◄─ w                rows      _TFProfRoot
    loss ◄─ w                                 └─ loss         no consumers
                                                 └─ mul       its first input
                                                    └─ w      visited here first, so only here

The documents of 2016 and 2017 print inputs by name, but total them in this order: see docs/eras.md.

parity Q6, Q10: a node that is reachable only through a cycle is never visited, and a shared input
counts under its first consumer alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.tree import Tree
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.kernels.table import kernel
from tfprof.views.drawing import Drawing, under_root

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.model import Edges, Profile

_END = -1


def draw(profile: Profile, *, sorts_inputs: bool = False) -> Drawing:
    """The spanning forest over inputs, in the order of the first visit.

    With *sorts_inputs*, a walk by name gives the rows, and totals follow the walk in input order.
    """
    count = len(profile)
    edges = profile.edges
    consumed = np.zeros(count, np.bool_)
    consumed[edges.source[edges.source >= 0]] = True
    outermost = profile.by_name[~consumed[profile.by_name]]
    tree, owner, visited = _rows(count, visit_inputs(count, edges.source, edges.start, outermost))
    accounting = None
    if sorts_inputs:
        counted, place = tree, owner
        edges = _by_name(profile)
        walk = visit_inputs(count, edges.source, edges.start, outermost)
        tree, owner, visited = _rows(count, walk)
        accounting = counted, np.append(0, place[visited])
    return Drawing(
        tree,
        owner,
        under_root(profile.nodes.name.take(visited)),
        filler=b"_TFGraphParent",
        accounting=accounting,
    )


def _rows(count: int, walk: tuple[I64, I64]) -> tuple[Tree, I64, I64]:
    """(tree, row of each node, node of each row but the root) of a *walk*."""
    visited, depth = walk
    owner = np.full(count, -1, np.int64)
    owner[visited] = np.arange(1, visited.size + 1)
    return Tree.from_depth(np.append(1, depth)), owner, visited


def _by_name(profile: Profile) -> Edges:
    """The inputs of each node, in byte order of their names."""
    edges = profile.edges
    rank = np.empty(len(profile) + 1, np.int64)
    rank[profile.by_name] = np.arange(len(profile))
    rank[-1] = -1  # of unknown inputs
    node = np.repeat(np.arange(len(profile)), np.diff(edges.start))
    order = np.lexsort((rank[np.maximum(edges.source, -1)], node))
    return replace(edges, source=edges.source[order], slot=edges.slot[order])


@kernel
def visit_inputs(count: int, source: I64, start: I64, outermost: I64) -> tuple[I64, I64]:
    """(node, depth) in the order of the first visit; *outermost* nodes are at depth 2."""
    # Inputs go onto the stack last first. An unknown input is never fresh.
    rows = np.where(source < 0, count, source)[::-1].tolist()
    first = (source.size - start).tolist()
    fresh = bytearray(b"\1" * count + b"\0")
    visited: list[int] = []
    depths: list[int] = []
    depth = 2
    # The stack of nodes to visit. A node is pushed by each consumer; _END marks the end of the
    # inputs of a node.
    waiting = outermost[::-1].tolist()
    while waiting:
        node = waiting.pop()
        if node < 0:
            depth -= 1
        elif fresh[node]:
            fresh[node] = 0
            visited.append(node)
            depths.append(depth)
            inputs = [row for row in rows[first[node + 1] : first[node]] if fresh[row]]
            if inputs:
                waiting.append(_END)
                waiting += inputs
                depth += 1
    return np.array(visited, np.int64), np.array(depths, np.int64)
