"""What is usual, and what stands out from it: medians over workers and steps.

    time[worker, step] = usual * worker's factor * step's factor * noise

Factors are medians, so what is slow itself does not shift them. Something stands out if it is
slower by more than noise explains, and by enough to matter. Noise has two sources, and the larger
counts: differences between successive steps of a worker, and between alike workers or steps.
"""

from __future__ import annotations

import warnings
from typing import Any, Final, NamedTuple

import numpy as np

F64 = np.ndarray[Any, np.dtype[np.float64]]

MAJORITY: Final = 3  # with fewer, a median does not say which one is unusual
# A median absolute deviation times this is the standard deviation of normal noise.
_DEVIATION: Final = 1.4826
# By the deviation of normal numbers: the median distance of two, and the error of their median.
_DISTANCE: Final = 0.9539
_MEDIAN_ERROR: Final = 1.2533
# The same of a few numbers comes out too small, by these factors (Croux and Rousseeuw, 1992).
_OF_FEW: Final = {
    2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107,
}  # fmt: skip
# How many deviations stand out: of noise, and of differences between alike workers or steps.
OF_NOISE: Final = 5.0
_OF_SPREAD: Final = 4.5
_TAKEN: Final = 0.7  # of normal noise, by 1 / peers: measured
_ROUNDS: Final = 3
_FEW: Final = 4  # differences say little about noise


class Factors(NamedTuple):
    """Logarithms of what makes up each time."""

    usual: float
    worker: F64  # NaN: no times
    step: F64
    noise: float  # the deviation of a single time; NaN: unknown, as no worker has two steps


def factors(times: F64) -> Factors:
    """The factors of *times* (workers × steps; NaN: not recorded), by median polish."""
    logs = np.log(times)
    # A step that few workers recorded cannot be told from its workers.
    shared = np.isfinite(logs).sum(axis=0) >= MAJORITY
    step = np.zeros(logs.shape[1])
    for _ in range(_ROUNDS):
        worker = median(logs - step, axis=1)
        if shared.any():
            step[shared] = median(logs[:, shared] - worker[:, None], axis=0)
            step[shared] -= np.median(step[shared])
    usual = float(median(worker, axis=0))
    return Factors(
        usual, worker - usual, step, noise_of(logs - step, len(logs) * int(shared.any()))
    )


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
    centre = np.expand_dims(median(numbers, axis), axis)
    return _DEVIATION * median(np.abs(numbers - centre), axis)


def spread_of_steps(numbers: F64, axis: int = 0) -> F64:
    """The deviation of a few steps; what a median distance of so few leaves out is made good."""
    return spread(numbers, axis) * _OF_FEW.get(numbers.shape[axis], 1.0)


def error_of_median(noise: float, counts: F64) -> F64:
    """The deviation of medians of this many numbers; 0 where the noise is unknown."""
    error: F64 = np.nan_to_num(noise) * _MEDIAN_ERROR / np.sqrt(np.maximum(counts, 1))
    return error


def spreads_needed(count: int) -> float:
    """How many deviations stand out among *count* numbers; the spread of a few says little."""
    return _OF_SPREAD * (1 + MAJORITY / max(count, 1))
