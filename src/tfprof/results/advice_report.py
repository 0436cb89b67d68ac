"""AdviceReport: what the checkers find, ready to be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.columns.strings import clean_text
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.results.result import Result
from tfprof.results.table import Column, Table

if TYPE_CHECKING:
    from tfprof.checkers import Advice
    from tfprof.model import Note

SCHEMA = "tfprof.advice/1"


@dataclass(frozen=True, eq=False)
class AdviceReport(Result):
    """One row per finding; a checker without findings is in the facts."""

    advice: Advice
    offers = ("advice", "table", "result")

    @property
    def own_notes(self) -> tuple[Note, ...]:
        """What the checkers missed."""
        return self.advice.notes

    def make_table(self) -> Table:
        """The findings, in the order of the checkers."""
        sections = self.advice.sections
        findings = [(name, text) for name, texts in sections.items() for text in texts]
        columns = (
            Column("checker", "text", [name for name, _ in findings], placing=True),
            Column("report", "text", [clean_text(text) for _, text in findings]),
        )
        facts, notes = {"checkers": list(sections)}, self.advice.notes
        return Table("advice", SCHEMA, columns, len(findings), "checker", facts=facts, notes=notes)
