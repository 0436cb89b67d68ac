"""Pairs of nodes in renamed scopes.

    model/conv1/{Conv2D,kernel,bias}  ↔  model/stem/{Conv2D,kernel,bias}

Each scope has more in common with the other than with any other; only what is left unmatched
counts. Pairs of scopes whose neighbours say otherwise are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.byte_words import mix
from tfprof.columns.strings import Strings
from tfprof.columns.unique import first_rows, most_frequent, unique_inverse
from tfprof.compare.joint_graph import SEED, hashes, one_each

if TYPE_CHECKING:
    from tfprof.columns.strings import U64
    from tfprof.compare.joint_graph import JointGraph

_DEEPEST: Final = 32  # scopes of a name that are tried
_ROUNDS: Final = 4
_NEW: Final = 1 << 62


def match_scopes(graph: JointGraph) -> None:
    """Pair what is below scopes that have most in common, at first with equal shapes only."""
    for kind in (graph.kind, graph.op_hash):
        for _ in range(_ROUNDS):
            if not graph.is_open or not _pair_scopes(graph, kind):
                break


def _pair_scopes(graph: JointGraph, kind: U64) -> bool:
    nodes = graph.unmatched()
    names = graph.names(nodes)
    # One row per scope of each node, outermost first: the empty one has the whole name below it.
    row, slash = names.positions(b"/")
    shallow = np.bincount(row, minlength=nodes.size)[row] <= _DEEPEST
    row = np.append(np.arange(nodes.size), row[shallow])
    slash = np.append(np.full(nodes.size, -1), slash[shallow])
    order = np.argsort(row, kind="stable")
    row, slash = row[order], slash[order]
    node, start = nodes[row], names.start[row]
    is_new = node >= graph.first_new
    below = Strings(names.blob, start + slash + 1, names.length[row] - slash - 1).hashes(SEED)
    above = Strings(names.blob, start, np.maximum(slash, 0)).hashes(SEED)
    content = mix(below + kind[node])
    scopes, scope = unique_inverse((above >> np.uint64(2)).view(np.int64) + is_new * _NEW)
    # What one scope of each side has is a vote of either for the other.
    mine, theirs = (scope[rows] for rows in one_each(content, is_new))
    choice = np.maximum(
        most_frequent(mine, theirs, scopes.size), most_frequent(theirs, mine, scopes.size)
    )
    mutual = (choice >= 0) & (choice[choice] == np.arange(scopes.size))
    pair = np.where(mutual, np.minimum(choice, np.arange(scopes.size)), -1)[scope]
    rows = np.flatnonzero(pair >= 0)
    rows = rows[first_rows(node[rows])[1]]  # the outermost such scope of each node
    base, new = (rows[i] for i in one_each(mix(content[rows] + hashes(pair[rows])), is_new[rows]))
    owner = pair[base]
    agree, differ = (
        np.bincount(owner, each, scopes.size)
        for each in graph.support(node[base], node[new], owner)
    )
    several = np.bincount(owner, minlength=scopes.size) > 1
    sure = (agree > differ) | ((agree + differ == 0) & several)
    graph.pair(node[base[sure[owner]]], node[new[sure[owner]]])
    return bool(sure[owner].any())
