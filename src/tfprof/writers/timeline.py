"""The timeline: a report as Chrome's trace events, for ui.perfetto.dev or chrome://tracing.

graph           what ran when, one process per device, with data flow and memory
scope, code     where the time goes: a flame chart, as wide as the total time of each row

depth 0  |_TFProfRoot                         |
depth 1  |conv1                 |fc        |         one process per depth; children stand side
depth 2  |conv1/Conv2D  |c1/add |fc/MatMul |         by side, from where their parent begins
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.results.result import File
from tfprof.tables.outputs import OUTPUTS
from tfprof.writers.chrome_json import point, process, quoted, region, trace
from tfprof.writers.numbers import chunks
from tfprof.writers.timeline_graph import Chart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.columns.strings import I64
    from tfprof.columns.tree import Tree
    from tfprof.query.counted import Answer
    from tfprof.results.report import Report

_RULER = "*" * 54


@dataclass(frozen=True)
class Timeline:
    """A trace file, and the text that the original prints before it writes the file."""

    printed: str
    _events: Callable[[], Iterator[list[str]]]

    def pieces(self) -> Iterator[bytes]:
        """The JSON; every call starts from the beginning."""
        return trace(self._events())


def timeline_files(report: Report, path: str) -> Iterator[File]:
    """One file per step in graph view if the query names no step; otherwise one file."""
    answer = report.answer
    _check_view(answer)
    if not answer.profile.steps:
        raise UsageError("a timeline needs a run: give a RunMetadata (--run_meta_path)")
    steps: list[int | None] = [answer.query.step]
    if report.view == "graph" and answer.query.step is None:
        steps = [step.number for step in answer.profile.steps]
    for step in steps:
        at_step = report if step == answer.query.step else report.asked(step=step)
        chart = timeline(at_step.answer)
        name = file_name(path, step, numbered=answer.query.era.names_steps or len(steps) > 1)
        yield File(name, at_step, chart.pieces(), chart.printed + banner(name))


def timeline(answer: Answer) -> Timeline:
    """The timeline of *answer*, which in graph view must be for one step."""
    _check_view(answer)
    if answer.view.name == "graph":
        chart = Chart.of(answer)
        return Timeline(chart.printed, chart.events)
    return Timeline("", lambda: _flame_events(answer))


def _flame_events(answer: Answer) -> Iterator[list[str]]:
    """The events of every row that took time, and of the root, in drawing order."""
    us = answer.total("micros")
    idle = us <= 0
    idle[0] = False
    shown = ~(idle | answer.tree.under(idle))
    tree, us = answer.tree.keep_rows(shown), us[shown]
    names = answer.label.take(shown)
    depth, begin = tree.depth - 1, _begin(tree, us)
    titled = 0
    for rows in chunks(len(names), names.length):
        events = []
        numbers = (column[rows].tolist() for column in (us, depth, begin))
        for name, width, level, ts in zip(map(quoted, names.take(rows)), *numbers, strict=True):
            if level == titled:
                events.append(process(b"Scope:%d" % level, level))
                titled += 1
            events.append(region(name, width, point(level, 0, ts), f',"op":{name}'))
        yield events


def _begin(tree: Tree, us: I64) -> I64:
    """The start of each row: after its earlier siblings; a first child starts with its parent."""
    # parity Q25: an average can be so huge that a sum overflows, as it does here.
    parent = tree.parent
    siblings = np.argsort(parent, kind="stable")
    width = us[siblings]
    until = np.cumsum(width) - width
    first = np.append(True, np.diff(parent[siblings]) != 0)
    until -= np.repeat(until[first], np.diff(np.append(np.flatnonzero(first), until.size)))
    after = np.empty_like(until)
    after[siblings] = until
    return tree.sum_above(after)


def _check_view(answer: Answer) -> None:
    if answer.view.chain:
        raise UsageError(OUTPUTS["timeline"].not_for_lists.format(view=answer.view.name))


def file_name(path: str, step: int | None, *, numbered: bool = True) -> str:
    """The file at *path* for *step*; None is the average of all steps."""
    return f"{path}_{-1 if step is None else step}" if numbered else path


def banner(path: str) -> str:
    """What the original prints once the file at *path* is written."""
    return (
        f"\n{_RULER}\n"
        f"Timeline file is written to {path}.\n"
        "Open a Chrome browser, enter URL chrome://tracing and load the timeline file.\n"
        f"{_RULER}\n"
    )
