"""The timeline: a report as Chrome's trace events, for ui.perfetto.dev or chrome://tracing.

    graph           what ran when, a process a device, with data flow and memory
    scope, code     where the time goes: rows as a flame chart, a process a depth

The text is made piece by piece as it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.writers.chrome_json import trace
from tfprof.writers.timeline_flame import flame_events
from tfprof.writers.timeline_graph import Chart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.query.counted import Answer

_RULER = "*" * 54


@dataclass(frozen=True)
class Timeline:
    """A trace file, and what the original says on stdout before it is written."""

    said: str
    _events: Callable[[], Iterator[list[str]]]

    def pieces(self) -> Iterator[bytes]:
        """The JSON from the beginning, as often as it is asked for."""
        return trace(self._events())


def timeline(answer: Answer) -> Timeline:
    """The timeline of *answer*; of graph view, that of the one step it must name."""
    if answer.view.name == "op":
        raise UsageError("op view doesn't support timeline yet. Consider graph/scope/code view.")
    if answer.view.name == "graph":
        chart = Chart.of(answer)
        return Timeline(chart.said, chart.events)
    return Timeline("", lambda: flame_events(answer))


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
