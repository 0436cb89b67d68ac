"""How much memory a device had in use, and which nodes held the most of it.

    bytes in use  ▁▃▅▅▂      one point per execution, as its allocator reports
    held by       MatMul  ▁▅▅▅▁      one curve per node, from its allocation records
                  w       ▃▃▃▃▃

Each point names the nodes that hold the bytes in use, the largest first. All amounts are known
beforehand and sorted once. Walking through time switches members of that list on and off; a bitset
finds the largest that still fits.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.unique import ByKey, sum_by
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.writers.chrome_json import counter, point, process, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, Strings
    from tfprof.model import Profile, Step

# Points closer than this to the last one shown are left out.
_LEAST_US = 100
_NAMED = 10
_KEYS = [f'"Top Allocation {number:02d}":' for number in range(_NAMED)]
_MEGA = 1e6
# Events generated at a time.
_CHUNK = 1 << 10
# Bits of a word of a Bitset.
_SHIFT = 6
_MASK = (1 << _SHIFT) - 1


class Curves(NamedTuple):
    """What nodes hold: amounts, largest first and then by name, and when each begins and ends."""

    amount: I64
    holder: I64  # a row of the names
    change_us: I64  # in order of time
    leaves: I64  # the amount no longer held, -1 for none
    enters: I64  # the amount held instead, -1 for none


@dataclass(frozen=True, eq=False)
class DeviceMemory:
    """The memory of one device during one step."""

    device: bytes
    pid: int  # and the next
    time_us: I64  # when the allocator was seen
    in_use: I64
    names: Strings
    curves: Curves

    @property
    def peak_line(self) -> str:
        """What the original prints about the peak."""
        if b"gpu" not in self.device:
            return ""
        peak = int(self.in_use.max(initial=0)) / _MEGA
        return f"{self.device.decode('utf-8', 'surrogateescape')} peak memory: {peak:.2f} MB\n"

    def titles(self) -> list[str]:
        """The titles of the two processes."""
        title = b"mem usage on:" + self.device
        return [process(title, self.pid), process(title + b" allocations", self.pid + 1)]

    def counters(self) -> Iterator[list[str]]:
        """Two counters per point, in lists of many points."""
        largest = _Largest(self.curves, self.names)
        events = []
        last = 0
        for ts, in_use in zip(self.time_us.tolist(), self.in_use.tolist(), strict=True):
            if ts - last < _LEAST_US:
                continue
            last = ts
            held = f'"Allocator Bytes in Use":{in_use}'
            events.append(counter("Allocated Bytes", held, point(self.pid, 0, ts)))
            top = largest.args(ts, in_use)
            events.append(counter("Top Allocations", top, point(self.pid + 1, 0, ts)))
            if len(events) > _CHUNK:
                yield events
                events = []
        yield events


class _Largest:
    """The nodes that hold most at a time; times must come in order."""

    def __init__(self, curves: Curves, names: Strings) -> None:
        self._amount = curves.amount.tolist()
        self._largest_first = (-curves.amount).tolist()
        self._holder = curves.holder.tolist()
        changes = curves.change_us, curves.leaves, curves.enters
        self._changes = zip(*(column.tolist() for column in changes), strict=True)
        self._next = next(self._changes, None)
        self._live = Bitset(len(self._amount))
        self._names = names
        self._texts: dict[int, str] = {}

    def args(self, ts: int, in_use: int) -> str:
        """Who holds what of *in_use* just before *ts*, and what is left."""
        while self._next is not None and self._next[0] < ts:
            _, leaves, enters = self._next
            if leaves >= 0:
                self._live.remove(leaves)
            if enters >= 0:
                self._live.add(enters)
            self._next = next(self._changes, None)
        texts: list[str] = []
        left = in_use
        at = self._live.at_or_after(bisect_left(self._largest_first, -left))
        while at >= 0 and len(texts) < _NAMED:
            texts.append(self._text(at))
            left -= self._amount[at]
            # The next one behind this, or further on where what follows is too much.
            behind = max(at + 1, bisect_left(self._largest_first, -left))
            at = self._live.at_or_after(behind)
        # Every number has an entry at all times, but the first only where it is used.
        texts += ['"N/A"'] * (_NAMED - max(len(texts), 1))
        first = _NAMED - len(texts)
        named = map(str.__add__, _KEYS[first:], texts)
        return ",".join([f'"Not Displayed":"{left / _MEGA:.2f} MB"', *named])

    def _text(self, at: int) -> str:
        if at not in self._texts:
            megabytes = b"%g MB from " % (self._amount[at] / _MEGA)
            self._texts[at] = quoted(megabytes + self._names[self._holder[at]])
        return self._texts[at]


class Bitset:
    """A set of numbers below *size*, empty at first, that finds the next member after any number.

        level 1                          1 1 0 1        one bit per word of level 0: is it not zero?
        level 0   0110 0000 … 1000 … 0000 … 0001        one bit per number

    A million numbers make four levels, and a search touches each level twice at most.
    """

    def __init__(self, size: int) -> None:
        self._levels: list[list[int]] = []
        while not self._levels or size > 1:
            size = (size + _MASK) >> _SHIFT
            self._levels.append([0] * size)

    def add(self, number: int) -> None:
        """Add *number*."""
        for words in self._levels:
            at = number >> _SHIFT
            was = words[at]
            words[at] = was | 1 << (number & _MASK)
            if was:
                return
            number = at

    def remove(self, number: int) -> None:
        """Remove *number*, which is a member."""
        for words in self._levels:
            at = number >> _SHIFT
            words[at] ^= 1 << (number & _MASK)
            if words[at]:
                return
            number = at

    def at_or_after(self, number: int) -> int:
        """The lowest member that is *number* or more; -1 where there is none."""
        for height, words in enumerate(self._levels):
            at = number >> _SHIFT
            if at >= len(words):
                return -1
            rest = words[at] >> (number & _MASK)
            if rest:
                number += _lowest(rest)
                for below in reversed(self._levels[:height]):
                    number = number << _SHIFT | _lowest(below[number])
                return number
            number = at + 1
        return -1


def _lowest(word: int) -> int:
    return (word & -word).bit_length() - 1


def device_memories(profile: Profile, step: Step, nodes: I64, pid: int) -> list[DeviceMemory]:
    """The memory of each device that *nodes* are on, by name; *pid* is the first not in use."""
    memories: list[DeviceMemory] = []
    # Over all steps, so computed once for all timelines.
    persistent = profile.cached("persistent bytes", lambda: _persistent(profile))
    by_name = nodes[profile.nodes.name.take(nodes).order()]
    device_of = np.full(len(profile), -1, np.int64)
    device_of[nodes] = profile.nodes.device[nodes]
    tables = (by_name, step.memory_node, step.allocation_node)
    by_device = [ByKey(device_of[node]) for node in tables]
    place = np.full(len(profile), -1, np.int64)
    place[nodes] = np.arange(nodes.size)
    kinds = np.unique(profile.nodes.device[nodes])
    for kind in kinds[profile.types.take(kinds).order()].tolist():
        device = profile.types[kind]
        if b"cpu" in device:  # parity Q33: memory of the host is left out
            continue
        mine, seen, allocated = (table.of(kind, kind + 1)[0] for table in by_device)
        here = by_name[mine]
        curves = _curves(step, here, allocated, persistent)
        observed = _seen(step, seen, place)
        number, names = pid + 2 * len(memories), profile.nodes.name.take(here)
        memories.append(DeviceMemory(device, number, *observed, names, curves))
    return memories


def _persistent(profile: Profile) -> I64:
    """The most persistent memory of each node on an accelerator in a step."""
    most = np.zeros(len(profile), np.int64)
    for step in profile.steps:
        rows = ~step.on_host
        node, of = np.unique(step.memory_node[rows], return_inverse=True)
        held = sum_by(of, step.persistent[rows], node.size)
        most[node] = np.maximum(most[node], held)
    return most


def _seen(step: Step, rows: I64, place: I64) -> tuple[I64, I64]:
    """(time, bytes in use) of these rows of memory; of equal times the node last shown counts."""
    rows = rows[step.memory_us[rows] > 0]
    rows = rows[np.argsort(place[step.memory_node[rows]], kind="stable")][::-1]
    time_us, last = np.unique(step.memory_us[rows], return_index=True)
    return time_us, step.in_use[rows[last]]


def _curves(step: Step, nodes: I64, rows: I64, persistent: I64) -> Curves:
    """The curves of *nodes*, which are in order of name, from these *rows* of allocations."""
    ascending = np.argsort(nodes)
    place = ascending[np.searchsorted(nodes[ascending], step.allocation_node[rows])]
    holder = np.append(np.arange(nodes.size), place)
    us = np.append(np.zeros(nodes.size, np.int64), step.allocation_us[rows])
    order = np.lexsort((us, holder))
    holder, us = holder[order], us[order]
    grown = np.cumsum(np.append(persistent[nodes], step.allocation_bytes[rows])[order])
    last = np.append((holder[1:] != holder[:-1]) | (us[1:] != us[:-1]), True)[: us.size]
    holder, us, grown = holder[last], us[last], grown[last]

    first = np.flatnonzero(np.append(True, holder[1:] != holder[:-1])[: us.size])
    before = np.append(0, grown)[first]
    amount = grown - np.repeat(before, np.diff(np.append(first, us.size)))
    held = np.flatnonzero(amount > 0)
    held = held[np.lexsort((holder[held], -amount[held]))]
    enters = np.full(us.size, -1, np.int64)
    enters[held] = np.arange(held.size)
    leaves = np.append(-1, enters[:-1])[: us.size]
    leaves[first] = -1
    change = np.flatnonzero((enters >= 0) | (leaves >= 0))
    change = change[np.argsort(us[change], kind="stable")]
    return Curves(amount[held], holder[held], us[change], leaves[change], enters[change])
