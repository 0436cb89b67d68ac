"""The classic report: prefix, legend, and a line a row.

Doc:
scope: The nodes in the model graph are organized by their names, …
param: Number of parameters (in the Variable).

Profile:
node name | # parameters
_TFProfRoot (--/24 params)            own/total; -- where the row itself is not accounted
  w (3x4, 12/24 params)
    w/Momentum (3x4, 12/12 params)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof import units
from tfprof.answer import DEFINED
from tfprof.fields import FIELDS
from tfprof.reporters.node_texts import NodeTexts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.answer import Report
    from tfprof.strings import I64
    from tfprof.units import Format

# Lines written at a time: enough to share work, few enough to need no memory to speak of.
_CHUNK = 1 << 13

_MISSES_STREAM = (
    "\n\nFound accelerator operation but misses accelerator stream stats!\n\n"
    "It's likely a gpu tracing issue rather than tf-profiler issue.\n"
    "If you found your operation missing accelerator time, consider to post to "
    "discuss@tensorflow.org!\n\n"
)


def text(report: Report) -> Iterator[bytes]:
    """The report in pieces, each a run of whole lines."""
    fields = _columns(report)
    legend = " | ".join(field for name in fields if (field := FIELDS[name].legend))
    yield _encoded(f"{prefix(report)}node name | {legend}\n")
    lines = _Lines(report, fields)
    for first in range(0, len(report.tree), _CHUNK):
        yield _encoded("".join(lines.of(slice(first, first + _CHUNK))))


def prefix(report: Report) -> str:
    """What stands before the legend: a warning if one is due, and what the columns mean."""
    warning = _MISSES_STREAM if report.profile.misses_accelerator_stream else ""
    meaning = "\n".join(FIELDS[name].help for name in report.query.select)
    return f"{warning}\nDoc:\n{report.view.help}\n{meaning}\n\nProfile:\n"


def _columns(report: Report) -> list[str]:
    """The fields with a column, in order: the selected ones and what they bring along."""
    shown = {name for field in report.query.select for name in FIELDS[field].shows}
    return [name for name in FIELDS if name in shown]


def _encoded(lines: str) -> bytes:
    return lines.encode("utf-8", "surrogateescape")


class _Lines:
    """Formats a run of rows; whole columns are looked up once, at the start."""

    def __init__(self, report: Report, fields: list[str]) -> None:
        self._report = report
        self._fields = fields
        self._nodes = NodeTexts(report.profile, report.drawing.filler)
        metrics = [name for name in fields if FIELDS[name].unit]
        if "occurrence" in fields:
            metrics.append(DEFINED)
        self._own = {metric: report.own(metric) for metric in metrics}
        self._total = {metric: report.total(metric) for metric in metrics}
        self._label = report.label
        self._indent = 2 * (report.tree.depth - 1)
        self._node = report.node

    def of(self, rows: slice) -> Iterator[str]:
        """The lines of *rows*."""
        accounted = self._report.accounted[rows].tolist()
        nodes = self._node[rows].tolist()
        columns = [self._column(name, rows, accounted, nodes) for name in self._fields]
        parts = zip(*columns, strict=True) if columns else [()] * len(nodes)
        names = self._label.take(rows).texts()
        for indent, name, row in zip(self._indent[rows].tolist(), names, parts, strict=True):
            shown = ", ".join([part for part in row if part is not None])
            yield f"{' ' * indent}{name} ({shown})\n"

    def _column(
        self, name: str, rows: slice, accounted: list[bool], nodes: list[int]
    ) -> list[str | None]:
        """One part a row; None is no part at all."""
        if name in self._nodes.attributes:
            return list(map(self._nodes.attributes[name], nodes))
        numbers = self._numbers(name, rows, accounted)
        if name == "params":
            shapes = map(self._nodes.shape, nodes)
            return [f"{s}, {n}" if s else n for s, n in zip(shapes, numbers, strict=True)]
        if name == "occurrence":
            defined = self._numbers(DEFINED, rows, accounted)
            return [f"{run}|{times}" for run, times in zip(numbers, defined, strict=True)]
        return [*numbers]

    def _numbers(self, metric: str, rows: slice, accounted: list[bool]) -> list[str]:
        field = FIELDS.get(metric)
        unit = (field and field.unit) or units.count
        suffix = field.suffix if field else ""
        own = _formatted(self._own[metric][rows], unit)
        total = _formatted(self._total[metric][rows], unit)
        return [
            f"{mine}/{all_}{suffix}" if counts else f"--/{all_}{suffix}"
            for counts, mine, all_ in zip(accounted, own, total, strict=True)
        ]


def _formatted(column: I64, unit: Format) -> list[str]:
    """Each number as text; equal numbers, which are many, are formatted once."""
    numbers = column.tolist()
    known = {number: unit(number) for number in set(numbers)}
    return [known[number] for number in numbers]
