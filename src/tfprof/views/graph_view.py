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

from tfprof.tree import Tree
from tfprof.views.drawing import Drawing, under_root

if TYPE_CHECKING:
    from tfprof.model import Edges, Profile
    from tfprof.strings import I64


def draw(profile: Profile) -> Drawing:
    """The spanning forest over inputs, in the order nodes are first met."""
    count = len(profile)
    edges = profile.edges
    consumed = np.zeros(count, np.bool_)
    consumed[edges.source[edges.source >= 0]] = True
    begin = np.flatnonzero(~consumed)
    begin = begin[profile.nodes.name.take(begin).order()]
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
    start, source = edges.start.tolist(), edges.source.tolist()
    fresh = bytearray(b"\1" * count)
    met: list[int] = []
    depths: list[int] = []
    # What is still to be met, the next on top; a node goes in once for each consumer met.
    waiting = [(node, 2) for node in reversed(begin.tolist())]
    while waiting:
        node, depth = waiting.pop()
        if not fresh[node]:
            continue
        fresh[node] = 0
        met.append(node)
        depths.append(depth)
        inputs = source[start[node] : start[node + 1]]
        waiting += [(one, depth + 1) for one in reversed(inputs) if one >= 0 and fresh[one]]
    return np.array(met, np.int64), np.array(depths, np.int64)
