"""The rows of a summary: the layers of a model down to a depth, told from its name scopes.

    net                 a title: it holds one scope and nothing else
      stem              a layer
      block1            a block: several of its scopes have parameters
        conv            a layer
        (other)         what block1 computes outside of these
      head              a layer

A scope that computes nothing, such as that of a variable, is a part of the one around it. A scope
is split into those in it where parameters stand in two of them or more; others are layers, however
TensorFlow names what they are made of. Rows are in the order in which the graph first names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.summary.scopes import Scopes

OTHER: Final = b"(other)"


@dataclass(frozen=True, eq=False)
class Layers:
    """A row a layer, a block or what is left in a block; parents before what is in them."""

    title: bytes
    name: list[bytes]  # what it is called below the row around it
    path: list[bytes]  # the whole name of its scope
    parent: list[int]  # -1 for those that are in no other
    depth: list[int]  # from 1
    is_block: list[bool]  # whether its numbers are those of the rows in it
    of_node: I64

    def __len__(self) -> int:
        return len(self.name)


def layers(scopes: Scopes, computes: Bool, holds: I64, depth: int) -> Layers:
    """The layers down to *depth*; *computes* and *holds* are of nodes and of parameters' readers.

    Nodes that neither compute nor read a parameter have a row as well, but nothing to add to it.
    """
    tree = _Tree(scopes, computes, holds)
    rows = _Rows(tree, depth)
    top = tree.top()
    rows.add_inside(top, -1, 1)
    row = np.array(rows.of_scope, np.int64)
    return Layers(
        scopes.name(top),
        rows.name,
        rows.path,
        rows.parent,
        rows.depth,
        rows.is_block,
        row[scopes.of_node],
    )


class _Tree:
    """What the scopes of a graph hold, and which of them are worth a row."""

    def __init__(self, scopes: Scopes, computes: Bool, holds: I64) -> None:
        count = len(scopes)
        self.scopes = scopes
        here = np.bincount(scopes.of_node[computes], minlength=count).tolist()
        held = np.bincount(scopes.of_node[holds], minlength=count).tolist()
        first = np.full(count, np.iinfo(np.int64).max)
        counted = np.flatnonzero(computes)
        np.minimum.at(first, scopes.of_node[counted], counted)
        self.first: list[int] = first.tolist()
        work, has = list(here), list(held)
        for scope in range(count - 1, 0, -1):
            around = scopes.parent[scope]
            work[around] += work[scope]
            has[around] += has[scope]
            self.first[around] = min(self.first[around], self.first[scope])
        self.kept = [one > 0 for one in work]
        self.kept[0] = True
        self.inside: list[list[int]] = [[] for _ in range(count)]
        for scope in range(1, count):
            if self.kept[scope]:
                self.inside[scopes.parent[scope]].append(scope)
        for inside in self.inside:
            inside.sort(key=self.first.__getitem__)
        self.here = here
        self.splits = self._splits(has if has[0] else work)
        # The scope that those belong to which are not kept.
        self.home = list(range(count))
        for scope in range(1, count):
            if not self.kept[scope]:
                self.home[scope] = self.home[scopes.parent[scope]]
        self.holds_here = [0] * count
        for scope, holding in enumerate(held):
            self.holds_here[self.home[scope]] += holding

    def _splits(self, has: list[int]) -> list[bool]:
        """Which scopes are blocks: parameters stand in two of those inside, or one is a block."""
        splits = [False] * len(self.kept)
        holding = [0] * len(self.kept)
        for scope in range(len(self.kept) - 1, 0, -1):
            if not self.kept[scope]:
                continue
            around = self.scopes.parent[scope]
            holding[around] += has[scope] > 0
            splits[scope] |= holding[scope] > 1
            splits[around] |= splits[scope]
        return splits

    def top(self) -> int:
        """Where the tree begins to branch."""
        scope = 0
        while self.is_only_a_way(scope):
            scope = self.inside[scope][0]
        return scope

    def is_only_a_way(self, scope: int) -> bool:
        """Whether a scope holds one other and nothing else."""
        alone = len(self.inside[scope]) == 1
        return alone and not self.here[scope] and not self.holds_here[scope]


class _Rows:
    """The rows as they are added, and the row of each scope."""

    def __init__(self, tree: _Tree, depth: int) -> None:
        self.tree, self._most = tree, depth
        self.name: list[bytes] = []
        self.path: list[bytes] = []
        self.parent: list[int] = []
        self.depth: list[int] = []
        self.is_block: list[bool] = []
        self.of_scope = [0] * len(tree.kept)

    def add_inside(self, top: int, parent: int, depth: int) -> None:
        """Rows for what is in a scope, to any depth, and the row of every scope."""
        row_of: dict[int, int] = {}
        ahead = [(scope, parent, depth) for scope in reversed(self.tree.inside[top])]
        ahead.insert(0, (-1 - top, parent, depth))
        while ahead:
            scope, around, at = ahead.pop()
            if scope < 0:
                row_of[-1 - scope] = self._add(OTHER, -1 - scope, around, at)
                continue
            last = scope
            while self.tree.is_only_a_way(last) and self.tree.splits[last]:
                last = self.tree.inside[last][0]
            label = self.tree.scopes.name(last)
            above = self.tree.scopes.name(self.tree.scopes.parent[scope])
            name = label[len(above) + 1 :] if above else label
            is_block = self.tree.splits[last] and at < self._most
            row = self._add(name, last, around, at, is_block=is_block)
            row_of[scope] = row_of[last] = row
            if is_block:
                ahead.append((-1 - last, row, at + 1))
                ahead += [(one, row, at + 1) for one in reversed(self.tree.inside[last])]
        self._place(top, row_of)

    def _add(
        self, name: bytes, scope: int, parent: int, depth: int, *, is_block: bool = False
    ) -> int:
        self.name.append(name)
        self.path.append(self.tree.scopes.name(scope))
        self.parent.append(parent)
        self.depth.append(depth)
        self.is_block.append(is_block)
        return len(self.name) - 1

    def _place(self, top: int, row_of: dict[int, int]) -> None:
        """The row of every scope: its own, or that of the scope it is a part of."""
        parent = self.tree.scopes.parent
        for scope in range(len(self.of_scope)):
            known = row_of.get(scope)
            if known is None:
                known = self.of_scope[parent[scope]] if scope else row_of[top]
            self.of_scope[scope] = known
