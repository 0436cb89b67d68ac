"""The steps of a trace: windows of time between markers.

    with tf.profiler.experimental.Trace("train", step_num=7, _r=1): …

Every host event with a `step_num` is a marker; of nested markers only the outermost counts. If a
capture marked steps with `tfprof_step`, only those count: Keras 2 puts markers of its own around
them. Without markers, the whole trace is step 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.unique import unique
from tfprof.errors import InputError
from tfprof.model import Note
from tfprof.read.xplane.nesting import Spans
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from tfprof.columns.strings import I64

_FOR_EVER = np.iinfo(np.int64).max


class Steps(NamedTuple):
    """One row per step, by time."""

    number: I64
    start_ns: I64
    end_ns: I64
    notes: tuple[Note, ...]

    def of(self, moment_ns: I64) -> I64:
        """The row of the step that contains each moment, or -1."""
        at = np.searchsorted(self.start_ns, moment_ns, "right") - 1
        inside = (at >= 0) & (moment_ns < np.append(self.end_ns, 0)[at])
        return np.where(inside, at, -1)


def steps(number: I64, start_ns: I64, long_ns: I64, name: str) -> Steps:
    """The steps of these markers; raises InputError if there are too many."""
    if not number.size:
        return Steps(np.zeros(1, np.int64), np.zeros(1, np.int64), np.full(1, _FOR_EVER), ())
    # Each thread may have its own markers, so nesting is checked across all threads.
    spans = Spans.of(np.zeros(number.size, np.int64), start_ns, np.maximum(long_ns, 1))
    outer = np.flatnonzero(spans.parents() < 0)
    number, start, end = number[spans.order[outer]], spans.start[outer], spans.end[outer]
    if number.size > limit("steps"):
        raise InputError(f"{name} has {number.size:,} steps; tfprof accepts {beyond('steps')}")
    notes: tuple[Note, ...] = ()
    if unique(number).size < number.size or bool((number < 0).any()):
        notes = (
            Note(
                f"the {number.size:,} steps of the trace have repeated or negative numbers, so "
                "they are numbered by time",
                ours=True,
            ),
        )
        number = np.arange(number.size)
    return Steps(number, start, np.minimum(end, np.append(start[1:], _FOR_EVER)), notes)
