"""The classic report: prefix, legend, and one line per row.

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

from typing import TYPE_CHECKING, Any

from tfprof.query.answer import shown_fields
from tfprof.tables.eras import NOW
from tfprof.tables.fields import FIELDS
from tfprof.tables.options import option_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tfprof.query.counted import Answer
    from tfprof.results.report import Report

_MISSES_STREAM = (
    "\n\nFound accelerator operation but misses accelerator stream stats!\n\n"
    "It's likely a gpu tracing issue rather than tf-profiler issue.\n"
    "If you found your operation missing accelerator time, consider to post to "
    "discuss@tensorflow.org!\n\n"
)


def report_text(report: Report) -> Iterator[bytes]:
    """The text of *report*, with the values of tensors where they were selected."""
    checkpoint = report.shown_checkpoint
    if checkpoint is None:
        return text(report.answer)
    from tfprof.writers.tensor_values import value_text  # noqa: PLC0415 - few reports show values

    return text(
        report.answer,
        lambda name: value_text(checkpoint.tensor(name)) if checkpoint.has(name) else "",
    )


def text(answer: Answer, values: Callable[[bytes], str] | None = None) -> Iterator[bytes]:
    """The report in pieces of whole lines; *values* gives the text below a node, by its name."""
    fields = shown_fields(answer)
    era = answer.query.era
    if era.doc:
        yield prefix(answer).encode()
    if answer.counted.samples is not None:
        yield f"{answer.counted.samples}\n".encode()
    # parity Q46: an operation list of nothing at all is a root without a legend.
    if era.legend is not None and not (answer.view.chain and len(answer.drawing.tree) == 1):
        headings = " | ".join(era.legend.get(name, FIELDS[name].legend) for name in fields)
        if answer.view.groups:
            headings = headings.replace("op count", "op occurrence")
        yield f"node name | {headings}\n".encode()
    if answer.view.chain:
        from tfprof.writers.op_lines import op_lines  # noqa: PLC0415 - a report has lines of a kind

        yield from op_lines(answer, fields)
        return
    from tfprof.writers.tree_lines import code_lines, node_lines  # noqa: PLC0415 - likewise

    yield from (
        code_lines(answer, fields) if answer.view.groups else node_lines(answer, fields, values)
    )


def prefix(answer: Answer) -> str:
    """The lines before the legend: a warning if needed, and the meaning of the columns."""
    warning = _MISSES_STREAM if answer.profile.misses_accelerator_stream else ""
    meaning = "\n".join(FIELDS[name].help for name in answer.query.select)
    return f"{warning}\nDoc:\n{answer.view.help}\n{meaning}\n\nProfile:\n"


def framed(options: Mapping[str, Any], report: Iterable[bytes]) -> Iterator[bytes]:
    """As the classic Python API prints it: all *options*, and *report* between rulers."""
    values = {**options, "output": "stdout"}
    shown = "".join(f"{option_line(name, values[name])}\n" for name in NOW.block)
    yield f"\n{'=' * 25}Options{'=' * 29}\n{shown}".encode("utf-8", "surrogateescape")
    yield f"\n{'=' * 18}Model Analysis Report{'=' * 22}\n".encode()
    yield from report
    yield f"\n{'=' * 22}End of Report{'=' * 26}\n".encode()
