"""The nesting of events on a line, the self time of each, and the steps of a trace.

    call   ├────────────────────┤        parent -1   own 21 - 8 - 5
    a         ├───────┤                  parent call own 8 - 3
    b            ├──┤                    parent a    own 3
    c                     ├────┤         parent call own 5

A thread does one thing at a time, so its events are nested. An event that only overlaps another
counts as inside it for the overlap, so that no time is counted twice.

Steps are windows of time between markers: host events with a `step_num`, of which only the
outermost count. If a capture marked steps with `tfprof_step`, only those count: Keras 2 puts
markers of its own around them. Without markers, the whole trace is step 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.unique import unique, unique_inverse
from tfprof.errors import InputError
from tfprof.model import Note
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from tfprof.columns.strings import I64

# At most so many nested spans are tried to find the one around a moment.
_MOST_FRAMES = 64
_FOR_EVER = np.iinfo(np.int64).max


class LineEvents(NamedTuple):
    """Events on lines, in picoseconds since each line's beginning."""

    line: I64
    start: I64
    long: I64

    def take(self, rows: I64) -> LineEvents:
        """These rows."""
        return LineEvents(self.line[rows], self.start[rows], self.long[rows])

    def spans(self) -> Spans:
        """The events as Spans."""
        end = self.start + self.long
        order = np.lexsort((-end, self.start, self.line))
        return Spans(self.line[order], self.start[order], end[order], order)


class Spans(NamedTuple):
    """Events sorted by line and start, an outer one before those inside it."""

    line: I64
    start: I64
    end: I64
    order: I64  # the row of each in the columns they are from

    def parents(self) -> I64:
        """The index of the innermost span around each, or -1."""
        count = self.line.size
        # A span without duration is inside a span that begins at the same time.
        until = np.maximum(self.end, self.start + 1)
        first = np.searchsorted(self.line, self.line)
        ends = np.lexsort((until, self.line))
        ended = count_before(self.line[ends], until[ends], self.line, self.start) - first
        depth = np.arange(count) - first - ended
        # The parent is the last span before it with a depth of one less.
        deep = depth * count + np.arange(count)
        by_depth = np.argsort(deep)
        before = np.searchsorted(deep[by_depth], deep - count) - 1
        parent = by_depth[np.maximum(before, 0)]
        fits = (
            (before >= 0)
            & (depth[parent] == depth - 1)
            & (self.line[parent] == self.line)
            & (until[parent] > self.start)
        )
        return np.where(fits, parent, -1)

    def own(self) -> I64:
        """The self time of each span, by row of the columns."""
        parent = self.parents()
        inner = np.flatnonzero(parent >= 0)
        outer = parent[inner]
        shared = np.minimum(self.end[inner], self.end[outer]) - self.start[inner]
        own = self.end - self.start
        np.subtract.at(own, outer, np.maximum(shared, 0))
        result = np.empty_like(own)
        result[self.order] = np.maximum(own, 0)
        return result

    def around(self, events: LineEvents) -> I64:
        """The row of the innermost span around the start of each of *events*, or -1."""
        line, moment, _ = events
        if not self.line.size:
            return np.full(line.size, -1, np.int64)
        at = count_before(self.line, self.start, line, moment) - 1
        parent = np.append(self.parents(), -1)
        end, of_line = np.append(self.end, 0), np.append(self.line, -1)
        for _ in range(_MOST_FRAMES):
            outside = np.flatnonzero((at >= 0) & ((end[at] <= moment) & (of_line[at] == line)))
            if not outside.size:
                break
            at[outside] = parent[at[outside]]
        at[(of_line[at] != line) | (end[at] <= moment)] = -1
        return np.append(self.order, -1)[at]


def count_before(line: I64, moment: I64, of_line: I64, wanted: I64) -> I64:
    """How many of the sorted (line, moment) are not after each (of_line, wanted)."""
    distinct, rank = unique_inverse(np.concatenate([moment, wanted]))
    key = line * distinct.size + rank[: line.size]
    return np.searchsorted(key, of_line * distinct.size + rank[line.size :], "right")


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
    spans = LineEvents(np.zeros_like(number), start_ns, np.maximum(long_ns, 1)).spans()
    outer = np.flatnonzero(spans.parents() < 0)
    number, start, end = number[spans.order[outer]], spans.start[outer], spans.end[outer]
    if number.size > limit("steps"):
        raise InputError(f"{name} has {number.size:,} steps; tfprof accepts {beyond('steps')}")
    notes: tuple[Note, ...] = ()
    if unique(number).size < number.size or bool((number < 0).any()):
        text = "steps of the trace have repeated or negative numbers, so they are numbered by time"
        notes = (Note(f"the {number.size:,} {text}", ours=True),)
        number = np.arange(number.size)
    return Steps(number, start, np.minimum(end, np.append(start[1:], _FOR_EVER)), notes)
