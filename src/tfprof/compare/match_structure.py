"""Pairs of nodes that are connected to the rest of the graph in the same way.

    base   x ─► a ─► b        new   x ─► p ─► q       x is matched: so are a and p, if each is the
                └──► c                  └──► r        only one of its kind there, then b and q, …

Where neighbours suggest different partners, none is taken. What nothing distinguishes is matched
in the order of the files, one pair at a time: each may settle others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.byte_words import mix
from tfprof.compare.joint_graph import one_each
from tfprof.compare.match_names import hash_without_suffixes
from tfprof.foundation.natural_order import natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.columns.strings import U64
    from tfprof.compare.joint_graph import JointGraph

_RADIUS: Final = 8
_MOST_REFUSALS: Final = 4  # of a node; then it stays alone

Group = list[int]  # number of base nodes, their sum, number of new nodes, their sum


def match_structure(graph: JointGraph) -> None:
    """Pair all nodes whose neighbours leave one choice, then those in equal surroundings."""
    for colour in reversed(list(islice(graph.colours(), _RADIUS))[1:]):
        nodes = graph.connected()
        rows = one_each(colour[nodes], nodes >= graph.first_new)
        graph.pair(nodes[rows[0]], nodes[rows[1]])
    spreading = _Spreading(graph)
    for named in (True, False):
        nodes = graph.unmatched() if named else graph.connected()
        (key,) = islice(graph.colours(), _RADIUS - 1, _RADIUS)
        key = key[nodes]
        if named:
            key = mix(key + hash_without_suffixes(graph.name.take(nodes)))
        for base, new in _of_equal_size(graph, nodes.tolist(), key):
            if named:
                base.sort(key=lambda node: natural(graph.name[node]))
                new.sort(key=lambda node: natural(graph.name[node]))
            spreading.spread_in_order(base, new)
        spreading.settle()


def _of_equal_size(
    graph: JointGraph, nodes: list[int], key: U64
) -> Iterator[tuple[list[int], list[int]]]:
    """(base nodes, new nodes) of each key that as many nodes have on both sides."""
    members: dict[int, tuple[list[int], list[int]]] = {}
    for node, each in zip(nodes, key.tolist(), strict=True):
        members.setdefault(each, ([], []))[node >= graph.first_new].append(node)
    return (
        members[each] for each in sorted(members) if len(members[each][0]) == len(members[each][1])
    )


class _Edge(NamedTuple):
    """A connection as one of its ends has it: to which node, in which direction, from where."""

    node: int
    reads: int  # 1: this end reads, 0: it is read
    place: int
    slot: int


class _Spreading:
    """Groups of unmatched nodes that are connected in the same way to the same matched pair.

    When a group has one node left on each side, the sums in it are these nodes.
    """

    def __init__(self, graph: JointGraph) -> None:
        self._graph = graph
        self._kind: list[int] = graph.kind.tolist()
        self._inputs: list[int] = graph.inputs.tolist()
        self._partner: list[int] = graph.partner.tolist()
        self._groups: dict[tuple[int, ...], Group] = {}
        self._of_node: defaultdict[int, list[Group]] = defaultdict(list)
        self._undecided: list[Group] = []
        self._refusals: Counter[int] = Counter()
        self._edges: defaultdict[int, list[_Edge]] = defaultdict(list)
        is_open = np.append(graph.partner < 0, False)
        edge = np.flatnonzero(is_open[graph.source] | is_open[graph.target])
        edge = edge[graph.source[edge] >= 0]
        columns = (graph.source, graph.target, graph.place, graph.slot)
        rows = zip(*(column[edge].tolist() for column in columns), strict=True)
        for source, target, place, slot in rows:
            self._edges[target].append(_Edge(source, 1, place, slot))
            self._edges[source].append(_Edge(target, 0, place, slot))
        for node in list(self._edges):
            if node < graph.first_new and self._partner[node] >= 0:
                self._undecided += self._join(node, self._partner[node])
        self.settle()

    def settle(self) -> None:
        """Follow what was undecided before other pairs were found."""
        self.spread((), self._undecided)

    def spread_in_order(self, base: list[int], new: list[int]) -> None:
        """Match the nodes of these lists in their order, unless they get other partners."""
        others = iter(new)
        for node in base:
            if self._partner[node] >= 0:
                continue
            other = next((other for other in others if self._partner[other] < 0), -1)
            if other < 0 or not self._agree(node, other):
                return
            self.spread([(node, other)])

    def spread(self, pairs: Iterable[tuple[int, int]], touched: Iterable[Group] = ()) -> None:
        """Match these *pairs*, and what follows from them and from *touched* groups."""
        found: list[tuple[int, int]] = []
        frontier = list(pairs)
        while True:
            for node, other in frontier:
                self._partner[node], self._partner[other] = other, node
            changed = list(touched)
            touched = ()
            for pair in frontier:
                for node, at in zip(pair, (0, 2), strict=True):
                    for group in self._of_node.pop(node, ()):
                        group[at] -= 1
                        group[at + 1] -= node
                        changed.append(group)
                changed += self._join(*pair)
            found += frontier
            frontier = self._follow(changed)
            if not frontier:
                break
        if found:
            self._graph.pair(*np.array(found).T)

    def _join(self, node: int, other: int) -> list[Group]:
        """Put the unmatched neighbours of a matched pair into groups."""
        same_inputs = self._inputs[node] == self._inputs[other]
        changed = []
        for end, at in ((node, 0), (other, 2)):
            for edge in self._edges.get(end, ()):
                if self._partner[edge.node] >= 0:
                    continue
                if edge.reads and not same_inputs:
                    continue
                key = (node, edge.reads, edge.place, edge.slot, self._kind[edge.node])
                group = self._groups.setdefault(key, [0, 0, 0, 0])
                of_node = self._of_node[edge.node]
                if not of_node or of_node[-1] is not group:
                    of_node.append(group)
                    group[at] += 1
                    group[at + 1] += edge.node
                    changed.append(group)
        return changed

    def _follow(self, groups: list[Group]) -> list[tuple[int, int]]:
        """The pairs that these groups leave no choice about."""
        partner: dict[int, int] = {}
        single = [group for group in groups if group[0] == group[2] == 1]
        for _, node, _, other in single:
            if partner.setdefault(node, other) != other:
                partner[node] = -1
            if partner.setdefault(other, node) != node:
                partner[other] = -1
        undecided = [g for g in single if partner[g[1]] < 0 or partner[g[3]] < 0]
        self._undecided = undecided if groups is self._undecided else self._undecided + undecided
        sides = ((node, partner[node]) for node in partner if node < self._graph.first_new)
        return [
            (node, other)
            for node, other in sides
            if other >= 0 and partner[other] == node and self._agree(node, other)
        ]

    def _agree(self, node: int, other: int) -> bool:
        """Whether matched neighbours do not speak against this pair."""
        if max(self._refusals[node], self._refusals[other]) >= _MOST_REFUSALS:
            return False
        for reads in (1, 0):
            mine = {
                (self._partner[edge.node], edge.place, edge.slot)
                for edge in self._edges.get(node, ())
                if edge.reads == reads and self._partner[edge.node] >= 0
            }
            others = {
                (edge.node, edge.place, edge.slot)
                for edge in self._edges.get(other, ())
                if edge.reads == reads and self._partner[edge.node] >= 0
            }
            if mine and others and mine.isdisjoint(others):
                self._refusals[node] += 1
                self._refusals[other] += 1
                return False
        return True
