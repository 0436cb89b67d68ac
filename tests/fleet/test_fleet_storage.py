"""Files of a fleet in folders and at URLs; test_fleet_engine has a real S3 interface."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from fleet_parts import GRAPH, add, micros_of, store
from tfprof import InputError, OutputError, UsageError
from tfprof.fleet.dataset import Dataset, is_fleet
from tfprof.fleet.storage import Storage, is_url
from tfprof.fleet.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Slow(MemoryFileSystem):  # type: ignore[misc]
    """Files on a server where a file that is being written is there already, unfinished."""

    protocol = "slow"
    store: dict[str, Any] = {}  # noqa: RUF012 - as in the class above
    pseudo_dirs = [""]  # noqa: RUF012
    broken: Exception | None = None

    def pipe_file(self, path: str, value: bytes, *_: Any, **__: Any) -> None:
        super().pipe_file(path, value[: len(value) // 2])
        if Slow.broken:
            raise Slow.broken
        super().pipe_file(path, value)


@pytest.fixture(autouse=True)
def _stores() -> Iterator[None]:
    fsspec.register_implementation("slow", Slow, clobber=True)
    yield
    MemoryFileSystem.store.clear()
    Slow.store.clear()


@pytest.mark.parametrize(
    "place", ["{folder}/fleet", "file://{folder}/fleet", "memory://it/fleet/", "slow://it/fleet"]
)
def test_a_fleet_is_written_and_read_anywhere(place: str, tmp_path: Path) -> None:
    place = place.format(folder=tmp_path)
    assert not is_fleet(place)
    assert Storage.at(place).names("rows") == []
    store(place, w1={0: [1]})
    writer = Writer.at(place)
    add(writer, "2" * 16, "w2", {0: [2, 3]})
    writer.storage.write(f"rows/{'3' * 16}.parquet", [b"of no ", b"use"])
    writer.commit([], [])
    assert is_fleet(place)
    dataset = Dataset.open(place)
    assert micros_of(dataset) == {("w1", 0): [1], ("w2", 0): [2, 3]}
    assert len(dataset.graph(GRAPH)) == 2
    storage = dataset.storage
    assert storage.names() == ["graphs", "manifest.json", "rows", "steps"]
    assert storage.names("rows") == [f"{1:016x}.parquet", f"{'2' * 16}.parquet"]
    assert storage.read(f"rows/{1:016x}.parquet", 4).tobytes() == b"PAR1"
    storage.remove("rows/none")
    storage.remove(f"rows/{1:016x}.parquet")
    with pytest.raises(InputError, match="is missing; the manifest of its fleet names it"):
        micros_of(Dataset.open(place))


@pytest.mark.parametrize(
    "problem",
    [ConnectionError("the line\nis cut"), FileNotFoundError(2, "the line is cut")],
    ids=["connection", "no such bucket"],
)
def test_a_line_that_is_cut_leaves_the_old_state(
    problem: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = "slow://cut/fleet"
    store(place, w1={0: [1]})
    writer = Writer.at(place)
    add(writer, "2" * 16, "w2", {0: [2]})
    with monkeypatch.context() as patch:
        patch.setattr(Slow, "broken", problem)
        with pytest.raises(OutputError) as error:
            writer.commit([], [])
    assert str(error.value) == f"{place}/manifest.json cannot be written: the line is cut"
    assert micros_of(Dataset.open(place)) == {("w1", 0): [1]}
    writer.commit([], [])
    assert Storage.at(place).names() == ["graphs", "manifest.json", "rows", "steps"]
    assert micros_of(Dataset.open(place)) == {("w1", 0): [1], ("w2", 0): [2]}


def test_a_killed_run_may_leave_half_a_file_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    place = "slow://half/fleet"
    monkeypatch.setattr(Slow, "broken", ConnectionError())
    with pytest.raises(OutputError):
        add(Writer.at(place), "1" * 16, "w1", {0: [1]})
    monkeypatch.setattr(Slow, "broken", None)
    assert Storage.at(place).names("graphs") == [f"{GRAPH}.tfprof.new"]
    store(place, w1={0: [1]})
    assert Storage.at(place).names("graphs") == [f"{GRAPH}.parquet", f"{GRAPH}.tfprof"]


def test_other_files_at_a_url_are_not_touched() -> None:
    Storage.at("memory://other/fleet").write("notes.txt", [b"?"])
    with pytest.raises(OutputError, match="memory://other/fleet has other files, such as notes"):
        Writer.at("memory://other/fleet")


def test_what_a_url_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_url("s3://bucket/fleet")
    assert is_url("simplecache::s3://bucket/fleet")
    for path in ("fleet/", "/fleet", "file:///fleet", "a:b", "runs/s3://x", ""):
        assert not is_url(path)
    with pytest.raises(UsageError, match=r"^nowhere://x cannot be opened: Protocol not known"):
        Storage.at("nowhere://x")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(UsageError, match=r"^a URL needs fsspec: pip install 'tfprof"):
        Storage.at("memory://x")
