"""The dataset of a fleet: what was written comes back, and a damaged one is one sentence."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paths
import tfprof
from fleet_parts import GRAPH, OTHER_GRAPH, SKIPPED, add, graph_files, micros_of, part, store
from folders import contents
from sampling import sampled
from sweeps import flipped
from tfprof import InputError, UsageError
from tfprof.fleet import schema
from tfprof.fleet.dataset import Dataset, is_fleet
from tfprof.fleet.packages import need
from tfprof.fleet.writer import Writer
from tfprof.tables.fields import METRICS
from tfprof.tables.limits import raised_limits

if TYPE_CHECKING:
    from collections.abc import Callable

DATA: Final = paths.DATA
VERSION_1: Final = DATA / "fleet_v1"
GRAPH_FILE: Final = DATA / "fleet" / "graph.pbtxt.gz"
TIMES: Final = {"w10": {0: [5, 7], 1: [6, 8]}, "w2": {1: [50, 70], 0: [60]}}


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    store(tmp_path / "fleet", **TIMES)
    return tmp_path / "fleet"


def test_rows_come_back_by_worker_and_step(fleet: Path) -> None:
    dataset = Dataset.open(str(fleet))
    assert dataset.workers == ["w2", "w10"]
    assert list(micros_of(dataset).items()) == [
        (("w2", 1), [50, 70]), (("w2", 0), [60]), (("w10", 0), [5, 7]), (("w10", 1), [6, 8]),
    ]  # fmt: skip
    assert micros_of(dataset, workers=lambda name: name == "w10", step=1) == {("w10", 1): [6, 8]}
    assert micros_of(dataset, step=7) == {}
    manifest = dataset.manifest
    assert (manifest.rows, manifest.steps) == (7, {"w10": {0, 1}, "w2": {0, 1}})


def test_words_and_numbers_of_a_batch(fleet: Path) -> None:
    batch, *_ = Dataset.open(str(fleet)).scan(["name", *METRICS], lambda name: name == "w2")
    codes, names = batch.strings("name")
    assert [names[code] for code in codes.tolist()] == [b"a", b"b", b"a"]
    assert batch.numbers("occurrence").tolist() == [1, 1, 1]
    assert batch.table.column_names == ["worker", "step", "name", *METRICS]


def test_steps_are_one_table(fleet: Path) -> None:
    dataset = Dataset.open(str(fleet))
    assert dataset.steps(["span_us", "source"]).to_pydict() == {
        "worker": ["w2", "w2", "w10", "w10"], "step": [1, 0, 0, 1], "span_us": [120, 60, 12, 14],
        "source": ["w2/run_meta_1", "w2/run_meta_0", "w10/run_meta_0", "w10/run_meta_1"],
    }  # fmt: skip
    assert dataset.steps(["micros"], lambda name: name == "w10")["micros"].to_pylist() == [12, 14]
    assert dataset.steps([], lambda _: False).num_rows == 0


def test_a_graph_is_a_profile_without_steps(fleet: Path) -> None:
    dataset = Dataset.open(str(fleet))
    profile = dataset.graph(GRAPH)
    assert (list(profile.nodes.name), profile.steps) == ([b"a", b"b"], ())
    assert dataset.graph(GRAPH) is profile
    assert len(pickle.loads(pickle.dumps(dataset)).graph(GRAPH)) == 2  # noqa: S301 - our own


def test_graphs_with_most_rows_come_first(tmp_path: Path) -> None:
    writer = Writer.at(str(tmp_path))
    add(writer, "1" * 16, "w1", {0: [1, 2]})
    add(writer, "2" * 16, "w2", {0: [1], 1: [1, 2]}, OTHER_GRAPH)
    writer.commit([], [])
    assert Dataset.open(str(tmp_path)).graph_ids == [OTHER_GRAPH, GRAPH]


def test_texts_that_are_not_utf_8_are_escaped() -> None:
    nodes = {
        "graph": [GRAPH] * 2, "node": [0, 1], "name": [b"caf\xc3\xa9\xff", "run\udcff"],
        "op": ["A", "A"], "device": ["", ""], "params": [0, 0], "float_ops": [0, 0],
        "shape": ["", ""],
    }  # fmt: skip
    table = schema.table_of(schema.NODES, nodes)
    assert table["name"].to_pylist() == ["café\\xff", "run\\xff"]


def test_the_same_rows_give_the_same_bytes_however_words_are_numbered() -> None:
    rows, _, _ = part("w1", {0: [5, 7]})
    table = pq.read_table(pa.BufferReader(rows)).combine_chunks()
    columns: dict[str, Any] = {name: table[name].to_pylist() for name in schema.ROWS}
    columns["name"] = np.array([4, 2]), ["z", b"y", "b", "x", "a"]
    columns["graph"] = [GRAPH.encode()] * 2
    assert schema.parquet_bytes(schema.table_of(schema.ROWS, columns)) == rows


def test_two_datasets_of_the_same_parts_are_equal_in_every_byte(
    fleet: Path, tmp_path: Path
) -> None:
    writer = Writer.at(str(tmp_path / "backwards"))
    add(writer, f"{2:016x}", "w2", TIMES["w2"])
    add(writer, f"{1:016x}", "w10", TIMES["w10"])
    writer.commit([], [])
    assert contents(fleet) == contents(tmp_path / "backwards")


def test_the_manifest_says_what_is_there(tmp_path: Path) -> None:
    writer = Writer.at(str(tmp_path))
    add(writer, "1" * 16, "w1", {0: [1, 2], 5: [3]})
    writer.commit([SKIPPED], ["a note"])
    manifest = json.loads((tmp_path / "manifest.json").read_bytes())
    files = contents(tmp_path)
    assert {name: manifest[name] for name in ("format", "version", "workers", "steps", "rows")} == {
        "format": "tfprof fleet", "version": 1, "workers": 1, "steps": 2, "rows": 3,
    }  # fmt: skip
    assert (manifest["skipped"], manifest["notes"]) == ([SKIPPED], ["a note"])
    entry = manifest["parts"]["1" * 16]
    assert (entry["steps"], entry["graphs"]) == ([["w1", [0, 5]]], {GRAPH: 3})
    sizes = {name: file["bytes"] for name, file in entry["files"].items()}
    sizes |= {name: file["bytes"] for name, file in manifest["graphs"][GRAPH]["files"].items()}
    del files["manifest.json"]
    assert sizes == {name: len(data) for name, data in files.items()}


def test_what_a_fleet_is(fleet: Path, tmp_path: Path) -> None:
    assert is_fleet(str(fleet))
    assert is_fleet(f"file://{fleet}")
    for other in (tmp_path, tmp_path / "none", fleet / "manifest.json"):
        assert not is_fleet(str(other))
    (tmp_path / "manifest.json").write_text('{"format": "another"}', encoding="utf-8")
    assert not is_fleet(str(tmp_path))
    with pytest.raises(InputError, match=r"none is not a fleet: it has no manifest\.json"):
        Dataset.open(str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"manifest\.json is not the manifest of a fleet"):
        Dataset.open(str(tmp_path))


# --- damage ---------------------------------------------------------------------------------------


def read_all(folder: Path) -> None:
    dataset = Dataset.open(str(folder))
    for graph in dataset.graph_ids:
        dataset.graph(graph)
    dataset.steps(list(schema.STEPS))
    for batch in dataset.scan(list(schema.ROWS)):
        list(batch.samples())


DAMAGES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "a bit": lambda data: flipped(data, len(data) // 2, 0).data,
    "cut": lambda data: data[:-1],
    "longer": lambda data: data + b"\0",
    "empty": lambda _: b"",
    "another": lambda _: graph_files()[1],
}
READ: Final = ["rows/{}1.parquet", "steps/{}2.parquet", f"graphs/{GRAPH}.tfprof"]
CASES: Final = [(file.format("0" * 15), name) for file in READ for name in DAMAGES]


@pytest.mark.sampled
@pytest.mark.parametrize(("file", "damage"), sampled(CASES, 8, "damaged fleets"))
def test_a_damaged_file_is_one_sentence_that_names_it(fleet: Path, file: str, damage: str) -> None:
    (fleet / file).write_bytes(DAMAGES[damage]((fleet / file).read_bytes()))
    with pytest.raises(InputError) as error:
        read_all(fleet)
    reason = "is damaged: its checksum is not that of the manifest"
    assert str(error.value) == f"{fleet}/{file} {reason}"


def test_a_missing_file_is_one_sentence(fleet: Path) -> None:
    file = f"rows/{1:016x}.parquet"
    (fleet / file).unlink()
    with pytest.raises(InputError) as error:
        read_all(fleet)
    assert str(error.value) == (f"{fleet}/{file} is missing; the manifest of its fleet names it")


def forge(folder: Path, name: str, data: bytes) -> None:
    """Put *data* in place of a file, with its checksum in the manifest."""
    (folder / name).write_bytes(data)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_bytes())
    files = [*manifest["parts"].values(), *manifest["graphs"].values()]
    for entry in files:
        if name in entry["files"]:
            entry["files"][name] = schema.checksum(data)
    path.write_text(json.dumps(manifest), encoding="utf-8")


def forged(change: Callable[[Any], Any]) -> bytes:
    """Rows of worker w10 after *change* of their table."""
    rows, _, _ = part("w10", TIMES["w10"])
    return schema.parquet_bytes(change(pq.read_table(pa.BufferReader(rows))))


def with_micros(table: Any, values: Any) -> Any:
    return table.set_column(table.schema.get_field_index("micros"), "micros", [values])


FORGED: Final[dict[str, Callable[[Any], Any]]] = {
    "no column": lambda table: table.drop(["micros"]),
    "texts for numbers": lambda table: with_micros(table, ["many"] * 4),
    "nulls": lambda table: with_micros(table, pa.array([1, 2, 3, None])),
    "a row less": lambda table: table.slice(1),
    "two columns of a name": lambda table: table.append_column("micros", [[1] * 4]),
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_another_table_with_a_right_checksum_is_one_sentence(
    fleet: Path, change: Callable[[Any], Any]
) -> None:
    file = f"rows/{1:016x}.parquet"
    forge(fleet, file, forged(change))
    with pytest.raises(InputError, match=r"^[^\n]*$") as error:
        read_all(fleet)
    assert str(error.value).startswith(f"{fleet}/{file} is damaged: ")


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" * 9, b"x" * 1000])
def test_no_parquet_with_a_right_checksum_is_one_sentence(fleet: Path, data: bytes) -> None:
    for file in (f"rows/{1:016x}.parquet", f"steps/{1:016x}.parquet"):
        forge(fleet, file, data)
        with pytest.raises(InputError, match=r"^[^\n]*$"):
            read_all(fleet)


def test_a_graph_that_is_none_is_one_sentence(fleet: Path) -> None:
    forge(fleet, f"graphs/{GRAPH}.tfprof", b"\x0a\x03abc")
    with pytest.raises(InputError, match=f"{GRAPH}.tfprof is .*"):
        read_all(fleet)


def test_words_that_are_stored_as_texts_are_read(fleet: Path) -> None:
    as_text = forged(lambda table: table.set_column(3, "name", [table["name"].to_pylist()]))
    forge(fleet, f"rows/{1:016x}.parquet", as_text)
    dataset = Dataset.open(str(fleet))
    names = [list(batch.strings("name")[1]) for batch in dataset.scan(["name"])]
    assert names == [[b"a", b"b"], [b"a", b"b"]]


def test_rows_beyond_the_limit_are_not_read(fleet: Path) -> None:
    with raised_limits(part_rows=3), pytest.raises(InputError, match="--limit_part_rows"):
        read_all(fleet)


# --- versions and packages ------------------------------------------------------------------------


def test_version_1_is_read_for_ever() -> None:
    dataset = Dataset.open(str(VERSION_1))
    assert micros_of(dataset) == {
        ("worker_0", 0): [5, 7], ("worker_0", 1): [6, 8], ("worker_1", 0): [50, 70],
    }  # fmt: skip
    assert dataset.steps(["span_us"])["span_us"].to_pylist() == [12, 14, 120]
    assert [list(dataset.graph(graph).nodes.name) for graph in dataset.graph_ids] == [[b"a", b"b"]]
    assert dataset.manifest.skipped == (SKIPPED,)
    assert dataset.manifest.notes == ("a note",)
    read_all(VERSION_1)


def test_a_newer_version_is_one_sentence(fleet: Path) -> None:
    path = fleet / "manifest.json"
    text = path.read_text(encoding="utf-8").replace('"version": 1', '"version": 2')
    path.write_text(text.replace('"parts"', '"pieces"'), encoding="utf-8")
    for reads in (Dataset.open, Writer.at):
        with pytest.raises(InputError) as error:
            reads(str(fleet))
        assert str(error.value) == (
            f"{path} is of fleet format 2; this tfprof reads up to 1: install a newer tfprof"
        )


def test_looking_for_a_fleet_imports_no_package_of_it() -> None:
    program = f"""
import sys
from tfprof import cli
from tfprof.fleet.dataset import is_fleet
assert is_fleet({str(VERSION_1)!r})
assert cli.run(["scope", {str(GRAPH_FILE)!r}]) == 0
print(sys.modules.keys() & {{"pyarrow", "fsspec", "dask", "distributed", "duckdb"}})
"""
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(Path(tfprof.__file__).parent.parent)},
        capture_output=True,
        check=True,
        text=True,
    )
    assert ran.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("package", ["pyarrow", "fsspec", "distributed", "duckdb"])
def test_a_missing_package_is_one_sentence(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    extra = "sql" if package == "duckdb" else "fleet"
    with pytest.raises(UsageError, match=f"needs {package}: pip install 'tfprof\\[{extra}\\]'$"):
        need(package)
