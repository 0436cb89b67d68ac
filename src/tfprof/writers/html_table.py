"""A report as an HTML table, for a notebook: names indented, numbers with units, the first rows.

Nothing in a name is taken for HTML. Below the table stands what is not in it.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tfprof.writers import report_metadata as context
from tfprof.writers.rows import columns, printed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.query.counted import Answer

# A notebook draws a table in one piece, and nobody reads more of one.
MOST_ROWS = 200
_LEFT, _RIGHT = "text-align:left", "text-align:right"


def html_table(answer: Answer, lines: Iterable[str] = ()) -> str:
    """The table, and below it a line on what it does not show and each of *lines*."""
    shown = printed(columns(answer), slice(0, MOST_ROWS), chain=answer.view.chain)
    heads = "".join(
        _cell("th", column.name, _RIGHT if column.right else _LEFT) for column in shown.columns
    )
    name_heads = _cell("th", "node name", _LEFT)
    rows = "".join(
        f"<tr>{_cell('td', name, f'{_LEFT};padding-left:{depth - 0.5}em;white-space:pre')}"
        + "".join(
            _cell("td", cell, _RIGHT if column.right else _LEFT)
            for cell, column in zip(cells, shown.columns, strict=True)
        )
        + "</tr>\n"
        for depth, name, cells in shown.rows
    )
    below = "".join(f"<div>{escape(line)}</div>\n" for line in (*_unseen(answer), *lines))
    table = f"<table>\n<thead><tr>{name_heads}{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>"
    return f"{table}\n{below}"


def _unseen(answer: Answer) -> Iterable[str]:
    more = len(answer) - MOST_ROWS
    if more > 0:
        yield f"{more:,} more rows: print(report) shows all"
    hidden = context.truncated(answer)
    if hidden["hidden_rows"]:
        yield context.hidden_line(hidden)


def _cell(tag: str, text: str, style: str) -> str:
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'
