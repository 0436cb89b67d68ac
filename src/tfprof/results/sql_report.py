"""SqlReport: the rows that a question in SQL returns.

    fleet.sql("select worker, sum(micros) from rows group by all")
        │
        ├─► to_arrow()                 the table as DuckDB made it
        ├─► to_polars(), to_pandas()   the same memory in other hands
        └─► print, json, csv, md       through a Table, as every result

The memory of the Arrow table is handed over, not copied: pandas gets columns of ArrowDtype.
"""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.console.stdio import stdout_columns
from tfprof.foundation.dotted import load_function
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.foundation.units import plural
from tfprof.results.result import Result
from tfprof.results.table import Column, Table
from tfprof.tables.outputs import OBJECTS, row_of_form

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.results.table import Kind

SCHEMA: Final = "tfprof.sql/1"
MOST_ROWS: Final = 100  # that print() shows
_LARGE: Final = 1e6  # numbers from here on need no decimals


@dataclass(frozen=True, eq=False, repr=False)
class SqlReport(Result):
    """The answer to a question in SQL."""

    arrow: Any  # a pyarrow.Table
    incomplete: tuple[str, ...] = ()  # what the fleet lacks, as sentences

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.arrow.column_names)

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows, in order, as dictionaries."""
        rows: list[dict[str, Any]] = self.arrow.to_pylist()
        return rows

    def to_dict(self) -> dict[str, list[Any]]:
        """The values of each column."""
        columns: dict[str, list[Any]] = self.arrow.to_pydict()
        return columns

    def to_arrow(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """The pyarrow.Table itself."""
        return self.arrow

    def to_pandas(self) -> Any:  # noqa: ANN401 - a pandas.DataFrame
        """A pandas.DataFrame whose columns (ArrowDtype) share the memory of the Arrow table."""
        return load_function(OBJECTS["pandas of arrow"])(self.arrow)

    def to_polars(self) -> Any:  # noqa: ANN401 - a polars.DataFrame
        """A polars.DataFrame whose columns share the memory of the Arrow table."""
        return load_function(OBJECTS["polars of arrow"])(self.arrow)

    def make_table(self) -> Table:
        """One column per column; the first one names the rows."""
        named = zip(self.columns, self.arrow.columns, strict=True)
        first, *others = [_column(name, values) for name, values in named]
        columns = (replace(first, placing=True), *others)
        facts = {"incomplete": list(self.incomplete)}
        return Table(
            "", SCHEMA, columns, len(self), first.name, facts=facts, caveats=self.incomplete
        )

    def text(self) -> str:
        """The first rows as a table, fitted to the terminal if standard output is one."""
        shown = replace(self, arrow=self.arrow.slice(0, MOST_ROWS))
        files = shown.files(row_of_form("text"), "", stdout_columns())
        text = b"".join(piece for file in files for piece in file.pieces).decode().rstrip("\n")
        more = plural(len(self) - len(shown), "more row")
        rest = f"\n{more}: rows, to_arrow(), to_pandas() and to_polars() have all."
        return text + rest * (len(self) > len(shown))

    def __repr__(self) -> str:
        return f"<SqlReport: {plural(len(self), 'row')} of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        html: str = load_function(OBJECTS["html"])(self.table())
        return html


def _column(name: str, values: Any) -> Column:  # noqa: ANN401 - a pyarrow.ChunkedArray
    """A column for writers, read from Arrow slice by slice."""
    kind, unit, plain = _by_type(values.type)
    known = ~np.asarray(values.is_null()) if values.null_count else None
    read = partial(_values, values, plain)
    return Column(name, kind, read, unit, heading=name, accounted=known)


def _values(values: Any, plain: Callable[[Any], Any], rows: slice) -> list[Any]:  # noqa: ANN401
    start, stop, _ = rows.indices(len(values))
    cells = values.slice(start, stop - start).to_pylist()
    return [None if cell is None else plain(cell) for cell in cells]


def _by_type(kind: Any) -> tuple[Kind, Any, Callable[[Any], Any]]:  # noqa: ANN401 - a pyarrow.DataType
    """(kind of the column, how people read a value, a value of Arrow as one of ours)."""
    name = str(kind)
    if name.startswith(("int", "uint")):
        return "number", "{:,}".format, int
    if name in {"double", "float", "halffloat"}:
        return "real", _decimal, _finite
    return ("flag", None, bool) if name == "bool" else ("text", None, str)


def _finite(number: float) -> float | None:
    """*number*, or None for infinity and NaN, which JSON does not have."""
    return number if math.isfinite(number) else None


def _decimal(number: float) -> str:
    """About six digits, without an exponent where the number is large."""
    return f"{number:,.0f}" if abs(number) >= _LARGE else f"{number:,.6g}"
