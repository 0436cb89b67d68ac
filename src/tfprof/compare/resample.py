"""intervals(base, new): the difference of two runs, row by row, and where it is more than noise.

    base  rows × steps ─┬─► each side's steps drawn again, with replacement ─► low, high
    new   rows × steps ─┴─► the steps of both sides dealt out anew ─► stands_out

Intervals are those of a bootstrap. Of many rows some miss 0 by chance, so a row stands out only if
at most 3 of 100 ways to deal out the steps have any row that is as many standard errors away from
0 (the maximum of t, Westfall and Young 1993). That holds for every distribution of times. A few
steps can be dealt out in so few ways that nothing stands out. Where successive steps are more alike
than others, times drift, and errors grow as those of an autoregressive process.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from tfprof.columns.strings import Bool

F64 = np.ndarray[Any, np.dtype[np.float64]]

LEAST: Final = 4  # steps of each side; fewer can be dealt out in too few ways
_INDEPENDENT: Final = 3  # steps of each side that drift has to leave
_CHANCE: Final = 0.03  # of 5 % that are promised: 1,000 reports are to keep the promise, too
_RESAMPLES, _FEWEST, _PRODUCTS = 1000, 200, 500_000_000  # fewer resamples for very many rows
# Matrix products up to _SMALL numbers, _WIDTH columns at a time: BLAS uses one thread for these.
_SMALL, _WIDTH = 262_144, 64
_TICK: Final = 1 / 12  # the variance of what whole microseconds leave out
# Student's t at 97.5 % for these degrees of freedom.
_FREEDOM: Final = np.array([1e9, 30, 10, 6, 4, 3, 2, 1])
_STUDENT: Final = np.array([1.96, 2.042, 2.228, 2.447, 2.776, 3.182, 4.303, 12.706])


class Intervals(NamedTuple):
    """Of each row: the 95 % interval of the difference, and whether it is more than noise."""

    low: F64
    high: F64
    stands_out: Bool
    drifts: bool = False  # so much that no row can stand out


def intervals(base: F64, new: F64) -> Intervals:
    """Of mean(new) - mean(base), given rows × steps of each side, with two steps or more."""
    first, second = ((side.shape[1], side.sum(), side.tobytes()) for side in (base, new))
    if first > second:  # the same with signs turned, in whatever order rows are
        low, high, stands_out, drifts = intervals(new, base)
        return Intervals(-high, -low, stands_out, drifts)
    change = new.mean(axis=1) - base.mean(axis=1)
    low, high, stands_out = change.copy(), change.copy(), np.zeros(change.size, np.bool_)
    both, steps = np.concatenate([base, new], axis=1), (base.shape[1], new.shape[1])
    rows = np.flatnonzero((both != both[:, :1]).any(axis=1))
    if not rows.size:
        return Intervals(low, high, stands_out)
    sides = [side[rows] - side[rows].mean(axis=1, keepdims=True) for side in (base, new)]
    factors, usual = zip(*map(_drift, sides), strict=True)
    error, scales = _errors(sides, np.stack(factors), np.array(steps)[:, None])
    scaled = np.concatenate([side * s[:, None] for side, s in zip(sides, scales, strict=True)], 1)
    apart = both[rows] - both[rows].mean(axis=1, keepdims=True)
    apart /= np.sqrt((apart**2).sum(axis=1, keepdims=True) + _TICK * sum(steps))
    count = int(np.clip(_PRODUCTS // apart.size, _FEWEST, _RESAMPLES))
    draws = np.concatenate([_draws(n, count, side) for side, n in enumerate(steps)])
    dealt, end = _deals(*steps, count), round(0.025 * (count - 1))
    sums, chunk = np.zeros(dealt.shape[1]), max(_SMALL // _WIDTH // sum(steps), 1)
    for part in (slice(first, first + chunk) for first in range(0, rows.size, chunk)):
        np.maximum(sums, np.abs(_product(apart[part], dealt)).max(axis=0), out=sums)
        resampled = np.partition(_product(scaled[part], draws), [end, count - 1 - end], axis=1)
        low[rows[part]] += resampled[:, end]
        high[rows[part]] += resampled[:, count - 1 - end]
    between = np.minimum(sums**2 * (1 / steps[0] + 1 / steps[1]), 1 - 1e-12)
    t = np.sort(np.sqrt((sum(steps) - 2) * between / (1 - between)))  # the largest of each way
    as_far = t.size - np.searchsorted(t, np.abs(change[rows]) / np.sqrt(error) * (1 - 1e-9))
    drifts = min(steps) >= LEAST and min(np.array(steps) / usual) < _INDEPENDENT
    enough = min(steps) >= LEAST and not drifts
    misses_0 = (low[rows] > 0) | (high[rows] < 0)
    stands_out[rows] = (as_far <= _CHANCE * t.size) & misses_0 & enough
    return Intervals(low, high, stands_out, drifts)


def _errors(sides: list[F64], factors: F64, steps: Any) -> tuple[F64, F64]:  # noqa: ANN401
    """(variance of each difference, by how much to multiply deviations of each side)."""
    squares = np.stack([(side**2).sum(axis=1) for side in sides]) * factors
    errors = (squares / (steps - 1) + _TICK) / steps
    pooled = (squares.sum(axis=0) + _TICK * steps.sum()) / (steps.sum() - 2) * (1 / steps).sum()
    freedom = (errors**2 / (steps - 1)).sum(axis=0) / errors.sum(axis=0) ** 2  # Welch 1947
    few = np.interp(freedom, 1 / _FREEDOM, _STUDENT) / _STUDENT[0]
    scales = np.sqrt(factors * steps / (steps - 1)) * few * [[-1], [1]]
    return np.maximum(errors.sum(axis=0), pooled), scales


def _product(rows: F64, columns: F64) -> F64:
    """The matrix product; threads would wait for each other longer than they multiply."""
    width = max(_SMALL // rows.size, 1)
    parts = (slice(first, first + width) for first in range(0, columns.shape[1], width))
    return np.concatenate([rows @ columns[:, part] for part in parts], axis=1)


@lru_cache(maxsize=4)
def _draws(steps: int, count: int, seed: int) -> F64:
    """How often each step is drawn, less once, by the number of steps: steps × count."""
    drawn = (np.random.default_rng(seed).random((steps, count)) * steps).astype(np.int64)
    return (np.stack([(drawn == step).sum(axis=0) for step in range(steps)]) - 1) / steps


@lru_cache(maxsize=4)
def _deals(base: int, new: int, count: int) -> F64:
    """1 for each step that is dealt to the base: steps × ways, among them the real one."""
    if comb(base + new, base) <= count:
        chosen = np.array(list(combinations(range(base + new), base)))
    else:
        order = np.argsort(np.random.default_rng(count).random((count, base + new)), axis=1)
        chosen = np.concatenate([[np.arange(base)], order[1:, :base]])
    dealt = np.zeros((base + new, len(chosen)))
    dealt[chosen.T, np.arange(len(chosen))] = 1
    return dealt


def _drift(times: F64) -> tuple[F64, float]:
    """(of each row, of the usual row): by how much drift multiplies the variance of the mean."""
    steps, variance = times.shape[1], times.var(axis=1, ddof=1)
    if steps < LEAST:
        return np.ones(len(times)), 1.0
    ratio = (np.diff(times, axis=1) ** 2).mean(axis=1) / 2 / np.where(variance > 0, variance, 1)
    ratio = np.where(variance > 0, np.clip(ratio, 1 / steps, 1), 1)  # von Neumann 1941
    # Of processes whose steps keep a part of the last deviation. The variance around the mean of
    # these steps is less than all of it.
    kept, apart = np.linspace(0, 0.98, 99), np.arange(1, steps)[:, None]
    grown = 1 + 2 * ((1 - apart / steps) * kept**apart).sum(axis=0)
    left = (steps - grown) / (steps - 1)
    noisy = ratio[variance > 1]  # more than ticks of the clock
    median = np.median(noisy) if noisy.size else 1.0
    usual = float(np.interp(-median, (kept - 1) / left, grown / left))
    return np.maximum(2 / ratio - 1, usual), usual
