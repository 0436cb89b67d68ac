"""Steps that stand out: slow on all workers, or on some.

    factor = median over workers of (time of the step / the worker's median step)

A step stands out if its factor is at least 1.2, 5 times the noise of that median, and beyond what
steps differ usually. A worker stands out in a step if its time is at least 1.5 times its own median
step after division by that factor, and 8 times the noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.fleet.robust import (
    MAJORITY,
    OF_NOISE,
    error_of_median,
    median,
    noise_of,
    spread,
    spread_of_steps,
    spreads_needed,
)

if TYPE_CHECKING:
    from tfprof.fleet.robust import F64

_LEAST_FACTOR: Final = 1.2
_LEAST_OF_WORKER: Final = 1.5
_OF_WORKER_NOISE: Final = 8.0
_FEW: Final = 4  # numbers say little about noise
_FEW_STEPS: Final = 10
_MOST_OF_FEW: Final = 2.0


class SlowStep(NamedTuple):
    """A step that stands out."""

    column: int  # of the times
    factor: float  # its time by that of a median step, of the workers that it is slow on
    micros: float  # its time, the median of these workers
    usual: float  # that of their median steps
    workers: tuple[int, ...]  # rows of the times; empty: all
    recorded: int  # how many workers recorded it


def find_slow_steps(times: F64) -> list[SlowStep]:
    """The steps of *times* (workers × steps; NaN: not recorded) that stand out.

    Steps that are slow on all workers come first, then the largest factor.
    """
    enough = np.isfinite(times).sum(axis=1) >= MAJORITY
    usual = np.where(enough, median(times, axis=1), np.nan)
    logs = np.log(times / usual[:, None])
    counts = np.isfinite(logs).sum(axis=0)
    if not counts.any():
        return []
    # Of two workers, one that is slow alone must not make the step slow.
    least = np.where(np.isfinite(logs), logs, np.inf).min(axis=0)
    step = np.where((counts > 0) & (counts < MAJORITY), least, median(logs, axis=0))
    shared = counts >= MAJORITY
    if shared.any():
        noise = noise_of(logs - np.where(shared, step, 0.0), len(logs))
    else:  # of few workers, a slow step would count as noise twice: on its way up and down
        noise = float(median(spread_of_steps(logs, axis=1), 0)) * (1 + _FEW / counts.sum())
    known = int((counts > 0).sum())
    needed = np.maximum(
        np.log(_LEAST_FACTOR),
        np.maximum(
            OF_NOISE * error_of_median(noise, counts.astype(np.float64)),
            spreads_needed(known) * spread(step),
        ),
    )
    if known < _FEW_STEPS:  # which say little about noise
        needed = np.minimum(needed, np.log(_MOST_OF_FEW))
    slow = np.flatnonzero(np.nan_to_num(step) >= needed)
    everywhere = [
        SlowStep(
            int(at),
            float(np.exp(step[at])),
            float(median(times[:, at][np.isfinite(logs[:, at])], 0)),
            float(median(usual[np.isfinite(logs[:, at])], 0)),
            (),
            int(counts[at]),
        )
        for at in slow
    ]
    on_some = _on_some_workers(times, usual, logs - step, noise, set(slow.tolist()))
    by_factor = [sorted(found, key=lambda each: -each.factor) for found in (everywhere, on_some)]
    return [each for found in by_factor for each in found]


def _on_some_workers(
    times: F64, usual: F64, left: F64, noise: float, but: set[int]
) -> list[SlowStep]:
    """The steps that are slow on some workers: *left* is what no step or worker explains."""
    if left.shape[0] == 1:
        return []
    own = spread(left, axis=1)[:, None]  # a worker that is often slow is no news
    needed = np.maximum(_OF_WORKER_NOISE * np.maximum(noise, own), np.log(_LEAST_OF_WORKER))
    worker, step = np.nonzero(np.nan_to_num(left) >= needed)
    found = []
    for at in sorted({*step.tolist()} - but):
        rows = worker[step == at]
        rows = rows[np.argsort(-left[rows, at], kind="stable")]
        here, before = float(np.median(times[rows, at])), float(np.median(usual[rows]))
        factor = float(np.median(times[rows, at] / usual[rows]))
        recorded = int(np.isfinite(left[:, at]).sum())
        found.append(SlowStep(at, factor, here, before, tuple(rows.tolist()), recorded))
    return found


def few_steps(times: F64) -> str:
    """Why no step can be called slow; "" if some can."""
    most = int(np.isfinite(times).sum(axis=1).max(initial=0))
    if most >= MAJORITY:
        return ""
    return f"No worker has more than {most} steps: too few to say which one stands out."
