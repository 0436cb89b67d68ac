"""The timeline: a report as Chrome's trace events, for ui.perfetto.dev or chrome://tracing.

    graph           what ran when, a process a device, with data flow and memory
    scope, code     where the time goes: rows as a flame chart, a process a depth

The text is made piece by piece as it is asked for.
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
    """A trace file, and what the original says on stdout before it is written."""

    said: str
    _events: Callable[[], Iterator[list[str]]]

    def pieces(self) -> Iterator[bytes]:
        """The JSON from the beginning, as often as it is asked for."""
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
        yield File(name, at_step, chart.pieces(), chart.said + banner(name))


def timeline(answer: Answer) -> Timeline:
    """The timeline of *answer*; of graph view, that of the one step it must name."""
    _check_view(answer)
    if answer.view.name == "graph":
        chart = Chart.of(answer)
        return Timeline(chart.said, chart.events)
    return Timeline("", lambda: flame_events(answer))


def _check_view(answer: Answer) -> None:
    refusal = OUTPUTS["timeline"].not_for_lists
    if answer.view.chain:
        raise UsageError(refusal.format(view=answer.view.name))


def file_name(path: str, step: int | None) -> str:
    """The file for *step* when *path* was asked for; None is the average of all steps."""
    return f"{path}_{-1 if step is None else step}"


def banner(path: str) -> str:
    """What to say once the file called *path* is written."""
    return (
        f"\n{_RULER}\n"
        f"Timeline file is written to {path}.\n"
        "Open a Chrome browser, enter URL chrome://tracing and load the timeline file.\n"
        f"{_RULER}\n"
    )
