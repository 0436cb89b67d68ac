"""Facts about files as the text of `tfprof info`.

    graph.pbtxt.gz: a GraphDef in text format
      3,451 nodes of 60 op types
      97 variables with 930,581 parameters

    missing
      no run: times, memory and run counts will be 0
    next
      tfprof scope graph.pbtxt.gz --select=params --account_type_regexes=VariableV2 --max_depth=3

A fact becomes a line by its template; a fact of no template is a line of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfprof.console.escape import visible_text
from tfprof.foundation.units import first_few, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfprof.read.describe import Value
    from tfprof.results.info_report import InfoReport

MOST_NAMES = 8  # more names do not help

# One line per template whose facts a file has, in this order.
_LINES = {
    line: set(re.findall(r"{(\w+)}", line))
    for line in (
        "{nodes} of {op_types}",
        "entries of {entries}",
        "{variables} with {parameters}",
        "{step_stats} step stats",
        "{executions} in {steps}",
        "{devices}",
        "call stacks of {nodes_with_stacks}, float operations of {nodes_with_float_ops}",
        "{types}",
        "operators: {operators}",
        "memory plan in bytes: {planned_bytes}",
        "{signatures}",
        "{dtypes}",
        "call stacks {stacks}",
        "{workers}",
        "{worker_steps}, {rows}, {bytes}",
        "{graphs} with {nodes}",
    )
}
# What a fact counts, where its name does not say so.
_NOUNS = {"entries": "nodes", "nodes_with_stacks": "nodes", "nodes_with_float_ops": "nodes"}


def info_text(report: InfoReport) -> Iterator[bytes]:
    """The blocks, with an empty line between them."""
    lines = [fact_lines(facts) for _, _, facts in report.described]
    for fleet in range(len(report.inputs), len(lines)):  # its names are those of folders
        lines[fleet] = list(map(visible_text, lines[fleet]))
    files = (
        _block(f"{path}: {title}", of_file)
        for (path, title, _), of_file in zip(report.described, lines, strict=True)
    )
    more = len(report.skipped) - MOST_NAMES
    ending = [f"and {more:,} more: fleet.sql('from skipped')"] if more > 0 else []
    blocks = [
        "".join(files),
        _block("skipped", [*map(visible_text, report.skipped[:MOST_NAMES]), *ending]),
        _block("not read", report.not_read),
        f"not recognised: {first_few(report.others, MOST_NAMES)}\n" if report.others else "",
        _block("missing", report.missing),
        _block("several", report.several),
        _block("next", report.next_commands),
    ]
    yield "\n".join(filter(None, blocks)).encode("utf-8", "surrogateescape")


def fact_lines(facts: Mapping[str, Value]) -> list[str]:
    """The lines on one file: one per template whose facts it has, then the facts of no template."""
    words = {name: _words(_NOUNS.get(name, name), value) for name, value in facts.items()}
    lines = [line.format_map(words) for line, names in _LINES.items() if words.keys() >= names]
    templated = set[str]().union(*(names for names in _LINES.values() if words.keys() >= names))
    return lines + [text for name, text in words.items() if name not in templated]


def _words(nouns: str, value: Value) -> str:
    """A fact in words: how many there are, their names, how many of each name, or a text."""
    noun = nouns.replace("_", " ").removesuffix("s")
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return plural(value, noun)
    if isinstance(value, dict):
        return first_few([f"{name} {number:,}" for name, number in value.items()], MOST_NAMES)
    return f"{plural(len(value), noun)}: {first_few(value, MOST_NAMES)}" if value else f"no {noun}"


def _block(title: str, lines: Sequence[str]) -> str:
    """A title with lines below it; nothing where there are none."""
    return f"{title}\n" + "".join(f"  {line}\n" for line in lines) if lines else ""
