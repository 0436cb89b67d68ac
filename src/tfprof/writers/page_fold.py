"""fold(profile, most) → a profile of fewer nodes: small scopes are one node per operation type.

    net/conv/kernel       VariableV2             net/conv/VariableV2[2]
    net/conv/bias         VariableV2       ──►   net/conv/Conv2D
    net/conv/Conv2D       Conv2D

Nodes are folded together if they are in the same small scope and have the same types, the same
device and, unless that leaves too many, the same line of code. So all views count as much as before
in total. How small a scope has to be follows from the number of nodes that may stay.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.columns.unique import combined, first_rows, marked, sum_by, unique, unique_inverse
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Edges, Nodes, Profile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfprof.columns.strings import Bool
    from tfprof.columns.tree import Tree
    from tfprof.views.drawing import Drawing


_NODES_OF_STEP: Final = ("node", "memory_node", "allocation_node")


class Fold(NamedTuple):
    """A folded profile, and what its nodes stand for."""

    profile: Profile
    group: I64  # the node of the folded profile that each node is part of
    first: I64  # the first node of each group
    size: I64  # how many nodes it stands for

    def sums(self, values: I64) -> I64:
        """The sum of *values* over each group."""
        return sum_by(self.group, values, self.first.size)

    def any(self, marks: Bool) -> Bool:
        """Whether a node of each group is marked."""
        return marked(self.group[marks], self.first.size)

    def drawing(self, drawn: Drawing) -> Drawing:
        """A drawing of all nodes with one row per group; rows that stand for others move up."""
        owner, stays = drawn.owner[self.first], np.ones(len(drawn.tree), np.bool_)
        if drawn.frame is None:
            stays[1:] = False
            stays[owner[owner >= 0]] = True
        place = np.append(np.cumsum(stays) - 1, -1)
        return replace(drawn, tree=drawn.tree.keep_rows(stays), owner=place[owner])


def fold(profile: Profile, drawings: Mapping[str, Drawing], most: int) -> Fold:
    """*profile* with at most *most* nodes, if scopes allow it; *drawings* show all nodes."""
    scope = drawings["scope"]
    place, group, first = _groups(profile, drawings, most)
    order = np.argsort(first, kind="stable")  # in the order of the graph
    number = np.empty_like(order)
    number[order] = np.arange(order.size)
    group, first = number[group], first[order]
    count = np.bincount(group, minlength=first.size)
    labels = scope.label.take(place[first]).where(place[first] > 0)
    names = _names(profile, labels, first, count)
    return Fold(_folded(profile, names, group, first), group, first, count)


def _groups(profile: Profile, drawings: Mapping[str, Drawing], most: int) -> tuple[I64, I64, I64]:
    """(the row that each node is folded into, its group, the first node of each group).

    The first kind of folding that leaves at most *most* groups, with the smallest size of scopes.
    """
    scopes = _Scopes(drawings["scope"].tree, drawings["scope"].owner)
    for alike, leaves in product(_kinds(profile, drawings), (False, True)):
        low, high = 1, int(scopes.owner.size).bit_length()  # exponents of sizes
        chosen = scopes.groups(1 << high, alike, leaves=leaves)
        while low < high and chosen[2].size <= most:  # larger scopes leave fewer groups
            middle = (low + high) // 2
            tried = scopes.groups(1 << middle, alike, leaves=leaves)
            if tried[2].size <= most:
                high, chosen = middle, tried
            else:
                low = middle + 1
        if chosen[2].size <= most:
            break
    return chosen


class _Scopes:
    """Folds nodes by the size of their scopes."""

    def __init__(self, tree: Tree, owner: I64) -> None:
        self.owner = owner
        self._tree, self._is_leaf, self._parent = tree, tree.is_leaf, tree.parent.copy()
        self._parent[0] = 0
        self._nodes = tree.totals(marked(owner[owner >= 0], len(tree)).astype(np.int64))

    def groups(self, size: int, alike: I64, *, leaves: bool) -> tuple[I64, I64, I64]:
        """(the row that each node is folded into, its group, the first node of each group).

        Scopes of up to *size* nodes are folded, and with *leaves* those of a large one.
        """
        large = self._nodes > size
        large[0] = True
        top = self._tree.nearest_kept(large | large[self._parent])
        up = self._is_leaf[top] & leaves & ~large[top]
        place = np.where(up, self._parent[top], top)[self.owner]
        return place, *combined(place, alike)


def _kinds(profile: Profile, drawings: Mapping[str, Drawing]) -> Iterator[I64]:
    """Numbers that are equal for nodes that may be folded together; the better way first."""
    node, kind = profile.type_pairs
    start = np.searchsorted(node, np.arange(len(profile) + 1)) * kind.itemsize
    types = Strings(np.ascontiguousarray(kind).view(np.uint8), start[:-1], np.diff(start)).intern()
    owners = [drawings[name].owner for name in ("graph", "code") if name in drawings]
    # What one view does not count is not folded with what it counts.
    counts = [(owner >= 0).astype(np.int64) for owner in owners]
    alike = _together([types[0], profile.nodes.device + 1, *counts])
    if "code" in drawings:  # each line of code counts as much as before
        yield _together([alike, drawings["code"].owner + 1])
    yield alike


def _together(columns: list[I64]) -> I64:
    """Equal numbers for rows that are equal in all *columns*, whose numbers are 0 or more."""
    number = columns[0]
    for column in columns[1:]:
        number = unique_inverse(number * (int(column.max(initial=0)) + 1) + column)[1]
    return number


def _names(profile: Profile, scopes: Strings, first: I64, count: I64) -> Strings:
    """The name of each group: of a single node its own, else scope, type and how many."""
    taken = set(profile.nodes.name)
    types = profile.types.take(profile.nodes.op[first])
    rows = zip(profile.nodes.name.take(first), scopes, types, count.tolist(), strict=True)
    return Strings.of(_name(*row, taken) for row in rows)


def _name(own: bytes, scope: bytes, kind: bytes, nodes: int, taken: set[bytes]) -> bytes:
    if nodes == 1:
        return own
    inside = b"%b[%d]" % (kind.replace(b"/", b"_"), nodes)
    name = unique_name = b"/".join([scope, inside]) if scope else inside
    number = 1
    while unique_name in taken:
        number += 1
        unique_name = b"%b:%d" % (name, number)
    taken.add(unique_name)
    return unique_name


def _folded(profile: Profile, names: Strings, group: I64, first: I64) -> Profile:
    nodes = profile.nodes
    columns = (column[first] for column in (nodes.op, nodes.device, nodes.float_ops, nodes.stack))
    op, device, float_ops, stack = columns
    typed = unique(group[profile.typed_node] * max(len(profile.types), 1) + profile.typed_as)
    typed_node, typed_as = divmod(typed, max(len(profile.types), 1))
    return Profile(
        nodes=Nodes(names, op, device, float_ops, stack, nodes.shape.take(first)),
        types=profile.types,
        typed_node=typed_node,
        typed_as=typed_as,
        edges=_edges(profile.edges, group, first.size),
        stacks=profile.stacks,
        has_traces=profile.has_traces,
        steps=tuple(
            replace(step, **{name: group[getattr(step, name)] for name in _NODES_OF_STEP})
            for step in profile.steps
        ),
    )


def _edges(edges: Edges, group: I64, groups: int) -> Edges:
    """The inputs of each group, each once; none within a group."""
    consumer = np.repeat(group, np.diff(edges.start))
    source = np.where(edges.source < 0, edges.source, np.append(group, -1)[edges.source])
    row = np.flatnonzero(consumer != source)
    low = int(source.min(initial=0))
    pair = consumer[row] * (groups - low) + source[row] - low
    row = np.sort(row[first_rows(pair)[1]])
    row = row[np.argsort(consumer[row], kind="stable")]
    start = np.searchsorted(consumer[row], np.arange(groups + 1))
    return Edges(start, source[row], edges.slot[row], edges.unknown)
