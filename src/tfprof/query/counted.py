"""Answer: the displayed rows of a view, with the own and total value of any metric.

Counted   the rows that totals are taken over
Answer    the rows that are displayed, each a row of Counted
Samples   of a fleet: what each node counts in each step of each worker. A number of a row is then a
          statistic over its numbers in these steps, which Counted adds up one step at a time
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.unique import marked, sum_by
from tfprof.foundation.caches import Cache
from tfprof.foundation.lazy_dataclasses import dataclass, field, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tfprof.columns.strings import I64, Bool, Strings
    from tfprof.columns.tree import Tree
    from tfprof.model import Note, Profile
    from tfprof.ops.counting import Counts
    from tfprof.query.query import Query
    from tfprof.tables.statistics import Statistic
    from tfprof.views import View
    from tfprof.views.drawing import Drawing

    C = TypeVar("C", I64, Bool)

# A metric of the rows themselves: how many graph nodes each represents.
DEFINED = "defined"
# The same in every step.
_OF_GRAPH = (DEFINED, "params")


class Samples(Protocol):
    """What each node counts in each step of each worker of a fleet; a worker step is a sample."""

    @property
    def statistic(self) -> Statistic:
        """What a number says about all samples."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """The statistic, the workers and how many samples there are, for data formats."""

    @property
    def key(self) -> tuple[object, ...]:
        """What the number of a row depends on, besides its nodes."""

    def asked(self, query: Query) -> Samples:
        """The samples that another *query* is about."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that the query needs, which are computed together."""

    def over(
        self, profile: Profile, metrics: tuple[str, ...], add_up: Callable[[str, I64], I64]
    ) -> dict[str, I64]:
        """For each metric, the statistic over *add_up* of the numbers of all nodes per sample.

        *add_up* has to be linear. Means and percentiles are float64.
        """

    def __str__(self) -> str:
        """One sentence on what the numbers are."""


