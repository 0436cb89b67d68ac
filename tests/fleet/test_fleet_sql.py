"""Questions in SQL: their answers are those of the files, and nothing but the fleet is in reach."""

from __future__ import annotations

import os
import statistics
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow.dataset
import pyarrow.parquet
import pytest

from fleet_files import write_fleet
from fleet_parts import SKIPPED
from fleet_tables import store_truth
from folders import contents
from sampling import is_whole
from sweeps import flipped
from tfprof import InputError, UsageError
from tfprof import fleet as open_fleet
from tfprof.fleet.writer import Writer

if TYPE_CHECKING:
    from pathlib import Path

    from fleet_files import Truth
    from tfprof.results.fleet import Fleet


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Truth, Path]:
    folder = tmp_path_factory.mktemp("fleet")
    truth = write_fleet(folder / "files", slow=("worker_2", "MatMul", 3.0))
    store_truth(folder / "fleet", truth, [SKIPPED, {**SKIPPED, "step": None}])
    return truth, folder / "fleet"


@pytest.fixture
def truth(made: tuple[Truth, Path]) -> Truth:
    return made[0]


@pytest.fixture
def fleet(made: tuple[Truth, Path]) -> Fleet:
    return open_fleet(made[1])


def test_sums_are_those_of_the_files(fleet: Fleet, truth: Truth) -> None:
    answer = fleet.sql("select worker, step, sum(micros) as micros from rows group by all")
    assert {(row["worker"], row["step"]): row["micros"] for row in answer.rows} == {
        (worker, step): sum(truth.micros(worker, step).values())
        for worker in truth.workers
        for step in truth.steps
    }
    assert str(answer.to_arrow().schema.field("micros").type) == "int64"


def test_percentiles_are_those_of_numpy(fleet: Fleet, truth: Truth) -> None:
    totals = [
        sum(row.micros for row in truth.rows if (row.worker, row.step, row.op) == (w, s, "MatMul"))
        for w in truth.workers
        for s in truth.steps
    ]
    answer = fleet.sql(
        """select quantile_cont(micros, 0.9) as p90 from (
             select sum(micros) as micros from rows where op = ? group by worker, step)""",
        ["MatMul"],
    )
    assert answer.rows[0]["p90"] == pytest.approx(np.percentile(totals, 90), rel=1e-12)


def test_each_table_has_its_rows(fleet: Fleet, truth: Truth) -> None:
    samples = len(truth.workers) * len(truth.steps)
    counts = {"rows": len(truth.rows), "steps": samples, "nodes": len(truth.nodes), "skipped": 2}
    for table, count in {**counts, "workers": len(truth.workers)}.items():
        assert fleet.sql(f"select count(*) as n from {table}").rows == [{"n": count}]  # noqa: S608
    assert fleet.sql("from skipped order by step").rows == [SKIPPED, {**SKIPPED, "step": None}]


def test_workers_sums_up_their_steps(fleet: Fleet, truth: Truth) -> None:
    (row,) = fleet.sql("from workers where worker = 'worker_1'").rows
    spans = [truth.spans["worker_1", step] for step in truth.steps]
    assert row["steps"] == 3
    assert (row["first_step"], row["last_step"]) == (0, 2)
    assert row["micros"] == sum(sum(truth.micros("worker_1", s).values()) for s in truth.steps)
    assert (row["span_us"], row["median_span_us"]) == (sum(spans), statistics.median(spans))


def test_a_fleet_of_some_workers_asks_these(fleet: Fleet) -> None:
    some = fleet.chosen(worker="worker_[12]")
    for table in ("rows", "steps", "workers"):
        answer = some.sql(f"select distinct worker from {table} order by 1")  # noqa: S608
        assert answer.to_dict() == {"worker": ["worker_1", "worker_2"]}
    assert some.sql("select count(*) as n from nodes").rows[0]["n"] > 0
    assert set(some.arrow("steps").to_table()["worker"].to_pylist()) == {"worker_1", "worker_2"}


def test_named_parameters_and_pivot(fleet: Fleet, truth: Truth) -> None:
    answer = fleet.sql("select count(*) as n from steps where step = $step", {"step": 1})
    assert answer.rows == [{"n": len(truth.workers)}]
    heat = fleet.sql("pivot (select worker, step, span_us from steps) on step using sum(span_us)")
    assert heat.columns == ("worker", "0", "1", "2")
    spans = {row["worker"]: row["1"] for row in heat.rows}
    assert spans == {worker: truth.spans[worker, 1] for worker in truth.workers}


