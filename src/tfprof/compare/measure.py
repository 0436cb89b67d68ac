"""Measures: the numbers that budgets bound, by table, row and metric.

    model    parameters, float operations, multiply-adds and coverage as in `summary`; else all
    layer    the rows of `summary`, at every depth
    scope    the rows of scope view that hold others; where none matches, graph nodes
    op       the rows of op view
    device   the devices that nodes are placed on

Parameters are variables of the model, everywhere. Times and bytes are those of one step, as in the
views. An open batch counts as 1, as in the overview.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.matching import matches
from tfprof.columns.strings import Strings
from tfprof.columns.tree import Tree
from tfprof.columns.unique import marked, sum_by, unique_inverse
from tfprof.compare.bounds import FLOAT_OPS, IN_USE, MULTIPLY_ADDS, OCCURRENCE, PARAMS, UNCOUNTED
from tfprof.compare.budget import DEVICE, LAYER, MODEL, OP, SCOPE
from tfprof.errors import InputError, UsageError
from tfprof.ops.counting import Counts, lower_bound_nodes
from tfprof.ops.possible_weights import possible_weights
from tfprof.ops.symbols import BATCH, symbols, with_recorded_shapes
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.query.unmatched import no_name, no_type
from tfprof.summary.build_summary import Summary, summary
from tfprof.summary.costs import CostModel
from tfprof.summary.formula import Formula
from tfprof.summary.layers import OTHER
from tfprof.summary.model_nodes import model_nodes
from tfprof.summary.overview import model_parameters
from tfprof.tables.fields import METRICS
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Profile

_DEEPEST: Final = 1_000
_NOT_RECORDED: Final = "the files do not record it"
_NO_WEIGHT: Final = "no argument of the program looks like a weight (--weights=REGEX names them)"
_OF_SUMMARY: Final = {PARAMS: "parameters", FLOAT_OPS: FLOAT_OPS, MULTIPLY_ADDS: MULTIPLY_ADDS}
_LARGEST: Final = 2**63 - 1
_MEMORY: Final = ("bytes", "peak_bytes", "residual_bytes", "output_bytes")


class Column(NamedTuple):
    """A number of each row of a table; None: unknown."""

    values: Sequence[float | None]
    lower: Sequence[bool]  # the rows in whose number something is missing
    reason: str = ""  # what is missing, or why it is unknown


class Group(NamedTuple):
    """The rows of a table, and the row of each node; -1: none."""

    names: Strings
    owner: I64
    tree: Tree | None = None  # a row has the numbers of those below it
    aliases: Strings | None = None  # other names of the rows

    def sums(self, values: I64 | Bool) -> I64:
        """The sum of *values* over the nodes of each row."""
        drawn = np.flatnonzero(self.owner >= 0)
        own = sum_by(self.owner[drawn], values[drawn].astype(np.int64), len(self.names))
        return own if self.tree is None else self.tree.totals(own)


class Measures:
    """What a profile has of everything that a budget can name; computed when first asked for."""

    def __init__(self, profile: Profile, dims: Mapping[str, int] | None = None) -> None:
        self.profile, self._given = profile, dict(dims or {})
        self._groups: dict[str, Group] = {}
        self._columns: dict[tuple[str, str], Column] = {}

    def find(self, table: str, pattern: str) -> list[tuple[str, int]]:
        """(name, row) of what *pattern* matches in *table*; raises UsageError without any."""
        group = self._group(table)
        if table == MODEL:
            return [("", 0)]
        regex = f"(?i:{pattern})" if table == DEVICE else pattern  # as in device_regexes
        fits = matches(group.names, [regex]) | matches(group.aliases or group.names, [regex])
        if group.tree is not None:
            fits[0] = False  # the root is the model
            inner = fits & ~group.tree.is_leaf
            fits = inner if table == SCOPE and inner.any() else fits
            fits &= ~group.tree.under(fits)  # what is inside of a match counts with it
        if not len(group.names):
            raise UsageError(f"the files name no {table}")
        if not fits.any():
            known = Strings.concat([group.names, group.aliases or _strings([])])
            if table == OP:
                raise UsageError(no_type(pattern, known))
            raise UsageError(no_name(pattern, known, table, list_known=table == DEVICE))
        rows = np.flatnonzero(fits)
        names = (name.decode("utf-8", "replace") for name in group.names.take(rows))
        return list(zip(names, rows.tolist(), strict=True))

    def column(self, table: str, metric: str) -> Column:
        """A metric of every row of *table*."""
        key = (table, metric)
        if key not in self._columns:
            self._columns[key] = self._column(table, metric)
        return self._columns[key]

    @cached_property
    def assumed(self) -> dict[str, int]:
        """The sizes of open dimensions that nobody gave."""
        still_open = symbols(with_recorded_shapes(self.profile, self._given))
        is_open = BATCH in {symbol.name for symbol in still_open} - self._given.keys()
        return {BATCH: 1} if is_open else {}

    def _group(self, table: str) -> Group:
        if table not in self._groups:
            self._groups[table] = _GROUPS[table](self)
        return self._groups[table]

    def _column(self, table: str, metric: str) -> Column:
        try:
            return self._known_column(table, metric)
        except InputError as problem:  # there is no model, but a run alone
            rows = len(self._group(table).names)
            return Column([None] * rows, [False] * rows, str(problem))

    def _known_column(self, table: str, metric: str) -> Column:
        group = self._group(table)
        of_model = table in {MODEL, LAYER}
        if metric == IN_USE:
            most = max((int(step.in_use.max(initial=0)) for step in self.profile.steps), default=0)
            return Column([most or None], [False], _NOT_RECORDED)
        if of_model and metric in _OF_SUMMARY:
            return self._of_summary(table, _OF_SUMMARY[metric])
        if metric == UNCOUNTED:
            counts = self.summary.counts if of_model else self._counted[1]
            gaps, work = group.sums(counts.gap).tolist(), group.sums(counts.work).tolist()
            # A layer without operations has nothing that is not counted; of a model, that is odd.
            none = None if table == MODEL else 0
            shares = [gap / ops if ops else none for gap, ops in zip(gaps, work, strict=True)]
            return Column(shares, [False] * len(shares), "there are no operations")
        values, lower, reason = self._of_nodes(metric)
        if values is None:
            return Column([None] * len(group.names), [False] * len(group.names), reason)
        return Column(group.sums(values).tolist(), (group.sums(lower) > 0).tolist(), reason)

    def _of_nodes(self, metric: str) -> tuple[I64 | None, Bool, str]:
        """(a metric of each node, the nodes that lack some of it, what is missing)."""
        profile, none = self.profile, np.zeros(len(self.profile), np.bool_)
        if metric in METRICS and metric not in _OF_SUMMARY:
            return self._recorded(metric), none, _NOT_RECORDED
        if not profile.in_graph.any():
            return None, none, "the files have no graph"
        if metric == PARAMS:
            held = model_parameters(profile, model_nodes(profile), self.dims)
            elements = sum_by(held.node, held.elements, len(profile))
            lower = marked(held.unknown, len(profile))
            lower[possible_weights(profile)] = True  # `unknown` has their readers
            return elements, lower, self._lacking_params
        counted, counts = self._counted
        if metric == FLOAT_OPS:
            lower = lower_bound_nodes(counted, counts, counted.nodes.float_ops)
            return counted.values(FLOAT_OPS, None), lower, _not_counted(counts)
        each, no_dtypes = np.arange(len(profile)), np.zeros(len(profile), np.int64)
        costs = CostModel(profile, none, no_dtypes, each, each.size).at(self.dims)
        products = [min(number, _LARGEST) for number in costs.columns[1]]
        return np.array(products, np.int64), costs.lower[1], _not_counted(counts)

    def _recorded(self, metric: str) -> I64 | None:
        """A metric of each node that needs a run, or no more than names; None: no run has it."""
        profile = self.profile
        if metric == OCCURRENCE:
            here = profile.in_graph if profile.in_graph.any() else np.ones(len(profile), np.bool_)
            return here.astype(np.int64)
        alike = ("micros",) if metric.endswith("micros") else _MEMORY
        is_recorded = any(profile.values(name, None).any() for name in alike)
        return profile.values(metric, None) if is_recorded else None

    def _of_summary(self, table: str, name: str) -> Column:
        made = self.summary
        rows = [made.total, *(row.numbers for row in made.rows if table == LAYER)]
        values: list[float | None] = []
        for numbers in rows:
            value = getattr(numbers, name)
            values.append(value.constant if isinstance(value, Formula) else value)
        lower = [name in numbers.lower for numbers in rows]
        of_params = name == _OF_SUMMARY[PARAMS]
        reason = self._lacking_params if of_params else _not_counted(made.counts)
        if None in values:
            sizes = ",".join(f"{symbol}=N" for symbol in made.symbols)
            reason = f"it depends on open dimensions: set --dim {sizes}" if sizes else _NOT_RECORDED
        return Column(values, lower, reason)

    @property
    def _lacking_params(self) -> str:
        """Why parameters may be missing."""
        no_weight = possible_weights(self.profile).size
        return _NO_WEIGHT if no_weight else "some variables have no shape"

    @cached_property
    def dims(self) -> dict[str, int]:
        """The sizes of open dimensions."""
        return {**self.assumed, **self._given}

    @cached_property
    def _counted(self) -> tuple[Profile, Counts]:
        return with_float_ops(self.profile, "all", self.dims)

    @cached_property
    def summary(self) -> Summary:
        """The layers of the model, at every depth."""
        return summary(self.profile, _DEEPEST, self.dims)


def _not_counted(counts: Counts) -> str:
    sizes = ",".join(f"{name}=N" for name in counts.unbound)
    return "some operations are not counted" + (f"; set --dim {sizes}" if sizes else "")


def _scopes(of: Measures) -> Group:
    drawing = VIEWS["scope"].draw(of.profile)
    return Group(drawing.label, drawing.owner, drawing.tree)


def _layers(of: Measures) -> Group:
    """The rows of the summary below the model; the path of a scope names its row as well."""
    rows, of_node = of.summary.rows, of.summary.of_node
    assert of_node is not None
    names, paths = [""], [""]
    for row in rows:
        around = "" if row.parent is None else f"{names[row.parent + 1]}/"
        names.append(around + row.name)
        paths.append(names[-1] if row.name == OTHER.decode() else row.path)
    tree = Tree.from_depth(np.array([1, *(row.depth + 1 for row in rows)], np.int64))
    owner = np.where(of_node >= 0, of_node + 1, -1)
    return Group(_strings(names), owner, tree, _strings(paths))


def _kinds(of: Measures, column: I64) -> Group:
    """One row per number in *column*, which are rows of the profile's types; -1: none."""
    used, owner = unique_inverse(column)
    names = of.profile.types.take(used[used >= 0])
    return Group(names, owner - int((used < 0).any()))


def _strings(texts: Sequence[str]) -> Strings:
    return Strings.of([text.encode() for text in texts])


_GROUPS: Final[dict[str, Callable[[Measures], Group]]] = {
    MODEL: lambda of: Group(_strings([""]), np.zeros(len(of.profile), np.int64)),
    SCOPE: _scopes,
    OP: lambda of: _kinds(of, of.profile.nodes.op),
    LAYER: _layers,
    DEVICE: lambda of: _kinds(of, of.profile.nodes.device),
}
