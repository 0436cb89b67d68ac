"""answer(profile, view, query) → Report: the documented procedure, a function a stage.

    account   what is counted, and totals over all of it
    start     begin at the named rows
    show      drop what is trimmed, too deep, too small, not named or hidden; children move up
    recount   totals over the displayed rows only, if asked
    order     siblings by name or by a total

Each stage takes rows and returns fewer or other rows; no stage changes anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from tfprof.errors import UsageError
from tfprof.fields import FIELDS, METRICS
from tfprof.matching import matches
from tfprof.strings import I64, Bool, Strings
from tfprof.views import View, view_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.model import Profile
    from tfprof.query import Query
    from tfprof.tree import Tree
    from tfprof.views.drawing import Drawing

# A metric of the rows themselves: each is defined once.
DEFINED = "defined"
_SAFE_SUM = 2.0**62


@dataclass(frozen=True, eq=False)
class Counted:
    """The rows that are counted: their tree, and own and total of any metric when asked."""

    profile: Profile
    drawing: Drawing
    tree: Tree
    row: I64  # of the drawing
    step: int | None
    root_defined: int  # whether the root counts itself among what is defined
    _kept: dict[str, I64] = field(default_factory=dict)

    def own(self, metric: str) -> I64:
        """The metric of each row alone."""
        if metric == DEFINED:
            column = np.ones(self.row.size, np.int64)
            column[0] = self.root_defined
            return column
        owner = self.drawing.owner
        drawn = np.flatnonzero(owner >= 0)
        column = np.zeros(len(self.drawing.tree), np.int64)
        np.add.at(column, owner[drawn], self.profile.values(metric, self.step)[drawn])
        return column[self.row]

    def total(self, metric: str) -> I64:
        """The metric of each row and all that is below it."""
        if metric not in self._kept:
            self._kept[metric] = self.tree.totals(self.own(metric))
        return self._kept[metric]

    def keep(self, kept: Bool) -> Counted:
        """Only these rows, with totals over what is left."""
        return replace(self, tree=self.tree.keep(kept), row=self.row[kept], _kept={})


@dataclass(frozen=True, eq=False)
class Report:
    """The displayed rows, in drawing order, and what was asked for."""

    profile: Profile
    view: View
    query: Query
    tree: Tree
    row: I64  # of the drawing
    accounted: Bool
    counted: Counted  # where the totals come from
    counted_row: I64  # the row of each displayed row there

    @property
    def drawing(self) -> Drawing:
        """The view that the rows are of."""
        return self.counted.drawing

    @property
    def node(self) -> I64:
        """The graph node of each row; -1 for a row that is none."""
        return self.drawing.node[self.row]

    @property
    def label(self) -> Strings:
        """The name of each row."""
        return self.drawing.label.take(self.row)

    def own(self, metric: str) -> I64:
        """The metric of each row alone."""
        return self.counted.own(metric)[self.counted_row]

    def total(self, metric: str) -> I64:
        """The metric of each row with what is counted below it."""
        return self.counted.total(metric)[self.counted_row]


def answer(profile: Profile, view_name: str, query: Query) -> Report:
    """The report that *query* asks for; raises UsageError where it cannot be answered."""
    view = view_named(view_name)
    _check_step(profile, query)
    drawing = view.draw(profile)
    accounted = _accounted(profile, drawing, query)
    counted = account(profile, drawing, query, accounted)
    tree, at = start(counted, query)
    tree, at = show(counted, tree, at, query)
    if query.displayed_only:
        counted, at = recount(counted, at)
    tree, at = order(counted, tree, at, query)
    row = counted.row[at]
    return Report(profile, view, query, tree, row, accounted[row], counted, at)


def account(profile: Profile, drawing: Drawing, query: Query, accounted: Bool) -> Counted:
    """The rows that are accounted or have such a row below them.

    parity Q5: a row that stays only for what is below it adds its own numbers all the same.
    """
    everything = Counted(
        profile, drawing, drawing.tree, np.arange(len(drawing.tree)), query.step, root_defined=0
    )
    if query.account_types is None:
        return everything
    kept = drawing.tree.holds(accounted)
    kept[0] = True
    return everything.keep(kept)


def start(counted: Counted, query: Query) -> tuple[Tree, I64]:
    """(tree, counted rows) beginning at the rows that a start regex matches."""
    rows = np.arange(len(counted.tree))
    if query.start_names is None:
        return counted.tree, rows
    begins = _named(counted, rows, query.start_names)
    begins[0] = False
    kept = begins | counted.tree.under(begins)
    kept[0] = True
    return counted.tree.keep(kept), rows[kept]


def show(counted: Counted, tree: Tree, at: I64, query: Query) -> tuple[Tree, I64]:
    """(tree, counted rows) of what is displayed; the root always is."""
    shown = tree.depth <= query.max_depth
    for metric in METRICS:
        least = query.minimum.get(metric, 0)
        if least > 0 or _may_be_negative(counted.profile.values(metric, query.step)):
            bounded = counted.own if FIELDS[metric].bound == "own" else counted.total
            shown &= bounded(metric)[at] >= least
    if query.show_names is not None:
        shown &= _named(counted, at, query.show_names)
    if query.hide_names:
        shown &= ~_named(counted, at, query.hide_names)
    if query.trim_names:
        shown &= ~tree.under(_named(counted, at, query.trim_names))
    shown[0] = True
    return tree.keep(shown), at[shown]


def recount(counted: Counted, at: I64) -> tuple[Counted, I64]:
    """(counted, its rows) with totals over the displayed rows, the root included."""
    kept = np.zeros(len(counted.tree), np.bool_)
    kept[at] = True
    return replace(counted.keep(kept), root_defined=1), np.arange(at.size)


def order(counted: Counted, tree: Tree, at: I64, query: Query) -> tuple[Tree, I64]:
    """(tree, counted rows) with siblings in the order asked for; ties stay as drawn."""
    if query.order_by is None or (query.order_by == "name" and counted.drawing.in_name_order):
        return tree, at
    if query.order_by == "name":
        key = np.empty(at.size, np.int64)
        key[counted.drawing.label.take(counted.row[at]).order()] = np.arange(at.size)
    else:
        key = ~counted.total(query.order_by)[at]  # the largest first; unlike minus, never overflows
    tree, old = tree.sort(key)
    return tree, at[old]


def _may_be_negative(values: I64) -> bool:
    """Whether a sum of some of *values* can be below zero, if only by overflow."""
    return bool(values.min(initial=0) < 0) or float(values.sum(dtype=np.float64)) > _SAFE_SUM


def _check_step(profile: Profile, query: Query) -> None:
    steps = [step.number for step in profile.steps]
    if query.step is not None and query.step not in steps:
        there = ", ".join(map(str, steps)) or "none: no run was given"
        raise UsageError(f"there is no step {query.step} (steps: {there})")


def _accounted(profile: Profile, drawing: Drawing, query: Query) -> Bool:
    """Whether each row of the drawing is itself accounted; the root never is."""
    if query.account_types is None:
        result = np.ones(len(drawing.tree), np.bool_)
    else:
        filler = Strings.of([drawing.filler])
        result = np.repeat(matches(filler, query.account_types), len(drawing.tree))
        drawn = np.flatnonzero(drawing.owner >= 0)
        result[drawing.owner[drawn]] = _typed(profile, query.account_types)[drawn]
    result[0] = False
    return result


def _typed(profile: Profile, patterns: Sequence[str]) -> Bool:
    """Whether each node has a type that one of *patterns* matches."""
    node, kind = profile.type_pairs
    result = np.zeros(len(profile), np.bool_)
    result[node[matches(profile.types, patterns)[kind]]] = True
    return result


def _named(counted: Counted, at: I64, patterns: tuple[str, ...]) -> Bool:
    """Whether one of *patterns* matches the label of each of the counted rows *at*."""
    drawing = counted.drawing
    found = counted.profile.keep(
        ("matches", drawing.filler, patterns), lambda: matches(drawing.label, patterns)
    )
    return found[counted.row[at]]
