r"""A Table as Markdown, for people: names indented, numbers with units.

| node name | own params | total params |
| :-- | --: | --: |
| \_TFProfRoot | -- | 24 |
| &emsp;w | 12 | 24 |

Nothing in a name works as Markdown. The line below the table says how many rows are hidden. Where a
table says so, a headline stands above it, and all but its first rows are folded.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import clean_text
from tfprof.foundation.units import plural
from tfprof.writers.numbers import chunks, map_unique

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.columns.strings import I64
    from tfprof.results.table import Column, Table

_INDENT = "&emsp;"
_MARKUP = re.compile(r"[\\`*_\[\]<>|~&]")
_NEWLINE = re.compile(r"\r\n|\r|\n")


def markdown_table(table: Table) -> Iterator[bytes]:
    """The table in pieces, its total, and its caveats."""
    for sentence in table.headline:
        yield f"**{_escaped(sentence)}**\n\n".encode()
    label, columns = table[table.label], table.shown
    head = _line(column.title.lower().replace("δ", "Δ") for column in (label, *columns))
    head += _line([":--", *("--:" if column.right else ":--" for column in columns)])
    open_rows = min(table.folded_after or len(table), len(table))
    folded = len(table) - open_rows
    yield head if len(table) or not table.headline else b""
    for rows in _slices(table, 0, open_rows):
        yield _rows(table, columns, rows)
    if any(column.total for column in columns):
        yield _line(["**total**", *(_escaped(column.total_cell) for column in columns)])
    if folded:
        yield f"\n<details>\n<summary>{plural(folded, 'more row')}</summary>\n\n".encode() + head
        for rows in _slices(table, open_rows, len(table)):
            yield _rows(table, columns, rows)
        yield b"\n</details>\n"
    hidden = [str(table.hidden)] if table.hidden.rows else []
    for sentence in (*hidden, *table.caveats):
        yield f"\n{_escaped(sentence)}\n".encode()


def _slices(table: Table, first: int, last: int) -> Iterator[slice]:
    lengths = _lengths(table)
    inside = chunks(last - first, None if lengths is None else lengths[first:last])
    return (slice(first + rows.start, first + rows.stop) for rows in inside)


def _rows(table: Table, columns: Iterable[Column], rows: slice) -> bytes:
    beside = table.depths(rows), table.marks_of(rows), table[table.label].cells(rows)
    names = [
        _INDENT * (depth - 1) + mark.lstrip() + _escaped(name)
        for depth, mark, name in zip(*beside, strict=True)
    ]
    cells = [map_unique(_escaped, column.cells(rows)) for column in columns]
    return b"".join(map(_line, zip(names, *cells, strict=True)))


def _lengths(table: Table) -> I64 | None:
    """How long rows are: an indent grows with the depth."""
    length = table.label_lengths
    if length is None or not table.tree:
        return length
    depth: I64 = np.asarray(table[table.tree].values)
    return length + len(_INDENT) * depth


def _escaped(text: str) -> str:
    """*text* with nothing in it that works as Markdown."""
    return _NEWLINE.sub("<br>", _MARKUP.sub(r"\\\g<0>", clean_text(text)))


def _line(cells: Iterable[str]) -> bytes:
    return f"| {' | '.join(cells)} |\n".encode()
