"""Operations that an optimizer made of several: which node of the graph each is put on.

    graph    Conv2D ─► BiasAdd ─► Relu     `_FusedConv2D` runs under the name of Relu, and here it
    runs                  _FusedConv2D     is put on Conv2D, which it is most of

What was fused is looked for among the inputs of the node that gave its name.
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
    """Whether an operation of this type is made of several."""
    return _FUSED.fullmatch(op) is not None


def fused_node(profile: Profile, node: int, op: bytes) -> int:
    """The node that *op*, which ran under the name of *node*, stands for; -1 if none is found."""
    found = _FUSED.fullmatch(op)
    assert found is not None, "only what is fused is asked for"
    wanted = {_plain(found[1]), _plain(found[2])}
    edges, waiting, seen = profile.edges, [node], {node}
    for _ in range(_STEPS_BACK + 1):
        for one in waiting:
            if _plain(profile.types[int(profile.nodes.op[one])]) in wanted:
                return one
        before: list[int] = []
        for one in waiting:
            span = slice(int(edges.start[one]), int(edges.start[one + 1]))
            inputs = zip(edges.source[span].tolist(), edges.slot[span].tolist(), strict=True)
            before += [source for source, slot in inputs if source >= 0 and slot >= 0]
        waiting = [one for one in dict.fromkeys(before) if one not in seen][:_MOST_NODES]
        seen.update(waiting)
    return -1


def _plain(op: bytes) -> bytes:
    """The type without its version."""
    return _VERSION.sub(b"", op)
