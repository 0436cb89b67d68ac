"""OverviewReport: one screen about a model and its steps, as text for people or as a table."""

from __future__ import annotations

import re
import shlex
from itertools import islice
from os import terminal_size
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.columns.strings import clean_text
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.results.result import Result
from tfprof.results.table import Column, Table
from tfprof.summary.cost_lists import LAYER, LINE, TYPE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tfprof.results.table import Kind
    from tfprof.summary.overview import Overview, Ranked

SCHEMA: Final = "tfprof.overview/1"
MOST_ROWS: Final = 5  # of each list, unless the user says how many
_MOST_COMMANDS: Final = 3


class Naming(NamedTuple):
    """How a command line names what the overview is about."""

    before: tuple[str, ...] = ("tfprof",)  # the command
    after: tuple[str, ...] = ()  # it


@dataclass(frozen=True, eq=False, repr=False)
class OverviewReport(Result):
    """Totals, and the most expensive layers, operation types and lines of code.

    >>> import tfprof
    >>> report = tfprof.load_sample().overview()
    >>> report.total["parameters"], report.total["micros"]
    (464154, 3798821)
    >>> [row["name"] for row in report.rows if row["list"] == "operation type"][:2]
    ['Conv2DBackpropInput', 'Conv2DBackpropFilter']
    """

    overview: Overview
    naming: Naming = Naming()
    screen: terminal_size = terminal_size((80, 24))
    rows_shown: int | None = None  # of each list, as text; None: as many as the screen holds
    offers = ("overview_text", "table", "result")

    @property
    def total(self) -> Mapping[str, int | None]:
        """What one step costs; None: unknown, or not recorded."""
        return self.overview.total

    @property
    def total_incomplete(self) -> list[str]:
        """The totals that are lower bounds, or unknown: something is not counted."""
        return sorted(self.overview.lower)

    @property
    def next_commands(self) -> list[str]:
        """Commands to try next, to copy."""
        before, after = self.naming
        lines = (words(self.overview) for has_answer, words in _NEXT if has_answer(self.overview))
        return [
            shlex.join([*before, command, *after, *options])
            for command, *options in islice(lines, _MOST_COMMANDS)
        ]

    def make_table(self) -> Table:
        """One row per row of a list; the totals are facts."""
        over = self.overview
        ranked = [(title, row) for title, rows in over.lists.items() for row in rows]
        columns = [Column("list", "text", [title for title, _ in ranked])]
        columns += [Column(name, kind, [of(row) for _, row in ranked]) for name, kind, of in _ROW]
        return Table(
            "overview",
            SCHEMA,
            tuple(columns),
            len(ranked),
            facts={
                "nodes": over.nodes,
                "operation_types": over.types,
                "training": over.trains,
                "steps": list(over.steps),
                "devices": list(map(clean_text, over.devices)),
                "shares_of": over.shares_of,
                "total": dict(self.total),
                "total_incomplete": self.total_incomplete,
                "sentences": list(map(clean_text, over.sentences)),
                "next": list(map(clean_text, self.next_commands)),
            },
        )

    def __repr__(self) -> str:
        return f"<OverviewReport: {self.overview.nodes:,} graph nodes>"


_ROW: tuple[tuple[str, Kind, Callable[[Ranked], Any]], ...] = (
    ("name", "text", lambda row: clean_text(row.name)),
    ("share", "ratio", lambda row: row.share),
    ("micros", "number", lambda row: row.micros),
    ("float_ops", "number", lambda row: row.float_ops),
    ("float_ops_per_second", "number", lambda row: row.rate),
    ("parameters", "number", lambda row: row.parameters),
    ("incomplete", "texts", lambda row: row.incomplete),
)


# Which overviews a command has more to say about, and its words before and behind the files.
_NEXT: tuple[tuple[Callable[[Overview], bool], Callable[[Overview], tuple[str, ...]]], ...] = (
    (lambda over: LAYER in over.lists and over.types > 0, lambda _: ("summary",)),
    (lambda over: LINE in over.lists, lambda _: ("code",)),
    (lambda over: TYPE in over.lists and LINE not in over.lists, lambda _: ("op",)),
    (lambda over: bool(over.steps), lambda _: ("advise",)),
    (
        lambda over: TYPE in over.lists and over.types > 0,
        lambda over: ("explain", f"--op={re.escape(over.lists[TYPE][0].name)}", "--most=1"),
    ),
    (lambda _: True, lambda _: ("info",)),
)