def test_columns_of_one_name_get_numbers(fleet: Fleet) -> None:
    answer = fleet.sql("select 1 as a, 2 as a, 3 as a_2, 4 as a")
    assert answer.columns == ("a", "a_2", "a_2_2", "a_3")
    assert list(answer.rows[0].values()) == [1, 2, 3, 4]


def test_a_sum_beyond_64_bits_stays_exact(fleet: Fleet) -> None:
    (row,) = fleet.sql("select sum(n) as s from (values (9223372036854775807), (1)) t(n)").rows
    assert int(row["s"]) == 2**63


# --- nothing else is in reach ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "select * from read_csv('{file}')",
        "select * from '{file}'",
        "select * from read_text('{file}')",
        "select * from read_blob('{file}')",
        "select * from glob('{folder}/*')",
        "select * from read_parquet('{fleet}/rows/0000000000000000.parquet')",
        "select * from parquet_metadata('{fleet}/rows/0000000000000000.parquet')",
        "select * from secret",
        "copy rows to '{folder}/stolen.csv'",
        "explain analyze copy rows to '{folder}/stolen.csv'",
        "export database '{folder}/stolen'",
        "import database '{folder}'",
        "attach '{folder}/stolen.db'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "create table mine as from rows",
        "insert into rows from rows",
        "call enable_logging()",
    ],
)
def test_sql_reads_the_fleet_and_nothing_else(
    text: str, made: tuple[Truth, Path], tmp_path: Path
) -> None:
    secret = pyarrow.table({"word": ["secret"]})
    file = tmp_path / "file.csv"
    file.write_text("word\nsecret\n")
    before = sorted(os.walk(tmp_path))
    fleet = open_fleet(made[1])
    with pytest.raises(UsageError) as error:
        fleet.sql(text.format(file=file, folder=tmp_path, fleet=made[1]))
    assert "\n" not in str(error.value)
    assert sorted(os.walk(tmp_path)) == before
    assert secret.num_rows == 1


def test_questions_leave_the_fleet_and_the_folder_as_they_are(
    made: tuple[Truth, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = contents(made[1])
    open_fleet(made[1]).sql("select name, sum(micros) from rows group by all order by 2")
    assert contents(made[1]) == before
    assert not [*tmp_path.iterdir()]


def test_a_file_that_the_manifest_does_not_name_is_not_read(
    truth: Truth, fleet: Fleet, made: tuple[Truth, Path]
) -> None:
    rows = made[1] / "rows"
    stranger = rows / "ffffffffffffffff.parquet"
    stranger.write_bytes((rows / "0000000000000000.parquet").read_bytes())
    try:
        assert fleet.sql("select count(*) as n from rows").rows == [{"n": len(truth.rows)}]
    finally:
        stranger.unlink()


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("selct 1", "syntax error at or near"),
        ("select nope from rows", '"nope" not found in FROM clause! Candidate bindings: '),
        ("from nowhere", "nowhere does not exist!"),
        ("select 'a'::int", "Could not convert string 'a' to INT32"),
        ("select * from steps where step = ?", "Values were not provided"),
        ("select 1; select 2", "sql takes one question, not 2"),
        ("", "sql takes one question, not 0"),
        ("create table a (b int)", "sql only reads: "),
        (3, "sql takes a text, not 3"),
    ],
)
def test_an_error_is_one_sentence_with_the_words_of_duckdb(
    text: Any, words: str, fleet: Fleet
) -> None:
    with pytest.raises(UsageError) as error:
        fleet.sql(text)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert "LINE 1" not in str(error.value)


@pytest.mark.parametrize("parameters", ["worker_2", 3, None])
def test_parameters_are_a_list_or_a_dictionary(parameters: Any, fleet: Fleet) -> None:
    with pytest.raises(UsageError, match="parameters takes a list or a dictionary, not"):
        fleet.sql("from steps where worker = ?", parameters)


def test_without_duckdb_the_error_says_how_to_install_it(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UsageError, match=r"sql\(\) needs duckdb: pip install 'tfprof\[sql\]'"):
        fleet.sql("from rows")


SUM: Final = "select sum(micros) as s from rows"


