"""summary(profile) → Summary: the layers of a model, and what each has and costs.

scopes ─► layers ─┐
parameters ───────┼─► rows ─► totals
costs ─► formulas ┘

The numbers of a block are the sums of the rows in it, and the total that of the outermost rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.ops.dtypes import FLOAT
from tfprof.ops.inferred_shapes import with_inferred_shapes
from tfprof.ops.output_dtypes import output_dtypes
from tfprof.ops.symbols import symbols, with_recorded_shapes
from tfprof.summary.caveats import Gaps, caveats
from tfprof.summary.costs import CostModel, Costs, row_sums, without_others
from tfprof.summary.formula import MOST_SYMBOLS, Fitted, Formula, formulas
from tfprof.summary.layers import OTHER, Layers, layers
from tfprof.summary.model_nodes import check_holds_model, is_checkpoint, makes_tensors, model_nodes
from tfprof.summary.output_shapes import of_variables, output_shapes
from tfprof.summary.parameters import Parameters, casts_of_variables, parameters, variable_nodes
from tfprof.summary.scopes import scopes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Profile
    from tfprof.ops.counting import Counts

DEPTH: Final = 2
PARAMETERS: Final = ("trainable", "non_trainable", "parameters", "parameter_bytes")
COSTS: Final = ("float_ops", "multiply_adds", "activation_bytes")


class Numbers(NamedTuple):
    """What a row has and costs; None: unknown."""

    trainable: int | None
    parameters: int | None
    parameter_bytes: int | None
    float_ops: Formula | None
    multiply_adds: Formula | None
    activation_bytes: Formula | None
    micros: int | None = None  # per step; None: nothing was timed
    lower: frozenset[str] = frozenset()  # of PARAMETERS and COSTS: those that are lower bounds

    def __add__(self, other: Numbers) -> Numbers:  # type: ignore[override]
        pairs: Any = zip(self[:-1], other[:-1], strict=True)
        sums: Any = (None if None in pair else pair[0] + pair[1] for pair in pairs)
        return Numbers(*sums)._replace(lower=self.lower | other.lower)

    @property
    def costs(self) -> tuple[Formula | None, ...]:
        """The numbers that may depend on open dimensions."""
        return self.float_ops, self.multiply_adds, self.activation_bytes


class Row(NamedTuple):
    """A layer, a block, or the rest of a block."""

    name: str  # below the row around it
    path: str  # of its scope
    parent: int | None
    depth: int
    is_block: bool
    numbers: Numbers
    kind: str = ""  # its class in Keras, where a file records it; of a variable, the dtype
    shape: list[int] | None = None  # of its output; -1: open


@dataclass(frozen=True, eq=False)
class Summary:
    """The rows, their total, and the caveats."""

    title: str
    rows: list[Row]
    total: Numbers
    symbols: tuple[str, ...]  # the open dimensions that the numbers depend on
    counts: Counts
    sentences: tuple[str, ...]
    knows_trainable: bool  # the file records which parameters are trainable
    training: str = ""  # rows are parts of a training step, from its "graph" or by "estimate"
    of_variables: bool = False  # rows are variables of a checkpoint, without operations
    of_node: I64 | None = None  # the innermost row of each node; -1: it is not in the model


def summary(
    profile: Profile,
    depth: int = DEPTH,
    dims: Mapping[str, int] | None = None,
    outputs: Sequence[str] = (),
) -> Summary:
    """The summary of what the *outputs* need, all outputs if none is named; raises TfprofError."""
    if depth < 1:
        raise UsageError(f"depth takes a whole number of at least 1, not {depth}")
    check_holds_model(profile)
    sizes = dict(dims or {})
    in_model = model_nodes(profile, outputs)
    model = without_others(profile, in_model | variable_nodes(profile))
    dtypes = output_dtypes(model)
    has_dtypes = bool(dtypes.any())
    if not has_dtypes:  # an older tfprof saved graphs in text format without them
        dtypes = np.full(len(model), FLOAT)
    params = shaped_parameters(model, in_model, dtypes, sizes, unneeded=not outputs)
    can_compute = makes_tensors(model)
    computes = can_compute & in_model
    readers = np.concatenate([params.reader, params.unknown])
    placed = layers(scopes(model), computes & ~casts_of_variables(model), readers, depth)
    cost_model = CostModel(model, computes, dtypes, placed.of_node, len(placed.rows))
    recorded = with_recorded_shapes(model, sizes)
    still_open = symbols(recorded)
    unbound = [symbol.name for symbol in still_open if symbol.name not in sizes]
    variables_only = is_checkpoint(model)
    is_idle = not computes.any() and readers.size > 0
    costs = RowCosts(cost_model, sizes, unbound, is_known=not is_idle)
    if variables_only:
        looks = of_variables(model, placed, params, dtypes)
    else:
        shapes = output_shapes(with_inferred_shapes(recorded, sizes), placed, in_model)
        kinds = ("" if row.keras is None else row.keras.kind for row in placed.rows)
        looks = list(zip(shapes, kinds, strict=True))
    micros, outside = _micros(profile, placed, in_model)
    rows, total, place = _rows(placed, params, costs, computes, looks, micros)
    used = {symbol for cost in total.costs if cost is not None for symbol in cost.used}
    gaps = Gaps(
        0 if costs.is_opaque else costs.example.unknown,
        tuple(name for name in unbound if name in used),
        costs.unfit,
        costs.sizes,
        has_dtypes,
        costs.is_opaque,
        int((can_compute & ~in_model).sum()),
        is_idle and not variables_only,
        outside,
    )
    return Summary(
        placed.title,
        rows,
        total,
        gaps.symbols,
        costs.example.counts,
        caveats(model, in_model, params, gaps),
        knows_trainable=params.trainable is not None,
        of_variables=variables_only,
        of_node=np.where(in_model, place[placed.of_node], -1),
    )


def _micros(profile: Profile, placed: Layers, in_model: Bool) -> tuple[list[Any], tuple[int, int]]:
    """(the time of each row in a step, None if nothing was timed; time outside the model, all)."""
    count = len(placed.rows)
    took = profile.values("micros", None) if profile.steps else np.zeros(len(profile), np.int64)
    if not took.any():
        return [None] * count, (0, 0)
    own = np.where(in_model, took, 0)
    rows = row_sums(own, np.ones(own.size, np.int64), placed.of_node, count)
    return list(rows), (int(took.sum()) - sum(rows), int(took.sum()))


def shaped_parameters(
    model: Profile,
    in_model: Bool,
    dtypes: I64,
    dims: Mapping[str, int],
    *,
    unneeded: bool = True,
) -> Parameters:
    """The parameters; infers shapes only if variables do not declare their own."""
    declared = parameters(model.with_run_shapes, in_model, dtypes, unneeded=unneeded)
    if declared.node.size and not declared.unknown.size and not declared.guessed:
        return declared
    shaped = with_inferred_shapes(with_recorded_shapes(model, dims), dims)
    return parameters(shaped, in_model, dtypes, unneeded=unneeded)


class RowCosts:
    """The formulas of each row, and the open dimensions for which there are none."""

    def __init__(
        self, model: CostModel, dims: Mapping[str, int], unbound: list[str], *, is_known: bool
    ) -> None:
        tried: list[tuple[dict[str, int], Costs]] = []

        def evaluate(sizes: Mapping[str, int]) -> list[int]:
            costs = model.at({**dims, **sizes})
            if not tried:
                tried.append(({**dims, **sizes}, costs))
            return [number for column in costs.columns for number in column]

        too_many = len(unbound) > MOST_SYMBOLS
        fitted = formulas(evaluate, [] if too_many else unbound)
        self.sizes, self.example = tried[0]
        counts = self.example.counts
        self.is_opaque = counts.ops > 0 and counts.counted == 0
        self.lower = self.example.lower if is_known else [np.ones(model.rows, np.bool_)] * 3
        if too_many or not is_known:
            fitted = Fitted([None] * len(fitted.formulas), unbound if too_many else [])
        self.unfit = fitted.unfit
        starts = range(0, 3 * model.rows, model.rows or 1)
        self.columns = [fitted.formulas[start : start + model.rows] for start in starts]


def _rows(  # noqa: PLR0913, PLR0917 - one parameter per part of a row
    placed: Layers,
    params: Parameters,
    costs: RowCosts,
    computes: Bool,
    looks: list[tuple[list[int] | None, str]],
    micros: list[int] | list[None],
) -> tuple[list[Row], Numbers, I64]:
    """(the rows with their numbers, the total, their places); a rest without numbers has none."""
    row, count = placed.of_node[params.reader], len(placed.rows)
    busy = np.bincount(placed.of_node[computes], minlength=count) > 0
    once = np.ones(row.size, np.int64)
    elements: list[int | None] = [*row_sums(params.elements, once, row, count)]
    size: list[int | None] = [*row_sums(params.size, once, row, count)]
    trainable: list[int | None] = [None] * count
    if params.trainable is not None:
        trained = np.where(params.trainable, params.elements, 0)
        trainable[:] = row_sums(trained, once, row, count)
    lacks = np.bincount(placed.of_node[params.unknown], minlength=count) > 0
    marks = [*((name, lacks) for name in PARAMETERS), *zip(COSTS, costs.lower, strict=True)]
    lower = [frozenset(name for name, mark in marks if mark[at]) for at in range(count)]
    columns = (trainable, elements, size, *costs.columns, micros, lower)
    numbers = [Numbers(*cells) for cells in zip(*columns, strict=True)]
    zero = Formula()
    timed = None if None in micros else 0
    total = Numbers(None if params.trainable is None else 0, 0, 0, zero, zero, zero, timed)
    for at in range(count - 1, -1, -1):
        parent = placed.rows[at].parent
        if parent >= 0:
            numbers[parent] = numbers[parent] + numbers[at]
        else:
            total = total + numbers[at]
    place: dict[int, int | None] = {-1: None}
    rows: list[Row] = []
    for at, (layer, own) in enumerate(zip(placed.rows, numbers, strict=True)):
        is_zero = all(cost is not None and not cost.terms for cost in own.costs)
        is_idle = not busy[at] and own.float_ops is None
        bounds = own.lower.difference(COSTS) if is_idle else own.lower
        is_empty = own.parameters == 0 and (is_zero or is_idle) and not bounds
        if layer.name == OTHER and is_empty:
            continue
        place[at] = len(rows)
        name, path = (text.decode("utf-8", "replace") for text in (layer.name, layer.path))
        shape, kind = looks[at]
        rest = (layer.is_block, own, kind, shape)
        rows.append(Row(name, path, place[layer.parent], layer.depth, *rest))
    return rows, total, np.array([place.get(at, -1) for at in range(count)], np.int64)
