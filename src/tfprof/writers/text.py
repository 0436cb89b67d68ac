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

from tfprof.tables.fields import FIELDS
from tfprof.writers.code_lines import code_lines
from tfprof.writers.node_lines import node_lines
from tfprof.writers.op_lines import op_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.query.counted import Answer

_MISSES_STREAM = (
    "\n\nFound accelerator operation but misses accelerator stream stats!\n\n"
    "It's likely a gpu tracing issue rather than tf-profiler issue.\n"
    "If you found your operation missing accelerator time, consider to post to "
    "discuss@tensorflow.org!\n\n"
)

_GROUP_LINES: dict[str, Callable[[Answer, list[str]], Iterator[bytes]]] = {
    "op": op_lines,
    "code": code_lines,
}


def text(answer: Answer, values: Callable[[bytes], str] | None = None) -> Iterator[bytes]:
    """The report in pieces, each a run of whole lines.

    *values* gives the text below the line of a node whose tensor is wanted, by name.
    """
    fields = columns(answer)
    if answer.query.era.heading:
        yield prefix(answer).encode()
        # parity Q46: an operation list of nothing at all is a root without a legend.
        if not (answer.view.chain and len(answer.drawing.tree) == 1):
            yield _legend(answer, fields).encode()
    if answer.view.groups:
        runs = _GROUP_LINES[answer.view.name](answer, fields)
    else:
        runs = node_lines(answer, fields, values)
    yield from runs


def prefix(answer: Answer) -> str:
    """What stands before the legend: a warning if one is due, and what the columns mean."""
    warning = _MISSES_STREAM if answer.profile.misses_accelerator_stream else ""
    meaning = "\n".join(FIELDS[name].help for name in answer.query.select)
    return f"{warning}\nDoc:\n{answer.view.help}\n{meaning}\n\nProfile:\n"


def columns(answer: Answer) -> list[str]:
    """The fields with a column, in order: the selected ones and what they bring along."""
    shown = {name for field in answer.query.select for name in FIELDS[field].shows}
    if not answer.query.era.splits_time:
        shown &= {*answer.query.select}
    ordered = [name for name in FIELDS if name in shown and FIELDS[name].legend]
    if answer.view.groups:
        ordered.sort(key=_group_place)
    return ordered


def _group_place(name: str) -> int:
    """Where groups are added up, what is counted stands behind what is measured."""
    if FIELDS[name].unit is None or name == "occurrence":
        return 2
    return 1 if name in ("params", "float_ops") else 0


def _legend(answer: Answer, fields: list[str]) -> str:
    headings = [FIELDS[name].legend for name in fields]
    if answer.view.groups:
        headings = [heading.replace("op count", "op occurrence") for heading in headings]
    return f"node name | {' | '.join(headings)}\n"
