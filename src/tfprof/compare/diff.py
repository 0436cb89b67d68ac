"""diff_profiles(base, new, view, options) → Diff: what changed, row by row, in one of the views.

    base ─► renamed ─► answer ─┐
       match_nodes             ├─► align ─► the rows of both ─► changed and displayed ─► order
    new ─────────────► answer ─┘

Each side is answered as if it were alone, so every number here is one of a single report. A row is
displayed if one of the answers displays it and a selected number of it differs, or that of a
displayed row below it. Differences wrap at 64 bits, as totals do: the laws hold for every profile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.strings import Strings
from tfprof.columns.unique import marked
from tfprof.compare.align_rows import align
from tfprof.compare.match_nodes import match_nodes
from tfprof.compare.renamed import renamed, with_new_stacks, with_shared_columns
from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.ops.symbols import symbols
from tfprof.query.answer import answer
from tfprof.query.counted import DEFINED
from tfprof.query.defaults import fitted_options, fitted_query
from tfprof.query.query import Query
from tfprof.tables.fields import METRICS
from tfprof.tables.options import check_options
from tfprof.views import view_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tfprof.columns.strings import I64, Bool
    from tfprof.columns.tree import Tree
    from tfprof.compare.align_rows import Aligned
    from tfprof.compare.match_nodes import Matches
    from tfprof.model import Profile
    from tfprof.query.counted import Answer

STATUS = ("same", "changed", "added", "removed", "renamed")
_EVERY_TYPE = 1_000_000  # rows of op view
_OF_GRAPH = ("params", "float_ops", DEFINED)
_SAME, _CHANGED, _ADDED, _REMOVED, _RENAMED = range(len(STATUS))


@dataclass(frozen=True, eq=False)
class Diff(Frozen):
    """The displayed rows, each with the numbers of both sides; 0 where a side lacks the row."""

    base: Answer  # in the names of new
    new: Answer
    base_profile: Profile  # in its own names
    source: Profile  # that new was asked, before rules counted anything
    matches: Matches
    aligned: Aligned  # every counted row of both sides
    tree: Tree  # of the displayed rows
    row: I64  # the row of `aligned` of each displayed row

    def __len__(self) -> int:
        return len(self.tree)

    @property
    def view(self) -> str:
        """The name of the view."""
        return self.new.view.name

    @property
    def query(self) -> Query:
        """The query of both sides; each answers the dimensions that it has."""
        return replace(self.new.query, dims={**self.base.query.dims, **self.new.query.dims})

    @property
    def all_rows(self) -> Diff:
        """The same over every counted row of both sides, in drawing order."""
        every = np.arange(len(self.aligned.tree))
        return replace(self, tree=self.aligned.tree, row=every)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The selected numbers; first the one that rows are ordered by."""
        return metrics_of(self.new)

    @property
    def base_row(self) -> I64:
        """The counted row of the base answer for each row; -1: only in new."""
        return self.aligned.base[self.row]

    @property
    def new_row(self) -> I64:
        """The counted row of the new answer for each row; -1: only in base."""
        return self.aligned.new[self.row]

    @property
    def label(self) -> Strings:
        """The name of each row; where both sides have the row, its name in new."""
        in_new = self.new_row >= 0
        new = self.new.drawing.label.take(self.new.counted.row[self.new_row[in_new]])
        base = self.base.drawing.label.take(self.base.counted.row[self.base_row[~in_new]])
        at = np.where(in_new, np.cumsum(in_new) - 1, len(new) + np.cumsum(~in_new) - 1)
        return Strings.concat([new, base]).take(at)

    def own(self, metric: str) -> tuple[I64, I64]:
        """(base, new): the metric of each row alone."""
        return self._both(lambda side: side.counted.own(metric))

    def total(self, metric: str) -> tuple[I64, I64]:
        """(base, new): the metric of each row and all below it; in op view that of the type."""
        return self._both(lambda side: _totals(side, metric))

    def difference(self, metric: str) -> I64:
        """What `total` is more in new than in base."""
        base, new = self.total(metric)
        return new - base

    def lower_bounds(self, metric: str) -> tuple[Bool, Bool]:
        """(base, new): whether each total is a lower bound; then their difference is unknown."""
        return self._both(lambda side: _bounds(side, metric))

    def _both(self, column: Callable[[Answer], Any]) -> tuple[Any, Any]:
        """(base, new): of each row what *column* has for all counted rows of a side."""
        return _at(column(self.base), self.base_row), _at(column(self.new), self.new_row)

    @property
    def changed(self) -> Bool:
        """Whether a selected number of each row differs."""
        changed = np.zeros(len(self), np.bool_)
        for metric in self.metrics:
            for base, new in (self.own(metric), self.total(metric)):
                changed |= base != new
        return changed

    @property
    def old_name(self) -> Strings:
        """The name that the graph node of each row has in base; empty where it is the same."""
        names = self.base_profile.nodes.name
        if self.new.view.groups or names is self.base.profile.nodes.name:
            return self.label.where(np.zeros(len(self), np.bool_))
        drawn, rows = self.base.counted.row[self.base_row], np.arange(len(self))
        node = np.where(self.base_row >= 0, self.base.drawing.node[drawn], -1)
        named = names.take(node)
        return named.where((node >= 0) & ~named.same(rows, self.label, rows))

    @property
    def status(self) -> I64:
        """A row of STATUS for each row."""
        status = np.where(self.changed, _CHANGED, _SAME)
        status[self.old_name.length > 0] = _RENAMED
        status[self.base_row < 0] = _ADDED
        status[self.new_row < 0] = _REMOVED
        return status


