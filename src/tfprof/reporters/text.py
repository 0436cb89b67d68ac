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

from tfprof.fields import FIELDS
from tfprof.reporters.code_lines import code_lines
from tfprof.reporters.node_lines import node_lines
from tfprof.reporters.op_lines import op_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.report import Report

_MISSES_STREAM = (
    "\n\nFound accelerator operation but misses accelerator stream stats!\n\n"
    "It's likely a gpu tracing issue rather than tf-profiler issue.\n"
    "If you found your operation missing accelerator time, consider to post to "
    "discuss@tensorflow.org!\n\n"
)

_GROUP_LINES: dict[str, Callable[[Report, list[str]], Iterator[str]]] = {
    "op": op_lines,
    "code": code_lines,
}


def text(report: Report, values: Callable[[bytes], str] | None = None) -> Iterator[bytes]:
    """The report in pieces, each a run of whole lines.

    *values* gives the text below the line of a node whose tensor is wanted, by name.
    """
    fields = columns(report)
    if report.query.era.heading:
        yield prefix(report).encode()
        # parity Q46: an operation list of nothing at all is a root without a legend.
        if not (report.view.chain and len(report.drawing.tree) == 1):
            yield _legend(report, fields).encode()
    if report.view.groups:
        runs = _GROUP_LINES[report.view.name](report, fields)
    else:
        runs = node_lines(report, fields, values)
    for lines in runs:
        yield lines.encode("utf-8", "surrogateescape")


def prefix(report: Report) -> str:
    """What stands before the legend: a warning if one is due, and what the columns mean."""
    warning = _MISSES_STREAM if report.profile.misses_accelerator_stream else ""
    meaning = "\n".join(FIELDS[name].help for name in report.query.select)
    return f"{warning}\nDoc:\n{report.view.help}\n{meaning}\n\nProfile:\n"


def columns(report: Report) -> list[str]:
    """The fields with a column, in order: the selected ones and what they bring along."""
    shown = {name for field in report.query.select for name in FIELDS[field].shows}
    if not report.query.era.splits_time:
        shown &= {*report.query.select}
    ordered = [name for name in FIELDS if name in shown and FIELDS[name].legend]
    if report.view.groups:
        ordered.sort(key=_group_place)
    return ordered


def _group_place(name: str) -> int:
    """Where groups are added up, what is counted stands behind what is measured."""
    if FIELDS[name].unit is None or name == "occurrence":
        return 2
    return 1 if name in ("params", "float_ops") else 0


def _legend(report: Report, fields: list[str]) -> str:
    headings = [FIELDS[name].legend for name in fields]
    if report.view.groups:
        headings = [heading.replace("op count", "op occurrence") for heading in headings]
    return f"node name | {' | '.join(headings)}\n"
