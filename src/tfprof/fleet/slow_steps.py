"""Steps that stand out: slow on all workers, or on some.

    factor = median over workers of (time of the step / the worker's median step)

A step stands out if its factor is at least 1.2, beyond noise, and beyond what steps differ usually;
or if it is 2, and far beyond the next step. A worker stands out in a step if its time, divided by
that factor, is at least 1.5 times its own median step and far beyond all other worker steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.fleet.robust import (
    MAJORITY,
    beyond,
    median,
    noise_needed,
    noise_of,
    spread,
    spread_of_steps,
    spreads_needed,
)

if TYPE_CHECKING:
    from tfprof.fleet.robust import F64

_LEAST_FACTOR: Final = 1.2
_LEAST_OF_FEW: Final = 2.0
_LEAST_OF_WORKER: Final = 1.5
_OF_WORKER_NOISE: Final = 3.0  # times the cube root of how many are compared
_BEYOND_OTHERS: Final = 6.0  # times as far from usual as the next
_FEW_OF: Final = 20  # one in so many worker steps
_OF_TAIL: Final = 6.0
_LEAST_TAIL: Final = 5
_FEW: Final = 4  # numbers say little about noise


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
            noise_needed(noise, counts.astype(np.float64), known, step),
            spreads_needed(known) * spread(step),
        ),
    )
    # A few steps say little about noise.
    needed = np.minimum(needed, np.maximum(np.log(_LEAST_OF_FEW), beyond(step)))
    slow = np.flatnonzero(np.nan_to_num(step) >= needed)
    everywhere = []
    for at in slow.tolist():
        rows = np.isfinite(logs[:, at])
        here, before = float(np.median(times[rows, at])), float(np.median(usual[rows]))
        factor = float(np.exp(step[at]))
        everywhere.append(SlowStep(at, factor, here, before, (), int(counts[at])))
    on_some = _on_some_workers(times, usual, logs - step, noise, set(slow.tolist()))
    by_factor = [sorted(found, key=lambda each: -each.factor) for found in (everywhere, on_some)]
    return [each for found in by_factor for each in found]


def _on_some_workers(
    times: F64, usual: F64, left: F64, noise: float, but: set[int]
) -> list[SlowStep]:
    """The steps that are slow on some workers: *left* is what no step or worker explains."""
    if left.shape[0] == 1:
        return []
    left = np.nan_to_num(left)
    own = spreads_needed(left.shape[1]) * spread(left, axis=1)  # of who is often slow, no news
    least = max(np.log(_LEAST_OF_WORKER), _OF_WORKER_NOISE * np.cbrt(left.size) * noise)
    far = np.maximum(max(least, _beyond_others(np.abs(left[left != 0]))), own[:, None])
    # Beside a worker whose step is fast, a usual one is not slow.
    is_slow = np.nan_to_num(times / usual[:, None]) >= _LEAST_OF_WORKER
    worker, step = np.nonzero((left >= far) & is_slow)
    found = []
    for at in sorted({*step.tolist()} - but):
        rows = worker[step == at]
        rows = rows[np.argsort(-left[rows, at], kind="stable")]
        here, before = float(np.median(times[rows, at])), float(np.median(usual[rows]))
        factor = float(np.median(times[rows, at] / usual[rows]))
        recorded = int(np.isfinite(left[:, at]).sum())
        found.append(SlowStep(at, factor, here, before, tuple(rows.tolist()), recorded))
    return found


def _beyond_others(distances: F64) -> float:
    """The least distance that is far beyond all smaller ones; infinite: there is none.

    Logarithms of the largest differ by as much as they exceed, in the mean, where the tail begins.
    """
    ordered = np.log(np.sort(distances)[::-1])
    few = ordered.size // _FEW_OF
    for at in range(max(few, 1), 0, -1):
        if at < ordered.size:
            tail = ordered[at : 2 * few]
            heavy = float((tail - tail[-1]).mean()) if few >= _LEAST_TAIL else 0.0
            if ordered[at - 1] - ordered[at] >= max(np.log(_BEYOND_OTHERS), _OF_TAIL * heavy):
                return float(np.exp(ordered[at - 1]))
    return np.inf
