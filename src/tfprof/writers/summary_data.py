"""A summary as data: JSON, CSV, Markdown, or the values of each column.

A number is whole; where it depends on open dimensions it is a text, the formula; where it is not
known it is missing. The rows in a block stand behind it and add up to it; docs/summary.md tells
every field.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tfprof.writers.csv_report import harmless, lines
from tfprof.writers.md_report import escaped, line
from tfprof.writers.summary_rows import columns, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.summary import Numbers, Summary

SCHEMA = "tfprof.summary/1"
_INDENT = "&emsp;"


def table(summary: Summary) -> dict[str, list[Any]]:
    """The values of each column."""
    rows = summary.rows
    return {
        "row": list(range(len(rows))),
        "parent": [row.parent for row in rows],
        "depth": [row.depth for row in rows],
        "name": [row.name for row in rows],
        "path": [row.path for row in rows],
        **{
            column.name: [plain(column.value(row.numbers)) for row in rows]
            for column in columns(summary)
        },
    }


def totals(summary: Summary) -> dict[str, Any]:
    """The total of each column of numbers."""
    return {column.name: plain(column.value(summary.total)) for column in columns(summary)}


def json_summary(summary: Summary, notes: Iterable[str]) -> Iterator[bytes]:
    """The document, a row a line; *notes* are those of the profile."""
    values = table(summary)
    rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    counts = summary.counts
    head = {
        "schema": SCHEMA,
        "model": summary.title,
        "symbols": list(summary.symbols),
        "total": totals(summary),
        "float_ops_coverage": {
            "operations": counts.ops,
            "counted": counts.counted,
            "uncounted": [kind._asdict() for kind in counts.uncounted],
        },
        "sentences": list(summary.sentences),
        "notes": [_clean(note) for note in notes],
    }
    members = "".join(f'"{name}": {json.dumps(value)},\n' for name, value in head.items())
    told = ",\n".join(map(json.dumps, rows))
    yield f'{{{members}"rows": [\n{told}\n]\n}}\n'.encode()


def csv_summary(summary: Summary) -> Iterator[bytes]:
    """A line of column names, then a line a row; the total is no row."""
    values = table(summary)
    cells = [
        [harmless(one) if isinstance(one, str) else one for one in row]
        for row in zip(*values.values(), strict=True)
    ]
    yield lines([list(values), *cells])


def md_summary(summary: Summary) -> Iterator[bytes]:
    """A table for people, with the total as its last row, and below it what is to be said."""
    shown = columns(summary)

    def cells(of: Numbers) -> list[str]:
        return [escaped(column.short(of)) for column in shown]

    yield line(["layer", *(column.heading.lower() for column in shown)])
    yield line([":--", *("--:" for _ in shown)])
    for row in summary.rows:
        yield line([_INDENT * (row.depth - 1) + escaped(row.name), *cells(row.numbers)])
    yield line(["**total**", *cells(summary.total)])
    for sentence in (str(summary.counts), *summary.sentences):
        yield f"\n{escaped(sentence)}\n".encode()


def _clean(text: str) -> str:
    """*text* without what is no character."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
