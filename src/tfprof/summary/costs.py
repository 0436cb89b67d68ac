"""Float operations, multiply-adds and bytes of each layer, for given sizes of open dimensions.

Everything is for one run of the graph: nodes in a loop count once per iteration, and of the
branches of a conditional the most expensive one counts. Recorded steps say how often nodes ran.

Activation bytes are the outputs of nodes that make a tensor of their own, once per run of each. Not
counted: variables, constants, inputs, nodes that pass a tensor on or describe its shape, and calls
of functions, whose bodies count. This is what a run allocates, not its peak: memory is freed early.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.unique import sum_by
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.ops.counting import Counts, lower_bound_nodes, may_contract, multiply_adds
from tfprof.ops.inferred_shapes import latest_engine, with_inferred_shapes
from tfprof.ops.output_dtypes import element_sizes
from tfprof.ops.run_counts import with_calls
from tfprof.ops.symbols import with_recorded_shapes
from tfprof.ops.with_float_ops import with_float_ops

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Profile

_LOW = 32
_SAFE = 2.0**62


class Costs(NamedTuple):
    """The numbers of each row, and what they do not cover."""

    columns: list[list[int]]  # float operations, multiply-adds, activation bytes
    lower: list[Bool]  # per column: the rows in which something is not counted
    counts: Counts
    unknown: int  # outputs of unknown size


@dataclass(frozen=True, eq=False)
class CostModel:
    """A profile and the row that each of its nodes adds to."""

    profile: Profile
    computes: Bool
    dtypes: I64
    row: I64
    rows: int

    def at(self, dims: Mapping[str, int]) -> Costs:
        """What the rows cost if the open dimensions have these sizes."""
        fresh = _fresh(self.profile)  # without a cache: each size is needed once
        if fresh.shape_sources:  # but runs are read once
            vars(fresh)["with_run_shapes"] = _fresh(self.profile.with_run_shapes)
        # If steps ran with different shapes, all numbers are those of the first step.
        first = min((step.number for step in fresh.steps), default=None)
        counted, counts = with_float_ops(fresh, "all", dims, first)
        shaped = with_inferred_shapes(with_recorded_shapes(fresh, dims, first), dims)
        float_ops = counted.nodes.float_ops
        size, unknown = _activation_bytes(shaped, self.computes, self.dtypes)
        # How often each node runs, as the views count it: as if each had one float operation.
        ones = replace(counted.nodes, float_ops=np.ones(len(counted), np.int64))
        times = replace(counted, nodes=ones).values("float_ops", None)
        products = multiply_adds(shaped, float_ops)
        amounts = (float_ops, products, size)
        columns = [row_sums(amount, times, self.row, self.rows) for amount in amounts]
        missing = (
            lower_bound_nodes(counted, counts, float_ops),
            lower_bound_nodes(counted, counts, products) & may_contract(fresh),
            ((unknown > 0) & (times > 0)) | (counts.once & (size > 0)),
        )
        rows = (self.row[nodes & fresh.in_graph] for nodes in missing)
        lower = [np.bincount(row, minlength=self.rows) > 0 for row in rows]
        return Costs(columns, lower, counts, int(unknown[times > 0].sum()))


def _fresh(profile: Profile) -> Profile:
    """A copy that has nothing but the latest engine: what does not depend on sizes stays."""
    fresh = replace(profile)
    latest_engine(fresh, lambda: latest_engine(profile))
    return fresh


def _activation_bytes(shaped: Profile, computes: Bool, dtypes: I64) -> tuple[I64, I64]:
    """(bytes, outputs of unknown size) of each node that *computes*; 0 for all others."""
    outputs, each = shaped.outputs, np.diff(shaped.outputs.start)
    owner = np.repeat(np.arange(len(shaped)), each)
    known = outputs.shape.are_whole() & (dtypes[owner] > 0)
    size = element_sizes(dtypes)
    sums = sum_by(owner, np.where(known, outputs.shape.elements(), 0), len(shaped))
    unknown = np.bincount(owner[~known], minlength=len(shaped))
    unknown[each == 0] = 1
    # Handles and strings have no size in a graph.
    counts = computes & ((size > 0) | (dtypes == 0))
    return np.where(counts, sums * size, 0), np.where(counts, unknown, 0)


def row_sums(amount: I64, times: I64, row: I64, rows: int) -> list[int]:
    """The sum of amount · times in each row, however large."""
    if float(np.abs(amount).max(initial=0)) * float(times.max(initial=0)) > _SAFE:
        totals = [0] * rows
        for number, often, at in zip(amount.tolist(), times.tolist(), row.tolist(), strict=True):
            totals[at] += number * often
        return totals
    product = amount * times
    low = sum_by(row, product & ((1 << _LOW) - 1), rows).tolist()
    high = sum_by(row, product >> _LOW, rows).tolist()
    return [(up << _LOW) + down for up, down in zip(high, low, strict=True)]


def without_others(profile: Profile, in_model: Bool) -> Profile:
    """*profile* where only the nodes *in_model* count; nodes stay where they are."""
    described = with_calls(profile, in_model)  # a loop says how often it runs
    sources = tuple(
        replace(source, node=np.where((source.node >= 0) & described[source.node], source.node, -1))
        for source in profile.attribute_sources
    )
    nodes = replace(profile.nodes, float_ops=np.where(in_model, profile.nodes.float_ops, 0))
    return replace(profile, nodes=nodes, attribute_sources=sources)
