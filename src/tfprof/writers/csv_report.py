"""A report as CSV (RFC 4180): a line of column names, then a line a row.

Names come from a model, and a spreadsheet takes a cell that begins like a formula for one; some
do so also behind blanks or a mark that is not seen. So a text that begins so gets an apostrophe
before it, which spreadsheets take for "this is text". Numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

from tfprof.writers.rows import columns, flat, runs_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.query.counted import Answer
    from tfprof.writers.rows import Column

# Also with the wide signs of Chinese and Japanese; \ufeff is the mark at the start of a file.
_FORMULA = re.compile("[\\s\ufeff\u200b]*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")


def csv_report(answer: Answer) -> Iterator[bytes]:
    """The lines in pieces."""
    table = columns(answer)
    yield lines([[column.name for column in table]])
    for run in runs_of_rows(table, answer):
        cells = [_cells(column, values) for column, values in zip(table, run, strict=True)]
        yield lines(zip(*cells, strict=True))


def lines(rows: Iterable[Iterable[Any]]) -> bytes:
    """Rows of cells as lines."""
    made = io.StringIO(newline="")
    csv.writer(made).writerows(rows)
    return made.getvalue().encode()


def _cells(column: Column, values: list[Any]) -> list[Any]:
    if column.kind == "number":
        return values
    return [harmless(flat(column.kind, value)) for value in values]


def harmless(text: str) -> str:
    """*text*, marked as such where a spreadsheet would take it for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text
