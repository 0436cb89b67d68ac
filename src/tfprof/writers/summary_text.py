"""A summary as text: a table of layers, the total, and what is to be said of them.

    net
    Layer          Params  Float ops  Mult-adds  Param B  Activ. B
    ──────────────────────────────────────────────────────────────
    conv              448    908.3k     442.4k    1.79k     65.5k
    …
    ──────────────────────────────────────────────────────────────
    Total             698    …

Numbers of rows are short; those of the total stand below once more, with all their digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.writers.summary_numbers import exact_formula, short_names
from tfprof.writers.summary_rows import columns, exact_number, fixed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.summary import Summary

WIDTH: Final = 100
_LEAST_NAME: Final = 16
_GAP: Final = "  "
_INDENT: Final = "  "
_LINE: Final = "─"


def text(summary: Summary) -> str:
    """All of it."""
    return "".join(f"{line.rstrip()}\n" for line in _lines(summary))


def _lines(summary: Summary) -> Iterator[str]:
    table = [column for column in columns(summary) if column.name not in _left_out(summary)]
    names = [_INDENT * (row.depth - 1) + _printable(row.name) for row in summary.rows]
    cells = [[column.short(row.numbers) for column in table] for row in summary.rows]
    heads = [column.heading for column in table]
    total = [column.short(summary.total) for column in table]
    widths = [max(map(len, cell)) for cell in zip(heads, total, *cells, strict=True)]
    room = max(_LEAST_NAME, WIDTH - sum(widths) - len(_GAP) * len(widths))
    width = min(max(map(len, ["Layer", "Total", *names])), room)
    rule = _LINE * (width + sum(widths) + len(_GAP) * len(widths))

    def line(name: str, row: Sequence[str]) -> str:
        right = (f"{cell:>{wide}}" for cell, wide in zip(row, widths, strict=True))
        return _GAP.join([f"{shortened(name, width):<{width}}", *right])

    if summary.title:
        yield _printable(summary.title)
    yield line("Layer", heads)
    yield rule
    yield from (line(name, row) for name, row in zip(names, cells, strict=True))
    yield rule
    yield line("Total", total)
    yield ""
    yield from _exact(summary)
    yield ""
    yield from (f"{letter} is {name}." for name, letter in short_names(summary.symbols).items())
    yield str(summary.counts)
    yield from summary.sentences


def _left_out(summary: Summary) -> tuple[str, ...]:
    """Columns that the ones beside them tell."""
    return ("parameters",) if summary.tells_trainable else ()


def _exact(summary: Summary) -> Iterator[str]:
    """The total with all digits, and what the words mean."""
    total = summary.total
    split = ""
    if total.trainable is not None:
        split = f" ({total.trainable:,} trainable, {exact_number(fixed(total))} not)"
    yield f"Parameters        {exact_number(total.parameters)}{split}"
    yield f"Parameter bytes   {exact_number(total.parameter_bytes)}"
    yield f"Float operations  {exact_formula(total.float_ops)}"
    yield f"Multiply-adds     {exact_formula(total.multiply_adds)}"
    yield f"Activation bytes  {exact_formula(total.activation_bytes)}"


def shortened(name: str, width: int) -> str:
    """A name that fits: what is too long lacks its middle."""
    if len(name) <= width:
        return name
    tail = (width - 1) * 2 // 3
    return f"{name[: width - 1 - tail]}…{name[-tail:]}"


def _printable(name: str) -> str:
    """*name* on one line."""
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in name)
