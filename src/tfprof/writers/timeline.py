"""The timeline: a report as Chrome's trace events, for ui.perfetto.dev or chrome://tracing.

    graph           what ran when, one process per device, with data flow and memory
    scope, code     where the time goes: rows as a flame chart, one process per depth

The text is generated piece by piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.results.result import File
from tfprof.tables.outputs import OUTPUTS
from tfprof.writers.chrome_json import trace
from tfprof.writers.timeline_flame import flame_events
from tfprof.writers.timeline_graph import Chart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.query.counted import Answer
    from tfprof.results.report import Report

_RULER = "*" * 54


@dataclass(frozen=True)
class Timeline:
    """A trace file, and what the original prints before it writes one."""

    printed: str
    _events: Callable[[], Iterator[list[str]]]

    def pieces(self) -> Iterator[bytes]:
        """The JSON; every call starts from the beginning."""
        return trace(self._events())


def timeline_files(report: Report, path: str) -> Iterator[File]:
    """One file per step: graph view without a step has one for each, all else one."""
    answer = report.answer
    _check_view(answer)
    if not answer.profile.steps:
        raise UsageError("a timeline needs a run: give a RunMetadata (--run_meta_path)")
    steps: list[int | None] = [answer.query.step]
    if report.view == "graph" and answer.query.step is None:
        steps = [step.number for step in answer.profile.steps]
    for step in steps:
        at_step = report if step == answer.query.step else report.at_step(step)
        chart = timeline(at_step.answer)
        name = file_name(path, step)
        yield File(name, at_step, chart.pieces(), chart.printed + banner(name))


def timeline(answer: Answer) -> Timeline:
    """The timeline of *answer*, which in graph view must be for one step."""
    _check_view(answer)
    if answer.view.name == "graph":
        chart = Chart.of(answer)
        return Timeline(chart.printed, chart.events)
    return Timeline("", lambda: flame_events(answer))


def _check_view(answer: Answer) -> None:
    refusal = OUTPUTS["timeline"].not_for_lists
    if answer.view.chain:
        raise UsageError(refusal.format(view=answer.view.name))


def file_name(path: str, step: int | None) -> str:
    """The file at *path* for *step*; None is the average of all steps."""
    return f"{path}_{-1 if step is None else step}"


def banner(path: str) -> str:
    """What the original prints once the file at *path* is written."""
    return (
        f"\n{_RULER}\n"
        f"Timeline file is written to {path}.\n"
        "Open a Chrome browser, enter URL chrome://tracing and load the timeline file.\n"
        f"{_RULER}\n"
    )
