"""noise(diff): by how much the times of each row may differ from run to run.

    profile.values(metric, step) ─► Counted.add_up ─► rows × steps of each side ─► resample

A view averages each node over the steps that recorded it. So a node without a record in some steps
weighs more in the others; one with a single record among several steps is as uncertain as it is
long. Parameters, float operations and bytes are no times: they are exact.
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
    """For each selected time the intervals of the displayed rows; none if noise is unknown."""
    if min(_steps(diff)) < _SEVERAL:
        return {}
    return {metric: _of_metric(diff, metric) for metric in diff.metrics if metric in _TIMES}


def noise_notes(diff: Diff, known: Mapping[str, Intervals]) -> Iterator[str]:
    """What there is to say about the noise of the selected times, which is *known* or not."""
    base, new = _steps(diff)
    if not any(metric in _TIMES for metric in diff.metrics) or not max(base, new):
        return
    steps = f"base has {units.plural(base, 'step')}, new {new}"
    if min(base, new) < _SEVERAL:
        yield f"noise is unknown: {steps}; several on both sides tell change from noise"
    elif min(base, new) < LEAST:
        yield f"{steps}: too few to tell change from noise; take {LEAST} or more on both sides"
    elif any(each.drifts for each in known.values()):
        yield "times drift from step to step, so that nothing stands out; --steps drops warm-up"
    else:
        shares = " and ".join(
            f"{np.count_nonzero(each.stands_out)} of {len(diff)} rows" for each in known.values()
        )
        yield f"time: {shares} stand out from noise ({steps})"


def _of_metric(diff: Diff, metric: str) -> Intervals:
    rows, at = _compared(diff)
    sides = ((diff.base, diff.aligned.base[rows]), (diff.new, diff.aligned.new[rows]))
    found = intervals(*(_rows_by_step(side, metric, counted) for side, counted in sides))
    # The means of a view are rounded down for each node.
    difference = diff.difference(metric).astype(np.float64)
    low, high = np.minimum(found.low[at], difference), np.maximum(found.high[at], difference)
    stands_out = found.stands_out[at] & ((low > 0) | (high < 0))
    return Intervals(low, high, stands_out, found.drifts)


def _compared(diff: Diff) -> tuple[I64, I64]:
    """(rows of both sides that are looked at, where the displayed ones are among them).

    Rows that did not change are looked at, too: without them, changes by chance would stand out.
    """
    looked_at = marked(diff.row, len(diff.aligned.tree))
    for side, row in ((diff.base, diff.aligned.base), (diff.new, diff.aligned.new)):
        looked_at |= (row >= 0) & marked(side.counted_row, len(side.counted.tree))[row]
    return np.flatnonzero(looked_at), (np.cumsum(looked_at) - 1)[diff.row]


def _steps(diff: Diff) -> tuple[int, int]:
    """How many steps the numbers of each side are taken from."""
    if diff.query.step is not None:
        return 1, 1
    return len(diff.base.profile.steps), len(diff.new.profile.steps)


def _rows_by_step(side: Answer, metric: str, rows: I64) -> F64:
    """What each of the counted *rows* takes in each step; 0 for a row that is -1."""
    columns = []
    for values in _nodes_by_step(side.profile, metric):
        own, total = side.counted.add_up(metric, values)
        if side.view.chain:
            own[0], total = total[0], own
        columns.append(np.where(rows >= 0, total[rows], 0))
    return np.stack(columns, axis=1).astype(np.float64)


def _nodes_by_step(profile: Profile, metric: str) -> Iterator[I64]:
    """What to count of each node in each step, so that the mean is that of its records."""
    records, steps = profile.records, len(profile.steps)
    some = (records > 0) & (records < steps)
    weight = steps / np.maximum(records, 1)
    mean = np.zeros(len(profile))
    if some.any():
        mean = sum(profile.values(metric, step.number) for step in profile.steps) * weight / steps
        mean[records == 1] = 0
    for step in profile.steps:
        values = profile.values(metric, step.number)
        if some.any():
            ran = marked(step.node, len(profile))
            weighed = mean + np.where(ran, (values - mean) * weight, 0)
            weighed = np.clip(np.rint(weighed), -_MOST, _MOST)
            values = np.where(some, weighed.astype(np.int64), values)
        yield values
