"""A report's columns as tables of other libraries, each imported when it is asked for.

number  int64, missing allowed      texts   list of text        inputs  list of shapes
flag    bool                        shape   list of int64       groups  list of records
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfprof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.writers.rows import Kind

Values = dict[str, list[Any]]


def to_pandas(values: Values, kinds: Mapping[str, Kind]) -> Any:  # noqa: ANN401 - a DataFrame
    """A pandas.DataFrame; numbers that may be missing have the type Int64."""
    pandas = _library("pandas")

    def series(name: str) -> Any:  # noqa: ANN401
        column = values[name]
        if kinds[name] == "number":
            return pandas.array(column, dtype="Int64" if None in column else "int64")
        if kinds[name] == "flag":
            return pandas.array(column, dtype="bool")
        return pandas.Series(column, dtype="str" if kinds[name] == "text" else "object")

    return pandas.DataFrame({name: series(name) for name in values})


def to_polars(values: Values, kinds: Mapping[str, Kind]) -> Any:  # noqa: ANN401 - a DataFrame
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
    return polars.DataFrame(values, schema={name: types[kinds[name]] for name in values})


def to_arrow(values: Values, kinds: Mapping[str, Kind]) -> Any:  # noqa: ANN401 - a Table
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
    return arrow.table(values, schema=arrow.schema([(name, types[kinds[name]]) for name in values]))


def _library(name: str) -> Any:  # noqa: ANN401 - a module
    try:
        return import_module(name)
    except ImportError:
        raise UsageError(f"a report as a table of {name} needs {name} installed") from None
