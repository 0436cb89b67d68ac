"""A tree as two columns: rows in drawing order, and where each row's subtree ends.

    row  tree        end
     0   root         6      A subtree is the slice row:end[row]; a total is a difference of
     1   ├─ a         4      prefix sums; hiding a row is deleting it, its children move up;
     2   │  ├─ b      3      the depth of a row is the number of subtrees open at it.
     3   │  └─ c      4
     4   └─ d         6      Nothing recurses: a chain a million deep is no special case.
     5      └─ e      6

Row 0 is the root of all others. Nobody outside this file touches the end column.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool


@dataclass(frozen=True, eq=False)
class Tree:
    """Every method returns columns or a new tree; a tree itself never changes."""

    _end: I64

    @classmethod
    def from_depth(cls, depth: I64) -> Tree:
        """The tree whose rows, in drawing order, have these depths; the root's is 1.

        Of the rows at one depth, each is closed before the next is opened, so the n-th that
        opens is the n-th that closes.
        """
        closing = depth - np.append(depth[1:], 1) + 1
        closing[-1:] = depth[-1:]
        position = np.repeat(np.arange(1, depth.size + 1), closing)
        first = np.repeat(np.cumsum(closing) - closing, closing)
        closed_depth = np.repeat(depth, closing) - (np.arange(position.size) - first)
        end = np.empty(depth.size, np.int64)
        opened = np.argsort(depth, kind="stable")
        end[opened] = position[np.argsort(closed_depth, kind="stable")]
        return cls(end)

    def __len__(self) -> int:
        return int(self._end.size)

    def check(self) -> None:
        """Raise AssertionError unless this is one tree: subtrees nest and the root holds all."""
        rows = np.arange(len(self))
        assert len(self) > 0, "a tree has a root"
        assert int(self._end[0]) == len(self), "the root holds every row"
        assert bool((self._end > rows).all()), "a subtree holds its own row"
        assert bool((self._end <= len(self)).all()), "a subtree ends with the tree"
        assert bool((self._end <= np.append(len(self), self._end[self.parent[1:]])).all())

    @cached_property
    def depth(self) -> I64:
        """How many subtrees are open at each row, its own included; 1 for the root."""
        return self._over_open(np.ones(len(self), np.int64))

    @cached_property
    def parent(self) -> I64:
        """The row above each row; -1 for the root."""
        rows = np.arange(len(self))
        span = len(self) + 1
        order = np.argsort(self.depth, kind="stable")
        above = np.searchsorted(
            self.depth[order] * span + order, (self.depth - 1) * span + rows, "right"
        )
        parent: I64 = np.where(rows > 0, order[above - 1], -1)
        return parent

    @property
    def size(self) -> I64:
        """How many rows each subtree has."""
        return self._end - np.arange(len(self))

    def post_order(self) -> I64:
        """The rows, each behind all that is below it."""
        return np.lexsort((-self.depth, self._end))

    def totals(self, own: I64) -> I64:
        """The sum of *own* over each row's subtree."""
        running = np.concatenate([np.zeros(1, np.int64), np.cumsum(own)])
        total: I64 = running[self._end] - running[:-1]
        return total

    def holds(self, marked: Bool) -> Bool:
        """Whether each row's subtree has a marked row."""
        return self.totals(marked.astype(np.int64)) > 0

    def under(self, marked: Bool) -> Bool:
        """Whether each row has a marked row above it (itself does not count)."""
        return self._over_open(marked.astype(np.int64)) > marked

    def keep(self, kept: Bool) -> Tree:
        """The tree without the rows that are not *kept*; their children move up."""
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        return Tree(before[self._end[kept]])

    def sort(self, key: I64) -> tuple[Tree, I64]:
        """(tree, old row of each new row) with siblings in ascending order of *key*.

        Equal keys keep their order.
        """
        order = np.lexsort((key, self.parent))
        sizes = self.size[order]
        family = self.parent[order]
        running = np.cumsum(sizes) - sizes
        first = np.ones(order.size, np.bool_)
        first[1:] = family[1:] != family[:-1]
        heads = np.flatnonzero(first)
        base = np.repeat(running[heads], np.diff(np.append(heads, order.size)))
        step = np.empty(order.size, np.int64)
        # A row stands behind its parent and the subtrees of the siblings before it.
        step[order] = running - base + 1
        step[0] = 0
        new_row = self._over_open(step)
        old_row = np.empty(order.size, np.int64)
        old_row[new_row] = np.arange(order.size)
        return Tree((new_row + self.size)[old_row]), old_row

    def sum_above(self, value: I64) -> I64:
        """The sum of *value* over each row and the rows above it."""
        return self._over_open(value)

    def _over_open(self, value: I64) -> I64:
        """The sum of *value* over the subtrees open at each row."""
        change = np.append(value, 0)
        np.subtract.at(change, self._end, value)
        return np.cumsum(change)[:-1]
