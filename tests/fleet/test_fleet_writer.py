"""Writing a fleet: readers see the old state or the new one, whatever happens in between."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fleet_kills
import tfprof
from fleet_files import write_fleet
from fleet_parts import (
    GRAPH,
    OTHER_GRAPH,
    SKIPPED,
    add,
    graph_files,
    micros_of,
    part,
    rows_and_steps,
    store,
)
from folders import contents
from sampling import sampled
from sweeps import flipped
from tfprof import InputError, OutputError
from tfprof.fleet import schema
from tfprof.fleet.dataset import Dataset, is_fleet
from tfprof.fleet.writer import Writer

if TYPE_CHECKING:
    from tfprof.fleet.manifest import Manifest

ONE, TWO, THREE = "1" * 16, "2" * 16, "3" * 16
KEY = f"{1:016x}"  # of the first part that `store` writes
OF_ONE = [f"rows/{ONE}.parquet", f"steps/{ONE}.parquet"]
UNFINISHED = [*OF_ONE, f"graphs/{GRAPH}.tfprof", f"graphs/{GRAPH}.parquet"]


def named(manifest: Manifest) -> set[str]:
    """The files of a dataset that has nothing else."""
    return {"manifest.json", *manifest.files}


def test_nothing_is_visible_before_the_commit(tmp_path: Path) -> None:
    writer = Writer.at(str(tmp_path / "fleet"))
    assert not (tmp_path / "fleet").exists()
    add(writer, ONE, "w1", {0: [1]})
    assert not is_fleet(str(tmp_path / "fleet"))
    writer.commit([], [])
    assert micros_of(Dataset.open(str(tmp_path / "fleet"))) == {("w1", 0): [1]}


def test_steps_are_appended(tmp_path: Path) -> None:
    before = store(tmp_path, w1={0: [1]}, w2={0: [2]})
    writer = Writer.at(str(tmp_path))
    assert writer.old == before.manifest
    add(writer, THREE, "w1", {1: [3]})
    add(writer, TWO, "w10", {0: [4]})
    manifest = writer.commit([SKIPPED], ["a note"])
    assert (manifest.skipped, manifest.notes) == ((SKIPPED,), ("a note",))
    assert list(micros_of(Dataset.open(str(tmp_path))).items()) == [
        (("w1", 0), [1]), (("w1", 1), [3]), (("w2", 0), [2]), (("w10", 0), [4]),
    ]  # fmt: skip
    assert micros_of(before) == {("w1", 0): [1], ("w2", 0): [2]}  # for who opened it before


def test_files_that_the_old_state_names_are_not_overwritten(tmp_path: Path) -> None:
    before = store(tmp_path, w1={0: [1]})
    writer = Writer.at(str(tmp_path))
    with pytest.raises(OutputError, match=f"{KEY}.parquet belongs to the fleet already"):
        writer.add_part(KEY, *part("w1", {0: [2]}))
    assert micros_of(before) == {("w1", 0): [1]}
    (tmp_path / "rows" / f"{KEY}.parquet").write_bytes(b"damaged")
    writer.add_part(KEY, *part("w1", {0: [1]}))  # which repairs it
    assert micros_of(Dataset.open(str(tmp_path))) == {("w1", 0): [1]}


def test_a_run_that_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    writer = Writer.at(str(tmp_path / "new" / "fleet"))
    add(writer, ONE, "w1", {0: [1]})
    writer.discard()
    assert not list(tmp_path.iterdir())
    before = contents(unfinished(tmp_path / "killed"))
    writer = Writer.at(str(tmp_path / "killed"))
    assert writer.has(ONE)
    add(writer, TWO, "w2", {0: [2]}, OTHER_GRAPH)
    writer.discard()
    assert contents(tmp_path / "killed") == before


def test_files_of_no_use_are_removed_and_strangers_stay(tmp_path: Path) -> None:
    store(tmp_path, w1={0: [1]})
    strangers = {"notes.txt", "rows/notes.txt", "rows/0123.parquet", "graphs/model.tfprof"}
    useless = {*OF_ONE, f"graphs/{ONE}.tfprof"}
    useless |= {"rows/.tfprof-0123456789abcdef", ".tfprof-0123456789abcdef"}
    for name in strangers | useless:
        (tmp_path / name).write_bytes(b"?")
    manifest = Writer.at(str(tmp_path)).commit([], [])
    assert contents(tmp_path).keys() == named(manifest) | strangers


def test_a_part_may_be_left_out_and_its_graph_goes_with_it(tmp_path: Path) -> None:
    writer = Writer.at(str(tmp_path))
    add(writer, ONE, "w1", {0: [1]})
    add(writer, TWO, "w2", {0: [2]}, OTHER_GRAPH)
    writer.commit([], [])
    writer = Writer.at(str(tmp_path))
    writer.drop_part(TWO)
    manifest = writer.commit([], [])
    assert list(manifest.graphs) == [GRAPH]
    assert contents(tmp_path).keys() == named(manifest)


def test_a_folder_with_other_files_is_not_touched(tmp_path: Path) -> None:
    for place in ("notes.txt", "rows/notes.txt", "manifest.json/notes.txt"):
        folder = tmp_path / place.replace("/", "_")
        (folder / place).parent.mkdir(parents=True)
        (folder / place).write_bytes(b"?")
        with pytest.raises((OutputError, InputError), match=r"^[^\n]*$") as error:
            Writer.at(str(folder))
        assert str(folder) in str(error.value)
        assert contents(folder).keys() == {place}
    with pytest.raises(OutputError, match=r"notes\.txt cannot be made: "):
        Writer.at(str(tmp_path / "notes.txt" / "notes.txt"))
    with pytest.raises(OutputError, match=r"such as notes\.txt: a fleet needs a new or empty fold"):
        Writer.at(str(tmp_path / "notes.txt"))


def test_links_are_not_followed_out_of_the_folder(tmp_path: Path) -> None:
    outside, fleet = tmp_path / "outside", tmp_path / "fleet"
    outside.mkdir()
    (outside / f"{ONE}.parquet").write_bytes(b"?")
    fleet.mkdir()
    writer = Writer.at(str(fleet))
    (fleet / "rows").symlink_to(outside)
    with pytest.raises(OutputError, match="rows is a link; a fleet is written to its own folder"):
        writer.add_part(ONE, *part("w1", {0: [1]}))
    with pytest.raises(OutputError, match="rows is a link"):
        Writer.at(str(fleet))
    writer.commit([], [])  # removes nothing
    (fleet / "manifest.json").unlink()
    (fleet / "manifest.json").symlink_to(outside / "none")
    with pytest.raises(OutputError, match=r"manifest\.json is a link"):
        Writer(writer.storage, None).commit([], [])
    assert (outside / f"{ONE}.parquet").read_bytes() == b"?"


def test_of_two_runs_at_once_the_second_fails(tmp_path: Path) -> None:
    store(tmp_path, w1={0: [1]})
    slow, fast = Writer.at(str(tmp_path)), Writer.at(str(tmp_path))
    add(slow, TWO, "w2", {0: [2]})
    add(fast, THREE, "w3", {0: [3]})
    fast.commit([], [])
    with pytest.raises(OutputError, match=r"manifest\.json was changed by another run"):
        slow.commit([], [])
    slow = Writer.at(str(tmp_path))
    add(slow, TWO, "w2", {0: [2]})
    Writer.at(str(tmp_path)).commit([], [])  # changes nothing, but removes what nobody names
    with pytest.raises(OutputError, match="was removed by another run"):
        slow.commit([], [])
    expected = {("w1", 0): [1], ("w3", 0): [3]}
    assert micros_of(Dataset.open(str(tmp_path))) == expected


def test_a_step_is_in_one_part(tmp_path: Path) -> None:
    store(tmp_path, w1={0: [1]})
    writer = Writer.at(str(tmp_path))
    add(writer, TWO, "w1", {0: [2]})
    with pytest.raises(InputError, match="a step of a worker is listed twice"):
        writer.commit([], [])
    assert micros_of(Dataset.open(str(tmp_path))) == {("w1", 0): [1]}


# --- going on after a killed run ------------------------------------------------------------------


def unfinished(folder: Path) -> Path:
    """The files of a run that was killed before its commit."""
    writer = Writer.at(str(folder))
    writer.add_graph(GRAPH, *graph_files())
    tables = schema.part_files(*tables_of_w1(), skipped=[SKIPPED], notes=["a note"])
    writer.add_part(ONE, *tables)
    return folder


def tables_of_w1() -> tuple[Any, Any]:
    return rows_and_steps("w1", {0: [1, 2], 4: [3]})


def test_a_part_of_a_killed_run_is_found(tmp_path: Path) -> None:
    writer = Writer.at(str(unfinished(tmp_path)))
    entry = writer.has(ONE)
    assert entry is not None
    assert (entry["rows"], entry["steps"]) == (3, [["w1", [0, 4]]])
    assert (entry["skipped"], entry["notes"]) == ([SKIPPED], ["a note"])
    assert writer.has(TWO) is None
    assert is_usable(tmp_path)
    writer.commit(entry["skipped"], entry["notes"])
    resumed = (tmp_path / "manifest.json").read_bytes()
    assert micros_of(Dataset.open(str(tmp_path))) == {("w1", 0): [1, 2], ("w1", 4): [3]}
    assert json.loads(resumed)["graphs"][GRAPH]["nodes"] == 2
    again = Writer.at(str(tmp_path))
    assert again.has(ONE) == entry


@pytest.mark.sampled
@pytest.mark.parametrize("name", UNFINISHED)
@pytest.mark.parametrize("damage", ["gone", "cut", "bits"])
def test_a_damaged_part_of_a_killed_run_is_not_used(tmp_path: Path, name: str, damage: str) -> None:
    path = unfinished(tmp_path) / name
    data = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    places = range(0, len(data), 11) if damage == "bits" else range(0)
    for at in sampled(places, 12, f"damaged {name}"):
        path.write_bytes(flipped(data, at, 4).data)
        assert not is_usable(tmp_path)
    assert not is_usable(tmp_path)


def is_usable(folder: Path) -> bool:
    """Whether nothing of the part needs to be decoded again."""
    writer = Writer.at(str(folder))
    return writer.has(ONE) is not None and not writer.missing_graphs


def test_files_of_another_version_of_pyarrow_are_written_and_not_resumed(tmp_path: Path) -> None:
    profile, nodes = graph_files()
    rows, steps, entry = part("w1", {0: [1]})
    writer = Writer.at(str(tmp_path))
    writer.add_graph(GRAPH, profile, of_another_version(nodes))
    writer.add_part(ONE, rows, of_another_version(steps), entry)
    assert Writer.at(str(tmp_path)).has(ONE) is None
    writer.commit([], [])
    dataset = Dataset.open(str(tmp_path))
    assert micros_of(dataset) == {("w1", 0): [1]}
    assert dataset.steps(["micros"])["micros"].to_pylist() == [1]


def of_another_version(data: bytes) -> bytes:
    """The same table in other bytes."""
    table = pq.read_table(pa.BufferReader(data))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="none")
    return bytes(sink.getvalue())


def test_a_part_that_the_manifest_names_must_be_the_one_it_names(tmp_path: Path) -> None:
    store(tmp_path, w1={0: [1]})
    for folder, data in zip(("rows", "steps"), part("w1", {0: [9]})[:2], strict=True):
        (tmp_path / folder / f"{KEY}.parquet").write_bytes(data)
    assert Writer.at(str(tmp_path)).has(KEY) is None


@pytest.mark.parametrize("entry", [{}, {"first_file": 3}, {"rows": "many"}])
def test_a_forged_part_is_not_used(tmp_path: Path, entry: dict[str, Any]) -> None:
    unfinished(tmp_path)
    _, steps = tables_of_w1()
    (tmp_path / f"steps/{ONE}.parquet").write_bytes(schema.sealed(steps, entry))
    assert Writer.at(str(tmp_path)).has(ONE) is None


# --- killed at every moment -----------------------------------------------------------------------

OLD: Final = {("w1", 0): [10], ("w2", 0): [20, 21]}
ADDED: Final = {("w3", 0): [1, 2], ("w3", 1): [3], ("w4", 0): [4]}


@pytest.mark.sampled
def test_a_killed_run_leaves_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    appending, first = tmp_path / "appending", tmp_path / "first"
    store(appending, w1={0: [10]}, w2={0: [20, 21]})
    (appending / "rows" / "0000000000000009.parquet").write_bytes(b"of no use")
    first.mkdir()
    moments = killed("parts", 3, appending, first)
    for folder, numbers in moments.items():
        after = Path(f"{folder}.after", "manifest.json").read_bytes()
        old = OLD if folder == appending else {}
        seen = [state(Path(f"{folder}.{number}"), old, after) for number in numbers]
        assert seen == sorted(seen, reverse=True)  # first the old state, then the new one
        assert (seen[0], seen[-1]) == ("old", "new")


@pytest.mark.sampled
def test_gathering_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    write_fleet(tmp_path / "runs", workers=2, steps=2)
    (tmp_path / "fleet").mkdir()
    moments = killed("gather", 1, tmp_path / "fleet")[tmp_path / "fleet"]
    after = contents(tmp_path / "fleet.after")
    parts = {name for name in after if name.startswith("steps/")}
    assert len(parts) == 4
    for number in moments:
        folder = tmp_path / f"fleet.{number}"
        before = contents(folder)
        if "manifest.json" in before:
            assert after.items() <= before.items()
        done = len(parts) if "manifest.json" in before else len(parts & before.keys())
        assert fleet_kills.gather_runs(str(folder)) == len(parts) - done
        assert contents(folder) == after


def killed(write: str, count: int, *folders: Path) -> dict[Path, list[int]]:
    """The operations before which processes were killed that wrote into each of *folders*."""
    path = [Path(tfprof.__file__).parent.parent, Path(__file__).parent]
    with subprocess.Popen(
        [sys.executable, fleet_kills.__file__, write, *folders],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        last = [int(process.stdout.readline()) for _ in folders]
        moments = {
            folder: [1, *sampled(range(2, end), count, f"killed: {folder.name}"), end]
            for folder, end in zip(folders, last, strict=True)
        }
        lines = (f"{folder} {number}\n" for folder in folders for number in moments[folder])
        process.communicate("".join(lines))
    assert process.returncode == 0
    return moments


def state(folder: Path, old: dict[tuple[str, int], list[int]], after: bytes) -> str:
    """Whether the *old* state or the new one is there; the next run goes on from there."""
    if is_fleet(str(folder)):
        found = micros_of(Dataset.open(str(folder)))
        assert found in (old, {**old, **ADDED})
    else:
        assert not old
        found = {}
    fleet_kills.write_parts(str(folder))
    assert (folder / "manifest.json").read_bytes() == after
    assert contents(folder).keys() == named(Dataset.open(str(folder)).manifest)
    return "old" if found == old else "new"
