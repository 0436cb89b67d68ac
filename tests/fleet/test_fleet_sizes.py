"""Parquet files of a stranger's fleet take memory for texts once, however many rows repeat them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fleet_parts import GRAPH, graph_files, rows_and_steps
from tfprof import InputError
from tfprof.api import open_fleet
from tfprof.fleet import schema
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

KEY: Final = f"{1:016x}"
COUNT, LONG = 300, "x" * (1 << 19)
MUCH: Final = 100 << 20
_pools: Final[list[Any]] = []  # they live as long as what was allocated from them


def plainly(table: Any) -> bytes:
    """The table as a file without Arrow's schema: its words are texts that are stored once."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", store_schema=False, write_page_checksum=True)
    return bytes(sink.getvalue())


def with_text(table: Any, name: str, text: str) -> Any:
    """The table with the same *text* in each row of a column."""
    at = table.schema.get_field_index(name)
    words = pa.DictionaryArray.from_arrays(pa.array([0] * table.num_rows, pa.int32()), [text])
    return table.set_column(at, name, words)


def fleet(folder: Path, rows: Any, steps: Any, as_rows: bytes | None = None) -> str:
    """A fleet of one part."""
    first, last, entry = schema.part_files(rows, steps)
    if as_rows is not None:
        first, entry = as_rows, {**entry, "first_file": schema.checksum(as_rows)}
    writer = Writer.at(str(folder))
    writer.add_graph(GRAPH, *graph_files())
    writer.add_part(KEY, first, last, entry)
    writer.commit([], [])
    return str(folder)


@pytest.fixture
def long_word(tmp_path: Path) -> str:
    """A fleet whose rows have the same name of a megabyte: 150 MB, in a file of 5 KB."""
    rows, steps = rows_and_steps("w1", {step: [1, 1] for step in range(COUNT // 2)})
    return fleet(tmp_path / "fleet", rows, steps, plainly(with_text(rows, "name", LONG)))


@pytest.fixture
def taken() -> Iterator[Callable[[], int]]:
    """The most that Arrow has at once from now on, in bytes."""
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    _pools.append(pool)
    pa.set_memory_pool(pool)
    yield pool.max_memory
    pa.set_memory_pool(before)


def test_a_word_of_many_rows_is_in_memory_once(long_word: str, taken: Callable[[], int]) -> None:
    (batch,) = Dataset.open(long_word).scan(["name"])
    codes, names = batch.strings("name")
    assert (codes.tolist(), names.tolist()) == ([0] * COUNT, [LONG.encode()])
    assert taken() < MUCH


def test_a_word_of_many_rows_is_in_memory_once_for_sql(
    long_word: str, taken: Callable[[], int]
) -> None:
    report = open_fleet(long_word).sql("select count(*) as n, sum(length(name)) as all from rows")
    assert report.rows == [{"n": COUNT, "all": COUNT * len(LONG)}]
    assert taken() < MUCH


@pytest.mark.parametrize("name", ["source", "version"])
def test_texts_that_each_step_repeats_are_an_error(
    tmp_path: Path, name: str, taken: Callable[[], int]
) -> None:
    rows, steps = rows_and_steps("w1", {step: [1] for step in range(COUNT)})
    folder = fleet(tmp_path / "fleet", rows, with_text(steps, name, LONG))
    with pytest.raises(InputError, match=rf"{KEY}.parquet unpacks from .*--limit_unpack_ratio"):
        Dataset.open(folder).steps(["source", "version"])
    assert taken() < MUCH


def test_a_column_that_is_declared_to_unpack_to_much_is_not_read(tmp_path: Path) -> None:
    rows, steps = rows_and_steps("w1", {step: [1, 1] for step in range(COUNT // 2)})
    names = [f"{row}{LONG[: 1 << 19]}" for row in range(COUNT)]
    folder = fleet(tmp_path / "fleet", rows, steps, plainly(rows.set_column(3, "name", [names])))
    with pytest.raises(InputError, match=rf"{KEY}.parquet unpacks from .*--limit_unpack_ratio"):
        list(Dataset.open(folder).scan(["name"]))
    assert len(list(Dataset.open(folder).scan(["micros"]))) == 1
