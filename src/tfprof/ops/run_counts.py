"""How often each node runs in one run of the graph: loops by their trips, one branch per choice.

loop 50 times               a call     1
  body                  ×   50
  condition             ×   51
  choice in the body        the branch with the most float operations × 50, the others × 0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.model import BRANCH, LOOP_BODY, LOOP_CONDITION, Profile
from tfprof.ops.engine import TRIPS
from tfprof.ops.inferred_shapes import engine_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.columns.strings import I64

_MOST: Final = 2**62


def trip_counts(profile: Profile, dims: Mapping[str, int] | None = None) -> I64:
    """How often each region runs per run of its call; -1: a loop without a known bound."""
    regions = profile.regions
    runs = np.ones(len(regions), np.int64)
    loop = np.flatnonzero(np.isin(regions.kind, (LOOP_BODY, LOOP_CONDITION)))
    if loop.size:
        engine = engine_of(profile, dims or {})
        counts = engine.settle(TRIPS, regions.call[loop].tolist())
        for region, trips in zip(loop.tolist(), counts, strict=True):
            more = int(regions.kind[region] == LOOP_CONDITION)
            runs[region] = -1 if trips is None else min(trips + more, _MOST)
    return runs


def may_end_sooner(profile: Profile, dims: Mapping[str, int] | None = None) -> I64:
    """The loops whose trips are an upper bound: their conditions depend on more than a counter."""
    trip_counts(profile, dims)
    return np.array(engine_of(profile, dims or {}).may_end_sooner(), np.int64)


class RunCounts(NamedTuple):
    """How often each node runs, and the calls that choose between branches."""

    of_node: I64
    choices: I64


def run_counts(profile: Profile, trips: I64, float_ops: I64) -> RunCounts:
    """How often each node runs in one run; unknown *trips* count as 1."""
    regions = profile.regions
    runs = np.where(trips < 0, 1, trips).tolist()
    of_node = np.full(len(profile), -1, np.int64)
    of_node[: regions.of_node.size] = regions.of_node
    outer = of_node[regions.call].tolist()
    inside = np.flatnonzero(of_node >= 0)
    sums = np.bincount(
        of_node[inside], weights=float_ops[inside].astype(np.float64), minlength=len(regions)
    ).tolist()
    best: dict[int, int] = {}  # the most expensive branch of each choice
    kind, call = regions.kind.tolist(), regions.call.tolist()
    branches: dict[int, list[int]] = {}
    for region in range(len(regions) - 1, -1, -1):  # an inner region follows its outer one
        added = region
        if kind[region] == BRANCH:
            branches.setdefault(call[region], []).append(region)
            if any(kind[other] == BRANCH for other in _before(region, call)):
                continue
            added = max(reversed(branches[call[region]]), key=sums.__getitem__)
            best[call[region]] = added
        if outer[region] >= 0:
            sums[outer[region]] += runs[added] * sums[added]
    total = [0] * len(regions)
    for region in range(len(regions)):
        own = 0 if best.get(call[region], region) != region else runs[region]
        around = 1 if outer[region] < 0 else total[outer[region]]
        total[region] = min(own * around, _MOST)
    result = np.append(np.array(total, np.int64), 1)[of_node]
    return RunCounts(result, np.array(sorted(best), np.int64))


def _before(region: int, call: list[int]) -> list[int]:
    """The previous region, if it belongs to the same call."""
    return [region - 1] if region and call[region - 1] == call[region] else []
