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

from tfprof.columns.blocks import blocks
from tfprof.columns.unique import unique, unique_inverse
from tfprof.errors import InputError
from tfprof.model import Note
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.columns.strings import I64, Bool

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
        # The lines of most traces are sorted.
        if _are_sorted(self.line, self.start, end):
            return Spans(self.line, self.start, end, None)
        order = np.lexsort((-end, self.start, self.line))
        return Spans(self.line[order], self.start[order], end[order], order)


class Spans(NamedTuple):
    """Events sorted by line and start, an outer one before those inside it."""

    line: I64
    start: I64
    end: I64
    order: I64 | None  # the row of each in the columns they are from; None: the same

    def in_order(self, column: I64) -> I64:
        """A *column* of the table that the spans are from, in their order."""
        return column if self.order is None else column[self.order]

    def parents(self) -> I64:
        """The index of the innermost span around each, or -1."""
        parent = np.full(self.line.size, -1, np.int64)
        rows, outer = self._inner()
        parent[rows] = outer
        return parent

    def _inner(self) -> tuple[I64, I64]:
        """(the spans inside others, the innermost span around each of these)."""
        overlaps = _overlap(self.line, self.start, self.end)
        # The others have no parent; a span that begins when all before it have ended, no sibling.
        together = overlaps.copy()
        together[:-1] |= overlaps[1:]
        rows = np.flatnonzero(together)
        start = self.start[rows]
        parent = _parents(self.line[rows], start, _until(start, self.end[rows]))
        return rows[parent >= 0], rows[parent[parent >= 0]]

    def own(self) -> I64:
        """The self time of each span, by row of the columns."""
        inner, outer = self._inner()
        shared = np.minimum(self.end[inner], self.end[outer]) - self.start[inner]
        own = self.end - self.start
        np.subtract.at(own, outer, np.maximum(shared, 0))
        np.maximum(own, 0, out=own)
        if self.order is None:
            return own
        result = np.empty_like(own)
        result[self.order] = own
        return result

    def around(self, events: LineEvents) -> I64:
        """The row of the innermost span around the start of each of *events*, or -1."""
        result = np.full(events.line.size, -1, np.int64)
        if not self.line.size:
            return result
        before = count_before(self.line, self.start, events.line, events.start)
        parent = None
        for block in blocks(result.size):
            line, moment = events.line[block], events.start[block]
            at = before[block] - 1
            outside = np.flatnonzero((at >= 0) & (self.end[at] <= moment) & (self.line[at] == line))
            if outside.size and parent is None:
                parent = self.parents()
            for _ in range(_MOST_FRAMES):
                if parent is None or not outside.size:
                    break
                at[outside] = parent[at[outside]]
                inside, here = at[outside], outside
                outside = here[(inside >= 0) & (self.end[inside] <= moment[here])]
            holds = (at >= 0) & (self.line[at] == line) & (self.end[at] > moment)
            result[block] = np.where(holds, at if self.order is None else self.order[at], -1)
        return result


def _are_sorted(line: I64, start: I64, end: I64) -> bool:
    for block in blocks(line.size - 1):
        after = slice(block.start + 1, block.stop + 1)
        here, begin, later = line[block], start[block], start[after]
        later = (later > begin) | ((later == begin) & (end[after] <= end[block]))
        if not np.all((line[after] > here) | ((line[after] == here) & later)):
            return False
    return True


def _until(start: I64, end: I64) -> I64:
    """The end of each span; one without duration holds spans that begin at the same time."""
    return np.maximum(end, start + 1)


def _overlap(line: I64, start: I64, end: I64) -> Bool:
    """Which of the sorted spans begin before an earlier one of their line has ended."""
    key = _key((line,), (start, end))
    if key is None:
        return np.ones(line.size, np.bool_)
    overlaps, before = np.empty(line.size, np.bool_), -1
    for block in blocks(line.size):
        here, begin = line[block], start[block]
        last = key(here, _until(begin, end[block]))
        ended = np.maximum.accumulate(np.append(before, last))
        overlaps[block] = ended[:-1] > key(here, begin)
        before = ended[-1]
    return overlaps


