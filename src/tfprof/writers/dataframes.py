"""A Table as a data frame of another library, which is imported when asked for.

number  int64, missing allowed      texts   list of text        inputs  list of shapes
flag    bool                        shape   list of int64       groups  list of structs
amount  as number, or as text where one of its values is a formula
ratio   float64                     real    float64, missing allowed
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfprof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.results.table import Kind, Table

    Make = Callable[[Any], Any]


_PLAIN = {"flag": "bool", "ratio": "float64", "real": "float64"}


def to_pandas(table: Table) -> Any:  # noqa: ANN401 - a DataFrame
    """A pandas.DataFrame; numbers that may be missing have the type Int64."""
    pandas = _library("pandas")

    def series(kind: Kind, values: list[Any]) -> Any:  # noqa: ANN401
        if kind == "number":
            return pandas.array(values, dtype="Int64" if None in values else "int64")
        if kind in _PLAIN:
            return pandas.array(values, dtype=_PLAIN[kind])
        return pandas.Series(values, dtype="str" if kind == "text" else "object")

    values, kinds = _values_and_kinds(table)
    return pandas.DataFrame({name: series(kinds[name], values[name]) for name in values})


def to_polars(table: Table) -> Any:  # noqa: ANN401 - a DataFrame
    """A polars.DataFrame."""
    polars = _library("polars")
    types = _types(
        polars.Int64, polars.Float64, polars.Boolean, polars.String, polars.List, polars.Struct
    )
    values, kinds = _values_and_kinds(table)
    return polars.DataFrame(values, schema={name: types[kinds[name]] for name in values})


def to_arrow(table: Table) -> Any:  # noqa: ANN401 - a Table
    """A pyarrow.Table."""
    arrow = _library("pyarrow")
    types = _types(
        arrow.int64(), arrow.float64(), arrow.bool_(), arrow.string(), arrow.list_, arrow.struct
    )
    values, kinds = _values_and_kinds(table)
    return arrow.table(values, schema=arrow.schema([(name, types[kinds[name]]) for name in values]))


def arrow_to_pandas(arrow: Any) -> Any:  # noqa: ANN401 - a pyarrow.Table; a DataFrame
    """A pandas.DataFrame on the buffers of an Arrow table; ENUMs become categories."""
    pandas = _library("pandas")
    types = _library("pyarrow").types
    return arrow.to_pandas(
        types_mapper=lambda kind: None if types.is_dictionary(kind) else pandas.ArrowDtype(kind)
    )


def arrow_to_polars(arrow: Any) -> Any:  # noqa: ANN401 - a pyarrow.Table; a DataFrame
    """A polars.DataFrame on the buffers of an Arrow table."""
    return _library("polars").from_arrow(arrow, rechunk=False)


def _types(  # noqa: PLR0913, PLR0917 - one parameter per type
    number: object, ratio: object, flag: object, text: object, listed: Make, struct: Make
) -> dict[Kind, object]:
    """The type of each kind, from the types of a library."""
    dims = listed(number)
    counts = dict.fromkeys(("runs", "defined", "micros"), number)
    reals = {"runs": ratio, "defined": number, "micros": ratio}
    return {
        "number": number, "ratio": ratio, "real": ratio, "flag": flag, "text": text,
        "texts": listed(text), "shape": dims, "inputs": listed(dims),
        "groups": listed(struct({"shapes": listed(dims), **counts})),
        "real_groups": listed(struct({"shapes": listed(dims), **reals})),
    }  # fmt: skip


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
