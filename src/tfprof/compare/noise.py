"""noise(diff): by how much the time of each row may differ from run to run.

    profile.values(metric, step) ─► Counted.add_up ─► rows × steps of each side ─► resample

A view averages each node over the steps that recorded it, so these weigh more if other steps did
not. A single record among several steps is as uncertain as it is long. Other metrics are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.unique import marked
from tfprof.compare.resample import LEAST, Intervals, intervals
from tfprof.foundation import units
from tfprof.tables.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfprof.columns.strings import I64
    from tfprof.compare.diff import Diff
    from tfprof.compare.resample import F64
    from tfprof.model import Profile
    from tfprof.query.counted import Answer

_TIMES: Final = tuple(name for name, field in FIELDS.items() if field.unit is units.micros)
_SEVERAL: Final = 2
_MOST: Final = 2.0**62


def noise(diff: Diff) -> dict[str, Intervals]:
    """For each selected time the intervals of the displayed rows; nothing if noise is unknown."""
    metrics = diff.metrics if min(_steps(diff)) >= _SEVERAL else ()
    return {metric: _of_metric(diff, metric) for metric in metrics if metric in _TIMES}


def noise_notes(diff: Diff, known: Mapping[str, Intervals]) -> Iterator[str]:
    """A sentence about the noise of selected times, which is *known* or not."""
    base, new = _steps(diff)
    if not any(metric in _TIMES for metric in diff.metrics) or not max(base, new):
        return
    if too_few := few_steps(base, new):
        yield too_few
    elif any(each.drifts for each in known.values()):
        yield "times drift from step to step, so that nothing stands out; --steps drops warm-up"
    else:
        for metric, each in known.items():
            found = units.plural(int(each.stands_out.sum()), "row stands", "rows stand")
            yield f"{metric}: {found} out from noise (base has {base} steps, new has {new})"


def few_steps(base: int, new: int) -> str:
    """Why so many steps of each side do not tell change from noise; "" if they do."""
    if min(base, new) >= LEAST:
        return ""
    steps = f"base has {units.plural(base, 'step')}, new has {new}"
    if min(base, new) < _SEVERAL:
        return f"noise is unknown: {steps}; with {LEAST} or more on each side, changes are marked"
    return f"too few steps to tell change from noise: {steps}; take {LEAST} or more on each side"


def _steps(diff: Diff) -> tuple[int, int]:
    """How many steps the numbers of each side are taken from."""
    if diff.query.step is not None:
        return 1, 1
    return len(diff.base.profile.steps), len(diff.new.profile.steps)


def _of_metric(diff: Diff, metric: str) -> Intervals:
    # Among changed rows alone, changes by chance would stand out: look at the others, too.
    looked_at, sides = marked(diff.row, len(diff.aligned.tree)), (diff.base, diff.new)
    for side, row in zip(sides, (diff.aligned.base, diff.aligned.new), strict=True):
        looked_at |= (row >= 0) & marked(side.counted_row, len(side.counted.tree))[row]
    rows, at = np.flatnonzero(looked_at), (np.cumsum(looked_at) - 1)[diff.row]
    base = _rows_by_step(diff.base, metric, diff.aligned.base[rows])
    found = intervals(base, _rows_by_step(diff.new, metric, diff.aligned.new[rows]))
    # A view rounds the mean of each node down.
    shown = diff.difference(metric).astype(np.float64)
    low, high = np.minimum(found.low[at], shown), np.maximum(found.high[at], shown)
    stands_out = found.stands_out[at] & ((low > 0) | (high < 0))
    return Intervals(low, high, stands_out, found.drifts)


def _rows_by_step(side: Answer, metric: str, rows: I64) -> F64:
    """What each of the counted *rows* takes in each step; 0 for a row that is -1."""
    columns = []
    for values in _nodes_by_step(side.profile, metric):
        own, total = side.counted.add_up(metric, values)
        if side.view.chain:  # a list of types, below the sum of all
            own[0], total = total[0], own
        columns.append(np.where(rows >= 0, total[rows], 0))
    return np.stack(columns, axis=1).astype(np.float64)


def _nodes_by_step(profile: Profile, metric: str) -> Iterator[I64]:
    """What to count of each node in each step, so that the mean is that of its records."""
    records, steps = profile.records, len(profile.steps)
    values = [profile.values(metric, step.number) for step in profile.steps]
    some, weight = (records > 0) & (records < steps), steps / np.maximum(records, 1)
    if not some.any():
        yield from values
        return
    mean = np.where(records > 1, sum(values) * weight / steps, 0)
    for step, column in zip(profile.steps, values, strict=True):
        ran = marked(step.node, len(profile))
        weighed = np.clip(mean + np.where(ran, (column - mean) * weight, 0), -_MOST, _MOST)
        yield np.where(some, np.rint(weighed).astype(np.int64), column)
