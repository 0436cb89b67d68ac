"""A Table as HTML: names indented, numbers with units, shares as bars.

A notebook draws the first rows, and only the columns that hold something. The output `html` is a
document of its own with all rows. Nothing in a name works as HTML. The lines below the table say
what it does not show.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tfprof.columns.strings import clean_text
from tfprof.foundation.units import plural
from tfprof.writers.numbers import chunks, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.results.table import Column, Table

# A notebook draws a table in one piece, and nobody reads more of one.
MOST_ROWS = 200
_LEFT, _RIGHT = "text-align:left", "text-align:right"
_BAR = "background:linear-gradient(to right,#9ecae199 {0:.1%},transparent {0:.1%})"
_DOCUMENT = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>{0}</title>
<style>:root{{color-scheme:light dark}}body{{font:14px system-ui,sans-serif;margin:2em}}\
table{{border-collapse:collapse;margin:1em 0}}\
th,td{{padding:.2em .7em;border-bottom:1px solid #8884;font-variant-numeric:tabular-nums}}</style>
"""


def html_page(table: Table) -> Iterator[bytes]:
    """A document with all rows, in pieces."""
    yield _DOCUMENT.format(escape(table.title or "tfprof")).encode()
    if table.title:
        yield f"<h1>{escape(table.title)}</h1>\n".encode()
    for piece in _pieces(table, len(table)):
        yield piece.encode("utf-8", "replace")
    yield b"</html>\n"


def html_table(table: Table, lines: Iterable[str] = ()) -> str:
    """The first rows, and below them what they do not show and each of *lines*."""
    return "".join([*_pieces(table, MOST_ROWS), *map(_sentence, lines)])


def _pieces(table: Table, most: int) -> Iterator[str]:
    first = slice(0, most)
    columns, left_out = table.useful(first)
    heads = [_cell("th", table[table.label].title, _LEFT)]
    for column in columns:
        heads.append(_cell("th", column.title, _RIGHT if column.right else _LEFT))
        heads += [_cell("th", "share", _LEFT)] if column.whole else []
    yield "".join(f"<p><strong>{escape(sentence)}</strong></p>\n" for sentence in table.headline)
    yield f"<table>\n<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n"
    for rows in chunks(min(len(table), most)):
        yield _rows(table, columns, rows)
    if any(column.total for column in columns):
        totals = [("Total", _LEFT)]
        for column in columns:
            totals += [(column.total_cell, _RIGHT), *([("", _LEFT)] if column.whole else [])]
        yield f"<tr>{''.join(_cell('th', *total) for total in totals)}</tr>\n"
    yield "</tbody></table>\n"
    more = len(table) - most
    below = [f"{plural(more, 'more row')}: print(report) shows all"] if more > 0 else []
    below += [str(table.hidden)] if table.hidden.rows else []
    yield "".join(map(_sentence, [*below, *left_out, *table.caveats]))


def _rows(table: Table, columns: Iterable[Column], rows: slice) -> str:
    beside = table.depths(rows), table.marks_of(rows), table[table.label].cells(rows)
    names = [
        _cell("td", mark + name, f"{_LEFT};padding-left:{depth - 0.5}em;white-space:pre")
        for depth, mark, name in zip(*beside, strict=True)
    ]
    cells = [names]
    for column in columns:
        style = _RIGHT if column.right else _LEFT
        cells.append([_cell("td", text, style) for text in column.cells(rows)])
        if column.whole:
            bars = ((share, _BAR.format(share or 0.0)) for share in column.shares(rows))
            cells.append([_cell("td", percent(s), f"{_LEFT};min-width:6em;{b}") for s, b in bars])
    return "".join(f"<tr>{''.join(row)}</tr>\n" for row in zip(*cells, strict=True))


def _sentence(line: str) -> str:
    return f"<div>{escape(clean_text(line))}</div>\n"


def _cell(tag: str, text: str, style: str) -> str:
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'