def diff_profiles(
    base: Profile, new: Profile, view: str, options: Mapping[str, Any] | None = None
) -> Diff:
    """What changed from *base* to *new*; *options* are those of the view."""
    query = _query(base, new, options or {}, view)
    base = with_shared_columns(base, new)
    return _diff(base, new, view, query, match_nodes(base, new))


def whole_model(diff: Diff, metrics: Iterable[str]) -> Diff:
    """The same profiles without restrictions, whose root has the totals of *metrics*."""
    query = diff.query
    asked = Query(
        max_depth=_EVERY_TYPE,
        step=query.step,
        order_by=None,
        select=tuple(metrics),
        era=query.era,
        flops=query.flops,
        dims=query.dims,
    )
    return _diff(diff.base_profile, diff.source, "op", asked, diff.matches)


def _diff(base: Profile, new: Profile, view: str, query: Query, matches: Matches) -> Diff:
    before, after = _answers(_named_alike(base, new, view, matches), new, view, query)
    if not metrics_of(after):
        raise UsageError("select names no number to compare, such as params")
    aligned = align(before, after)
    rows = np.arange(len(aligned.tree))
    every = Diff(before, after, base, new, matches, aligned, aligned.tree, rows)
    shown = _displayed(every)
    tree, at = aligned.tree.keep_rows(shown), np.flatnonzero(shown)
    displayed = replace(every, tree=tree, row=at)
    key = _key(displayed)
    if key is None:
        return displayed
    tree, old = tree.sort(key)
    return replace(every, tree=tree, row=at[old])


def _answers(base: Profile, new: Profile, view: str, query: Query) -> list[Answer]:
    """What each side answers; raises UsageError, with the side that alone cannot."""
    answers, problems = [], {}
    sides = zip(("base", "new"), (base, new), dims_by_side(base, new, query.dims), strict=True)
    for side, profile, dims in sides:
        try:
            answers.append(answer(profile, view, replace(query, dims=dims)))
        except UsageError as problem:  # noqa: PERF203 - of two
            problems[side] = str(problem)
    if problems:
        side, text = next(iter(problems.items()))
        raise UsageError(text if [*problems.values()] == [text] * 2 else f"{side}: {text}")
    return answers


def dims_by_side(base: Profile, new: Profile, dims: Mapping[str, int]) -> list[Mapping[str, int]]:
    """*dims* for each side; what only one side has is left out for the other."""
    if not dims:
        return [dims, dims]
    names = [{symbol.name for symbol in symbols(side)} for side in (base, new)]
    unknown = dims.keys() - names[0] - names[1]  # an error of a side that has others to name
    own = [its | unknown if its or not any(names) else its for its in names]
    return [{name: size for name, size in dims.items() if name in its} for its in own]


