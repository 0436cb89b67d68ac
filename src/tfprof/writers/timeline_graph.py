"""What ran when: the executions of the displayed nodes, one process per device, with lanes.

    gpu:0        lane 0  |MatMul   |   |Relu|         a bar goes to the first lane that is free
                 lane 1      |Add|
    cpu:0        lane 0  |w|─────────────────► MatMul     arrows where data changes device

Two columns carry it: the executions to draw, by device and start, and the lane of each.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.unique import marked
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.model import UNTIMED, Step
from tfprof.writers.chrome_json import flow, point, process, quoted, region
from tfprof.writers.numbers import chunks
from tfprof.writers.timeline_arrows import Arrows
from tfprof.writers.timeline_memory import DeviceMemory, device_memories

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, Strings
    from tfprof.query.counted import Answer


class Executions(NamedTuple):
    """What is drawn, by device and start."""

    row: I64  # of the step
    node: I64
    start_us: I64
    us: I64
    key: I64  # see _keys
    pid: I64
    lane: I64
    devices: list[int]  # the device of each process, in order of pid


@dataclass(frozen=True, eq=False)
class Chart:
    """The timeline of one step; events are generated lazily."""

    names: Strings
    step: Step
    drawn: Executions
    arrows: Arrows
    memories: list[DeviceMemory]

    @classmethod
    def of(cls, answer: Answer) -> Chart:
        """The chart of a report of graph view for one step."""
        profile = answer.profile
        assert answer.query.step is not None, "steps are drawn one by one"
        step = next(step for step in profile.steps if step.number == answer.query.step)
        # Nodes that started at a known time in this step and have a device of their own.
        started = marked(step.node[step.start_us > 0], len(profile))
        shown = answer.node[1:]
        shown = shown[started[shown] & (profile.nodes.device[shown] >= 0)]
        key = _keys(step)
        drawn = _drawn(step, key, shown, len(profile))
        arrows = Arrows.of(answer, step, key, drawn.key, drawn.row)
        memories = device_memories(profile, step, shown, len(drawn.devices))
        return cls(profile.nodes.name, step, drawn, arrows, memories)

    @property
    def printed(self) -> str:
        """What the original prints while it writes the file."""
        return "generating trace file.\n" + "".join(memory.peak_line for memory in self.memories)

    def events(self) -> Iterator[list[str]]:
        """All of them: titles and bars, then arrows and counters."""
        drawn, devices = self.drawn, list(self.step.devices)
        titles = (
            b"Op %b threads: %b" % (b"execution" if b"stream" in name else b"scheduling", name)
            for name in (devices[number] for number in drawn.devices)
        )
        yield [process(title, pid) for pid, title in enumerate(titles)]
        order = np.lexsort((drawn.start_us, drawn.lane, drawn.pid))
        names = self.names.take(drawn.node[order])
        yield from self._bars(order, names)
        for memory in self.memories:
            yield memory.titles()
        yield from self._flows(order, names)
        for memory in self.memories:
            yield from memory.counters()

    def _bars(self, order: I64, names: Strings) -> Iterator[list[str]]:
        """The executions, by process, lane and start; *names* are theirs."""
        for rows in chunks(order.size, names.length):
            at = order[rows]
            us = self.drawn.us[at].tolist()
            yield list(map(region, map(quoted, names.take(rows)), us, self._begin(at)))

    def _flows(self, order: I64, names: Strings) -> Iterator[list[str]]:
        """The arrows in order of the bar they begin at, each with the next number."""
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        count = 0
        for tail, head in self.arrows.runs(place):
            ends = self._begin(tail, after=self.drawn.us[tail])
            name = map(quoted, names.take(place[tail]))
            number = range(count + 1, count + 1 + tail.size)
            yield list(map(flow, name, number, ends, self._begin(head)))
            count += tail.size

    def _begin(self, at: I64, after: I64 | int = 0) -> Iterator[str]:
        """The position of each execution *at*, *after* microseconds past its start."""
        ts = self.drawn.start_us[at] + after
        return map(point, self.drawn.pid[at].tolist(), self.drawn.lane[at].tolist(), ts.tolist())


def _drawn(step: Step, key: I64, shown: I64, nodes: int) -> Executions:
    """The executions of the nodes *shown*, which are in the order of the report."""
    # parity Q13: of those that start in the same microsecond on a device, the first one met.
    place = np.full(nodes, -1, np.int64)
    place[shown] = np.arange(shown.size)
    node, device = step.node, step.device
    rows = np.flatnonzero((step.counts_as != UNTIMED) & (place[node] >= 0))
    rows = rows[np.lexsort((key[rows], place[node[rows]]))]
    _, first = np.unique(device[rows], return_index=True)
    devices = device[rows[np.sort(first)]]
    keys, first = np.unique(key[rows], return_index=True)
    row = rows[first]
    pid = np.empty(len(step.devices), np.int64)
    pid[devices] = np.arange(devices.size)
    start, us, device = step.start_us[row], step.us[row], device[row]
    lane = _lanes(device, start, start + us)
    return Executions(row, node[row], start, us, keys, pid[device], lane, devices.tolist())


def _keys(step: Step) -> I64:
    """One number per execution that sorts by device name, then start; equal if both are."""
    starts, number = np.unique(step.start_us, return_inverse=True)
    return step.devices.rank()[step.device] * starts.size + number


def _lanes(device: I64, start: I64, end: I64) -> I64:
    """The lane of each of these executions, which are by device and start."""
    lane = np.empty(device.size, np.int64)
    bounds = [0, *(1 + np.flatnonzero(device[1:] != device[:-1])).tolist(), device.size]
    for first, last in pairwise(bounds):
        lane[first:last] = _first_free(start[first:last].tolist(), end[first:last].tolist())
    return lane


def _first_free(start: list[int], end: list[int]) -> list[int]:
    """The lowest lane free at each start; a lane is free again from the end of its last bar."""
    taken: list[tuple[int, int]] = []  # (end, lane), the earliest end first
    free: list[int] = []
    lanes = []
    for begin, until in zip(start, end, strict=True):
        while taken and taken[0][0] <= begin:
            heappush(free, heappop(taken)[1])
        lane = heappop(free) if free else len(taken)
        heappush(taken, (until, lane))
        lanes.append(lane)
    return lanes
