"""Table: typed columns with a title, notes, and what was hidden and why.

    Report ─┐                              ┌─► JSON, CSV, Markdown, HTML, fitted text
    Summary ├─► Table ─► writers of tables ┤
    Advice ─┘                              └─► pandas, polars, Arrow

Data formats write `Column.data`, formats for people write `Column.cells`. Both take a slice of
rows, so a million rows never stand in memory as text. A pickled Table holds values only, nothing
of the profile behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.foundation import units
from tfprof.foundation.lazy_dataclasses import dataclass, fields, replace

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Note

# number  int or None                   texts   list of text            inputs  one shape per input
# amount  int, formula or None          shape   dimensions or None      groups  list of dicts
# flag    bool                          text    text                    ratio   float, a share
# real    float, or None                                                real_groups  likewise
Kind = Literal[
    "number", "amount", "real", "ratio", "flag", "text", "texts", "shape", "inputs", "groups",
    "real_groups",
]  # fmt: skip
Dims = list[int] | None  # None: unknown
Values = np.ndarray[Any, Any] | Strings | Sequence[Any] | Callable[[slice], list[Any]]

NOT_ACCOUNTED = "--"


@dataclass(frozen=True, eq=False)
class Column:
    """A column: its values as data, and how people read them."""

    name: str
    kind: Kind
    values: Values  # a function takes a slice of rows and returns their values
    unit: units.Format | None = None  # how people write its numbers
    heading: str = ""
    texts: Sequence[str] | None = None  # the cells that people read, where units do not make them
    total: str = ""  # the cell of the total, where there is one
    accounted: Bool | None = None  # the rows that have a value; people read -- in the others
    lower: Bool | None = None  # the rows whose value is a lower bound; None: none can be
    total_lower: bool = False  # the total is a lower bound
    placing: bool = False  # data only: people see it by order, indent and marks
    fits: bool = True  # fitted text has room for it
    whole: float = 0  # what its values are shares of; 0: people see no shares
    yields: bool = False  # the first to be left out where the screen is narrow
    running: bool = False  # a value includes those of all rows that follow
    unsure: Bool | None = None  # the rows whose value may be larger or smaller; None: none can be
    absent: str = units.UNKNOWN  # what people read where there is no value

    def data(self, rows: slice) -> list[Any]:
        """The values of *rows* as plain Python objects; None for a lower bound of 0."""
        values = self._stored(rows)
        if self.lower is not None:
            for row in np.flatnonzero(self.lower[rows]).tolist():
                values[row] = values[row] or None
        return values

    def _stored(self, rows: slice) -> list[Any]:
        values = self.values
        if callable(values):
            return values(rows)
        if isinstance(values, Strings):
            return [name.decode("utf-8", "replace") for name in values.take(rows)]
        if isinstance(values, np.ndarray):
            listed: list[Any] = values[rows].tolist()
            return listed
        return list(values[rows])

    def cells(self, rows: slice) -> list[str]:
        """The values of *rows* as people read them."""
        cells = self._unmarked(rows)
        if self.lower is not None:
            for row in np.flatnonzero(self.lower[rows]).tolist():
                cells[row] = units.at_least(cells[row])
        if self.unsure is not None:
            for row in np.flatnonzero(self.unsure[rows]).tolist():
                cells[row] = units.unsure(cells[row])
        if self.accounted is not None:
            for row in np.flatnonzero(~self.accounted[rows]).tolist():
                cells[row] = NOT_ACCOUNTED
        return cells

    def _unmarked(self, rows: slice) -> list[str]:
        if self.texts is not None:
            return list(self.texts[rows])
        values = self.data(rows)
        if self.unit is None:
            return [flat(self.kind, value) for value in values]
        known = {value: self.absent if value is None else self.unit(value) for value in {*values}}
        return [known[value] for value in values]

    def shares(self, rows: slice) -> list[float | None]:
        """The values of *rows* as parts of the whole; None where a row has none."""
        numbers: list[Any] = [
            v if isinstance(v, (int, float)) else None for v in self._stored(rows)
        ]
        if self.accounted is not None:
            for row in np.flatnonzero(~self.accounted[rows]).tolist():
                numbers[row] = None
        return [None if number is None else number / self.whole for number in numbers]

    def holds(self, rows: slice) -> bool:
        """Whether a cell of *rows* is neither 0 nor empty."""
        bounded = self.lower is not None and bool(self.lower[rows].any())
        return bounded or any(self._stored(rows))

    @property
    def total_cell(self) -> str:
        """The total as people read it."""
        return units.at_least(self.total) if self.total_lower else self.total

    @property
    def title(self) -> str:
        """The heading of the column."""
        return self.heading or "running " * self.running + self.name.replace("_", " ")

    @property
    def right(self) -> bool:
        """Whether its cells are numbers, which stand at the right."""
        return self.kind in ("number", "amount", "real", "ratio")


class Hidden(NamedTuple):
    """How many rows are not displayed, and how many each option hides.

    A row that two options hide counts with both, so the reasons may add up to more.
    """

    rows: int = 0
    reasons: Mapping[str, int] = {}

    def __str__(self) -> str:
        reasons = ", ".join(f"{option} hides {count}" for option, count in self.reasons.items())
        rows = units.plural(self.rows, "row is", "rows are")
        return f"{rows} not shown ({reasons})."


@dataclass(frozen=True, eq=False)
class Table:
    """What data formats are written from, wherever it comes from."""

    title: str
    schema: str  # the name and version of its JSON
    columns: tuple[Column, ...]
    height: int  # how many rows
    label: str = "name"  # the column that names a row
    tree: str = ""  # the column with the depth of a row, from 1; "": rows do not nest
    facts: Mapping[str, Any] | None = None  # what JSON says before the rows
    notes: tuple[Note, ...] = ()
    hiding: Hidden | Callable[[], Hidden] | None = None  # None: nothing can be hidden
    details: tuple[str, ...] = ()  # lines that fitted text has below the total
    caveats: tuple[str, ...] = ()  # sentences that belong below the rows
    sparse: bool = False  # people do not see columns that hold nothing new
    headline: tuple[str, ...] = ()  # sentences that belong above the rows
    marks: str = ""  # the column whose cells stand before the names: + or -
    folded_after: int = 0  # Markdown folds the rows behind these; 0: none

    def __len__(self) -> int:
        return self.height

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    @cached_property
    def hidden(self) -> Hidden:
        """What is not displayed, computed when first asked for."""
        if self.hiding is None:
            return Hidden()
        return self.hiding() if callable(self.hiding) else self.hiding

    @property
    def shown(self) -> list[Column]:
        """The columns that people see beside the label."""
        return [column for column in self.columns if not column.placing]

    def useful(self, rows: slice) -> tuple[list[Column], list[str]]:
        """(the columns to show for *rows*, a sentence on others that hold nothing new)."""
        useful: list[Column] = []
        reasons: dict[str, list[str]] = {}
        seen: dict[tuple[str, bytes], str] = {}
        for column in self.shown:
            reason = ""
            if self.sparse and not column.holds(rows):
                reason = "nothing in any row"
            elif self.sparse and isinstance(column.values, np.ndarray):
                key = column.name.partition("_")[0], column.values[rows].tobytes()
                reason = f"the same as {seen[key]}" if key in seen else ""
                seen.setdefault(key, column.title)
            reasons.setdefault(reason, []).append(column.title)
            useful += [] if reason else [column]
        reasons.pop("", None)
        texts = [f"{', '.join(titles)} ({reason})" for reason, titles in reasons.items()]
        return useful, [f"Left out: {'; '.join(texts)}."] if texts else []

    @property
    def label_lengths(self) -> I64 | None:
        """How many bytes the label of each row has, where they are known."""
        values = self[self.label].values
        return values.length if isinstance(values, Strings) else None

    def depths(self, rows: slice) -> list[int]:
        """How deep each of *rows* is; 1 where rows do not nest."""
        if self.tree:
            return self[self.tree].data(rows)
        return [1] * len(range(*rows.indices(len(self))))

    @cached_property
    def _has_marks(self) -> bool:
        return bool(self.marks) and any(self[self.marks].cells(slice(0, len(self))))

    def marks_of(self, rows: slice) -> list[str]:
        """What stands before the name of each of *rows*, and a blank if any row has a mark."""
        if not self._has_marks:
            return [""] * len(range(*rows.indices(len(self))))
        return [f"{mark:1} " for mark in self[self.marks].cells(rows)]

    def to_dict(self) -> dict[str, list[Any]]:
        """The values of each column."""
        return {column.name: column.data(slice(0, len(self))) for column in self.columns}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle values, not the functions that make them."""
        every = slice(0, len(self))
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["hiding"] = self.hiding and self.hidden
        values["columns"] = tuple(
            replace(column, values=column.data(every)) if callable(column.values) else column
            for column in self.columns
        )
        return partial(Table, **values), ()


