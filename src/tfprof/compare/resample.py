"""Intervals of differences between two runs, and which differences are more than noise.

    base  rows × steps ─┬─► each side's steps drawn again, with replacement ─► low, high
    new   rows × steps ─┴─► the steps of both sides dealt out anew ─► stands_out

An interval is a bootstrap over steps: it holds the difference of the means in 95 of 100 cases. A
report has many rows, so some intervals miss 0 by chance. A row stands out if fewer than 3 of 100
ways to deal out the steps have any row that is as far out, measured in standard errors (maximum
of t, Westfall and Young 1993). So equal runs give an alarm in at most 3 of 100 reports, whatever
the distribution of times is. Too few steps cannot be dealt out in enough ways: nothing stands out.

Steps that drift tell less than their number: where successive steps differ by less than all do
(von Neumann's ratio), errors grow as those of an autoregressive process.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from tfprof.columns.strings import Bool

F64 = np.ndarray[Any, np.dtype[np.float64]]

LEAST: Final = 4  # steps of each side that can be dealt out in enough ways
_INDEPENDENT: Final = 3  # steps of each side that are left where times drift
_CHANCE: Final = 0.03  # below the 5 % that are promised, so that 1,000 reports keep it, too
_RESAMPLES: Final = 1000
_FEWEST: Final = 200  # resamples of very many rows
_PRODUCTS: Final = 500_000_000
_CELLS: Final = 200_000  # resamples of so many rows are in memory at once
_TICK: Final = 1 / 12  # the variance of what whole microseconds leave out
# Student's t at 97.5 % by 1 / degrees of freedom, and that of normal noise.
_DEGREES: Final = np.array([1e9, 30, 10, 6, 4, 3, 2, 1])
_STUDENT: Final = np.array([1.96, 2.042, 2.228, 2.447, 2.776, 3.182, 4.303, 12.706])


class Intervals(NamedTuple):
    """Of each row: 95 % intervals of the difference, and whether it is more than noise."""

    low: F64
    high: F64
    stands_out: Bool
    drifts: bool = False  # so much that no row can stand out


class _Side(NamedTuple):
    deviation: F64  # rows × steps, from the mean
    error: F64  # variance of each mean, drift included
    factor: F64  # how much drift adds to it
    independent: float  # about so many steps

    @classmethod
    def of(cls, times: F64) -> _Side:
        steps = times.shape[1]
        deviation = times - times.mean(axis=1, keepdims=True)
        variance = (deviation**2).sum(axis=1) / (steps - 1)
        factor, of_all = _drift(deviation, variance)
        error = (variance * factor + _TICK) / steps
        return cls(deviation, error, factor, steps / of_all)

    def part(self, rows: slice) -> _Side:
        deviation, error, factor = self.deviation[rows], self.error[rows], self.factor[rows]
        return _Side(deviation, error, factor, self.independent)


def intervals(base: F64, new: F64) -> Intervals:
    """What is known of mean(new) - mean(base) of each row (rows × steps, two steps at least)."""
    change = new.mean(axis=1) - base.mean(axis=1)
    low, high, stands_out = change.copy(), change.copy(), np.zeros(change.size, np.bool_)
    both = np.concatenate([base, new], axis=1).astype(np.float64)
    rows = np.flatnonzero((both != both[:, :1]).any(axis=1))
    if not rows.size:
        return Intervals(low, high, stands_out)
    sides = tuple(_Side.of(times[rows].astype(np.float64)) for times in (base, new))
    count = int(np.clip(_PRODUCTS // both[rows].size, _FEWEST, _RESAMPLES))
    random = np.random.default_rng(1)  # the same input has the same interval
    draws = [_draws(side.deviation.shape[1], count, random) for side in sides]
    dealt = _deals(base.shape[1], new.shape[1], count, random)
    beyond, peak = np.empty(rows.size), np.zeros(dealt.shape[1])
    chunk = max(_CELLS // count, 1)
    for here in (slice(first, first + chunk) for first in range(0, rows.size, chunk)):
        few = [side.part(here) for side in sides]
        low[rows[here]], high[rows[here]] = change[rows[here]] + _spread(few, draws)
        t = _t(both[rows[here]], dealt, base.shape[1])
        beyond[here] = np.abs(change[rows[here]]) / np.sqrt(few[0].error + few[1].error)
        np.maximum(peak, t.max(axis=0), out=peak)
    as_far = peak.size - np.searchsorted(np.sort(peak), beyond * (1 - 1e-9))
    drifts = min(side.independent for side in sides) < _INDEPENDENT
    enough = min(base.shape[1], new.shape[1]) >= LEAST and not drifts
    far = (as_far <= _CHANCE * peak.size) & enough
    stands_out[rows] = far & ((low[rows] > 0) | (high[rows] < 0))
    return Intervals(low, high, stands_out, drifts)


def _draws(steps: int, count: int, random: np.random.Generator) -> F64:
    """How often each step is drawn, less once, by their number: steps × count."""
    drawn = (random.random((steps, count)) * steps).astype(np.int64)
    times = np.zeros((steps, count))
    np.add.at(times, (drawn, np.arange(count)), 1.0)
    return (times - 1) / steps


def _deals(base: int, new: int, count: int, random: np.random.Generator) -> F64:
    """1 for each step that is dealt to the base: steps × ways, the real one included."""
    if comb(base + new, base) <= count:
        chosen = np.array(list(combinations(range(base + new), base)))
    else:
        chosen = np.argsort(random.random((count, base + new)), axis=1)[:, :base]
        chosen[0] = np.arange(base)
    dealt = np.zeros((base + new, len(chosen)))
    dealt[chosen.T, np.arange(len(chosen))] = 1
    return dealt


def _t(both: F64, dealt: F64, base: int) -> F64:
    """The difference of the means in standard errors: rows × ways."""
    new = both.shape[1] - base
    deviation = both - both.mean(axis=1, keepdims=True)
    squares = deviation**2
    mean = deviation @ dealt / base  # that of the others is -mean * base / new
    of_base = squares @ dealt
    of_new = squares.sum(axis=1, keepdims=True) - of_base
    squared = mean**2
    error = np.maximum(of_base - base * squared, 0) / ((base - 1) * base)
    error += np.maximum(of_new - base**2 / new * squared, 0) / ((new - 1) * new)
    error += _TICK * (1 / base + 1 / new)
    t: F64 = np.abs(mean) * (1 + base / new) / np.sqrt(error)
    return t


def _spread(sides: list[_Side], draws: list[F64]) -> F64:
    """(low, high) around the difference: percentiles of resamples, expanded for few steps."""
    resampled = np.zeros((sides[0].error.size, draws[0].shape[1]))
    for side, drawn, sign in zip(sides, draws, (-1, 1), strict=True):
        steps = len(drawn)
        scale = sign * np.sqrt(side.factor * steps / (steps - 1))
        resampled += (side.deviation * scale[:, None]) @ drawn
    last = resampled.shape[1] - 1
    ends = [round(0.025 * last), round(0.975 * last)]
    resampled.partition(ends, axis=1)
    freedom = sum(side.error for side in sides) ** 2 / sum(
        side.error**2 / (len(drawn) - 1) for side, drawn in zip(sides, draws, strict=True)
    )  # Welch 1947
    few = np.interp(1 / freedom, 1 / _DEGREES, _STUDENT) / _STUDENT[0]
    spread: F64 = np.array([resampled[:, end] for end in ends]) * few
    return spread


def _drift(deviation: F64, variance: F64) -> tuple[F64, float]:
    """(of each row, of most rows): by how much drift multiplies the variance of the mean."""
    steps = deviation.shape[1]
    if steps < LEAST:  # nothing to see
        return np.ones(len(deviation)), 1.0
    successive = (np.diff(deviation, axis=1) ** 2).mean(axis=1) / 2
    ratio = np.minimum(successive / np.where(variance > 0, variance, 1), 1)
    ratio[variance <= 0] = 1
    # A process whose steps keep the part *kept* of the last deviation has these ratios.
    kept = np.linspace(0, 0.98, 99)
    apart = np.arange(1, steps)[:, None]
    grown = 1 + 2 * ((1 - apart / steps) * kept**apart).sum(axis=0)
    left = (steps - grown) / (steps - 1)  # of the variance around the mean of these steps
    noisy = ratio[variance > 1]  # not just ticks of the clock
    usual = np.median(noisy) if noisy.size else 1.0
    of_all = float(np.interp(-usual, (kept - 1) / left, grown / left))
    own = np.maximum(ratio, 1 / steps)
    return np.maximum((2 - own) / own, of_all), of_all