def _parents(line: I64, start: I64, until: I64) -> I64:
    """The index of the innermost of the sorted spans around each, or -1."""
    count = line.size
    first = np.searchsorted(line, line)
    ends = np.lexsort((until, line))
    ended = count_before(line[ends], until[ends], line, start) - first
    depth = np.arange(count) - first - ended
    # The parent is the last span before it with a depth of one less.
    deep = depth * count + np.arange(count)
    by_depth = np.argsort(deep)
    before = np.searchsorted(deep[by_depth], deep - count) - 1
    parent = np.append(by_depth, -1)[before]
    fits = (before >= 0) & (depth[parent] == depth - 1) & (line[parent] == line)
    return np.where(fits & (until[parent] > start), parent, -1)


def count_before(line: I64, moment: I64, of_line: I64, wanted: I64) -> I64:
    """How many of the sorted (line, moment) are not after each (of_line, wanted)."""
    key = _key((line, of_line), (moment, wanted))
    if key is None:
        _, rank = unique_inverse(np.concatenate([moment, wanted]))
        moment, wanted = rank[: line.size], rank[line.size :]
        key = _key((line, of_line), (moment, wanted))
        assert key is not None, "no file has so many lines and events"
    keys, count = np.empty(line.size, np.int64), np.empty(wanted.size, np.int64)
    for block in blocks(line.size):
        keys[block] = key(line[block], moment[block])
    for block in blocks(wanted.size):
        count[block] = np.searchsorted(keys, key(of_line[block], wanted[block]), "right")
    return count


def _key(lines: Sequence[I64], moments: Sequence[I64]) -> Callable[[I64, I64], I64] | None:
    """A number for each (line, moment), in their order; None if they would be too large."""
    low = min(int(column.min(initial=_FOR_EVER)) for column in moments)
    high = max(int(column.max(initial=low)) for column in moments)
    width = high - low + 2  # also for the moment after the last
    if (max(int(column.max(initial=0)) for column in lines) + 1) * width > _FOR_EVER:
        return None
    return lambda line, moment: line * width + (moment - low)


class Steps(NamedTuple):
    """One row per step, by time."""

    number: I64
    start_ns: I64
    end_ns: I64
    notes: tuple[Note, ...]

    def of(self, moment_ns: I64) -> I64:
        """The row of the step that contains each moment, or -1."""
        result = np.empty(moment_ns.size, np.int64)
        for block in blocks(result.size):
            moment = moment_ns[block]
            at = np.searchsorted(self.start_ns, moment, "right") - 1
            inside = (at >= 0) & (moment < np.append(self.end_ns, 0)[at])
            result[block] = np.where(inside, at, -1)
        return result


def steps(number: I64, start_ns: I64, long_ns: I64, name: str) -> Steps:
    """The steps of these markers; raises InputError if there are too many."""
    if not number.size:
        return Steps(np.zeros(1, np.int64), np.zeros(1, np.int64), np.full(1, _FOR_EVER), ())
    # Each thread may have its own markers, so nesting is checked across all threads.
    spans = LineEvents(np.zeros_like(number), start_ns, np.maximum(long_ns, 1)).spans()
    outer = np.flatnonzero(spans.parents() < 0)
    number, start, end = spans.in_order(number)[outer], spans.start[outer], spans.end[outer]
    if number.size > limit("steps"):
        raise InputError(f"{name} has {number.size:,} steps; tfprof accepts {beyond('steps')}")
    notes: tuple[Note, ...] = ()
    if unique(number).size < number.size or bool((number < 0).any()):
        text = "steps of the trace have repeated or negative numbers, so they are numbered by time"
        notes = (Note(f"the {number.size:,} {text}", ours=True),)
        number = np.arange(number.size)
    return Steps(number, start, np.minimum(end, np.append(start[1:], _FOR_EVER)), notes)