def incomplete_column(columns: Sequence[Column]) -> Column:
    """For data: the names of those *columns* whose value in a row is a lower bound, or unknown."""
    marks = ((column.name, column.lower, column.unsure) for column in columns)
    bounded = [(name, rows) for name, *either in marks for rows in either if rows is not None]

    def names(rows: slice) -> list[list[str]]:
        marks = [lower[rows].tolist() for _, lower in bounded]
        every = [name for name, _ in bounded]
        return [list(compress(every, row)) for row in zip(*marks, strict=True)]

    return Column("incomplete", "texts", names, placing=True)


def flat(kind: Kind, value: Any) -> str:  # noqa: ANN401 - each kind has its own type
    """A value as a string, for formats whose cells are all strings; "" for None."""
    return "" if value is None else _FLAT[kind](value)


def _group_text(group: Mapping[str, Any]) -> str:
    numbers = " ".join(f"{name}={group[name]}" for name in ("runs", "defined", "micros"))
    return f"{_inputs_text(group['shapes'], ',')} {numbers}".lstrip()


def _inputs_text(shapes: Iterable[Dims], between: str) -> str:
    return between.join(
        f"{at}:{'unknown' if dims is None else units.shape(dims)}" for at, dims in enumerate(shapes)
    )


_FLAT: dict[Kind, Callable[[Any], str]] = {
    "number": str,
    "amount": str,
    "real": str,
    "ratio": lambda share: f"{share:.4f}",
    "flag": lambda value: "true" if value else "false",
    "text": str,
    "texts": "|".join,
    "shape": units.shape,
    "inputs": lambda shapes: _inputs_text(shapes, "|"),
    "groups": lambda groups: "; ".join(map(_group_text, groups)),
    "real_groups": lambda groups: "; ".join(map(_group_text, groups)),
}