def _named_alike(base: Profile, new: Profile, view: str, matches: Matches) -> Profile:
    """*base* with what rows are the same by in the words of *new*."""
    if view_named(view).chain:
        return base
    if view_named(view).groups:  # lines of code; gradients find their nodes by name
        return with_new_stacks(base, new, matches)
    return renamed(base, new, matches)


def metrics_of(side: Answer) -> tuple[str, ...]:
    """The selected numbers that the view of an answer has."""
    view, selected = side.view, [name for name in METRICS if name in side.query.select]
    if "occurrence" in selected and view.groups:
        selected.remove("occurrence")
        selected += ["occurrence", DEFINED] if view.chain else []
    return tuple(sorted(selected, key=lambda name: name != side.query.order_by))


def _query(base: Profile, new: Profile, options: Mapping[str, Any], view: str) -> Query:
    """One query for both sides, whichever is which: what is left open fits what both have."""
    options = check_options(options)
    dims = Query.of(options, view).dims
    sides = zip((base, new), dims_by_side(base, new, dims), strict=True)
    given = ((side, {**options, "dim": own} if dims else options) for side, own in sides)
    fitted = [fitted_options(side, its, view) for side, its in given]
    # Times only if both have runs, and rather more numbers than fewer.
    chosen = min(fitted, key=lambda one: _preference(one.get("select", ())))
    if view_named(view).chain:
        chosen = {"max_depth": _EVERY_TYPE, **chosen}  # a list of changes is not deep
    query = replace(fitted_query(new, chosen, view), dims=dims)
    if query.frames == "auto":  # lines of libraries move with each release
        query = replace(query, frames="fold")
    return replace(query, left_open=query.left_open - {"max_depth"})  # its remark counts all rows


def _preference(select: tuple[str, ...]) -> tuple[object, ...]:
    return "micros" in select, -len(select), select


def _displayed(every: Diff) -> Bool:
    """Which of all rows to display."""
    aligned = every.aligned
    sides = (every.base, aligned.base), (every.new, aligned.new)
    shown = np.zeros(len(every), np.bool_)
    for side, at in sides:
        shown |= _at(marked(side.counted_row, len(side.counted.tree)), at)
    picked = shown & every.changed
    holds = picked
    for side, at in () if every.new.view.chain else sides:
        # Which rows hold others depends on the side where the view follows inputs.
        mine = np.zeros(len(side.counted.tree), np.bool_)
        mine[at[at >= 0]] = picked[at >= 0]
        holds = holds | _at(side.counted.tree.holds(mine), at)
    shown &= holds
    shown[0] = True
    return shown


def _key(diff: Diff) -> Any | None:  # noqa: ANN401 - a column of any type
    """What to sort siblings by; None: they stay in drawing order."""
    by = diff.query.order_by
    if by is None or by == "depth":
        return None
    if by == "name":
        return diff.label.rank()
    # The smallest number is its own absolute value, which is right without a sign.
    return ~np.abs(diff.difference(DEFINED if by == "occurrence" else by)).view(np.uint64)


def _totals(side: Answer, metric: str) -> I64:
    if not side.view.chain:
        return side.counted.total(metric)
    column = side.counted.own(metric).copy()
    column[0] = side.counted.total(metric)[0]
    return column


def lacks_runs(side: Answer, metric: str) -> bool:
    """Whether a side knows nothing about *metric*, as only runs tell it and there is none."""
    return not side.profile.steps and metric not in _OF_GRAPH


def _bounds(side: Answer, metric: str) -> Bool:
    """Whether the total of each counted row is a lower bound; in op view that of the type."""
    rows = np.arange(len(side.counted.tree))
    if lacks_runs(side, metric):
        return np.ones(rows.size, np.bool_)
    own, total = replace(side, tree=side.counted.tree, counted_row=rows).lower_bounds(metric)
    if own is None or total is None:
        return np.zeros(rows.size, np.bool_)
    return np.where(rows > 0, own, total) if side.view.chain else total


def _at(column: Any, rows: I64) -> Any:  # noqa: ANN401 - of numbers or marks
    """The values of *rows*; 0 where the row is -1."""
    return np.where(rows >= 0, column[rows], column.dtype.type(0))
