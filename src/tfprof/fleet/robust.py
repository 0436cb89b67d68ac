"""What is usual, and what stands out from it: medians over workers and steps.

    time[worker, step] = usual * worker's factor * step's factor * noise

Factors are medians, so what is slow itself does not shift them. Something stands out if it is
slower by more than noise explains, and by enough to matter.

Real noise has outliers, and whoever compares much finds much. So what stands out must be rarer
than CHANCE among all that is compared, if noise is as heavy in the tails as Student's t with 3
degrees of freedom. A median of n steps is far out only if half of them are: few steps need a lot.
What is 7 times as far out as the next worker or step, and beyond normal noise, stands out as well:
then the tails are not that heavy.
"""

from __future__ import annotations

import warnings
from functools import cache
from math import comb, pi, sqrt
from typing import Any, Final, NamedTuple

import numpy as np

F64 = np.ndarray[Any, np.dtype[np.float64]]

MAJORITY: Final = 3  # with fewer, a median does not say which one is unusual
CHANCE: Final = 0.003  # of an alarm without a cause
# A median absolute deviation times this is the standard deviation of normal noise.
_DEVIATION: Final = 1.4826
_DISTANCE: Final = 0.9539  # the median distance of two normal numbers, by their deviation
_T_DEVIATION: Final = 1.134  # of Student's t, judged like that
# The same of a few numbers comes out too small, by these factors (Croux and Rousseeuw, 1992).
_OF_FEW: Final = {
    2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107,
}  # fmt: skip
_OF_NORMAL: Final = 6.3  # deviations of normal noise, by the root of the count
_OF_NEXT: Final = 7.0
_OF_SPREAD: Final = 4.5  # deviations among alike workers or steps
_MOST_COUNTED: Final = 100  # numbers of a median; more need no less
_TAKEN: Final = 0.7  # of normal noise, by 1 / peers: measured
_ROUNDS: Final = 3
_FEW: Final = 4  # differences say little about noise
_DRIFTS: Final = 0.7  # successive steps differ by less than this part of what all steps do


class Factors(NamedTuple):
    """Logarithms of what makes up each time."""

    usual: float
    worker: F64  # NaN: no times
    step: F64
    noise: float  # the deviation of a single time; NaN: unknown, as no worker has two steps
    counts: F64  # independent steps of each worker


def factors(times: F64) -> Factors:
    """The factors of *times* (workers × steps; NaN: not recorded), by median polish."""
    logs = np.log(times)
    # If few workers recorded a step, it has no factor of its own.
    shared = np.isfinite(logs).sum(axis=0) >= MAJORITY
    step = np.zeros(logs.shape[1])
    for _ in range(_ROUNDS):
        worker = median(logs - step, axis=1)
        if shared.any():
            step[shared] = median(logs[:, shared] - worker[:, None], axis=0)
            step[shared] -= np.median(step[shared])
    usual = float(median(worker, axis=0))
    counts = np.isfinite(logs).sum(axis=1).astype(np.float64)
    noise = noise_of(logs - step, len(logs) * int(shared.any()))
    within = float(median(spread_of_steps(logs - step, axis=1), axis=0))
    if noise < _DRIFTS * within:  # times drift, and successive steps say the same
        alike = (noise / within) ** 2
        noise, counts = within, np.floor(counts * alike / (2 - alike))
    return Factors(usual, worker - usual, step, noise, counts)


def noise_of(logs: F64, peers: int = 0) -> float:
    """The deviation of single numbers, judged by successive ones of each row; NaN: unknown.

    *peers*: by the median of how many rows the columns were divided, which takes away some noise.
    """
    distances = [np.abs(np.diff(row[np.isfinite(row)])) for row in logs]
    every = np.concatenate([np.empty(0), *distances])
    if not every.size:
        return float("nan")
    left = 1 - _TAKEN / peers if peers else 1.0
    return float(np.median(every)) / _DISTANCE / left * (1 + _FEW / every.size)


def median(numbers: F64, axis: int) -> F64:
    """The median along *axis* without NaN; NaN where there is nothing else."""
    is_number = np.isfinite(numbers)
    if numbers.shape[axis] and is_number.all():
        whole: F64 = np.median(numbers, axis=axis)
        return whole
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of empty slices
        result: F64 = np.nanmedian(np.where(is_number, numbers, np.nan), axis=axis)
    return result


def spread(numbers: F64, axis: int = 0) -> F64:
    """The deviation of *numbers* along *axis*, by their median distance from their median."""
    apart = numbers - np.expand_dims(median(numbers, axis), axis)
    np.abs(apart, out=apart)
    return _DEVIATION * median(apart, axis)


def spread_of_steps(numbers: F64, axis: int = 0) -> F64:
    """The deviation of a few steps; what a median distance of so few leaves out is made good."""
    return spread(numbers, axis) * _OF_FEW.get(numbers.shape[axis], 1.0)


def spreads_needed(count: int) -> float:
    """How many deviations stand out among *count* numbers; the spread of a few says little."""
    return _OF_SPREAD * (1 + MAJORITY / max(count, 1))


def noise_needed(noise: float | F64, counts: F64, among: int, logs: F64) -> F64:
    """What stands out from noise, among so many medians of *counts* numbers; 0: noise is unknown.

    *logs*: the medians by row, for comparison of each row with the others.
    """
    whole = np.clip(np.nan_to_num(counts), 1, _MOST_COUNTED).astype(np.int64)
    heavy = np.array([_deviations_needed(count, max(among, 1)) for count in whole.tolist()])
    shape = -1, *[1] * (logs.ndim - 1)
    deviation = np.nan_to_num(noise)
    light = deviation * (_OF_NORMAL / np.sqrt(whole)).reshape(shape)
    needed: F64 = np.minimum(deviation * heavy.reshape(shape), np.maximum(light, beyond(logs)))
    return needed


def beyond(logs: F64) -> F64:
    """What is far beyond the largest number of all other rows, for each row."""
    largest = np.nan_to_num(np.abs(logs)).reshape(len(logs), -1).max(axis=1, initial=0.0)
    *_, second, first = np.sort(np.append(largest, [0.0, 0.0]))
    far: F64 = _OF_NEXT * np.where(largest == first, second, first)
    return far.reshape(-1, *[1] * (logs.ndim - 1))


@cache
def _deviations_needed(count: int, among: int) -> float:
    """Deviations that a median of *count* numbers exceeds by chance, once in *among* / CHANCE."""
    deviations = np.geomspace(0.01, 1e3, 1000)
    chance = _exceed(deviations, count, count // 2 + 1)
    if not count % 2:  # the mean of the two in the middle, of which one may be far out
        chance += _exceed(1.5 * deviations, count, count // 2)
    return float(deviations[np.argmax(chance <= CHANCE / among)])


def _exceed(deviations: F64, count: int, least: int) -> F64:
    """The chance that at least *least* of *count* numbers exceed this many deviations."""
    x = deviations * _T_DEVIATION / sqrt(3)
    one = 0.5 - (x / (1 + x * x) + np.arctan(x)) / pi
    terms = [comb(count, n) * one**n * (1 - one) ** (count - n) for n in range(least, count + 1)]
    chance: F64 = np.sum(terms, axis=0)
    return chance
