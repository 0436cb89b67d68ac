"""How often each node runs in one run of the graph: loop bodies per iteration, one branch per cond.

loop 50 times               a call     1
  body                  ×   50
  condition             ×   51
  choice in the body        the branch with the most float operations × 50, the others × 0

Loops of single nodes, as TensorFlow 1 builds them, count once without a run:

Enter ─► Merge ─► Switch ─► body ─► NextIteration ─► Merge     everything up to Exit repeats
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.foundation.units import plural
from tfprof.model import BRANCH, LOOP_BODY, LOOP_CONDITION, Note, Profile, own_notes
from tfprof.ops.classes import of_class
from tfprof.ops.engine import TRIPS
from tfprof.ops.inferred_shapes import engine_of
from tfprof.ops.reach import Links

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfprof.columns.strings import I64, Bool

_MOST: Final = 2**62
_MOST_NAMED: Final = 3


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
    return np.array(sorted(engine_of(profile, dims or {}).loops.may_end_sooner), np.int64)


def loop_notes(
    profile: Profile, shaped: Profile, dims: Mapping[str, int], among: Bool | None = None
) -> Iterator[str]:
    """What is assumed of the loops and conditionals (*among* these nodes) that no run records."""
    regions = profile.regions
    recorded = regions.runs(profile.values("occurrence", None)) >= 0
    assumed = ~recorded if among is None else ~recorded & among[regions.call]
    body, branch = regions.kind == LOOP_BODY, regions.kind == BRANCH
    loops = regions.call[assumed & body & (trip_counts(shaped, dims) < 0)]
    if loops.size:
        have, are = ("loop has", "is") if loops.size == 1 else ("loops have", "are")
        text = f"{loops.size:,} {have} no constant bound, and {are} counted once"
        yield f"{text}: {_named(profile, loops)}"
    bounded = np.intersect1d(may_end_sooner(shaped, dims), regions.call[assumed & body])
    if bounded.size:
        text = "as long as the bound allows, and may end sooner"
        some = plural(bounded.size, "loop counts", "loops count")
        yield f"{some} {text}: {_named(profile, bounded)}"
    choices = np.setdiff1d(regions.call[assumed & branch], regions.call[recorded & branch])
    if choices.size:
        yield f"{plural(choices.size, 'cond counts its', 'conds count their')} larger branch"


def with_calls(profile: Profile, nodes: Bool) -> Bool:
    """These nodes, and the calls around them."""
    result, regions = nodes.copy(), profile.regions
    inside = np.flatnonzero(regions.of_node >= 0)
    call = regions.call[regions.of_node[inside]]
    count = -1
    while inside.size and count != (count := int(result.sum())):
        result[call[result[inside]]] = True
    return result


def in_unbounded_loops(profile: Profile, trips: I64) -> Bool:
    """Which nodes are in a loop that counts once: nothing bounds it and no run records it."""
    regions = profile.regions
    is_open = (trips < 0) & (regions.runs(profile.values("occurrence", None)) < 0)
    is_open, of_node = np.append(is_open, False), regions.of_nodes(len(profile))
    if is_open.any():
        for region, around in enumerate(of_node[regions.call]):  # an inner region comes later
            is_open[region] |= is_open[around]
    result: Bool = is_open[of_node]
    return result


def _named(profile: Profile, nodes: I64) -> str:
    more = ", …" if nodes.size > _MOST_NAMED else ""
    return ", ".join(profile.nodes.name.take(nodes[:_MOST_NAMED]).texts()) + more


def run_counts(profile: Profile, trips: I64, float_ops: I64) -> I64:
    """How often each node runs in one run; unknown *trips* count as 1."""
    regions = profile.regions
    of_node = regions.of_nodes(len(profile))
    outer = of_node[regions.call].tolist()
    total = runs_per_call(profile, trips, float_ops).tolist()
    for region, around in enumerate(outer):  # an inner region comes later
        total[region] = min(total[region] * (1 if around < 0 else total[around]), _MOST)
    result: I64 = np.append(np.array(total, np.int64), 1)[of_node]
    return result


def runs_per_call(profile: Profile, trips: I64, float_ops: I64) -> I64:
    """How often each region runs per run of its call: of branches, only the most expensive."""
    regions = profile.regions
    runs = np.where(trips < 0, 1, trips).tolist()
    of_node = regions.of_nodes(len(profile))
    outer = of_node[regions.call].tolist()
    # Those of nodes in no region come first.
    sums = np.bincount(of_node + 1, weights=float_ops, minlength=len(regions) + 1)[1:].tolist()
    best: dict[int, int] = {}  # the most expensive branch of each choice
    kind, call = regions.kind.tolist(), regions.call.tolist()
    branches: dict[int, list[int]] = {}
    for region in range(len(regions) - 1, -1, -1):  # an inner region follows its outer one
        added = region
        if kind[region] == BRANCH:
            branches.setdefault(call[region], []).append(region)
            if region and call[region - 1] == call[region] and kind[region - 1] == BRANCH:
                continue
            added = max(reversed(branches[call[region]]), key=sums.__getitem__)
            best[call[region]] = added
        if outer[region] >= 0:
            sums[outer[region]] += runs[added] * sums[added]
    chosen = (best.get(call[region], region) == region for region in range(len(regions)))
    return np.where(np.fromiter(chosen, np.bool_, len(regions)), runs, 0)


def old_loops(profile: Profile) -> tuple[Bool, tuple[Note, ...]]:
    """(the nodes inside such loops, a note if there are any)."""
    loops = int(of_class(profile, "loop condition").sum())
    if not loops:
        return np.zeros(len(profile), np.bool_), ()
    inside = Links.consumers(profile.edges).reached(
        of_class(profile, "loop entry"), ~of_class(profile, "loop exit")
    )
    text = "loop (LoopCond) counts" if loops == 1 else "loops (LoopCond) count"
    return inside, own_notes([f"{loops:,} {text} once: add a run to count every iteration"])
