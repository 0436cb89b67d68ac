"""The workers of a fleet: how long each takes, who holds up the others and why.

StepTimes ─► slow steps ─┐
rows ──────► Sums ───────┴─► stragglers and their nodes ─► Workers
graphs ────► variables ────► balance of parameter servers ─┘
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.fleet.robust import MAJORITY, median, spread
from tfprof.fleet.server_balance import balance, server_variables
from tfprof.fleet.slow_nodes import with_slow_nodes
from tfprof.fleet.slow_steps import find_slow_steps
from tfprof.fleet.stragglers import compare
from tfprof.fleet.worker_sums import add_up, is_server, step_times
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.foundation.units import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tfprof.fleet.dataset import Dataset
    from tfprof.fleet.server_balance import Balance
    from tfprof.fleet.slow_steps import SlowStep
    from tfprof.fleet.stragglers import Cause, Compared, Straggler
    from tfprof.fleet.worker_sums import Added, StepTimes


class Worker(NamedTuple):
    """A worker and its peers, which run the same operations."""

    name: str
    group: int  # of peers, from 0
    steps: int
    micros: float | None  # its median step; None: no times
    factor: float | None  # by the median of its peers
    share: float  # of the time of all workers
    spread: float | None  # deviation of its steps, by their median; None: fewer than two
    least: float | None
    most: float | None
    is_straggler: bool


@dataclass(frozen=True, eq=False)
class Workers:
    """What is known of the workers of a fleet."""

    workers: tuple[Worker, ...]  # the slowest of each group first, large groups first
    steps: tuple[int, ...]
    is_span: bool
    stragglers: tuple[tuple[str, Straggler], ...]  # with the worker's name
    slow_steps: tuple[tuple[SlowStep, tuple[str, ...], tuple[Cause, ...]], ...]
    balance: Balance
    notes: tuple[str, ...]
    compared: int  # workers with peers


def workers_of(dataset: Dataset, keep: Callable[[str], bool] | None = None) -> Workers:
    """Compare the workers that *keep* accepts."""
    times = step_times(dataset, keep)
    slow = find_slow_steps(times.micros)
    added = add_up(dataset, times, {each.column: each.workers for each in slow})
    groups = with_slow_nodes(dataset, times, compare(times.micros, added.sums))
    stragglers = [one for group in groups for one in group.stragglers]
    stragglers.sort(key=lambda one: (-one.waits, one.worker))
    return Workers(
        tuple(_workers(times, groups)),
        times.steps,
        times.is_span,
        tuple((times.workers[one.worker], one) for one in stragglers),
        tuple(
            (each, tuple(times.workers[at] for at in each.workers), added.step_causes[each.column])
            for each in slow
        ),
        balance(*server_variables(dataset, times), _server_times(added)),
        (*dataset.manifest.gaps(times.workers), *_notes(times, groups)),
        sum(group.workers.size for group in groups if group.workers.size > 1),
    )


def _workers(times: StepTimes, groups: Sequence[Compared]) -> Iterator[Worker]:
    totals = np.nansum(times.micros, axis=1)
    whole = float(totals.sum()) or 1.0
    middle, deviation = median(times.micros, axis=1), spread(times.micros, axis=1)
    counts = np.isfinite(times.micros).sum(axis=1)
    for number, group in enumerate(groups):
        slow = {each.worker for each in group.stragglers}
        factor = dict(zip(group.workers.tolist(), np.exp(group.factors.worker), strict=True))
        order = sorted(group.workers.tolist(), key=lambda at: -np.nan_to_num(factor[at]))
        for at in order:
            row, has = times.micros[at], bool(counts[at])
            yield Worker(
                times.workers[at],
                number,
                int(counts[at]),
                float(middle[at]) if has else None,
                float(factor[at]) if has and len(order) > 1 else None,
                float(totals[at]) / whole,
                float(deviation[at] / middle[at]) if counts[at] > 1 else None,
                float(np.nanmin(row)) if has else None,
                float(np.nanmax(row)) if has else None,
                at in slow,
            )


def _server_times(added: Added) -> dict[str, float]:
    """The time of each server per step of a worker."""
    times: dict[str, float] = {}
    for key, micros in zip(added.sums.keys, added.mean.tolist(), strict=True):
        if is_server(key.device):
            server = key.device.partition("/")[0]
            times[server] = times.get(server, 0.0) + micros
    return times


def _notes(times: StepTimes, groups: Sequence[Compared]) -> Iterator[str]:
    """What the comparison cannot say."""
    counts = np.isfinite(times.micros).sum(axis=1)
    alone = [times.workers[group.workers[0]] for group in groups if group.workers.size == 1]
    pairs = sum(group.workers.size == MAJORITY - 1 for group in groups)
    if len(times.workers) == 1:
        yield "There is one worker: nothing to compare it with."
    elif alone:
        first = ", ".join(alone[:MAJORITY]) + ", …" * (len(alone) > MAJORITY)
        what = "runs" if len(alone) == 1 else "run"
        yield f"Not compared: {first} {what} other operations than everybody else."
    if pairs:
        yield (
            f"{plural(pairs, 'group has', 'groups have')} two workers: "
            "the slower is compared with the faster, as there is no majority."
        )
    most = int(counts.max(initial=0))
    if 0 < most < MAJORITY:
        yield (
            f"{plural(most, 'step')} per worker at most: noise is hard to tell from slowness, and "
            "no step can stand out. Three or more would do, ten are better."
        )
    if times.without_time:
        left_out = plural(times.without_time, "worker step has", "worker steps have")
        yield f"{left_out} no time and {'is' if times.without_time == 1 else 'are'} left out."
