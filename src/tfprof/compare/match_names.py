"""Pairs of nodes whose names differ in a scope or in a suffix.

    a renamed scope     model/conv1/{Conv2D,kernel,bias}  ↔  model/stem/{Conv2D,kernel,bias}
                        what is below both is the same, and no other scope has the same below it
    a shifted suffix    dense_4/MatMul_1  ↔  dense_2/MatMul

Only what is left unmatched counts. Candidates whose matched neighbours say otherwise are dropped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.byte_words import mix
from tfprof.columns.strings import Strings
from tfprof.columns.unique import first_rows, most_frequent, unique_inverse
from tfprof.compare.joint_graph import hashes, one_each

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, U64
    from tfprof.compare.joint_graph import JointGraph

_SUFFIX: Final = re.compile(rb"_\d+(?=/|$)")
_SEED: Final = np.uint64(0x3C79AC492BA7B653)
_DEEPEST: Final = 32  # scopes of a name that are tried
_ROUNDS: Final = 8


def hash_without_suffixes(names: Strings) -> U64:
    """Equal for names that differ in the numbers that make them unique: a_1/b_2 and a/b_3."""
    return Strings.of(_SUFFIX.sub(b"", name) for name in names).hashes(_SEED)


def last_part(names: Strings) -> U64:
    """A hash of what follows the last slash of each name."""
    row, slash = names.positions(b"/")
    begin = np.zeros(len(names), np.int64)
    begin[row] = slash + 1  # the last one stays
    return Strings(names.blob, names.start + begin, names.length - begin).hashes(_SEED)


def match_suffixes(graph: JointGraph) -> None:
    """Pair nodes of one kind whose names without suffixes no others of this kind have."""
    nodes = graph.unmatched()
    key = hash_without_suffixes(graph.name.take(nodes))
    rows = one_each(mix(key + graph.kind[nodes]), nodes >= graph.first_new)
    base, new = nodes[rows[0]], nodes[rows[1]]
    agree, differ = graph.support(base, new, np.arange(base.size))
    sure = (agree > differ) | (graph.is_alone(base) & graph.is_alone(new))
    graph.pair(base[sure], new[sure])


class _Below(NamedTuple):
    """Each unmatched node in each of its scopes, outermost first, and its name below it."""

    node: I64
    scope: U64
    name: U64


def match_scopes(graph: JointGraph) -> None:
    """Pair what is below scopes of equal content, at first with equal shapes."""
    below = _below(graph)
    for kind in (graph.kind, graph.op_hash):
        wrong = np.empty(0, np.uint64)
        for _ in range(_ROUNDS):
            rest = graph.partner[below.node] < 0
            below = _Below(below.node[rest], below.scope[rest], below.name[rest])
            paired, more_wrong = _pair_scopes(graph, below, kind, wrong)
            wrong = np.append(wrong, more_wrong)
            if not paired and not more_wrong.size:
                break


def _below(graph: JointGraph) -> _Below:
    nodes = graph.unmatched()
    names = graph.name.take(nodes)
    row, slash = names.positions(b"/")
    shallow = np.bincount(row, minlength=nodes.size)[row] <= _DEEPEST
    row, slash = row[shallow], slash[shallow]
    # The whole name is below the empty scope.
    row, slash = np.append(np.arange(nodes.size), row), np.append(np.full(nodes.size, -1), slash)
    order = np.lexsort((slash, row))
    row, slash = row[order], slash[order]
    start, length = names.start[row], names.length[row]
    scope = Strings(names.blob, start, np.maximum(slash, 0))
    below = Strings(names.blob, start + slash + 1, length - slash - 1)
    return _Below(nodes[row], scope.hashes(_SEED), below.hashes(_SEED))


def _pair_scopes(graph: JointGraph, below: _Below, kind: U64, wrong: U64) -> tuple[int, U64]:
    """(number of pairs made, signatures of scopes that turned out to differ)."""
    is_new = below.node >= graph.first_new
    content = mix(below.name + kind[below.node])
    side = is_new.astype(np.int64) << 62
    scope, number = unique_inverse((below.scope >> np.uint64(2)).view(np.int64) | side)
    first, second = (number[row] for row in one_each(content, is_new))
    vote_new = most_frequent(first, second, scope.size)
    vote_base = most_frequent(second, first, scope.size)
    base = np.flatnonzero(vote_new >= 0)
    base = base[vote_base[vote_new[base]] == base]
    new = vote_new[base]
    signature = below.scope[first_rows(number)[1]]
    signature = mix(signature[base]) + mix(signature[new])
    untried = ~np.isin(signature, wrong)
    base, new, signature = base[untried], new[untried], signature[untried]
    pair = np.full(scope.size, -1, np.int64)
    pair[base] = pair[new] = np.arange(base.size)
    row = np.flatnonzero(pair[number] >= 0)
    row = row[first_rows(below.node[row])[1]]  # the outermost such scope of each node
    first, second = one_each(mix(content[row] + hashes(pair[number[row]])), is_new[row])
    owner = pair[number[row[first]]]
    first, second = below.node[row[first]], below.node[row[second]]
    count = np.bincount(owner, minlength=base.size)
    agree, differ = (
        np.bincount(owner, each, base.size) for each in graph.support(first, second, owner)
    )
    sure = (agree > differ) | ((agree + differ == 0) & (count > 1))
    graph.pair(first[sure[owner]], second[sure[owner]])
    return int(sure[owner].sum()), signature[~sure & (count > 0)]
