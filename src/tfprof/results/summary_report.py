"""SummaryReport: a summary in all its forms — rows, tables, text, a picture in a notebook.

report = tfprof.load("saved_model").summary()
print(report)                     the table, as the command prints it
report.total["parameters"]        numbers are whole
report.to_pandas()                a table of another library
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.results import dataframes as frames
from tfprof.writers import summary_data
from tfprof.writers.summary_text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfprof.model import Note
    from tfprof.summary import Summary
    from tfprof.writers.rows import Kind


@dataclass(frozen=True, eq=False, repr=False)
class SummaryReport:
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
        """The rows, in order; those in a block stand behind it, and add up to it."""
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    @property
    def total(self) -> dict[str, Any]:
        """The total of each column; a text is a formula in open dimensions, None is not known."""
        return summary_data.totals(self.summary)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is guessed, left out or not known; first what the float operations cover."""
        return (str(self.summary.counts), *self.summary.sentences)

    def to_dict(self) -> dict[str, list[Any]]:
        """The values of each column."""
        return summary_data.table(self.summary)

    def to_pandas(self) -> Any:  # noqa: ANN401 - a pandas.DataFrame, which we do not depend on
        """The rows as a pandas.DataFrame."""
        return frames.to_pandas(*self._frame)

    def to_polars(self) -> Any:  # noqa: ANN401
        """The rows as a polars.DataFrame."""
        return frames.to_polars(*self._frame)

    def to_arrow(self) -> Any:  # noqa: ANN401
        """The rows as a pyarrow.Table."""
        return frames.to_arrow(*self._frame)

    def pieces(self, form: str) -> Iterable[bytes]:
        """The summary in one of FORMS, piece by piece."""
        return FORMS[form](self)

    def text(self) -> str:
        """The summary as the command prints it."""
        return text(self.summary)

    __str__ = text

    def __repr__(self) -> str:
        return f"<SummaryReport: {len(self.summary.rows):,} rows>"

    def _repr_markdown_(self) -> str:
        return b"".join(self.pieces("md")).decode()

    @property
    def _frame(self) -> tuple[dict[str, list[Any]], dict[str, Kind]]:
        """The columns and what each holds; one with a formula in it is all of text."""
        values, kinds = self.to_dict(), dict[str, "Kind"]()
        for name, column in values.items():
            kinds[name] = "text" if any(isinstance(one, str) for one in column) else "number"
            if kinds[name] == "text":
                values[name] = [None if one is None else str(one) for one in column]
        return values, kinds


FORMS: dict[str, Callable[[SummaryReport], Iterable[bytes]]] = {
    "text": lambda report: [report.text().encode("utf-8", "replace")],
    "json": lambda report: summary_data.json_summary(report.summary, map(str, report.notes)),
    "csv": lambda report: summary_data.csv_summary(report.summary),
    "md": lambda report: summary_data.md_summary(report.summary),
}