def with_file(tmp_path: Path) -> tuple[Fleet, Path]:
    """A fleet, and one of its files to damage."""
    store_truth(tmp_path / "fleet", write_fleet(tmp_path / "files", workers=2, steps=1))
    return open_fleet(tmp_path / "fleet"), tmp_path / "fleet" / "rows/0000000000000001.parquet"


def test_a_damaged_file_is_an_error_not_another_number(tmp_path: Path) -> None:
    fleet, file = with_file(tmp_path)
    right = fleet.sql(SUM).rows
    content = file.read_bytes()
    with pyarrow.parquet.ParquetFile(file) as parquet:
        at = parquet.schema_arrow.names.index("micros")
        column = parquet.metadata.row_group(0).column(at)
    begin = column.dictionary_page_offset
    end = begin + column.total_compressed_size
    for at in ((begin + column.data_page_offset) // 2, end - 100, end - 10):  # within pages
        file.write_bytes(flipped(content, at, 4).data)
        with pytest.raises(InputError, match="a file of the fleet is damaged: ") as error:
            fleet.sql(SUM)
        assert "\n" not in str(error.value)
    file.write_bytes(content)
    assert fleet.sql(SUM).rows == right


@pytest.mark.sampled
def test_damage_between_pages_is_an_error(tmp_path: Path) -> None:
    _, file = with_file(tmp_path)
    content = file.read_bytes()
    for at in range(4, len(content), len(content) // (400 if is_whole() else 12)):
        file.write_bytes(flipped(content, at, 4).data)
        with pytest.raises(InputError, match=f"{file.name} is damaged: its checksum"):
            open_fleet(tmp_path / "fleet").sql(SUM)


def test_a_cut_and_a_lost_file_are_errors(tmp_path: Path) -> None:
    fleet, file = with_file(tmp_path)
    file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(InputError, match=f"{file.name}"):
        fleet.sql(SUM)
    file.unlink()
    with pytest.raises(InputError, match=f"{file.name} is missing"):
        fleet.sql(SUM)


# --- Arrow ----------------------------------------------------------------------------------------


def test_frames_hold_the_memory_of_the_answer(fleet: Fleet) -> None:
    answer = fleet.sql("select source, step, span_us from steps")
    pandas, polars = answer.to_pandas(), answer.to_polars()
    for name in answer.columns:
        where = [chunk.buffers()[-1].address for chunk in answer.to_arrow()[name].chunks]
        in_pandas = pandas[name].array._pa_array.chunks
        assert [chunk.buffers()[-1].address for chunk in in_pandas] == where
        if name != "source":  # polars has views of texts
            in_polars = [chunk.to_arrow() for chunk in polars[name].get_chunks()]
            assert [chunk.buffers()[-1].address for chunk in in_polars] == where


def test_arrow_reads_when_it_is_scanned(fleet: Fleet, truth: Truth) -> None:
    rows = fleet.arrow()
    assert isinstance(rows, pyarrow.dataset.Dataset)
    worker, step = map(pyarrow.dataset.field, ("worker", "step"))
    slow = rows.to_table(["name", "micros"], (worker == "worker_2") & (step == 1))
    assert sum(slow["micros"].to_pylist()) == sum(truth.micros("worker_2", 1).values())


def test_polars_scans_the_dataset(fleet: Fleet, truth: Truth) -> None:
    import polars as pl  # noqa: PLC0415 - it starts threads

    frame = pl.scan_pyarrow_dataset(fleet.arrow("steps"))
    total = frame.select(pl.col("span_us").sum()).collect().item()
    assert total == sum(truth.spans.values())


def test_a_table_that_is_not_there(fleet: Fleet) -> None:
    with pytest.raises(UsageError, match="a fleet has no table 'row'; did you mean 'rows'"):
        fleet.arrow("row")


def test_a_dataset_without_rows(tmp_path: Path) -> None:
    Writer.at(str(tmp_path / "fleet")).commit([SKIPPED], [])
    fleet = open_fleet(tmp_path / "fleet")
    (row,) = fleet.sql("select count(*) as n, sum(micros) as s from rows").rows
    assert row == {"n": 0, "s": None}
    assert fleet.sql("from workers").rows == []


def test_a_fleet_at_a_url(tmp_path: Path) -> None:
    truth = write_fleet(tmp_path / "files", workers=2, steps=1)
    store_truth("memory://sql/fleet", truth)
    answer = open_fleet("memory://sql/fleet").sql(SUM)
    assert answer.rows == [{"s": sum(row.micros for row in truth.rows)}]
