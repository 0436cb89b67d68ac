"""Stragglers: workers that take longer than their peers, and what makes them slow.

    factor = median over steps of (time / median time of its peers in that step)
    waits  = 1 - 1 / factor                 of a step in which the others wait for it
    extra  = an operation's time per step - the median of its peers

Peers are workers that run the same operations: of each type and device nearly as many. A worker is
a straggler if its factor stands out (at least 1.03, beyond noise as robust.py has it, beyond how
much peers differ, and in most steps), or if an operation of it does: at least 1.5 times the time of
its peers, extra time of at least 1% of its step, beyond noise and how much peers differ. The second
finds who holds up steps that take everybody the same time, since all wait. Operations that wait for
others are no evidence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.fleet.robust import (
    MAJORITY,
    factors,
    median,
    noise_needed,
    spread,
    spreads_needed,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.fleet.robust import F64, Factors

Ints = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

ALIKE: Final = 0.8  # of the nodes that one of two peers runs, both run
_LEAST_FACTOR: Final = 1.03
_FEW_PEERS: Final = 5  # fewer say little about how much workers differ
_LEAST_OF_FEW: Final = 1.05
_MOST_OF_FEW: Final = 2.0
_OF_TWO: Final = 1.5  # the noise of a difference
_LEAST_OF_OP: Final = 1.5
_LEAST_EXTRA: Final = 0.01  # of a step
_LEAST_OF_ONE_STEP: Final = 1.5  # noise is unknown
_LEAST_OF_ONE_STEP_OP: Final = 2.0
_MOST_CAUSES: Final = 3
_EVENLY: Final = 0.5  # of the excess: all operations share it
# Operations whose time is mostly that of others.
WAITS: Final = re.compile(
    r"_?(Host)?Recv\w*|RecvTensor|\w*Dequeue\w*|Barrier\w*|Collective\w*|\w*GetNext\w*"
)


class Key(NamedTuple):
    """What times are added up by."""

    op: str
    device: str  # without job and task, where they are the worker's own
    node: str = ""  # where each node counts for itself


class Cause(NamedTuple):
    """Operations that take a straggler longer than its peers."""

    key: Key
    micros: float  # per step
    usual: float  # of its peers
    nodes: tuple[tuple[str, float, float], ...] = ()  # the few that matter: name, micros, usual

    @property
    def extra(self) -> float:
        """How much longer, per step."""
        return self.micros - self.usual

    @property
    def factor(self) -> float | None:
        """How many times as long; None: its peers do not run it."""
        return self.micros / self.usual if self.usual > 0 else None


class Straggler(NamedTuple):
    """A worker that takes longer than its peers."""

    worker: int
    factor: float
    micros: float  # its median step
    usual: float  # that of its peers
    waits: float  # the share of its step that others wait
    causes: tuple[Cause, ...]
    evenly: float | None  # all its operations take about this many times as long
    by_steps: bool  # False: its operations stand out, but its steps do not
    peers: int


class Sums(NamedTuple):
    """Per worker and key, over its steps."""

    keys: Sequence[Key]
    micros: F64  # the median
    spread: F64  # how much steps differ
    nodes: F64  # how many nodes ran, the median


class Compared(NamedTuple):
    """One group of peers."""

    workers: Ints  # rows of the times
    factors: Factors
    stragglers: list[Straggler]


def groups_of_peers(nodes: F64) -> list[Ints]:
    """Rows of *nodes* (workers × keys) that run nearly the same, the largest group first."""
    left = np.arange(nodes.shape[0])
    groups = []
    while left.size:
        first = nodes[left[0]]
        both = np.minimum(nodes[left], first).sum(axis=1)
        either = np.maximum(nodes[left], first).sum(axis=1)
        alike = both >= ALIKE * either
        groups.append(left[alike])
        left = left[~alike]
    return sorted(groups, key=lambda group: (-group.size, group[0]))


def compare(times: F64, sums: Sums) -> list[Compared]:
    """The workers of *times* (workers × steps; NaN: not recorded), compared with their peers."""
    result = []
    for group in groups_of_peers(sums.nodes):
        # Who runs one layer more is not slow.
        equal = times.copy()
        equal[group] /= _work(sums.nodes[group], sums.micros[group])[:, None]
        by_group = factors(equal[group])
        found = _stragglers(group, equal, by_group, sums) if group.size > 1 else []
        result.append(Compared(group, by_group, found))
    return result


def _work(nodes: F64, micros: F64) -> F64:
    """How much each worker has to do, by how many nodes it runs; 1: as much as its peers."""
    usual, usual_nodes = usual_of(micros), np.median(nodes, axis=0)
    ratio = np.divide(nodes, usual_nodes, out=np.ones_like(nodes), where=usual_nodes > 0)
    work = (ratio * usual).sum(axis=1)
    whole = float(usual.sum())
    return work / whole if whole and work.all() else np.ones(len(nodes))


def _stragglers(group: Ints, times: F64, by_group: Factors, sums: Sums) -> list[Straggler]:
    """The stragglers of a group, what costs most time first."""
    excess, is_slow = _slow_workers(times[group], by_group)
    micros = sums.micros[group]
    usual = usual_of(micros)
    stands_out = slow_operations(micros, sums.spread[group], times[group], sums.keys)
    steps = median(times[group], axis=1)
    found = []
    for at in np.flatnonzero(is_slow | stands_out.any(axis=1)).tolist():
        factor, by_steps = float(np.exp(max(excess[at], 0.0))), bool(is_slow[at])
        causes = _causes(micros[at], usual, sums.keys, stands_out[at], by_steps=by_steps)
        whole = float(steps[at])
        extra = sum(cause.extra for cause in causes)
        waits = 1 - 1 / factor
        if not by_steps:
            waits = max(waits, min(extra / whole, 1.0))
        evenly = _evenly(micros[at], usual, factor) if by_steps else None
        row, peers = int(group[at]), group.size - 1
        usual_step = whole / factor
        one = Straggler(row, factor, whole, usual_step, waits, causes, evenly, by_steps, peers)
        found.append(one)
    return sorted(found, key=lambda each: (-each.waits, each.worker))


def _slow_workers(times: F64, of: Factors) -> tuple[F64, Flags]:
    """(logarithm of each worker's factor, who takes longer beyond noise and enough to matter)."""
    known, one_step = int(np.isfinite(of.worker).sum()), bool(np.isnan(of.noise))
    if known < (MAJORITY if one_step else 2):
        return np.zeros(len(times)), np.zeros(len(times), np.bool_)
    least = _LEAST_FACTOR if known >= _FEW_PEERS else _LEAST_OF_FEW
    least = _LEAST_OF_ONE_STEP if one_step else least
    # Of two workers the median is in the middle.
    excess = np.nan_to_num(of.worker if known >= MAJORITY else 2 * of.worker)
    between = spread(of.worker)
    noise = float(between) if one_step else of.noise * (1 if known >= MAJORITY else _OF_TWO)
    needed = np.maximum(noise_needed(noise, of.counts, known, excess), np.log(least))
    if known >= MAJORITY:
        needed = np.maximum(needed, _of_peers(known, between, one_step))
    # One slow step makes no straggler: most of its steps are slow.
    each = np.log(times) - of.step - of.usual >= of.worker[:, None] / 2
    most = 2 * each.sum(axis=1) > np.isfinite(times).sum(axis=1)
    return excess, (excess >= needed) & most


def slow_operations(micros: F64, spreads: F64, times: F64, keys: Sequence[Key]) -> Flags:
    """Which (worker, key) take longer than peers by more than noise and by enough to matter."""
    counts = factors(times).counts
    one_step, several = bool((np.isfinite(times).sum(axis=1) <= 1).all()), len(micros) >= MAJORITY
    if one_step and not several:
        return np.zeros(micros.shape, np.bool_)
    usual = usual_of(micros)
    runs = (usual > 0) & np.array([not WAITS.fullmatch(key.op) for key in keys], np.bool_)
    # These arrays may be most of the memory: few are there at a time.
    noise = np.divide(spreads, micros, out=np.zeros_like(micros), where=micros > 0)
    noise = np.median(noise, axis=0) if several else noise.max(axis=0)
    logs = np.divide(
        micros, usual, out=np.ones_like(micros), where=np.broadcast_to(runs, micros.shape)
    )
    with np.errstate(divide="ignore"):
        np.log(logs, out=logs)
    np.maximum(logs, -1.0, out=logs)  # a worker may take no time at all
    between = spread(logs)
    noise = between if one_step else noise
    if runs.any():  # that of one key alone is a guess from few steps
        noise = np.maximum(noise, np.median(noise[runs]))
    needed = noise_needed(noise, counts, len(logs) * int(runs.sum()), np.maximum(logs, 0.0))
    if several:
        needed = np.maximum(needed, _of_peers(len(micros), between, one_step))
    # Operations may run at once, and a step may have gaps: of both the longer counts.
    whole = np.maximum(micros.sum(axis=1), np.nan_to_num(median(times, axis=1)))
    extra = micros - usual >= _LEAST_EXTRA * whole[:, None]
    least = np.log(_LEAST_OF_ONE_STEP_OP if one_step else _LEAST_OF_OP)
    most = micros - spreads > usual  # of its steps are slow
    result: Flags = (logs >= np.maximum(needed, least)) & extra & runs & most
    return result


def _of_peers(count: int, between: F64, one_step: bool) -> F64:  # noqa: FBT001
    """What stands out among *count* peers that differ by *between*; of a few, twice does."""
    most = np.inf if one_step or count >= _FEW_PEERS else np.log(_MOST_OF_FEW)
    return np.minimum(spreads_needed(count) * between, most)


def usual_of(micros: F64) -> F64:
    """The median of each column; of two workers the faster."""
    usual: F64 = np.median(micros, axis=0) if len(micros) >= MAJORITY else micros.min(axis=0)
    return usual


def _causes(
    micros: F64, usual: F64, keys: Sequence[Key], stands_out: Flags, *, by_steps: bool
) -> tuple[Cause, ...]:
    """What takes longer, most extra time first; what stands out, else what adds most."""
    extra = micros - usual
    largest = np.argsort(-extra, kind="stable")
    candidates = [at for at in largest.tolist() if stands_out[at]]
    if by_steps and not candidates:
        least = _LEAST_EXTRA * max(float(micros.sum()), 1.0)
        candidates = [at for at in largest.tolist() if extra[at] >= least]
    return tuple(
        Cause(keys[at], float(micros[at]), float(usual[at])) for at in candidates[:_MOST_CAUSES]
    )


def _evenly(micros: F64, usual: F64, factor: float) -> float | None:
    """How many times as long all operations take, if no few of them explain *factor*."""
    counted = usual >= _LEAST_EXTRA * max(float(usual.sum()), 1.0)
    if counted.sum() < MAJORITY:
        return None
    most_take = float(np.percentile(micros[counted] / usual[counted], 25))
    return most_take if most_take - 1 >= _EVENLY * (factor - 1) else None
