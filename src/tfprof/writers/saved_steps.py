"""The steps of a saved profile: one ExecProfile per node and step: times, devices, memory.

    rows of step 0 ─┐   by node   ┌─ records ─┐   by node    ┌─ node 3: entries of steps 0, 1, 7
    rows of step 1 ─┼────────────►│ node,step │─────────────►│ node 4: entry of step 1
    rows of step 7 ─┘   and step  └───────────┘              └─ …

All steps are written together, some nodes at a time: a profile may have thousands of steps, in each
of which few nodes ran.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.frozen import take
from tfprof.columns.strings import I64, Strings
from tfprof.columns.unique import ByKey
from tfprof.model import ACCELERATOR, ACCELERATOR_RUN, CPU, Step
from tfprof.wire.encode import beside, entries, field, numbers, packed, within
from tfprof.wire.maps import last_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_TIMES = {4: (ACCELERATOR, ACCELERATOR_RUN), 5: (CPU,)}
_RUNS = (CPU, ACCELERATOR_RUN)
_RAN = ("device", "start_us", "us", "counts_as")
_MEMORY = {6: "requested", 7: "peak", 8: "residual", 9: "output", 10: "in_use"}
_HELD = ("memory_us", *_MEMORY.values(), "on_host", "temporary", "persistent", "output_count")
_PUT_OUT = ("output_slot", "output_bytes", "output_pointer")
_NEVER = np.iinfo(np.int64).max


class SavedSteps:
    """Writes the stats of some nodes in all *steps*; the rows of each step are sorted once."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        # By the number of the step among all; a step in which nothing ran is in none.
        some = {number: step for number, step in enumerate(steps) if step.node.size}
        self._ran = {number: ByKey(step.node) for number, step in some.items()}
        self._held = {number: ByKey(step.memory_node) for number, step in some.items()}
        self._allocated = {number: ByKey(step.allocation_node) for number, step in some.items()}
        self._put_out: dict[int, ByKey] = {}
        self._output_count: dict[int, I64] = {}
        for number, step in some.items():
            last = last_of(step.output_row, step.output_slot)  # of each slot
            node, row = step.memory_node, step.output_row[last]
            self._put_out[number] = ByKey(node[row], last)
            self._output_count[number] = np.bincount(row, minlength=node.size)
        named = Strings.concat(step.devices for step in steps)
        ids, first = named.intern()
        self._devices = named.take(first)
        # Of each device in byte order, so that equal profiles are saved alike.
        self._rank = self._devices.rank()
        self._device = np.split(ids, np.cumsum([len(step.devices) for step in steps]))

    def written(self, first: int, last: int) -> Strings:
        """The records of each of nodes *first* to *last* as entries of its map of steps."""
        ran_record, ran = self._rows(self._ran, _RAN, first, last)
        seen, owner = np.unique(ran_record, return_inverse=True)
        record = beside(
            *numbers(_span(ran, owner, seen.size)),
            *(self._times(number, ran, owner, seen.size) for number in _TIMES),
            self._names(ran, owner, seen.size),
            self._memory(seen, first, last),
            self._allocations(seen, first, last),
        )
        node, step = np.divmod(seen, max(len(self._steps), 1))
        number = np.array([item.number for item in self._steps], np.int64)[step]
        return within(node, last - first, *entries(12, number, record))

    def _rows(
        self, tables: Mapping[int, ByKey], names: Sequence[str], first: int, last: int
    ) -> tuple[I64, dict[str, I64]]:
        """(record, columns) of the rows of nodes *first* to *last* in every step, by record."""
        # A record is the node, counted from *first*, times the number of steps, plus the step.
        some = ((number, *table.of(first, last)) for number, table in tables.items())
        parts = [(number, rows, node) for number, rows, node in some if rows.size]
        record = _joined([node * len(self._steps) + number for number, _, node in parts])
        order = np.argsort(record, kind="stable")
        column = {
            name: _joined([self._values(name, number, rows) for number, rows, _ in parts])[order]
            for name in names
        }
        return record[order], column

    def _values(self, name: str, number: int, rows: I64) -> I64:
        step = self._steps[number]
        if name == "device":
            return self._device[number][take(step, name, rows)]
        if name == "on_host":
            return step.on_host[rows].astype(np.int64)
        if name == "output_count":
            return self._output_count[number][rows]
        return take(step, name, rows)

    def _times(self, number: int, ran: dict[str, I64], owner: I64, count: int) -> Strings:
        """Field *number*: a map from device to the times of the executions that count there."""
        timed = np.flatnonzero(np.isin(ran["counts_as"], _TIMES[number]))
        rank = self._rank[ran["device"]]
        timed = timed[np.lexsort((rank[timed], owner[timed]))]
        owner, device = owner[timed], ran["device"][timed]
        pair = np.column_stack([ran["start_us"][timed], ran["us"][timed]])
        of_pair = np.repeat(np.arange(timed.size), 2)
        times = field(1, *packed(1, of_pair, pair.reshape(-1), timed.size))
        key = owner * len(self._devices) + rank[timed]
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        entry = field(
            number,
            *field(1, self._devices.take(device[first])),
            *field(2, within(group, first.size, *times)),
        )
        return within(owner[first], count, *entry)

    def _names(self, ran: dict[str, I64], owner: I64, count: int) -> Strings:
        key = owner * len(self._devices) + self._rank[ran["device"]]
        _, first = np.unique(key, return_index=True)
        names = field(6, self._devices.take(ran["device"][first]))
        return within(owner[first], count, *names)

    def _memory(self, seen: I64, first: int, last: int) -> Strings:
        held, column = self._rows(self._held, _HELD, first, last)
        place = np.where(column["on_host"] > 0, 2, 4)
        columns = {
            1: column["memory_us"],
            **{n: np.where(place == n, column["temporary"], 0) for n in (2, 4)},
            **{n + 1: np.where(place == n, column["persistent"], 0) for n in (2, 4)},
            **{number: column[name] for number, name in _MEMORY.items()},
        }
        # Outputs stand in the order of the rows of memory that they belong to.
        owner = np.repeat(np.arange(held.size), column["output_count"])
        _, put = self._rows(self._put_out, _PUT_OUT, first, last)
        output = numbers({1: put["output_bytes"], 2: put["output_pointer"]})
        outputs = entries(11, put["output_slot"], *output)
        memory = field(7, *numbers(columns), within(owner, held.size, *outputs))
        return _of_records(seen, held, memory)

    def _allocations(self, seen: I64, first: int, last: int) -> Strings:
        names = ("allocation_us", "allocation_bytes")
        record, column = self._rows(self._allocated, names, first, last)
        columns = {number: column[name] for number, name in enumerate(names, 1)}
        return _of_records(seen, record, field(11, *numbers(columns)))


def _span(ran: dict[str, I64], owner: I64, count: int) -> dict[int, I64]:
    """How often each node ran, when it began and when it was done."""
    begin, end = np.full(count, _NEVER), np.zeros(count, np.int64)
    timed = np.flatnonzero(ran["start_us"] > 0)
    start = ran["start_us"][timed]
    np.minimum.at(begin, owner[timed], start)
    np.maximum.at(end, owner[timed], start + ran["us"][timed])
    runs = np.bincount(owner[np.isin(ran["counts_as"], _RUNS)], minlength=count)
    return {1: runs, 2: np.where(begin == _NEVER, 0, begin), 3: end}


def _of_records(seen: I64, record: I64, fields: tuple[Strings, ...]) -> Strings:
    """The rows of each of the records *seen*; rows of nodes that did not run are dropped."""
    ran = np.flatnonzero(np.isin(record, seen))
    place = np.searchsorted(seen, record[ran])
    return within(place, seen.size, *(column.take(ran) for column in fields))


def _joined(parts: list[I64]) -> I64:
    return np.concatenate([np.empty(0, np.int64), *parts])
