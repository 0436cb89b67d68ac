"""A tree as two columns: rows in drawing order, and where each row's subtree ends.

    row  tree        end
     0   root         6      A subtree is the slice row:end[row]. A total is a difference of
     1   ├─ a         4      prefix sums. To hide a row is to delete it: its children move up.
     2   │  ├─ b      3      The depth of a row is the number of subtrees open at it.
     3   │  └─ c      4
     4   └─ d         6      Nothing recurses: a chain a million deep is no special case.
     5      └─ e      6

Row 0 is the root. Only this file uses the end column and the sizes of subtrees.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.kernels.table import kernel

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool


@dataclass(frozen=True, eq=False)
class Tree(Frozen):
    """Rows in drawing order. A tree never changes: methods return columns or a new tree."""

    _end: I64

    @classmethod
    def from_depth(cls, depth: I64) -> Tree:
        """The tree whose rows, in drawing order, have these depths; the root's depth is 1."""
        return cls(subtree_ends(depth))

    @classmethod
    def from_ends(cls, ends: I64) -> Tree:
        """The tree whose `ends` these are; raises ValueError where they are those of no tree."""
        rows = ends.size
        if not rows or ends[0] != rows or ends.max() > rows or not (ends > np.arange(rows)).all():
            raise ValueError("these are not the ends of subtrees")
        return cls(ends)

    @property
    def ends(self) -> I64:
        """The tree as a column, for files."""
        return self._end

    def __len__(self) -> int:
        return int(self._end.size)

    def check(self) -> None:
        """Raise AssertionError unless subtrees nest and the root holds every row."""
        rows = np.arange(len(self))
        assert len(self) > 0, "a tree has a root"
        assert int(self._end[0]) == len(self), "the root holds every row"
        assert bool((self._end > rows).all()), "a subtree holds its own row"
        assert bool((self._end <= len(self)).all()), "a subtree ends with the tree"
        assert bool((self._end <= np.append(len(self), self._end[self.parent[1:]])).all())

    @cached_property
    def depth(self) -> I64:
        """How many subtrees are open at each row, its own included; 1 for the root."""
        return self.sum_above(np.ones(len(self), np.int64))

    @cached_property
    def parent(self) -> I64:
        """The row above each row; -1 for the root."""
        return parent_rows(self._end, self.depth)

    @property
    def _size(self) -> I64:
        """How many rows each subtree has."""
        return self._end - np.arange(len(self))

    @property
    def is_leaf(self) -> Bool:
        """Which rows have no children."""
        leaf: Bool = self._size == 1
        return leaf

    def children(self, row: int) -> list[int]:
        """The rows directly below *row*, in drawing order."""
        order, start = self._by_parent
        below: list[int] = order[start[row] : start[row + 1]].tolist()
        return below

    @cached_property
    def _by_parent(self) -> tuple[I64, I64]:
        """(order, start): the children of row i are order[start[i]:start[i + 1]]."""
        order = np.argsort(self.parent, kind="stable")
        return order, np.searchsorted(self.parent[order], np.arange(len(self) + 1))

    def post_order(self) -> I64:
        """The rows, children before their parent."""
        return np.lexsort((-self.depth, self._end))

    def slices(self, rows: I64, ascending: I64) -> tuple[I64, I64]:
        """(first, last): which of the *ascending* rows are in the subtree of each of *rows*."""
        return np.searchsorted(ascending, rows), np.searchsorted(ascending, self._end[rows])

    def nearest_kept(self, kept: Bool) -> I64:
        """The nearest *kept* row at or above each row; the root has to be kept."""
        rows = np.arange(len(self))
        # The row that holds another is the last to open the same number of kept subtrees.
        place = self.sum_above(kept.astype(np.int64)) * rows.size + rows
        opened = np.flatnonzero(kept)
        opened = opened[np.argsort(place[opened])]
        nearest: I64 = opened[np.searchsorted(place[opened], place, "right") - 1]
        return nearest

    def totals(self, own: I64) -> I64:
        """The sum of *own* over each row's subtree."""
        running = np.zeros(len(self) + 1, np.int64)
        np.cumsum(own, out=running[1:])
        total: I64 = running.take(self._end)
        total -= running[:-1]
        return total

    def holds(self, marked: Bool) -> Bool:
        """Whether each row's subtree, the row included, has a marked row."""
        return self.totals(marked.astype(np.int64)) > 0

    def under(self, marked: Bool) -> Bool:
        """Whether each row has a marked row above it; the row itself does not count."""
        return self.sum_above(marked.astype(np.int64)) > marked

    def keep_rows(self, kept: Bool) -> Tree:
        """The tree without the rows that are not *kept*; their children move up."""
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        return Tree(before[self._end[kept]])

    def sort(self, key: I64) -> tuple[Tree, I64]:
        """(tree, old row of each new row) with siblings sorted by *key*; the sort is stable."""
        order = np.lexsort((key, self.parent))
        sizes = self._size[order]
        family = self.parent[order]
        running = np.cumsum(sizes) - sizes
        first = np.ones(order.size, np.bool_)
        first[1:] = family[1:] != family[:-1]
        heads = np.flatnonzero(first)
        base = np.repeat(running[heads], np.diff(np.append(heads, order.size)))
        step = np.empty(order.size, np.int64)
        # A row comes after its parent and the subtrees of the siblings before it.
        step[order] = running - base + 1
        step[0] = 0
        new_row = self.sum_above(step)
        old_row = np.empty(order.size, np.int64)
        old_row[new_row] = np.arange(order.size)
        return Tree((new_row + self._size)[old_row]), old_row

    def sum_above(self, value: I64) -> I64:
        """The sum of *value* over each row and the rows above it."""
        change = np.append(value, 0)
        np.subtract.at(change, self._end, value)
        return np.cumsum(change)[:-1]


@kernel
def subtree_ends(depth: I64) -> I64:
    """Where the subtree of each row ends, by the depths of rows in drawing order."""
    # At each depth a subtree closes before the next opens, so the n-th to open is the n-th to
    # close.
    closing = depth - np.append(depth[1:], 1) + 1
    closing[-1:] = depth[-1:]
    position = np.repeat(np.arange(1, depth.size + 1), closing)
    first = np.repeat(np.cumsum(closing) - closing, closing)
    closed_depth = np.repeat(depth, closing) - (np.arange(position.size) - first)
    end = np.empty(depth.size, np.int64)
    opened = np.argsort(depth, kind="stable")
    end[opened] = position[np.argsort(closed_depth, kind="stable")]
    return end


@kernel
def parent_rows(end: I64, depth: I64) -> I64:
    """The row above each row; -1 for the root."""
    rows, span = np.arange(end.size), end.size + 1
    order = np.argsort(depth, kind="stable")
    places = depth[order] * span + order
    above = np.searchsorted(places, (depth - 1) * span + rows, "right")
    parent: I64 = np.where(rows > 0, order[above - 1], -1)
    return parent
