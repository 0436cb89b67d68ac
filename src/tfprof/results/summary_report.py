"""SummaryReport: a model by layer as text, rows, data frames or Markdown.

report = tfprof.load("saved_model").summary()
print(report)                     the table, as the command prints it
report.total["parameters"]        numbers are whole
report.to_pandas()                a data frame
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.results.result import Result
from tfprof.results.summary_table import summary_table, totals

if TYPE_CHECKING:
    from tfprof.model import Note
    from tfprof.results.table import Table
    from tfprof.summary import Summary


@dataclass(frozen=True, eq=False, repr=False)
class SummaryReport(Result):
    """The layers of a model with their parameters, operations and bytes, and the total.

    >>> import tfprof
    >>> report = tfprof.load_sample().summary(depth=1)
    >>> report.total["parameters"]
    464154
    """

    summary: Summary
    notes: tuple[Note, ...] = ()  # of the profile

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows, in order; the rows of a block follow it and add up to it."""
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    @property
    def total(self) -> dict[str, Any]:
        """The total of each column; text is a formula in open dimensions, None is unknown."""
        return totals(self.summary)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is guessed, left out or unknown; first what the float operations cover."""
        return self.table().caveats

    def table(self) -> Table:
        """The rows as a Table, from which data formats are written."""
        return self._table

    @cached_property
    def _table(self) -> Table:
        return summary_table(self.summary, self.notes)

    def text(self) -> str:
        """The summary as the command prints it."""
        return b"".join(self.pieces("text")).decode()

    __str__ = text

    def __repr__(self) -> str:
        return f"<SummaryReport: {len(self.summary.rows):,} rows>"

    def _repr_markdown_(self) -> str:
        return b"".join(self.pieces("md")).decode()
