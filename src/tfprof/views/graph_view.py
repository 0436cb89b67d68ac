"""Graph view: each node below the first that consumes it, depth first.

    loss ◄─ mul ◄─ w                rows      _TFProfRoot
    loss ◄─ w                                 └─ loss         no consumers
                                                 └─ mul       its first input
                                                    └─ w      visited here first, so only here

parity Q6, Q10: a node that is reachable only through a cycle is never visited, and a shared input
counts under its first consumer alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.tree import Tree
from tfprof.views.drawing import Drawing, under_root

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.model import Edges, Profile

_END = -1


def draw(profile: Profile) -> Drawing:
    """The spanning forest over inputs, in the order of the first visit."""
    count = len(profile)
    edges = profile.edges
    consumed = np.zeros(count, np.bool_)
    consumed[edges.source[edges.source >= 0]] = True
    outermost = profile.by_name[~consumed[profile.by_name]]
    visited, depth = _walk(count, edges, outermost)
    owner = np.full(count, -1, np.int64)
    owner[visited] = np.arange(1, visited.size + 1)
    return Drawing(
        Tree.from_depth(np.append(1, depth)),
        owner,
        under_root(profile.nodes.name.take(visited)),
        filler=b"_TFGraphParent",
    )


def _walk(count: int, edges: Edges, outermost: I64) -> tuple[I64, I64]:
    """(node, depth) in the order of the first visit; *outermost* nodes are at depth 2."""
    # Inputs go onto the stack last first. An unknown input is never fresh.
    source = np.where(edges.source < 0, count, edges.source)[::-1].tolist()
    first = (edges.source.size - edges.start).tolist()
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
            inputs = [row for row in source[first[node + 1] : first[node]] if fresh[row]]
            if inputs:
                waiting.append(_END)
                waiting += inputs
                depth += 1
    return np.array(visited, np.int64), np.array(depths, np.int64)
