"""One step of a saved profile: an ExecProfile a node, with times, devices and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.model import ACCELERATOR, CPU
from tfprof.reporters.wire import beside, entries, field, numbers, packed, within

if TYPE_CHECKING:
    from tfprof.model import Step
    from tfprof.strings import I64, Strings

_TIMES = {4: ACCELERATOR, 5: CPU}


class SavedStep:
    """Writes the records that runs of nodes have of a step; its rows are sorted once."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._ran = _ByNode(step.node)
        self._held = _ByNode(step.memory_node)
        self._allocated = _ByNode(step.allocation_node)
        self._outputs = _last_outputs(step)
        # Of each device in byte order, so that equal profiles are saved alike.
        self._rank = step.devices.rank()

    def has(self, first: int, last: int) -> bool:
        """Whether one of nodes *first* to *last* has a record of this step."""
        return self._ran.of(first, last)[0].size > 0

    def written(self, first: int, last: int) -> Strings:
        """The record of each of nodes *first* to *last* as an entry of its map of steps."""
        step, count = self._step, last - first
        ran, owner = self._ran.of(first, last)
        record = beside(
            *numbers(_span(step, ran, owner, count)),
            *(self._times(number, ran, owner, count) for number in _TIMES),
            self._devices(ran, owner, count),
            self._memory(first, last),
            self._allocations(first, last),
        )
        seen = np.unique(owner)
        number = np.full(seen.size, step.number)
        return within(seen, count, *entries(12, number, record.take(seen)))

    def _times(self, number: int, ran: I64, owner: I64, count: int) -> Strings:
        """The map from device to times, of what counts as field *number* says."""
        step = self._step
        kept = np.flatnonzero(step.counts_as[ran] == _TIMES[number])
        kept = kept[np.lexsort((self._rank[step.device[ran[kept]]], owner[kept]))]
        ran, owner = ran[kept], owner[kept]
        pair = np.column_stack([step.start_us[ran], step.us[ran]])
        times = field(1, *packed(1, np.repeat(np.arange(ran.size), 2), pair.reshape(-1), ran.size))
        key = owner * len(step.devices) + self._rank[step.device[ran]]
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        entry = field(
            number,
            *field(1, step.devices.take(step.device[ran[first]])),
            *field(2, within(group, first.size, *times)),
        )
        return within(owner[first], count, *entry)

    def _devices(self, ran: I64, owner: I64, count: int) -> Strings:
        """The names of all devices that said something, in byte order."""
        step = self._step
        key = owner * len(step.devices) + self._rank[step.device[ran]]
        _, first = np.unique(key, return_index=True)
        names = field(6, step.devices.take(step.device[ran[first]]))
        return within(owner[first], count, *names)

    def _memory(self, first: int, last: int) -> Strings:
        step = self._step
        rows, owner = self._held.of(first, last)
        place = np.where(step.on_host[rows], 2, 4)
        columns = {
            1: step.memory_us[rows],
            **{n: np.where(place == n, step.temporary[rows], 0) for n in (2, 4)},
            **{n + 1: np.where(place == n, step.persistent[rows], 0) for n in (2, 4)},
            6: step.requested[rows],
            7: step.peak[rows],
            8: step.residual[rows],
            9: step.output[rows],
            10: step.in_use[rows],
        }
        memory = field(7, *numbers(columns), self._output_memory(rows))
        return within(owner, last - first, *memory)

    def _output_memory(self, rows: I64) -> Strings:
        """The map from slot to bytes and pointer of each of these rows of memory."""
        step = self._step
        held = np.searchsorted(step.output_row[self._outputs], rows)
        end = np.searchsorted(step.output_row[self._outputs], rows, "right")
        count = end - held
        owner = np.repeat(np.arange(rows.size), count)
        place = np.arange(owner.size) - np.repeat(np.cumsum(count) - count, count)
        output = self._outputs[np.repeat(held, count) + place]
        memory = numbers({1: step.output_bytes[output], 2: step.output_pointer[output]})
        return within(owner, rows.size, *entries(11, step.output_slot[output], *memory))

    def _allocations(self, first: int, last: int) -> Strings:
        step = self._step
        rows, owner = self._allocated.of(first, last)
        record = numbers({1: step.allocation_us[rows], 2: step.allocation_bytes[rows]})
        return within(owner, last - first, *field(11, *record))


def _span(step: Step, ran: I64, owner: I64, count: int) -> dict[int, I64]:
    """How often each node ran, when it began and when it was done."""
    never = np.iinfo(np.int64).max
    begin, end = np.full(count, never), np.zeros(count, np.int64)
    timed = np.flatnonzero(step.start_us[ran] > 0)
    start = step.start_us[ran[timed]]
    np.minimum.at(begin, owner[timed], start)
    np.maximum.at(end, owner[timed], start + step.us[ran[timed]])
    runs = np.bincount(owner[step.counts_as[ran] == CPU], minlength=count)
    return {1: runs, 2: np.where(begin == never, 0, begin), 3: end}


def _last_outputs(step: Step) -> I64:
    """The last output of each slot, by row of memory and slot."""
    order = np.lexsort((step.output_slot, step.output_row))
    row, slot = step.output_row[order], step.output_slot[order]
    last = np.ones(order.size, np.bool_)
    last[:-1] = (row[1:] != row[:-1]) | (slot[1:] != slot[:-1])
    return order[last]


class _ByNode:
    """The rows of a table by node; the rows of one node keep their order."""

    def __init__(self, node: I64) -> None:
        self._order = np.argsort(node, kind="stable")
        self._node = node[self._order]

    def of(self, first: int, last: int) -> tuple[I64, I64]:
        """(row, node counted from *first*) of the rows of these nodes."""
        here = slice(*np.searchsorted(self._node, [first, last]).tolist())
        return self._order[here], self._node[here] - first
