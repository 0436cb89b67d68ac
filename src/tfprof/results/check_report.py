"""CheckReport: the bounds of a budget, and which of them hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.columns.strings import clean_text
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.foundation.units import plural
from tfprof.results.result import Result
from tfprof.results.table import Column, Table

if TYPE_CHECKING:
    from tfprof.compare.check import Verdict

SCHEMA: Final = "tfprof.check/1"


@dataclass(frozen=True, eq=False, repr=False)
class CheckReport(Result):
    """One row per bound; `ok` says whether all of them hold."""

    verdicts: tuple[Verdict, ...]

    @property
    def ok(self) -> bool:
        """Whether every bound holds."""
        return all(verdict.ok for verdict in self.verdicts)

    def make_table(self) -> Table:
        """The bounds, in the order of the budget."""
        rows = self.verdicts
        columns = (
            Column("table", "text", [row.table for row in rows]),
            Column("name", "text", [clean_text(row.name) for row in rows]),
            Column("metric", "text", [row.metric for row in rows]),
            Column("bound", "text", [row.bound for row in rows]),
            Column("value", "number", [row.value for row in rows]),
            Column("ok", "flag", [row.ok for row in rows]),
            Column("reason", "text", [clean_text(row.reason) for row in rows]),
        )
        return Table("check", SCHEMA, columns, len(rows), facts={"ok": self.ok})

    def __repr__(self) -> str:
        return f"<CheckReport: {plural(len(self.verdicts), 'bound')}, ok={self.ok}>"
