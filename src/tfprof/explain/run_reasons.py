"""How often a node runs in one run of the graph, and why.

recorded      a run records it, or how often the function around it ran
by region     the loops, branches and calls around the node, the innermost first
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import BRANCH, LOOP_BODY, LOOP_CONDITION
from tfprof.ops.loops import Calls
from tfprof.ops.program_runs import program_runs, programs
from tfprof.ops.run_counts import may_end_sooner, run_counts, runs_per_call, trip_counts
from tfprof.ops.symbols import symbols, with_recorded_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfprof.columns.strings import I64
    from tfprof.model import Profile

_RUN: Final = "--run_meta_path: a run records how often it runs"
_TRACE: Final = "--trace_path: a trace records how often it runs"
_AS_OTHERS: Final = "as often as other instructions of its program"
_RUNS: Final = "how often its program ran in each step"
_SOME: Final = 7  # a size to try
_MOST_TRIED: Final = 8  # dimensions, one by one


class Runs(NamedTuple):
    """How often a node runs, and why; what is not known of it, and the option that settles it."""

    times: int
    why: str
    assumed: tuple[str, ...] = ()
    remedy: str = ""


class RunReasons:
    """The run counts of a profile whose float operations were counted."""

    def __init__(self, counted: Profile, dims: Mapping[str, int]) -> None:
        ones = replace(counted.nodes, float_ops=np.ones(len(counted), np.int64))
        self._times = replace(counted, nodes=ones).values("float_ops", None)
        self._profile = counted
        self._calls = Calls(counted)
        self._recorded = np.zeros(len(counted), np.bool_)
        for step in counted.steps:
            self._recorded[step.node] = True
        regions = counted.regions
        occurrences = counted.values("occurrence", None)
        self._ran = regions.runs(occurrences) if counted.steps else np.full(len(regions), -1)
        self._trips, self._sooner = np.ones(len(regions), np.int64), frozenset[int]()
        self._remedy: dict[int, str] = {}
        self._counts: I64 | None = None
        if len(regions):
            shaped = with_recorded_shapes(counted, dims)
            self._trips = trip_counts(shaped, dims)
            self._sooner = frozenset(may_end_sooner(shaped, dims).tolist())
            self._remedy = _sizes_that_settle(shaped, dims, np.flatnonzero(self._trips < 0))
        self._ran_in_program = self._may_run_more = np.zeros(len(counted), np.bool_)
        per_call = runs_per_call(counted, self._trips, counted.nodes.float_ops)
        if (ran := program_runs(counted, per_call)) is not None:
            self._ran_in_program, self._may_run_more = ran.times >= 0, ran.lower

    def of(self, node: int) -> Runs:
        """The runs of a node."""
        count = int(self._times[node])
        around = self._calls.around(node)
        if self._recorded[node]:
            return Runs(count, "recorded by the run")
        if around and self._ran[around[0]] >= 0:
            return Runs(count, "as often as the run recorded the function around it")
        reasons = list(self._reasons(around))
        if self._ran_in_program[node]:
            reasons.append((_AS_OTHERS, _RUNS if self._may_run_more[node] else ""))
        assumed = tuple(unknown for _, unknown in reasons if unknown)
        why = "; ".join(reason for reason, _ in reasons) or "once per run of the graph"
        if self._ran_in_program[node]:
            return Runs(count, why, assumed)
        if count and (devices := count // self._on_one_device(node)) > 1:
            why += f", on each of {devices:,} devices"
        remedies = [self._remedy[region] for region in around if region in self._remedy]
        # XLA's programs have no RunMetadata.
        remedies.append(_TRACE if programs(self._profile)[node] >= 0 else _RUN)
        return Runs(count, why, assumed, remedies[0] if assumed else "")

    def _on_one_device(self, node: int) -> int:
        if self._counts is None:
            self._counts = run_counts(self._profile, self._trips, self._profile.nodes.float_ops)
        return max(int(self._counts[node]), 1)

    def _reasons(self, around: list[int]) -> Iterator[tuple[str, str]]:
        """(why, what is not known) for each region, the innermost first."""
        for region in around:
            call, kind = int(self._calls.call[region]), int(self._calls.kind[region])
            name = self._profile.nodes.name[call].decode("utf-8", "surrogateescape")
            if kind in (LOOP_BODY, LOOP_CONDITION):
                part = "body" if kind == LOOP_BODY else "condition"
                yield self._of_loop(region, call, name, part)
            elif kind == BRANCH:
                yield self._of_branch(region, call, name)
            elif len(around) == 1:
                yield f"once per call of {name}", ""

    def _of_loop(self, region: int, call: int, name: str, part: str) -> tuple[str, str]:
        trips, unknown = int(self._trips[region]), f"how often loop {name} runs"
        if trips < 0:
            return f"{part} of loop {name}, which has no constant bound and counts once", unknown
        times = "once" if trips == 1 else f"{trips:,} times"
        if call in self._sooner:
            return f"{part} of loop {name}: at most {times}; it may end sooner", unknown
        return f"{part} of loop {name}: {times}, by its constant bound", ""

    def _of_branch(self, region: int, call: int, name: str) -> tuple[str, str]:
        inside = np.flatnonzero(self._profile.regions.of_node == region)
        unknown = f"which branch of {name} runs"
        if self._times[inside].any() or not self._times[call]:
            return f"the branch of {name} with the most float operations, which counts", unknown
        return f"a branch of {name}, of which another one counts: it has more work", unknown


def _sizes_that_settle(profile: Profile, dims: Mapping[str, int], loops: I64) -> dict[int, str]:
    """For loops without a known bound, the open dimensions that would give them one."""
    still_open = [row.name for row in symbols(profile) if row.name not in dims]
    remedy: dict[int, str] = {}
    single = [[name] for name in still_open[:_MOST_TRIED]]
    for names in [*single, still_open] if loops.size else ():
        trips = trip_counts(profile, {**dims, **dict.fromkeys(names, _SOME)})
        option = f"--dim {','.join(f'{name}=N' for name in names[:_MOST_TRIED])}"
        for loop in loops[trips[loops] >= 0].tolist():
            remedy.setdefault(loop, option)
    return remedy
