"""Finds the graph node for an operation that an optimizer fused from several.

    graph    Conv2D ─► BiasAdd ─► Relu     `_FusedConv2D` runs under the name of Relu; it counts
    runs                  _FusedConv2D     for Conv2D, which does most of the work

The node is searched for among the inputs of the node whose name the fused operation has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfprof.model import Profile

_FUSED = re.compile(rb"_(?:Mkl|OneDnn)?(Fused(\w+?))(?:Ex)?")
_VERSION = re.compile(rb"V\d+")
# Fused chains are short, and few nodes have many inputs.
_STEPS_BACK, _MOST_NODES = 6, 64


def is_fused(op: bytes) -> bool:
    """Whether this operation type is a fused one."""
    return _FUSED.fullmatch(op) is not None


def fused_node(profile: Profile, node: int, op: bytes) -> int:
    """The node that the fused *op*, which ran under the name of *node*, counts for; -1 if none."""
    match = _FUSED.fullmatch(op)
    assert match is not None, "the caller passes fused operations only"
    wanted = {_without_version(match[1]), _without_version(match[2])}
    edges, waiting, visited = profile.edges, [node], {node}
    for _ in range(_STEPS_BACK + 1):
        for candidate in waiting:
            if _without_version(profile.types[int(profile.nodes.op[candidate])]) in wanted:
                return candidate
        before: list[int] = []
        for candidate in waiting:
            span = slice(int(edges.start[candidate]), int(edges.start[candidate + 1]))
            inputs = zip(edges.source[span].tolist(), edges.slot[span].tolist(), strict=True)
            before += [source for source, slot in inputs if source >= 0 and slot >= 0]
        waiting = [source for source in dict.fromkeys(before) if source not in visited]
        waiting = waiting[:_MOST_NODES]
        visited.update(waiting)
    return -1


def _without_version(op: bytes) -> bytes:
    """The operation type without its version."""
    return _VERSION.sub(b"", op)
