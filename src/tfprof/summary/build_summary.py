"""summary(profile) → Summary: the layers of a model, and what each has and costs.

scopes ─► layers ─┐
parameters ───────┼─► rows ─► totals
costs ─► formulas ┘

Every row of a block is the sum of the rows in it, and the total that of the outermost ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.errors import InputError, UsageError
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.ops.dtypes import FLOAT
from tfprof.ops.inferred_shapes import with_inferred_shapes
from tfprof.ops.output_dtypes import output_dtypes
from tfprof.ops.symbols import symbols
from tfprof.summary.caveats import Gaps, sentences
from tfprof.summary.costs import Costing, Costs, computing, only, sums
from tfprof.summary.formula import MOST_SYMBOLS, Fitted, Formula, formulas
from tfprof.summary.layers import OTHER, Layers, layers
from tfprof.summary.model_nodes import living
from tfprof.summary.parameters import Parameters, casts_of_variables, parameters
from tfprof.summary.scopes import scopes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Profile
    from tfprof.ops.counting import Counts

DEPTH: Final = 2


class Numbers(NamedTuple):
    """What a row has and costs; None: not known."""

    trainable: int | None
    parameters: int | None
    parameter_bytes: int | None
    float_ops: Formula | None
    multiply_adds: Formula | None
    activation_bytes: Formula | None

    def __add__(self, other: Numbers) -> Numbers:  # type: ignore[override]
        return Numbers(*(_sum(*pair) for pair in zip(self, other, strict=True)))  # type: ignore[arg-type]

    @property
    def is_nothing(self) -> bool:
        """Whether all of it is 0."""
        costs = (self.float_ops, self.multiply_adds, self.activation_bytes)
        return self.parameters == 0 and all(one is not None and not one.terms for one in costs)


def _sum(one: object, other: object) -> object:
    return None if one is None or other is None else one + other  # type: ignore[operator]


class Row(NamedTuple):
    """A layer, a block or what is left in a block."""

    name: str  # below the row around it
    path: str  # of its scope
    parent: int | None
    depth: int
    is_block: bool
    numbers: Numbers


@dataclass(frozen=True, eq=False)
class Summary:
    """The rows, their total, and what is to be said of them."""

    title: str
    rows: list[Row]
    total: Numbers
    symbols: tuple[str, ...]  # the open dimensions that the numbers depend on
    counts: Counts
    sentences: tuple[str, ...]
    tells_trainable: bool  # whether parameters are trainable or not is known


def summary(
    profile: Profile,
    depth: int = DEPTH,
    dims: Mapping[str, int] | None = None,
    outputs: Sequence[str] = (),
) -> Summary:
    """The summary of what the *outputs* need, all where none is named; raises TfprofError."""
    if depth < 1:
        raise UsageError(f"depth takes a whole number from 1 on, not {depth}")
    if profile.steps and not profile.edges.source.size and not profile.in_graph.any():
        raise InputError("a run holds no model to sum up; give the graph of the model, too")
    given = dict(dims or {})
    alive = living(profile, outputs)
    model = only(profile, alive)
    types = output_dtypes(model)
    typed = bool(types.any())
    if not typed:  # as in a graph in text format, of which types are not read
        types = np.full(len(model), FLOAT)
    held = _held(model, alive, types, given)
    can_compute = computing(model)
    computes = can_compute & alive
    readers = np.concatenate([held.reader, held.unknown])
    placed = layers(scopes(model), computes & ~casts_of_variables(model), readers, depth)
    costing = Costing(model, computes, types, placed.of_node, len(placed))
    unbound = [symbol.name for symbol in symbols(model) if symbol.name not in given]
    costs = _Priced(costing, given, unbound)
    busy = np.bincount(placed.of_node[computes], minlength=len(placed)) > 0
    rows, total = _rows(placed, held, costs, busy)
    used = tuple(name for name in unbound if _uses(total, name))
    return Summary(
        placed.title.decode("utf-8", "replace"),
        rows,
        total,
        used,
        costs.example.counts,
        sentences(
            model,
            alive,
            held,
            Gaps(
                0 if costs.opaque else costs.example.unknown,
                used,
                costs.unfit,
                costs.sizes,
                typed=typed,
                opaque=costs.opaque,
                left_out=int((can_compute & ~alive).sum()),
            ),
        ),
        tells_trainable=held.trainable is not None,
    )


def _held(model: Profile, alive: Bool, types: I64, dims: Mapping[str, int]) -> Parameters:
    """The parameters; shapes are inferred only where variables do not tell their own."""
    listed = parameters(model.with_run_shapes, alive, types)
    if listed.node.size and not listed.unknown.size and not listed.guessed:
        return listed
    return parameters(with_inferred_shapes(model.with_run_shapes, dims), alive, types)


class _Priced:
    """The formulas of each row, and the open dimensions of which there are none."""

    def __init__(self, costing: Costing, dims: Mapping[str, int], unbound: list[str]) -> None:
        tried: list[tuple[dict[str, int], Costs]] = []

        def evaluate(sizes: Mapping[str, int]) -> list[int]:
            costs = costing.at({**dims, **sizes})
            if not tried:
                tried.append(({**dims, **sizes}, costs))
            return [*costs.float_ops, *costs.multiply_adds, *costs.activations]

        too_many = len(unbound) > MOST_SYMBOLS
        fitted = formulas(evaluate, [] if too_many else unbound)
        self.sizes, self.example = tried[0]
        counts = self.example.counts
        # What layers cost that nobody can tell the work of is not known, and not nothing.
        self.opaque = counts.ops > 0 and counts.counted == 0
        if too_many or self.opaque:
            fitted = Fitted([None] * len(fitted.found), unbound if too_many else [])
        self.unfit = fitted.unfit
        count = costing.rows
        self.float_ops = fitted.found[:count]
        self.multiply_adds = fitted.found[count : 2 * count]
        self.activations = fitted.found[2 * count :]


def _rows(
    placed: Layers, held: Parameters, costs: _Priced, busy: Bool
) -> tuple[list[Row], Numbers]:
    """The rows that have something to tell, as those have that are *busy*, and the total."""
    row, count = placed.of_node[held.reader], len(placed)
    once = np.ones(row.size, np.int64)
    elements: list[int | None] = [*sums(held.elements, once, row, count)]
    size: list[int | None] = [*sums(held.size, once, row, count)]
    told: list[int | None] = [None] * count
    if held.trainable is not None:
        told[:] = sums(np.where(held.trainable, held.elements, 0), once, row, count)
    for unknown in np.unique(placed.of_node[held.unknown]).tolist():
        elements[unknown] = size[unknown] = told[unknown] = None
    columns = (told, elements, size, costs.float_ops, costs.multiply_adds, costs.activations)
    numbers = [Numbers(*cells) for cells in zip(*columns, strict=True)]
    zero = Formula()
    total = Numbers(None if held.trainable is None else 0, 0, 0, zero, zero, zero)
    for at in range(count - 1, -1, -1):
        around = placed.parent[at]
        if around >= 0:
            numbers[around] = numbers[around] + numbers[at]
        else:
            total = total + numbers[at]
    place: dict[int, int] = {-1: -1}
    rows: list[Row] = []
    for at, own in enumerate(numbers):
        is_empty = not busy[at] and own.parameters == 0 and own.float_ops is None
        if placed.name[at] == OTHER and (own.is_nothing or is_empty):
            continue
        place[at] = len(rows)
        around = place[placed.parent[at]]
        rows.append(
            Row(
                placed.name[at].decode("utf-8", "replace"),
                placed.path[at].decode("utf-8", "replace"),
                None if around < 0 else around,
                placed.depth[at],
                placed.is_block[at],
                own,
            )
        )
    return rows, total


def _uses(total: Numbers, symbol: str) -> bool:
    costs = (total.float_ops, total.multiply_adds, total.activation_bytes)
    return any(one is not None and symbol in one.used for one in costs)
