"""Instructions that XLA hands to other threads: which launch of their program each ran for.

    thread 1   net/call:StatefulPartitionedCall ├──────────────────────┤
                 dot.3                             ├──┤
    thread 2     dot.3                             ├──────┤              the same launch

A launch is the event of a node with instructions of a program inside. What ran outside of any is
of the launch of its program that was going on. Where several were, it is of the one that did not
run this instruction itself, and of none where that does not tell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import first_rows, places
from tfprof.read.xplane.nesting import count_before

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool

UNKNOWN, SEVERAL = -1, -2
# So many launches of a program that go on at a time are told apart.
_MOST_AT_ONCE = 8
_MOST_EVENTS, _ANY = 2, np.iinfo(np.int64).max
# How XLA calls what it makes of `__inference_f_12`: letters of its own in front and behind.
_MODULE = re.compile(
    rb"a(_(?:inference|forward|backward)_.+_\d+)__(?:XlaMustCompile_.*)?(?:\.\d+)?"
)


class Launches(NamedTuple):
    """Events of nodes, any of which may have launched a program."""

    node: I64  # the same for events of the same node of the same function
    start: I64
    end: I64


class Instructions(NamedTuple):
    """Events of instructions."""

    launch: I64  # the launch around each, or UNKNOWN
    program: I64
    name: I64  # the same for those of one name
    start: I64


def launched(launches: Launches, given: Instructions) -> I64:
    """The launch of each instruction, UNKNOWN, or one of SEVERAL."""
    given = given._replace(program=places(given.program)[1])
    row, of = _of_programs(launches.node, given.launch, given.program)
    free = np.flatnonzero(given.launch < 0)
    if not free.size or not row.size:
        return given.launch
    order = np.lexsort((launches.start[row], of))
    row, of = row[order], of[order]
    program, moment = given.program[free], given.start[free]
    last = count_before(of, launches.start[row], program, moment) - 1
    fits = (last >= 0) & (of[last] == program)
    found = np.where(_of_one_node(of, launches.node[row])[last], row[last], SEVERAL)
    # Where several nodes launch a program, just one launch that is going on may be without it.
    fresh = _Fresh(given, of)
    count, one = np.zeros(free.size, np.int64), np.full(free.size, UNKNOWN)
    end = np.append(launches.end[row], np.iinfo(np.int64).min)
    for back in range(_MOST_AT_ONCE):
        place = np.where(fits & (last >= back), last - back, -1)
        on = (np.append(of, -1)[place] == program) & (end[place] > moment)
        on &= fresh.without(np.append(row, 0)[place], free)
        count += on
        one = np.where(on, np.append(row, -1)[place], one)
    oldest = np.maximum(last - _MOST_AT_ONCE + 1, 0)
    more = (of[oldest] == program) & (_latest_end_before(of, end[:-1])[oldest] > moment)
    sure = (count == 1) & ~more
    result = given.launch.copy()
    result[free] = np.where(fits, np.where(sure & (found == SEVERAL), one, found), UNKNOWN)
    return result


class _Fresh:
    """Which launches have not yet run an instruction that each of them has as often."""

    def __init__(self, given: Instructions, of: I64) -> None:
        self._names = int(given.name.max()) + 1
        _, key = places(given.program * self._names + given.name)
        runs = np.maximum(np.bincount(of, minlength=int(given.program.max()) + 1), 1)
        each, rest = np.divmod(np.bincount(key)[key], runs[given.program])
        # One that waits for others has two events. In loops there are more, which tell nothing.
        self._each = np.where((rest == 0) & (each <= _MOST_EVENTS), each, _ANY)
        self._name = given.name
        held = np.flatnonzero(given.launch >= 0)
        self._held = np.sort(given.launch[held] * self._names + given.name[held])

    def without(self, launch: I64, instruction: I64) -> Bool:
        """Whether each launch may be the one that each instruction ran for."""
        wanted = launch * self._names + self._name[instruction]
        first, end = (np.searchsorted(self._held, wanted, side) for side in ("left", "right"))
        result: Bool = end - first < self._each[instruction]
        return result


def functions_of(modules: Strings) -> Strings:
    """The function that each module of XLA was made of; empty where its name does not tell."""
    ids, first = modules.intern()
    found = (_MODULE.fullmatch(name) for name in modules.take(first))
    return Strings.of(b"_" + one[1] if one else b"" for one in found).take(ids)


def _of_programs(node: I64, at: I64, program: I64) -> tuple[I64, I64]:
    """(launches, the program of each): those with instructions inside, and others like them.

    A launch all of whose instructions ran elsewhere is known by its node, if that has one program.
    """
    held = np.flatnonzero(at >= 0)
    known = np.full(node.size, -1, np.int64)
    rows, first = first_rows(at[held])
    known[rows] = held[first]
    count = int(node.max(initial=-1)) + 1
    low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(low, node[at[held]], program[held])
    np.maximum.at(high, node[at[held]], program[held])
    one = (low == high)[node]
    row = np.flatnonzero((known >= 0) | one)
    own = program[np.maximum(known[row], 0)]
    return row, np.where(known[row] >= 0, own, low[node[row]])


def _of_one_node(program: I64, node: I64) -> Bool:
    """Whether all launches of the program of each are of one node."""
    nodes = int(node.max()) + 1
    pair, _ = places(program * nodes + node)
    result: Bool = (np.bincount(pair // nodes) == 1)[program]
    return result


def _latest_end_before(group: I64, end: I64) -> I64:
    """The latest end of those before each in its group; rows are sorted by group."""
    ends, rank = places(end)
    width = ends.size + 1
    # Groups come one after the other, so a later one begins above all that were before.
    latest = np.maximum.accumulate(group * width + rank + 1)
    before = np.append(-1, latest[:-1]) - group * width - 1
    return np.where(before >= 0, ends[np.maximum(before, 0)], np.iinfo(np.int64).min)
