"""A Table as text that fits a screen: rows, the total, notes and caveats.

net
Layer          Params  Float ops  Mult-adds  Param B  Activations
─────────────────────────────────────────────────────────────────
conv              448    908.3k     442.4k    1.79k        65.5k
…
─────────────────────────────────────────────────────────────────
Total             698    …
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.results.table import Table

_LEAST_NAME: Final = 16
_GAP: Final = "  "
_INDENT: Final = "  "
_LINE: Final = "─"
_TOTAL: Final = "Total"


def table_text(table: Table, width: int | None = None) -> Iterator[bytes]:
    """The lines of the table, at most *width* characters wide; None: as wide as it needs."""
    for line in _lines(table, width):
        yield f"{line.rstrip()}\n".encode("utf-8", "replace")


def _lines(table: Table, limit: int | None) -> Iterator[str]:
    every, label = slice(0, len(table)), table[table.label]
    columns = [column for column in table.shown if column.fits]
    depths = table.depths(every)
    names = [
        _INDENT * (depth - 1) + _printable(name)
        for depth, name in zip(depths, label.cells(every), strict=True)
    ]
    heads, total = [column.title for column in columns], [column.total_cell for column in columns]
    cells = [list(map(_printable, column.cells(every))) for column in columns]
    columns_of_text = zip(heads, total, cells, strict=True)
    widths = [max(map(len, [head, end, *inside])) for head, end, inside in columns_of_text]
    width = max(map(len, [label.title, _TOTAL, *names]))
    if limit is not None:
        width = min(width, max(_LEAST_NAME, limit - sum(widths) - len(_GAP) * len(widths)))

    def line(name: str, row: Sequence[str]) -> str:
        aligned = (
            f"{cell:{'>' if column.right else '<'}{wide}}"
            for cell, column, wide in zip(row, columns, widths, strict=True)
        )
        return _GAP.join([f"{shortened(name, width):<{width}}", *aligned])

    rule = _LINE * (width + sum(widths) + len(_GAP) * len(widths))
    if table.title:
        yield _printable(table.title)
    yield line(label.title, heads)
    yield rule
    yield from map(line, names, zip(*cells, strict=True) if cells else [()] * len(names))
    if any(total):
        yield rule
        yield line(_TOTAL, total)
    yield ""
    yield from table.details
    yield from table.caveats
    if table.hidden.rows:
        yield str(table.hidden)


def shortened(name: str, width: int) -> str:
    """A name that fits: a long one loses its middle."""
    if len(name) <= width:
        return name
    tail = (width - 1) * 2 // 3
    return f"{name[: width - 1 - tail]}…{name[-tail:]}"


def _printable(name: str) -> str:
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in name)
