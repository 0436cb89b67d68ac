"""A Table as HTML, for a notebook: names indented, numbers with units, shares as bars.

It has the first rows, and only the columns that hold something.
Nothing in a name works as HTML. The lines below the table say what it does not show.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tfprof.foundation.units import plural
from tfprof.writers.numbers import percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.results.table import Table

# A notebook draws a table in one piece, and nobody reads more of one.
MOST_ROWS = 200
_LEFT, _RIGHT = "text-align:left", "text-align:right"
_BAR = "background:linear-gradient(to right,#9ecae199 {0:.1%},transparent {0:.1%})"


def html_table(table: Table, lines: Iterable[str] = ()) -> str:
    """The table, and below it what it does not show and each of *lines*."""
    first, label = slice(0, MOST_ROWS), table[table.label]
    columns, left_out = table.useful(first)
    names = [
        _cell("td", name, f"{_LEFT};padding-left:{depth - 0.5}em;white-space:pre")
        for depth, name in zip(table.depths(first), label.cells(first), strict=True)
    ]
    heads, cells = [_cell("th", label.title, _LEFT)], [names]
    for column in columns:
        style = _RIGHT if column.right else _LEFT
        heads.append(_cell("th", column.title, style))
        cells.append([_cell("td", text, style) for text in column.cells(first)])
        if column.whole:
            heads.append(_cell("th", "share", _LEFT))
            bars = ((share, _BAR.format(share or 0.0)) for share in column.shares(first))
            cells.append([_cell("td", percent(s), f"{_LEFT};min-width:6em;{b}") for s, b in bars])
    rows = "".join(f"<tr>{''.join(row)}</tr>\n" for row in zip(*cells, strict=True))
    more = len(table) - MOST_ROWS
    below = [f"{plural(more, 'more row')}: print(report) shows all"] if more > 0 else []
    below += [str(table.hidden)] if table.hidden.rows else []
    below += [*left_out, *table.caveats, *lines]
    head = f"<thead><tr>{''.join(heads)}</tr></thead>"
    return f"<table>\n{head}\n<tbody>\n{rows}</tbody></table>\n" + "".join(
        f"<div>{escape(line)}</div>\n" for line in below
    )


def _cell(tag: str, text: str, style: str) -> str:
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'
