"""Pairs of nodes that are connected to the rest of the graph in the same way.

    base   x ─► a ─► b        new   x ─► p ─► q       x is matched: so are a and p, if each is the
                └──► c                  └──► r        only one of its kind there, then b and q, …

Where neighbours suggest different partners, none is taken. What nothing distinguishes is matched
in order, one pair at a time: each may settle others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.byte_words import mix
from tfprof.columns.unique import unique_inverse
from tfprof.compare.joint_graph import hash_without_suffixes, one_each
from tfprof.foundation.natural_order import natural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.columns.strings import I64, U64
    from tfprof.compare.joint_graph import JointGraph

_RADIUS: Final = 8
_MOST_REFUSALS: Final = 4  # of a node; then it stays unmatched

Pair = tuple[int, int]
Group = list[int]


def match_structure(graph: JointGraph) -> None:
    """Pair nodes in unique surroundings, then what follows, then those in equal surroundings."""
    for colour in reversed(list(islice(graph.colours(), 1, _RADIUS))):
        nodes = graph.unmatched(connected=True)
        base, new = one_each(colour[nodes], nodes >= graph.first_new)
        graph.pair(nodes[base], nodes[new])
    spreading = _Spreading(graph)
    for named in (True, False):
        nodes = graph.unmatched(connected=not named)
        colour = next(islice(graph.colours(), _RADIUS - 1, None))[nodes]
        if named:
            colour = mix(colour + hash_without_suffixes(graph.names(nodes)))
        for both in _equal_numbers(graph, nodes, colour):
            if named and len(both[0]) > 1:
                for side in both:
                    side.sort(key=lambda node: natural(graph.name(node)))
            spreading.spread_in_order(*both)


def _equal_numbers(graph: JointGraph, nodes: I64, colour: U64) -> Iterable[list[list[int]]]:
    """[base nodes, new nodes] of each colour that as many have on both sides."""
    number = unique_inverse(colour.view(np.int64))[1]
    is_new = nodes >= graph.first_new
    more = np.bincount(number, np.where(is_new, 1, -1))
    alike: defaultdict[int, list[list[int]]] = defaultdict(lambda: [[], []])
    rows = np.flatnonzero(more[number] == 0)
    for node, each in zip(nodes[rows].tolist(), number[rows].tolist(), strict=True):
        alike[each][node >= graph.first_new].append(node)
    return [alike[each] for each in sorted(alike)]


class _Spreading:
    """Groups of unmatched nodes that are connected in the same way to the same matched pair.

    A group is [number of base nodes, their sum, number of new nodes, their sum]: when one node is
    left on each side, the sums are these nodes.
    """

    def __init__(self, graph: JointGraph) -> None:
        self._graph = graph
        self._kind, self._inputs = graph.kind.tolist(), graph.inputs.tolist()
        self._partner: list[int] = graph.partner.tolist()
        self._groups: dict[tuple[int, int, int], Group] = {}
        self._groups_of: defaultdict[int, list[Group]] = defaultdict(list)
        self._refusals: Counter[int] = Counter()
        # (other end, an odd number where this end reads and an even one where it is read)
        self._edges: defaultdict[int, list[Pair]] = defaultdict(list)
        is_open = np.append(graph.partner < 0, False)
        edge = np.flatnonzero((is_open[graph.source] | is_open[graph.target]) & (graph.source >= 0))
        how = 2 * unique_inverse(graph.where[edge].view(np.int64))[1]
        ends = graph.source[edge].tolist(), graph.target[edge].tolist(), how.tolist()
        for source, target, at in zip(*ends, strict=True):
            self._edges[target].append((source, at + 1))
            self._edges[source].append((target, at))
        bases = [n for n in self._edges if n < graph.first_new and self._partner[n] >= 0]
        groups = [group for n in bases for group in self._join(n, self._partner[n])]
        self._spread(self._follow(groups))

    def spread_in_order(self, base: list[int], new: list[int]) -> None:
        """Match the nodes of these lists in their order, unless they get other partners."""
        others = iter(new)
        for node in base:
            if self._partner[node] < 0:
                other = next((other for other in others if self._partner[other] < 0), -1)
                if other < 0 or not self._agree(node, other):
                    return
                self._spread([(node, other)])

    def _spread(self, pairs: list[Pair]) -> None:
        """Match these *pairs* and what follows from them."""
        found: list[Pair] = []
        while pairs:
            found += pairs
            for node, other in pairs:
                self._partner[node], self._partner[other] = other, node
            changed: list[Group] = []
            for pair in pairs:
                for node, side in zip(pair, (0, 2), strict=True):
                    for group in self._groups_of.pop(node, ()):
                        group[side] -= 1
                        group[side + 1] -= node
                        changed.append(group)
                changed += self._join(*pair)
            pairs = self._follow(changed)
        if found:
            self._graph.pair(*np.array(found).T)

    def _join(self, node: int, other: int) -> list[Group]:
        """Put the unmatched neighbours of a matched pair into groups."""
        comparable = self._inputs[node] == self._inputs[other]
        changed = []
        for end, side in ((node, 0), (other, 2)):
            for neighbour, how in self._edges[end]:
                if self._partner[neighbour] < 0 and (comparable or how % 2 == 0):
                    key = (node, how, self._kind[neighbour])
                    group = self._groups.setdefault(key, [0, 0, 0, 0])
                    if all(each is not group for each in self._groups_of[neighbour][-1:]):
                        self._groups_of[neighbour].append(group)
                        group[side] += 1
                        group[side + 1] += neighbour
                        changed.append(group)
        return changed

    def _follow(self, groups: Iterable[Group]) -> list[Pair]:
        """The pairs that these groups leave no choice about."""
        partner: dict[int, int] = {}
        for bases, node, news, other in groups:
            if bases == news == 1:
                for one, its in ((node, other), (other, node)):
                    partner[one] = its if partner.get(one, its) == its else -1
        pairs = ((node, partner[node]) for node in partner if node < self._graph.first_new)
        return [each for each in pairs if partner.get(each[1]) == each[0] and self._agree(*each)]

    def _agree(self, node: int, other: int) -> bool:
        """Whether what both read, or what reads both, is not matched otherwise."""
        if max(self._refusals[node], self._refusals[other]) >= _MOST_REFUSALS:
            return False
        matched = self._partner
        for reads in (0, 1):
            near, far = (
                {(n, how) for n, how in self._edges[end] if how % 2 == reads and matched[n] >= 0}
                for end in (node, other)
            )
            if near and far and not any((matched[n], how) in far for n, how in near):
                self._refusals.update((node, other))
                return False
        return True
