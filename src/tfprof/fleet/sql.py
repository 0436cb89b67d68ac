"""SQL over a fleet, by DuckDB.

    ask_sql(dataset, "select worker, sum(micros) from rows group by all")  ─►  pyarrow.Table

Each question gets a database of its own in memory. Its tables are those of arrow_tables.py, and
`workers`, one row per worker. DuckDB reads nothing else and writes nothing: a question is one
SELECT, and the database has no access to files, the network, extensions or variables of the program
that asks. What does not fit into memory goes to a temporary folder until the question is answered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from tfprof.errors import InputError, UsageError
from tfprof.fleet.arrow_tables import ARROW_TABLES, arrow_table
from tfprof.fleet.packages import need
from tfprof.foundation.arguments import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.fleet.dataset import Dataset

_WORKERS: Final = """
create view workers as
select worker, count(*) as steps, min(step) as first_step, max(step) as last_step,
       sum(micros)::bigint as micros, sum(accelerator_micros)::bigint as accelerator_micros,
       sum(cpu_micros)::bigint as cpu_micros, sum(span_us)::bigint as span_us,
       median(span_us) as median_span_us, sum(executions)::bigint as executions,
       sum(bytes)::bigint as bytes, max(peak_bytes) as peak_bytes
from steps group by worker
"""
_CLOSED: Final = """
set enable_progress_bar = false;
set python_enable_replacements = false;
set enable_external_access = false;
set lock_configuration = true
"""
_QUESTIONS: Final = {"SELECT", "EXPLAIN", "MULTI"}  # MULTI: a PIVOT, which looks up its columns
# What DuckDB 2 and 1 say where a table cannot be read.
_UNREAD: Final = re.compile(r"(?:stream registered as '\w+'|arrow_scan: \w+) failed(?:\(\))?: (.*)")


def ask_sql(
    dataset: Dataset,
    text: str,
    parameters: Sequence[Any] | Mapping[str, Any] = (),
    wanted: Callable[[str], bool] | None = None,
) -> Any:  # noqa: ANN401 - a pyarrow.Table
    """The rows that the question in *text* returns; *parameters* stand for its ? or $names."""
    if not isinstance(text, str):
        raise UsageError(f"sql takes a text, not {shown(text)}")
    if not isinstance(parameters, (list, tuple, Mapping)):
        raise UsageError(f"parameters takes a list or a dictionary, not {shown(parameters)}")
    duckdb = need("duckdb")
    values = parameters if isinstance(parameters, Mapping) else [*parameters]
    with TemporaryDirectory(prefix="tfprof_sql_") as folder:
        try:
            with duckdb.connect(config={"temp_directory": folder}) as database:
                for name in ARROW_TABLES:
                    database.register(name, arrow_table(dataset, name, wanted))
                database.execute(_WORKERS + ";" + _CLOSED)
                _check(database.extract_statements(text))
                answer = database.sql(text, params=values or None).to_arrow_table()
        except duckdb.Error as problem:
            raise _error(str(problem)) from None
    return _readable(answer)


def _check(statements: Sequence[Any]) -> None:
    """Raise UsageError unless there is one statement that only asks."""
    kinds = [statement.type.name for statement in statements]
    if len(kinds) != 1:
        raise UsageError(f"sql takes one question, not {len(kinds)}")
    if kinds[0] not in _QUESTIONS:
        raise UsageError(
            f"sql only reads: it takes SELECT, WITH, FROM, PIVOT, DESCRIBE or SUMMARIZE, "
            f"not {kinds[0]}"
        )


def _error(message: str) -> UsageError | InputError:
    """What DuckDB says, as one sentence without the picture of the line."""
    lines = message.partition("\n\nLINE ")[0].split("\n")
    sentence = " ".join(filter(None, map(str.strip, lines)))
    if unread := _UNREAD.search(sentence):
        return InputError(f"a file of the fleet is damaged: {unread[1]}")
    return UsageError(f"DuckDB does not answer this SQL: {sentence}")


def _readable(answer: Any) -> Any:  # noqa: ANN401 - pyarrow.Tables
    """*answer* with int64 where DuckDB sums in 128 bits, and with one name per column."""
    arrow = need("pyarrow")
    wide = arrow.decimal128(38, 0)
    for at, column in enumerate(answer.columns):
        if column.type == wide:
            try:
                whole = column.cast(arrow.int64())
            except arrow.ArrowInvalid:
                continue  # it does not fit
            answer = answer.set_column(at, answer.field(at).name, whole)
    names: list[str] = []
    for name in answer.column_names:
        number = 1
        unique = name
        while unique in names:
            number += 1
            unique = f"{name}_{number}"
        names.append(unique)
    return answer.rename_columns(names)
