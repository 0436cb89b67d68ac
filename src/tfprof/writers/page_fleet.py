"""What a page of a fleet has besides its graph: the times of workers, and statistics over them.

    fleet.workers  fleet.kinds  fleet.steps
    fleet.micros   kind × row × step      -1: no such step of the worker
    fleet.median   kind × step            twice the median over all workers, so that it is whole
    fleet.bins     kind × bin             histogram over all worker steps; bins are equally wide
    fleet.member   row × step             which worker of a row of several the numbers are of

Statistics are of all workers, also where a row of the page stands for several of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.fleet.worker_times import MOST_NUMBERS
from tfprof.foundation.units import plural

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.fleet.worker_times import WorkerTimes
    from tfprof.writers.page_columns import Container

BINS: Final = 48
_PERCENTILES: Final = (50, 90, 99)


def add_fleet(out: Container, times: WorkerTimes) -> dict[str, Any]:
    """Add the columns; returns what meta data says about them."""
    kinds, workers, steps = times.micros.shape
    fold = -(-(kinds + 1) * workers * steps // MOST_NUMBERS)
    rows, member = _folded(times.micros, fold)
    out.add_strings("fleet.workers", Strings.of(name.encode() for name in times.workers))
    kinds_shown = Strings.of(name.encode("utf-8", "surrogateescape") for name in times.kinds)
    out.add_strings("fleet.kinds", kinds_shown)
    out.add("fleet.steps", np.array(times.steps, np.int64))
    out.add("fleet.micros", rows.ravel())
    out.add("fleet.median", _medians(times.micros).ravel())
    if fold > 1:
        out.add("fleet.member", member.ravel())
    counted = [_histogram(numbers[times.recorded]) for numbers in times.micros]
    out.add("fleet.bins", np.concatenate([histogram.bins for histogram in counted]))
    return {
        "first_type": times.first_type,
        "fold": fold,
        "samples": int(times.recorded.sum()),
        "note": _note(times, fold),
        "kinds": [{"p": at.percentiles, "least": at.least, "width": at.width} for at in counted],
    }


def _folded(micros: I64, fold: int) -> tuple[I64, I64]:
    """(the slowest of each *fold* workers in each step, which one that is)."""
    kinds, workers, steps = micros.shape
    missing = np.full((kinds, -workers % fold, steps), -1, np.int64)
    groups = np.concatenate([micros, missing], axis=1).reshape(kinds, -1, fold, steps)
    slowest = groups[0].argmax(axis=1)
    shown = np.take_along_axis(groups, slowest[None, :, None, :], axis=2)[:, :, 0]
    return shown, slowest + fold * np.arange(len(slowest))[:, None]


def _medians(micros: I64) -> I64:
    """Twice the median of each kind in each step, over the workers that have the step."""
    ordered = np.sort(micros, axis=1)  # those without it come first
    first = (ordered < 0).sum(axis=1, keepdims=True)
    last = first + micros.shape[1] - 1
    below, above = (np.take_along_axis(ordered, at // 2, axis=1) for at in (last, last + 1))
    return (below + above)[:, 0]


class _Histogram(NamedTuple):
    percentiles: list[float]
    least: int
    width: int  # of a bin
    bins: I64


def _histogram(micros: I64) -> _Histogram:
    least = int(micros.min())
    width = -(-(int(micros.max()) - least + 1) // BINS)
    bins = np.bincount((micros - least) // width, minlength=BINS)
    return _Histogram(np.percentile(micros, _PERCENTILES).tolist(), least, width, bins)


def _note(times: WorkerTimes, fold: int) -> str:
    """What is left out, in sentences; "" where nothing is."""
    said = []
    if times.left_out:
        types = len(times.kinds) - times.first_type
        kept = f"the {plural(types, 'operation type')} that took most time"
        said.append(f"The page has {kept}, and leaves out the times of {times.left_out:,} others.")
    if fold > 1:
        row = f"Each row stands for up to {fold} workers and shows the slowest of them in each step"
        said.append(f"{row}; medians, percentiles and histograms are of all workers.")
    return " ".join(said)
