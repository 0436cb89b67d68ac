"""A Table as CSV (RFC 4180): a line of column names, then one line per row.

Names come from a model, and a spreadsheet treats a cell that begins like a formula as one; some do
so even behind blanks or invisible marks. Such a text gets an apostrophe before it, which
spreadsheets read as "this is text". Numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

from tfprof.results.table import Column, Table, flat
from tfprof.writers.numbers import chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


# Also with the wide signs of Chinese and Japanese; \ufeff is the mark at the start of a file.
_FORMULA = re.compile("[\\s\ufeff\u200b]*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")


def csv_table(table: Table) -> Iterator[bytes]:
    """The lines in pieces."""
    yield _lines([[column.name for column in table.columns]])
    for rows in chunks(len(table), table.label_lengths):
        yield _lines(zip(*(_cells(column, rows) for column in table.columns), strict=True))


def _lines(rows: Iterable[Iterable[Any]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _cells(column: Column, rows: slice) -> list[Any]:
    values = column.data(rows)
    if column.kind in ("number", "real"):
        return values
    if column.kind == "amount":
        return [_harmless(value) if isinstance(value, str) else value for value in values]
    return [_harmless(flat(column.kind, value)) for value in values]


def _harmless(text: str) -> str:
    """*text*, with an apostrophe before it if a spreadsheet would treat it as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text
