"""Events of XLA's programs, for traces by hand: what ran, markers of steps, programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.read import load
from xplane_traces import Event, environment, plane, source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.model import Profile


def ran(
    program: int, module: str, instruction: str, start: float, long: float, **more: int
) -> Event:
    """An instruction of a program on some thread or stream."""
    names: dict[str, int | str] = {"hlo_op": instruction, "hlo_module": module}
    stats = {**names, "program_id": program, **more}
    return Event(instruction, start, long, stats=[*stats.items()])


def marker(number: int, start: float, long: float) -> Event:
    """What StepTraceAnnotation leaves."""
    return Event("train", start, long, stats=[("step_num", number), ("_r", 1)])


def held(program: int, name: str, proto: bytes) -> Event:
    """A program that the trace has."""
    return Event(f"{name}({program})", kind_stats=(("Hlo Proto", proto), ("program_id", program)))


def with_programs(programs: Sequence[Event], events: Sequence[Event]) -> bytes:
    """A trace with what `held` makes, and these events of one thread."""
    thread = plane("/host:CPU", {"python": events})
    return plane("/host:metadata", {}, programs) + thread + environment()


def read(data: bytes) -> Profile:
    return load(traces=[source(data)])


def notes(profile: Profile) -> str:
    return " ".join(note.text for note in profile.notes)
