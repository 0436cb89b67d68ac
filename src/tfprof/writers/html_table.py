"""A Table as HTML, for a notebook: names indented, numbers with units, the first rows.

Nothing in a name works as HTML. The lines below the table say what it does not show.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tfprof.foundation.units import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.results.table import Table

# A notebook draws a table in one piece, and nobody reads more of one.
MOST_ROWS = 200
_LEFT, _RIGHT = "text-align:left", "text-align:right"


def html_table(table: Table, lines: Iterable[str] = ()) -> str:
    """The table, and below it what it does not show and each of *lines*."""
    first, label, columns = slice(0, MOST_ROWS), table[table.label], table.shown
    styles = [_RIGHT if column.right else _LEFT for column in columns]
    heads = _cell("th", label.title, _LEFT) + "".join(
        _cell("th", column.title, style) for column, style in zip(columns, styles, strict=True)
    )
    cells = [
        [_cell("td", text, style) for text in column.cells(first)]
        for column, style in zip(columns, styles, strict=True)
    ]
    names = [
        _cell("td", name, f"{_LEFT};padding-left:{depth - 0.5}em;white-space:pre")
        for depth, name in zip(table.depths(first), label.cells(first), strict=True)
    ]
    rows = "".join(f"<tr>{''.join(row)}</tr>\n" for row in zip(names, *cells, strict=True))
    below = (*_unseen(table), *table.caveats, *lines)
    return f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>\n" + "".join(
        f"<div>{escape(line)}</div>\n" for line in below
    )


def _unseen(table: Table) -> Iterator[str]:
    more = len(table) - MOST_ROWS
    if more > 0:
        yield f"{plural(more, 'more row')}: print(report) shows all"
    if table.hidden.rows:
        yield str(table.hidden)


def _cell(tag: str, text: str, style: str) -> str:
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'
