"""What a model costs a layer for given sizes of its open dimensions: operations and bytes.

Everything is for one run of the graph: what stands in a loop counts as often as it runs, and of
the branches of a choice the dearest does. Where steps were recorded, they say how often that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.ops.classes import of_class
from tfprof.ops.counting import Counts, are_contractions
from tfprof.ops.inferred_shapes import with_inferred_shapes
from tfprof.ops.output_dtypes import element_sizes
from tfprof.ops.with_float_ops import with_float_ops

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Profile


def computing(profile: Profile) -> Bool:
    """Which nodes make a tensor of their own."""
    holds = ("variable handle", "reference variable", "variable read", "constant", "placeholder")
    hands_on = of_class(profile, *holds, "alias") & ~of_class(profile, "out of a list")
    hands_on |= of_class(profile, "call in a graph", "saves", "reports")
    hands_on[profile.regions.call] = True
    return ~hands_on


def activation_bytes(shaped: Profile, among: Bool, kind: I64) -> tuple[I64, I64]:
    """(bytes, outputs of unknown size) of each node *among* those that compute; 0 elsewhere.

    *kind* is the DataType of each node's outputs, 0 where it is not known.
    """
    outputs, each = shaped.outputs, np.diff(shaped.outputs.start)
    owner = np.repeat(np.arange(len(shaped)), each)
    elements = outputs.shape.elements()
    whole = outputs.shape.are_whole() & (kind[owner] > 0)
    size = element_sizes(kind)
    sums = np.zeros(len(shaped), np.int64)
    np.add.at(sums, owner, np.where(whole, elements, 0))
    unknown = np.bincount(owner[~whole], minlength=len(shaped))
    unknown[each == 0] = 1
    # A handle or a text has no size that a graph tells, and is no tensor that counts.
    counts = among & ((size > 0) | (kind == 0))
    return np.where(counts, sums * size, 0), np.where(counts, unknown, 0)


_LOW = 32
_SAFE = 2.0**62


class Costs(NamedTuple):
    """The numbers of each row, and what they do not cover."""

    float_ops: list[int]
    multiply_adds: list[int]  # half of those of products and sums, node by node: they are whole
    activations: list[int]
    counts: Counts
    unknown: int  # outputs whose size is not known


@dataclass(frozen=True, eq=False)
class Costing:
    """A profile and the row that each of its nodes adds to."""

    profile: Profile
    computes: Bool
    types: I64
    row: I64
    rows: int

    def at(self, dims: Mapping[str, int]) -> Costs:
        """What the rows cost where the open dimensions are of these sizes."""
        fresh = replace(self.profile)  # what is worked out for one size is not kept
        counted, counts = with_float_ops(fresh, "all", dims)
        shaped = with_inferred_shapes(fresh.with_run_shapes, dims)
        times = _times(counted)
        contracts = are_contractions(fresh)
        float_ops = counted.nodes.float_ops
        size, unknown = activation_bytes(shaped, self.computes, self.types)
        return Costs(
            self._sums(float_ops, times),
            self._sums(np.where(contracts, float_ops // 2, 0), times),
            self._sums(size, times),
            counts,
            int(unknown[times > 0].sum()),
        )

    def _sums(self, amount: I64, times: I64) -> list[int]:
        return sums(amount, times, self.row, self.rows)


def _times(profile: Profile) -> I64:
    """How often each node runs, as the views count it: what one float operation a node makes."""
    nodes = replace(profile.nodes, float_ops=np.ones(len(profile), np.int64))
    return replace(profile, nodes=nodes).values("float_ops", None)


def sums(amount: I64, times: I64, row: I64, rows: int) -> list[int]:
    """The sum of amounts times times in each row, however large."""
    if float(np.abs(amount).max(initial=0)) * float(times.max(initial=0)) > _SAFE:
        totals = [0] * rows
        products = zip(amount.tolist(), times.tolist(), row.tolist(), strict=True)
        for one, often, at in products:
            totals[at] += one * often
        return totals
    product = amount * times
    low, high = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    np.add.at(low, row, product & ((1 << _LOW) - 1))
    np.add.at(high, row, product >> _LOW)
    return [(up << _LOW) + down for up, down in zip(high.tolist(), low.tolist(), strict=True)]


def only(profile: Profile, living: Bool) -> Profile:
    """*profile* where nothing is counted but the nodes *living*, which keep their numbers."""
    sources = tuple(
        replace(source, node=np.where((source.node >= 0) & living[source.node], source.node, -1))
        for source in profile.attribute_sources
    )
    nodes = replace(profile.nodes, float_ops=np.where(living, profile.nodes.float_ops, 0))
    return replace(profile, nodes=nodes, attribute_sources=sources)