@dataclass(frozen=True, eq=False)
class Counted(Frozen):
    """The rows that totals are taken over, as a tree, and the numbers of each row.

    Rows are hidden from a report without leaving this tree, so totals still include them.
    """

    profile: Profile
    drawing: Drawing
    tree: Tree
    row: I64  # the row of the drawing
    accounted_row: Bool  # per row of the drawing: whether the row itself is accounted
    step: int | None
    picked: I64 | None  # how often each node counts in its row; None: once
    root_defined: int = 0  # 1 if the root counts as a node
    samples: Samples | None = None  # of a fleet
    _cache: Cache = field(default_factory=Cache, init=False, repr=False)

    @property
    def accounted(self) -> Bool:
        """Whether each row is itself accounted."""
        return self._by_row(self.accounted_row)

    def own(self, metric: str) -> I64:
        """The metric of each row alone."""
        if self.samples is not None and metric not in _OF_GRAPH:
            return self._sampled(self.samples, metric)[0]
        return self._cache.cached(("own", metric), lambda: self._own(metric))

    def total(self, metric: str) -> I64:
        """The metric of each row and everything below it."""
        if self.samples is not None and metric not in _OF_GRAPH:
            return self._sampled(self.samples, metric)[1]
        return self._cache.cached(("total", metric), lambda: self._totals(self.own(metric)))

    def _sampled(self, samples: Samples, metric: str) -> tuple[I64, I64]:
        """(own, total) as the statistic over all samples."""
        metrics = samples.metrics if metric in samples.metrics else (metric,)
        return self._cache.cached(("samples", metrics), lambda: self._of_samples(samples, metrics))[
            metric
        ]

    def _of_samples(self, samples: Samples, metrics: tuple[str, ...]) -> dict[str, tuple[I64, I64]]:
        rows = self.row.size
        # A row without rows below it has one number, and one without nodes has none of its own.
        inner = self._totals(np.ones(rows, np.int64)) > 1
        has_nodes, _ = self.holding("any", lambda: np.ones(len(self.profile), np.bool_))
        apart = np.flatnonzero(inner & has_nodes)

        def add_up(metric: str, values: I64) -> I64:
            own = self._own_of(metric, values)
            return np.concatenate([self._totals(own), own[apart]])

        result = {}
        for metric, column in samples.over(self.profile, metrics, add_up).items():
            total = column[:rows]
            own = np.where(inner, 0, total)
            own[apart] = column[rows:]
            result[metric] = own, total
        return result

    def values(self, metric: str) -> I64:
        """The metric of each node."""
        samples = self.samples
        if samples is None or metric in _OF_GRAPH:
            return self.profile.values(metric, self.step)
        of_nodes = self._cache.cached(
            ("nodes", metric), lambda: samples.over(self.profile, (metric,), lambda _, each: each)
        )
        return of_nodes[metric]

    def holding(self, key: str, nodes: Callable[[], Bool]) -> tuple[Bool, Bool]:
        """(own, total): which rows count one of *nodes*, themselves or below them."""
        return self._cache.cached(("holding", key), lambda: self._holding(nodes()))

    def _holding(self, nodes: Bool) -> tuple[Bool, Bool]:
        counts = nodes & (self.drawing.owner >= 0)
        if self.picked is not None:
            counts &= self.picked > 0
        own = marked(self.drawing.owner[counts], len(self.drawing.tree))
        own = own[self.row]
        return own, self._totals(own.astype(np.int64)) > 0

    def add_up(self, metric: str, values: I64) -> tuple[I64, I64]:
        """(own, total) of each row where the nodes count *values* of a metric."""
        own = self._own_of(metric, values)
        return own, self._totals(own)

    def _totals(self, own: I64) -> I64:
        """The sum of *own* over each row and everything counted below it."""
        if self.drawing.accounting is None:
            return self.tree.totals(own)
        tree, place = self.drawing.accounting
        kept = marked(place[self.row], len(tree))
        order = np.argsort(place[self.row])
        total = np.empty_like(own)
        total[order] = tree.keep_rows(kept).totals(own[order])
        return total

    def keep_rows(self, kept: Bool) -> Counted:
        """These rows alone, with totals over them alone."""
        return replace(self, tree=self.tree.keep_rows(kept), row=self.row[kept])

    def _own(self, metric: str) -> I64:
        if metric == DEFINED and self.picked is None:
            column = np.ones(self.row.size, np.int64)
            column[0] = self.root_defined
            return column
        if metric == DEFINED:
            return self._own_of(metric, np.ones(len(self.profile), np.int64))
        return self._own_of(metric, self.profile.values(metric, self.step))

    def _own_of(self, metric: str, values: I64) -> I64:
        """The sum of the *values* of the nodes of each row alone."""
        drawn = self.drawing.drawn
        values = values[drawn]
        if self.picked is not None:
            # parity Q4: a node that two regexes pick counts twice, but occurs once.
            times = self.picked[drawn]
            values = values * ((times > 0) if metric in (DEFINED, "occurrence") else times)
        rows = len(self.drawing.tree)
        if not values.any():  # as the time of accelerators mostly is
            return np.zeros(self.row.size, np.int64)
        if not self.drawing.has_one_node_per_row:
            return self._by_row(sum_by(self.drawing.owner[drawn], values, rows))
        own = np.zeros(rows, np.int64)
        own[self.drawing.owner[drawn]] = values
        return self._by_row(own)

    def _by_row(self, column: C) -> C:
        """The *column* of rows of the drawing, for each row."""
        return column if self._has_all_rows else column[self.row]

    @cached_property
    def _has_all_rows(self) -> bool:
        """Whether the rows are those of the drawing."""
        return np.array_equal(self.row, np.arange(len(self.drawing.tree)))


