"""A second reader of traces for tests: all runs of instructions, and the time that is their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hlo_oracle import integer, messages, text
from hlo_wire import fields

if TYPE_CHECKING:
    from collections.abc import Iterable

_REFERENCE: Final = 7  # of a stat: its text is the name of another kind of stat


class Run(NamedTuple):
    """A run of an instruction on a thread; in picoseconds."""

    start: int
    end: int
    own: int  # less the runs inside of it
    op: str
    module: str
    program: int
    step: int | None


class _Event(NamedTuple):
    start: int
    end: int
    name: str
    stats: dict[str, Any]


def instruction_runs(data: bytes, plane: str = "/host:CPU") -> list[Run]:
    """All runs of instructions in a plane of a trace."""
    (found,) = (body for body in messages(data, 1) if text(body, 2) == plane)
    lines = [_events(found, line) for line in messages(found, 3)]
    marks = (event for line in lines for event in line if "step_num" in event.stats)
    steps = [(mark.start, mark.end, mark.stats["step_num"]) for mark in marks]
    return [run for line in lines for run in _runs(line, steps)]


def _events(plane: bytes, line: bytes) -> list[_Event]:
    kinds, stat_names = _names(plane, 4), _names(plane, 5)
    begin = integer(line, 3) * 1000
    made = []
    for event in messages(line, 4):
        stats = {}
        for stat in messages(event, 4):
            (number, value) = next((one for one in fields(stat) if one[0] != 1), (4, 0))
            name = stat_names[integer(stat, 1)]
            stats[name] = stat_names[int(value)] if number == _REFERENCE else value
        start = begin + integer(event, 2)
        made.append(_Event(start, start + integer(event, 3), kinds[integer(event, 1)], stats))
    return made


def _names(plane: bytes, number: int) -> dict[int, str]:
    entries = (messages(entry, 2)[0] for entry in messages(plane, number))
    return {integer(entry, 1): text(entry, 2) for entry in entries}


def _runs(events: list[_Event], steps: Iterable[tuple[int, int, int]]) -> list[Run]:
    """The runs on one thread: each takes its time away from the one around it."""
    ran = [event for event in events if "hlo_op" in event.stats]
    ran.sort(key=lambda event: (event.start, -event.end))
    own = [event.end - event.start for event in ran]
    open_runs: list[int] = []
    for number, event in enumerate(ran):
        while open_runs and ran[open_runs[-1]].end <= event.start:
            open_runs.pop()
        if open_runs:
            own[open_runs[-1]] -= event.end - event.start
        open_runs.append(number)
    found = []
    for event, time in zip(ran, own, strict=True):
        told = event.stats
        of = told["hlo_op"], told["hlo_module"], told["program_id"]
        step = next((step for begin, end, step in steps if begin <= event.start < end), None)
        found.append(Run(event.start, event.end, time, *of, step))
    return found
