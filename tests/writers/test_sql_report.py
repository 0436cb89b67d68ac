"""What a question in SQL returns: one Arrow table, in every form."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pytest

from tfprof.results.sql_report import MOST_ROWS, SqlReport

if TYPE_CHECKING:
    from collections.abc import Iterable

WORKERS = [f"/job:worker/replica:0/task:{number}" for number in range(3)]


def report(**columns: Any) -> SqlReport:
    return SqlReport(pa.table(columns))


def several_chunks() -> SqlReport:
    """As DuckDB returns large results: in chunks, with and without missing values."""
    first = {"worker": WORKERS, "micros": [3, 5, 7], "mean": [0.5, 1.5, 2.5], "step": [1, None, 2]}
    second = {"worker": WORKERS, "micros": [1, 2, 3], "mean": [4.5, 5.5, 6.5], "step": [1, 2, 3]}
    return SqlReport(pa.concat_tables([pa.table(first), pa.table(second)]))


def addresses(chunks: Iterable[Any]) -> list[int | None]:
    """Where the memory of these Arrow arrays is."""
    return [buffer and buffer.address for chunk in chunks for buffer in chunk.buffers()]


def test_arrow_is_the_table_itself() -> None:
    table = pa.table({"a": [1]})
    assert SqlReport(table).to_arrow() is table


def test_pandas_gets_the_memory_of_arrow() -> None:
    made = several_chunks()
    frame = made.to_pandas()
    assert frame.micros.tolist() == [3, 5, 7, 1, 2, 3]
    for name in made.columns:
        assert addresses(frame[name].array._pa_array.chunks) == addresses(made.arrow[name].chunks)


def test_polars_gets_the_memory_of_arrow() -> None:
    made = several_chunks()
    frame = made.to_polars()
    assert frame["worker"].to_list() == WORKERS * 2
    for name in ("micros", "mean"):
        chunks = [chunk.to_arrow() for chunk in frame[name].get_chunks()]
        values = [chunk.buffers()[1].address for chunk in chunks]
        assert values == [chunk.buffers()[1].address for chunk in made.arrow[name].chunks]


def test_polars_keeps_the_bytes_of_texts() -> None:
    """Polars makes views of texts; the bytes that they point to stay where Arrow has them."""
    made = several_chunks()
    (first, _) = made.arrow["worker"].chunks
    view = made.to_polars()["worker"].get_chunks()[0].to_arrow(compat_level=pl.CompatLevel.newest())
    assert first.buffers()[2].address in addresses([view])


def test_rows_and_dictionaries() -> None:
    made = report(worker=["a", "b"], micros=[1, None])
    assert made.rows == [{"worker": "a", "micros": 1}, {"worker": "b", "micros": None}]
    assert made.to_dict() == {"worker": ["a", "b"], "micros": [1, None]}
    assert (len(made), made.columns) == (2, ("worker", "micros"))
    assert repr(made) == "<SqlReport: 2 rows of worker, micros>"


def test_it_prints_a_table() -> None:
    made = report(worker=["a", "b"], micros=[1234567, None], mean=[0.125, 2.5e9], slow=[True, None])
    assert str(made).splitlines() == [
        "worker     micros           mean  slow",
        "──────────────────────────────────────",
        "a       1,234,567          0.125  true",
        "b              --  2,500,000,000  --",
    ]


def test_it_prints_in_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfprof.results.sql_report.stdout_columns", lambda: 45)
    numbers = {f"number_{at}": [10**12] for at in range(4)}
    lines = str(report(worker=WORKERS[:1], **numbers)).splitlines()
    assert max(map(len, lines)) <= 45
    assert lines[2].startswith("/job:work…")
    assert "Left out" in lines[4]


def test_a_long_result_prints_its_first_rows() -> None:
    made = report(step=range(MOST_ROWS + 20))
    lines = str(made).splitlines()
    assert len(lines) == MOST_ROWS + 3
    assert lines[-1].startswith("20 more rows: ")
    assert len(made.rows) == MOST_ROWS + 20
    assert b"".join(made.pieces("csv")).count(b"\n") == MOST_ROWS + 21


def test_an_empty_result() -> None:
    made = report(worker=pa.array([], pa.string()))
    assert str(made).splitlines()[0] == "worker"
    assert made.rows == []
    assert json.loads(b"".join(made.pieces("json")))["rows"] == []


@pytest.mark.parametrize("name", ['count "all"', "micros % 2", "back\\slash", "%s", "größe"])
def test_json_has_columns_of_any_name(name: str) -> None:
    made = report(**{name: ["a", None]}, exact=[True, None], mean=[float("nan"), 0.5])
    document = json.loads(b"".join(made.pieces("json")))
    assert document["schema"] == "tfprof.sql/1"
    assert document["rows"] == [
        {name: "a", "exact": True, "mean": None},
        {name: None, "exact": None, "mean": 0.5},
    ]


def test_csv_keeps_every_digit() -> None:
    made = report(worker=["a", "b"], mean=[1 / 3, -0.5], micros=[2**62, None])
    lines = b"".join(made.pieces("csv")).decode().splitlines()
    assert lines == ["worker,mean,micros", "a,0.3333333333333333,4611686018427387904", "b,-0.5,"]


def test_values_of_other_types_are_text_for_people() -> None:
    day = dt.date(2026, 1, 2)
    made = report(day=[day], names=[["a", "b"]])
    assert made.rows == [{"day": day, "names": ["a", "b"]}]
    assert "2026-01-02  ['a', 'b']" in str(made)


def test_it_pickles_and_shows_itself_in_a_notebook() -> None:
    made = pickle.loads(pickle.dumps(report(worker=["<a>"])))  # noqa: S301 - our own
    assert made.rows == [{"worker": "<a>"}]
    assert "&lt;a&gt;" in made._repr_html_()