@dataclass(frozen=True, eq=False)
class Answer(Frozen):
    """What a query gives: the displayed rows of a view, in drawing order, and the query itself."""

    view: View
    query: Query
    tree: Tree
    counted: Counted
    counted_row: I64
    notes: tuple[Note, ...] = ()
    flops: Counts | None = None  # the coverage of the float operation rules, if they were applied

    def __len__(self) -> int:
        return len(self.tree)

    @property
    def profile(self) -> Profile:
        """The profile, with float operations as the query asks for them."""
        return self.counted.profile

    @property
    def drawing(self) -> Drawing:
        """The whole tree of the view, before rows are removed."""
        return self.counted.drawing

    @property
    def row(self) -> I64:
        """The row of the drawing for each displayed row."""
        return self.counted.row[self.counted_row]

    @property
    def node(self) -> I64:
        """The graph node of each row; -1 for a row that is not a graph node."""
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
        """The metric of each row and everything counted below it."""
        return self.counted.total(metric)[self.counted_row]

    def values(self, metric: str) -> I64:
        """The metric of each node of the profile."""
        return self.counted.values(metric)

    def lower_bounds(self, metric: str) -> tuple[Bool, Bool] | tuple[None, None]:
        """(own, total): whether each number of *metric* is a lower bound; None if none can be.

        A number is one where a node that it counts lacks a number of its own: a node that computes
        and is not counted, or runs more often than it counts; a variable of unknown shape.
        """
        if metric not in _GAPS or (metric == "float_ops" and self.flops is None):
            return None, None
        own, total = self.counted.holding(metric, lambda: _GAPS[metric](self))
        return own[self.counted_row], total[self.counted_row]

    def nodes_of_unknown_size(self) -> I64:
        """The variables that params does not count, as their shapes are unknown."""
        return np.flatnonzero(lacks_shape(self.profile) & (self.drawing.owner >= 0))

    def hidden_above(self) -> I64:
        """How many counted rows are hidden between each row and its parent."""
        depth = self.counted.tree.depth[self.counted_row]
        above = np.where(self.tree.parent >= 0, depth[self.tree.parent] + 1, depth)
        return depth - above

    def nodes_of(self, row: int) -> I64:
        """The graph nodes of a displayed row; of a row without any, those of the rows below it."""
        here = marked(self.row[row], len(self.drawing.tree))
        owner = self.drawing.owner
        own = np.flatnonzero((owner >= 0) & here[owner])
        if own.size:
            return own
        return np.flatnonzero((owner >= 0) & self.drawing.tree.under(here)[owner])

    def members(self) -> tuple[I64, I64]:
        """(start, node): the nodes of row i are node[start[i]:start[i + 1]], in name order."""
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


def _lacks_float_ops(answer: Answer) -> Bool:
    from tfprof.ops.counting import lower_bound_nodes  # noqa: PLC0415 - where rules counted

    profile, counts = answer.profile, answer.flops
    assert counts is not None
    return lower_bound_nodes(profile, counts, profile.nodes.float_ops, answer.query.step)


def lacks_shape(profile: Profile) -> Bool:
    """Which nodes are variables whose parameters are unknown."""
    from tfprof.ops.classes import of_class  # noqa: PLC0415 - only if selected

    edges = profile.edges
    variable = of_class(profile, "variable handle", "reference variable")
    # What a function captures is a placeholder; it is a variable if something reads it as one.
    inputs, count = np.diff(edges.start), len(profile)
    source = edges.source[np.repeat(of_class(profile, "variable read"), inputs)]
    captured = of_class(profile, "placeholder", among=marked(source[source >= 0], count))
    return (variable | captured) & profile.in_graph & ~profile.nodes.shape.are_whole()


def lacks_params(profile: Profile) -> Bool:
    """Which nodes hold, or may hold, parameters that are not counted."""
    from tfprof.ops.possible_weights import possible_weights  # noqa: PLC0415 - as above

    return lacks_shape(profile) | marked(possible_weights(profile), len(profile))


_GAPS: dict[str, Callable[[Answer], Bool]] = {
    "float_ops": _lacks_float_ops,
    "params": lambda answer: lacks_params(answer.profile),
}
