r"""A Table as Markdown, for people: names indented, numbers with units.

| node name | own params | total params |
| :-- | --: | --: |
| \_TFProfRoot | -- | 24 |
| &emsp;w | 12 | 24 |

Nothing in a name works as Markdown. The line below the table says how many rows are hidden.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from tfprof.writers.numbers import chunks, map_unique

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.columns.strings import I64
    from tfprof.results.table import Table

_INDENT = "&emsp;"
_MARKUP = re.compile(r"[\\`*_\[\]<>|~&]")
_NEWLINE = re.compile(r"\r\n|\r|\n")


def markdown_table(table: Table) -> Iterator[bytes]:
    """The table in pieces, its total, and its caveats."""
    label, columns = table[table.label], table.shown
    yield _line([label.title.lower(), *(column.title.lower() for column in columns)])
    yield _line([":--", *("--:" if column.right else ":--" for column in columns)])
    for rows in chunks(len(table), _lengths(table)):
        names = [
            _INDENT * (depth - 1) + _escaped(name)
            for depth, name in zip(table.depths(rows), label.cells(rows), strict=True)
        ]
        cells = [map_unique(_escaped, column.cells(rows)) for column in columns]
        yield b"".join(map(_line, zip(names, *cells, strict=True)))
    if any(column.total for column in columns):
        yield _line(["**total**", *(_escaped(column.total_cell) for column in columns)])
    hidden = [str(table.hidden)] if table.hidden.rows else []
    for sentence in (*hidden, *table.caveats):
        yield f"\n{_escaped(sentence)}\n".encode()


def _lengths(table: Table) -> I64 | None:
    """How long rows are: an indent grows with the depth."""
    length = table.label_lengths
    if length is None or not table.tree:
        return length
    depth: I64 = np.asarray(table[table.tree].values)
    return length + len(_INDENT) * depth


def _escaped(text: str) -> str:
    """*text* with nothing in it that works as Markdown."""
    return _NEWLINE.sub("<br>", _MARKUP.sub(r"\\\g<0>", text))


def _line(cells: Iterable[str]) -> bytes:
    return f"| {' | '.join(cells)} |\n".encode()
