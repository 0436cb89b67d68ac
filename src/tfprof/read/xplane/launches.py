"""The instructions of XLA programs: the graph node of each, and the launch that it ran for.

/host:metadata ─► one kind of event per module ─► "Hlo Proto"
HloProto ─► module ─► computation* ─► instruction* ─┬─ name, opcode
                                                    └─ metadata: op type, op name

An event has the name of its instruction and the number of its program.

    thread 1   net/call:StatefulPartitionedCall ├──────────────────────┤
                 dot.3                             ├──┤
    thread 2     dot.3                             ├──────┤              the same launch

A launch is the event of a node with instructions of a program inside. An instruction outside all
launches belongs to the running launch of its program. If several are running, it belongs to the
only one that has not run this instruction itself; otherwise its launch is unknown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import first_rows, unique, unique_inverse
from tfprof.read.hlo.modules import module_slices, read_modules
from tfprof.read.xplane.compiled_nodes import sources
from tfprof.read.xplane.nesting import count_before
from tfprof.read.xplane.trace import Programs

if TYPE_CHECKING:
    from tfprof.read.xplane.planes import Space

_PROGRAMS_PLANE = b"/host:metadata"
UNKNOWN, SEVERAL = -1, -2
_CLUSTER = b"cluster_"
# At most so many simultaneous launches of a program are distinguished.
_MOST_AT_ONCE = 8
_MOST_EVENTS, _ANY = 2, np.iinfo(np.int64).max
# The name of the XLA module for `__inference_f_12`: XLA adds a prefix and a suffix.
_MODULE = re.compile(
    rb"a(_(?:inference|forward|backward)_.+?_\d+)__(?:XlaMustCompile_.*)?(?:\.\d+)?"
)


class Launches(NamedTuple):
    """Events of nodes, any of which may have launched a program."""

    node: I64  # the same for events of the same node of the same function
    start: I64
    end: I64


class InstructionEvents(NamedTuple):
    """Events of instructions."""

    launch: I64  # the launch around each, or UNKNOWN
    program: I64
    name: I64  # the same for equal names
    start: I64


def launched(launches: Launches, instructions: InstructionEvents) -> I64:
    """The launch of each instruction, UNKNOWN, or one of SEVERAL."""
    instructions = instructions._replace(program=unique_inverse(instructions.program)[1])
    row, of = _of_programs(launches.node, instructions.launch, instructions.program)
    free = np.flatnonzero(instructions.launch < 0)
    if not free.size or not row.size:
        return instructions.launch
    order = np.lexsort((launches.start[row], of))
    row, of = row[order], of[order]
    program, moment = instructions.program[free], instructions.start[free]
    last = count_before(of, launches.start[row], program, moment) - 1
    fits = (last >= 0) & (of[last] == program)
    # If several nodes launch a program, look for the only running launch without the instruction.
    nodes = int(launches.node[row].max()) + 1
    of_one_node = np.bincount(unique(of * nodes + launches.node[row]) // nodes) == 1
    latest = np.where(of_one_node[of[last]], row[last], SEVERAL)
    fresh = _Fresh(instructions, of)
    count, candidate = np.zeros(free.size, np.int64), np.full(free.size, UNKNOWN)
    end = np.append(launches.end[row], np.iinfo(np.int64).min)
    for back in range(_MOST_AT_ONCE):
        index = np.where(fits & (last >= back), last - back, -1)
        running = (np.append(of, -1)[index] == program) & (end[index] > moment)
        running &= fresh.without(np.append(row, 0)[index], free)
        count += running
        candidate = np.where(running, np.append(row, -1)[index], candidate)
    oldest = np.maximum(last - _MOST_AT_ONCE + 1, 0)
    more = (of[oldest] == program) & (_latest_end_before(of, end[:-1])[oldest] > moment)
    sure = (count == 1) & ~more
    result = instructions.launch.copy()
    result[free] = np.where(fits, np.where(sure & (latest == SEVERAL), candidate, latest), UNKNOWN)
    return result


class _Fresh:
    """Which launches have not yet run an instruction that every launch runs equally often."""

    def __init__(self, instructions: InstructionEvents, of: I64) -> None:
        self._names = int(instructions.name.max()) + 1
        _, key = unique_inverse(instructions.program * self._names + instructions.name)
        runs = np.maximum(np.bincount(of, minlength=int(instructions.program.max()) + 1), 1)
        each, rest = np.divmod(np.bincount(key)[key], runs[instructions.program])
        # An instruction that waits for others has two events. More are in loops and prove nothing.
        self._each = np.where((rest == 0) & (each <= _MOST_EVENTS), each, _ANY)
        self._name = instructions.name
        held = np.flatnonzero(instructions.launch >= 0)
        self._held = np.sort(instructions.launch[held] * self._names + instructions.name[held])

    def without(self, launch: I64, instruction: I64) -> Bool:
        """Whether each *launch* may be the one that *instruction* ran for."""
        wanted = launch * self._names + self._name[instruction]
        first, end = (np.searchsorted(self._held, wanted, side) for side in ("left", "right"))
        result: Bool = end - first < self._each[instruction]
        return result


def function_of(module: bytes) -> bytes:
    """The function that an XLA module was compiled from; b"" if its name has another form."""
    match = _MODULE.fullmatch(module)
    return b"_" + match[1] if match else b""


def is_of_tensorflow(module: bytes) -> bool:
    """Whether the XLA module with this name was compiled for a graph of TensorFlow."""
    return module.startswith(_CLUSTER) or bool(function_of(module))


def _of_programs(node: I64, at: I64, program: I64) -> tuple[I64, I64]:
    """(launches, the program of each): nodes with instructions inside, and others like them."""
    # If all instructions of a launch ran elsewhere, its node identifies the program, if it has one.
    held = np.flatnonzero(at >= 0)
    known = np.full(node.size, -1, np.int64)
    rows, first = first_rows(at[held])
    known[rows] = held[first]
    count = int(node.max(initial=-1)) + 1
    low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(low, node[at[held]], program[held])
    np.maximum.at(high, node[at[held]], program[held])
    has_one = (low == high)[node]
    row = np.flatnonzero((known >= 0) | has_one)
    own = program[np.maximum(known[row], 0)]
    return row, np.where(known[row] >= 0, own, low[node[row]])


def _latest_end_before(group: I64, end: I64) -> I64:
    """The latest end before each row in its group; rows are sorted by group."""
    ends, rank = unique_inverse(end)
    width = ends.size + 1
    # Groups are ascending, so a later one begins above all values of the earlier ones.
    latest = np.maximum.accumulate(group * width + rank + 1)
    before = np.append(-1, latest[:-1]) - group * width - 1
    return np.where(before >= 0, ends[np.maximum(before, 0)], np.iinfo(np.int64).min)


class Instructions(NamedTuple):
    """One row per instruction."""

    key: Strings  # the number of its program and its name: `7 fusion.2`
    op_name: Strings  # the node, if known
    op_type: Strings
    opcode: Strings

    def find(self, wanted: Strings) -> I64:
        """The first row with each of these keys, or -1."""
        _, first = self.key.intern()
        return np.append(first, -1)[self.key.take(first).find(wanted)]


def instruction_keys(program: I64, name: Strings) -> Strings:
    """The keys of the instructions with these names in these programs."""
    ids, first = name.intern()
    distinct, index = unique_inverse(program)
    pair = index * max(first.size, 1) + ids
    _, rows = first_rows(pair)
    names, numbers = name.take(rows).tolist(), distinct[index[rows]].tolist()
    texts = [b"%d %b" % key for key in zip(numbers, names, strict=True)]
    return Strings.of(texts).take(unique_inverse(pair)[1])


def programs(space: Space) -> Programs:
    """The programs in the trace."""
    stats = space.kind_stats
    rows = stats.named(b"Hlo Proto")
    has_programs = space.plane.which(_PROGRAMS_PLANE.__eq__)
    rows = rows[has_programs[space.kind_plane[stats.owner[rows]]]]
    kind, protos = stats.owner[rows], stats.text.take(rows)
    # Older traces have the number of a program as that of its metadata alone.
    number = stats.numbers(b"program_id", kind)
    number = np.where(number != 0, number, space.kind_id[kind])
    return Programs(number, protos.start, protos.start + protos.length)


def instructions(space: Space, wanted: I64) -> Instructions:
    """All instructions of the *wanted* programs in the trace; raises WireError."""
    held, buffer = programs(space), space.kind_stats.text.blob
    number, start, end = (column[np.isin(held.number, wanted)] for column in held)
    modules = read_modules(buffer, *module_slices(buffer, start, end))
    source, other = sources(modules)
    proto = modules.computation_module[modules.instruction.message]
    named = np.where(source >= 0, source, 0)
    return Instructions(
        instruction_keys(number[proto], modules.instruction_name),
        either(modules.op_name, source, other),
        modules.op_type.take(named).where(source >= 0) if len(other) else modules.op_type,
        modules.opcode,
    )


def either(known: Strings, row: I64, other: Strings) -> Strings:
    """The *row* of *known* if there is one and it is not empty, else the string of *other*."""
    if not len(known):
        return other
    is_known = (row >= 0) & (known.length[row] > 0)
    both = Strings.concat([known, other])
    return both.take(np.where(is_known, row, len(known) + np.arange(len(other))))
