"""How often instructions of XLA programs ran that have no events in a trace.

    dot.1       10 events       so the program ran 10 times: each instruction runs once per run
    dot.2       none            10, as in a command buffer of a GPU
    while.3     none            10
      dot.4     none            12 trips: 120

A program is what edges connect. It ran as often as most of its outermost instructions with events;
the count is a lower bound if these disagree, if there are none, or if steps differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.unique import marked, most_frequent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Profile

_MOST: Final = 2**62


class ProgramRuns(NamedTuple):
    """The runs of instructions in programs that left events."""

    times: I64  # how often each node without a record runs in a step, at least; -1: as the graph
    lower: Bool  # the nodes that may have run more often than is counted


class _Step(NamedTuple):
    """The runs of nodes in a step."""

    assumed: Bool  # those that no record counts
    times: I64
    lower: Bool


def program_runs(profile: Profile, per_call: I64) -> ProgramRuns | None:
    """The runs of instructions; None if no program left events.

    *per_call* is how often each region runs per run of its call.
    """
    program = programs(profile)
    ran = ran_programs(profile, program)
    if not ran.any():
        return None
    times = np.full(len(profile), -1, np.int64)
    lower = np.zeros(len(profile), np.bool_)
    for occurrence in _occurrences(profile):
        step = _of_step(profile, program, occurrence, per_call)
        assumed = step.assumed & ran
        lower |= (step.lower & ran) | (assumed & (times >= 0) & (times != step.times))
        known = np.where(times < 0, step.times, np.minimum(times, step.times))
        times = np.where(assumed, known, times)
    return ProgramRuns(times, lower)


def programs(profile: Profile) -> I64:
    """The XLA program of each node, as a number; -1: none."""
    return profile.structure_cache.cached("programs", lambda: _programs(profile))


def ran_programs(profile: Profile, program: I64) -> Bool:
    """The nodes of programs of which something has a record."""
    left = program[(profile.records > 0) & (program >= 0)]
    return marked(left, len(profile))[program] & (program >= 0)


def _programs(profile: Profile) -> I64:
    # Opcodes begin with a small letter, types of TensorFlow do not.
    is_opcode = profile.types.which(lambda kind: kind[:1].islower())
    is_instruction = np.append(is_opcode, False)[profile.nodes.op]
    if not is_instruction.any():
        return np.full(len(profile), -1, np.int64)
    edges, regions = profile.edges, profile.regions
    consumer = np.repeat(np.arange(edges.start.size - 1), np.diff(edges.start))
    inside = np.flatnonzero(regions.of_node >= 0)
    one = np.append(consumer, inside)
    other = np.append(edges.source, regions.call[regions.of_node[inside]])
    exists = other >= 0  # inputs that the graph lacks are negative
    one, other = one[exists], other[exists]
    linked = is_instruction[one] & is_instruction[other]
    return np.where(is_instruction, _connected(len(profile), one[linked], other[linked]), -1)


def _connected(count: int, one: I64, other: I64) -> I64:
    """The first of the nodes that each is connected with."""
    first = np.arange(count)
    while one.size:
        left, right = first[one], first[other]
        apart = left != right
        one, other = one[apart], other[apart]
        least = np.minimum(left, right)[apart]
        for side in (left[apart], right[apart]):
            np.minimum.at(first, side, least)
        while (first[first] != first).any():
            first = first[first]
    return first


def _occurrences(profile: Profile) -> Iterator[I64]:
    """How often nodes ran in each step, and on average; those of equal steps once."""
    seen = set()
    for step in profile.steps:
        column = np.zeros(len(profile), np.int64)
        step.add("occurrence", column)
        if (key := column.tobytes()) not in seen:
            seen.add(key)
            yield column
    if len(profile.steps) > 1:
        yield profile.values("occurrence", None)


def _of_step(profile: Profile, program: I64, occurrence: I64, per_call: I64) -> _Step:
    regions, recorded = profile.regions, profile.records > 0
    of_node = regions.of_nodes(len(profile))
    outermost = np.flatnonzero((of_node < 0) & recorded & (program >= 0))
    runs, unsure = _of_programs(program, outermost, occurrence)
    times = runs[program]
    lower = unsure[program] & (program >= 0)
    of_region = np.empty(0, np.int64)
    if len(regions):
        of_region = regions.runs(occurrence)
        inner = _of_regions(profile, of_region, np.where(recorded, occurrence, times), per_call)
        times = np.append(inner, 0)[of_node] * (of_node >= 0) + times * (of_node < 0)
    assumed = ~recorded & (np.append(of_region, -1)[of_node] < 0)
    lower &= assumed
    lower[outermost] = occurrence[outermost] < runs[program[outermost]]
    return _Step(assumed, times, lower)


def _of_programs(program: I64, outermost: I64, occurrence: I64) -> tuple[I64, Bool]:
    """(how often each program ran, whether that is a lower bound)."""
    owner, ran = program[outermost], occurrence[outermost]
    count = program.size
    runs = most_frequent(owner, ran, count)
    differs = marked(owner[ran != runs[owner]], count)
    # Events inside a loop alone say that the program ran, not how often.
    some = marked(program[(program >= 0) & (occurrence > 0)], count)
    return np.where(runs < 0, some.astype(np.int64), runs), differs | ((runs < 0) & some)


def _of_regions(profile: Profile, of_region: I64, of_nodes: I64, per_call: I64) -> I64:
    """How often each region runs: as recorded, else as often as its call and what it repeats."""
    regions = profile.regions
    inside = np.flatnonzero(regions.of_node >= 0)
    has_record = marked(regions.of_node[inside[profile.records[inside] > 0]], len(regions))
    recorded = (profile.records > 0)[regions.call].tolist()
    outer = regions.of_nodes(len(profile))[regions.call].tolist()
    around, often = of_nodes[regions.call].tolist(), per_call.tolist()
    result = np.where(has_record, np.maximum(of_region, 0), of_region).tolist()
    for region, known in enumerate(result):  # an inner region comes later
        if known < 0:
            is_alone = recorded[region] or outer[region] < 0
            calls = around[region] if is_alone else result[outer[region]]
            result[region] = min(often[region] * calls, _MOST)
    return np.array(result, np.int64)
