"""Graph view: each node below the first that consumes it, depth first.

    loss ◄─ mul ◄─ w                rows      _TFProfRoot
    loss ◄─ w                                 └─ loss         nobody's input
                                                 └─ mul       its first input
                                                    └─ w      met here first, so only here

parity Q6, Q10: what is only reached through a cycle is never met, and a shared input counts
under the first consumer alone.
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
    """The spanning forest over inputs, in the order nodes are first met."""
    count = len(profile)
    edges = profile.edges
    consumed = np.zeros(count, np.bool_)
    consumed[edges.source[edges.source >= 0]] = True
    begin = profile.by_name[~consumed[profile.by_name]]
    met, depth = _walk(count, edges, begin)
    owner = np.full(count, -1, np.int64)
    owner[met] = np.arange(1, met.size + 1)
    return Drawing(
        Tree.from_depth(np.append(1, depth)),
        owner,
        under_root(profile.nodes.name.take(met)),
        filler=b"_TFGraphParent",
    )


def _walk(count: int, edges: Edges, begin: I64) -> tuple[I64, I64]:
    """(node, depth) in the order nodes are met; those in *begin* are at depth 2."""
    # Inputs are looked at last first, so they stand in that order; an unknown one is never fresh.
    source = np.where(edges.source < 0, count, edges.source)[::-1].tolist()
    first = (edges.source.size - edges.start).tolist()
    fresh = bytearray(b"\1" * count + b"\0")
    met: list[int] = []
    depths: list[int] = []
    depth = 2
    # What is still to be met, the next on top; a node goes in once for each consumer met, and
    # below its inputs what ends them.
    waiting = begin[::-1].tolist()
    while waiting:
        node = waiting.pop()
        if node < 0:
            depth -= 1
        elif fresh[node]:
            fresh[node] = 0
            met.append(node)
            depths.append(depth)
            inputs = [one for one in source[first[node + 1] : first[node]] if fresh[one]]
            if inputs:
                waiting.append(_END)
                waiting += inputs
                depth += 1
    return np.array(met, np.int64), np.array(depths, np.int64)
