"""Answer: the displayed rows of a view, with own and total of any metric when asked.

Counted   the rows that are accounted, where totals come from
Answer    the rows that are displayed, each a row of Counted
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.foundation.lazy_dataclasses import dataclass, field, replace

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool, Strings
    from tfprof.columns.tree import Tree
    from tfprof.flops import Counts
    from tfprof.model import Note, Profile
    from tfprof.query.query import Query
    from tfprof.views import View
    from tfprof.views.drawing import Drawing

# A metric of the rows themselves: how many graph nodes each stands for.
DEFINED = "defined"


@dataclass(frozen=True, eq=False)
class Counted:
    """The rows that are counted, in the order that totals run."""

    profile: Profile
    drawing: Drawing
    tree: Tree
    row: I64  # of the drawing
    accounted_row: Bool  # of the drawing: whether the row itself is accounted
    step: int | None
    picked: I64 | None  # how many times each node is counted in its row; None: every one once
    root_defined: int = 0  # whether the root counts itself among what is defined
    _kept: dict[tuple[str, str], I64] = field(default_factory=dict)

    @property
    def accounted(self) -> Bool:
        """Whether each row is itself accounted."""
        return self.accounted_row[self.row]

    def own(self, metric: str) -> I64:
        """The metric of each row alone."""
        return self._keep("own", metric)

    def total(self, metric: str) -> I64:
        """The metric of each row and all that is below it."""
        return self._keep("total", metric)

    def keep(self, kept: Bool) -> Counted:
        """Only these rows, with totals over what is left."""
        return replace(self, tree=self.tree.keep(kept), row=self.row[kept], _kept={})

    def _keep(self, kind: str, metric: str) -> I64:
        if (kind, metric) not in self._kept:
            made = self._own(metric) if kind == "own" else self.tree.totals(self.own(metric))
            self._kept[kind, metric] = made
        return self._kept[kind, metric]

    def _own(self, metric: str) -> I64:
        if metric == DEFINED and self.picked is None:
            column = np.ones(self.row.size, np.int64)
            column[0] = self.root_defined
            return column
        drawn = np.flatnonzero(self.drawing.owner >= 0)
        column = np.zeros(len(self.drawing.tree), np.int64)
        np.add.at(column, self.drawing.owner[drawn], self._values(metric, drawn))
        return column[self.row]

    def _values(self, metric: str, drawn: I64) -> I64:
        if metric == DEFINED:
            assert self.picked is not None
            return (self.picked[drawn] > 0).astype(np.int64)
        values = self.profile.values(metric, self.step)[drawn]
        if self.picked is None:
            return values
        # parity Q4: a node that two regexes pick counts twice, but occurs once.
        times = self.picked[drawn]
        return values * ((times > 0) if metric == "occurrence" else times)


@dataclass(frozen=True, eq=False)
class Answer:
    """The displayed rows, in drawing order, and what was asked for."""

    view: View
    query: Query
    tree: Tree
    counted: Counted
    counted_row: I64
    notes: tuple[Note, ...] = ()
    flops: Counts | None = None  # what the rules counted, where they were asked

    def __len__(self) -> int:
        return len(self.tree)

    @property
    def profile(self) -> Profile:
        """What the report is about."""
        return self.counted.profile

    @property
    def drawing(self) -> Drawing:
        """The view that the rows are of."""
        return self.counted.drawing

    @property
    def row(self) -> I64:
        """The row of the drawing that each row is."""
        return self.counted.row[self.counted_row]

    @property
    def node(self) -> I64:
        """The graph node of each row; -1 for a row that is none."""
        return self.drawing.node[self.row]

    @property
    def label(self) -> Strings:
        """The name of each row."""
        return self.drawing.label.take(self.row)

    @property
    def accounted(self) -> Bool:
        """Whether each row is itself accounted."""
        return self.counted.accounted[self.counted_row]

    def own(self, metric: str) -> I64:
        """The metric of each row alone."""
        return self.counted.own(metric)[self.counted_row]

    def total(self, metric: str) -> I64:
        """The metric of each row with what is counted below it."""
        return self.counted.total(metric)[self.counted_row]

    def hidden_above(self) -> I64:
        """How many counted rows are hidden between each row and the displayed one above it."""
        depth = self.counted.tree.depth[self.counted_row]
        above = np.where(self.tree.parent >= 0, depth[self.tree.parent] + 1, depth)
        return depth - above

    def members(self) -> tuple[I64, I64]:
        """(start, node): the graph nodes of row i are node[start[i]:start[i + 1]], by name."""
        owner = self.drawing.owner
        nodes = self.profile.by_name
        picked = owner[nodes] >= 0
        if self.counted.picked is not None:
            picked &= self.counted.picked[nodes] > 0
        nodes = nodes[picked]
        place = np.full(len(self.drawing.tree), -1, np.int64)
        place[self.row] = np.arange(len(self))
        nodes = nodes[place[owner[nodes]] >= 0]
        row = place[owner[nodes]]
        nodes = nodes[np.argsort(row, kind="stable")]
        return np.searchsorted(np.sort(row), np.arange(len(self) + 1)), nodes
