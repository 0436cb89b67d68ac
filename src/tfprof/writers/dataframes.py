"""A Table as a data frame of another library, which is imported when asked for.

number  int64, missing allowed      texts   list of text        inputs  list of shapes
flag    bool                        shape   list of int64       groups  list of structs
amount  as number, or as text where one of its values is a formula
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfprof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.results.table import Kind, Table


def to_pandas(table: Table) -> Any:  # noqa: ANN401 - a DataFrame
    """A pandas.DataFrame; numbers that may be missing have the type Int64."""
    pandas = _library("pandas")

    def series(kind: Kind, values: list[Any]) -> Any:  # noqa: ANN401
        if kind == "number":
            return pandas.array(values, dtype="Int64" if None in values else "int64")
        if kind == "flag":
            return pandas.array(values, dtype="bool")
        return pandas.Series(values, dtype="str" if kind == "text" else "object")

    values, kinds = _values_and_kinds(table)
    return pandas.DataFrame({name: series(kinds[name], values[name]) for name in values})


def to_polars(table: Table) -> Any:  # noqa: ANN401 - a DataFrame
    """A polars.DataFrame."""
    polars = _library("polars")
    dims = polars.List(polars.Int64)
    counts = dict.fromkeys(("runs", "defined", "micros"), polars.Int64)
    types: Mapping[Kind, Any] = {
        "number": polars.Int64,
        "flag": polars.Boolean,
        "text": polars.String,
        "texts": polars.List(polars.String),
        "shape": dims,
        "inputs": polars.List(dims),
        "groups": polars.List(polars.Struct({"shapes": polars.List(dims), **counts})),
    }
    values, kinds = _values_and_kinds(table)
    return polars.DataFrame(values, schema={name: types[kinds[name]] for name in values})


def to_arrow(table: Table) -> Any:  # noqa: ANN401 - a Table
    """A pyarrow.Table."""
    arrow = _library("pyarrow")
    dims = arrow.list_(arrow.int64())
    counts = [(name, arrow.int64()) for name in ("runs", "defined", "micros")]
    types: Mapping[Kind, Any] = {
        "number": arrow.int64(),
        "flag": arrow.bool_(),
        "text": arrow.string(),
        "texts": arrow.list_(arrow.string()),
        "shape": dims,
        "inputs": arrow.list_(dims),
        "groups": arrow.list_(arrow.struct([("shapes", arrow.list_(dims)), *counts])),
    }
    values, kinds = _values_and_kinds(table)
    return arrow.table(values, schema=arrow.schema([(name, types[kinds[name]]) for name in values]))


def _values_and_kinds(table: Table) -> tuple[dict[str, list[Any]], dict[str, Kind]]:
    """The values of each column and what they are; a column with a formula is all text."""
    values, kinds = table.to_dict(), {column.name: column.kind for column in table.columns}
    for name in [name for name, kind in kinds.items() if kind == "amount"]:
        has_formula = any(isinstance(value, str) for value in values[name])
        kinds[name] = "text" if has_formula else "number"
        if has_formula:
            values[name] = [None if value is None else str(value) for value in values[name]]
    return values, kinds


def _library(name: str) -> Any:  # noqa: ANN401 - a module
    try:
        return import_module(name)
    except ImportError:
        raise UsageError(f"a {name} table needs {name} installed") from None
