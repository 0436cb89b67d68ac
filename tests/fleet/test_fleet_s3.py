"""A fleet on S3: files read from there, a dataset written there and asked there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import fsspec
import pytest

import tfprof
from dask_cluster import cluster
from fleet_faults import FaultyEngine
from fleet_files import write_fleet
from folders import contents
from s3_server import BUCKET, s3
from tfprof import cli
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.engine import Engine
from tfprof.fleet.gather import gather
from tfprof.fleet.sources import find_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["s3"]


def upload(client: Any, folder: Path, prefix: str) -> None:
    for name, data in contents(folder).items():
        client.put_object(Bucket=BUCKET, Key=f"{prefix}/{name}", Body=data)


def objects(client: Any, prefix: str) -> dict[str, bytes]:
    """The objects below *prefix*, read without fsspec."""
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=f"{prefix}/")
    keys = [each["Key"] for page in pages for each in page.get("Contents", ())]
    return {
        key.removeprefix(f"{prefix}/"): client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        for key in keys
    }


@pytest.fixture
def engine(s3: Any) -> Iterator[Engine]:
    """Processes that find the server of the test."""
    assert s3
    with Engine(processes=2) as made:
        yield made


@pytest.mark.whole
def test_a_dataset_on_s3_is_the_one_of_a_folder_and_answers_alike(
    s3: Any, engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs, remote = str(tmp_path / "logs"), f"s3://{BUCKET}"
    write_fleet(tmp_path / "logs", workers=3, steps=2)
    upload(s3, tmp_path / "logs", "logs")
    gather([logs], str(tmp_path / "fleet"), engine=engine)
    gather([logs], f"{remote}/fleet", engine=engine)
    gather([f"{remote}/logs"], str(tmp_path / "down"), engine=engine)
    gather([f"{remote}/logs"], f"{remote}/down", engine=engine)
    # The bytes do not depend on where the dataset is, but on where its sources were.
    assert objects(s3, "fleet") == contents(tmp_path / "fleet")
    assert objects(s3, "down") == contents(tmp_path / "down")
    places = f"{remote}/fleet", f"{remote}/down", str(tmp_path / "down"), str(tmp_path / "fleet")
    for view in ("op", "scope"):
        answers = set()
        for place in places:
            assert cli.run([view, place, "--stat=p90"]) == 0, capsys.readouterr().err
            answers.add(capsys.readouterr().out)
        assert len(answers) == 1
    sums = [tfprof.fleet(place).sql("select sum(micros) from rows") for place in places]
    assert len({str(answer.to_arrow()) for answer in sums}) == 1


@pytest.mark.whole
def test_a_dataset_on_s3_grows_and_names_what_it_skips(
    s3: Any, engine: Engine, tmp_path: Path
) -> None:
    source, fleet = f"s3://{BUCKET}/logs", f"s3://{BUCKET}/fleet"
    write_fleet(tmp_path / "logs", workers=2, steps=2)
    upload(s3, tmp_path / "logs", "logs")
    whole = objects(s3, "logs")
    s3.delete_object(Bucket=BUCKET, Key="logs/worker_1/run_meta_1")
    gather([source], fleet, engine=engine)
    first = objects(s3, "fleet")
    s3.put_object(Bucket=BUCKET, Key="logs/worker_1/run_meta_1", Body=b"damaged")
    gather([source], fleet, engine=engine)
    (skipped,) = Dataset.open(fleet).manifest.skipped
    assert skipped["path"] == f"{source}/worker_1/run_meta_1"
    assert skipped["kind"] == "damaged"
    good = whole["worker_1/run_meta_1"]
    s3.put_object(Bucket=BUCKET, Key="logs/worker_1/run_meta_1", Body=good)
    gather([source], fleet, engine=engine)
    last = objects(s3, "fleet")
    first.pop("manifest.json")
    assert first.items() <= last.items()
    gather([source], f"s3://{BUCKET}/at_once", engine=engine)
    assert objects(s3, "at_once") == last


@pytest.mark.whole
def test_a_cluster_reads_from_s3_and_its_faults_change_nothing(
    s3: Any, engine: Engine, tmp_path: Path
) -> None:
    source = f"s3://{BUCKET}/logs"
    write_fleet(tmp_path / "logs", workers=3, steps=2)
    upload(s3, tmp_path / "logs", "logs")
    gather([source], f"s3://{BUCKET}/expected", engine=engine)
    runs, faults = tmp_path / "runs", {1: "killed", 2: "hangs"}
    runs.mkdir()
    with (
        cluster(2) as made,
        FaultyEngine(runs, faults, scheduler=made.scheduler_address, timeout=20) as faulty,
    ):
        gather([source], f"s3://{BUCKET}/fleet", engine=faulty)
    assert len([*runs.iterdir()]) > len(faults)
    assert objects(s3, "fleet") == objects(s3, "expected")


@pytest.mark.whole
def test_what_is_not_on_s3_is_one_sentence(
    s3: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_fleet(tmp_path / "logs", workers=1, steps=1)
    logs, there = str(tmp_path / "logs"), f"s3://{BUCKET}"
    for line, error in [
        (["fleet", f"{there}/no", "-o", f"{there}/fleet"], f"{there}/no does not exist"),
        (["fleet", "s3://no/logs", "-o", f"{there}/fleet"], "s3://no/logs cannot be read: "),
        (["fleet", logs, "-o", "s3://no/fleet"], "s3://no/fleet/"),
        (["op", f"{there}/no"], f"{there}/no is no fleet, "),
    ]:
        assert cli.run(line) > 1
        sentence = capsys.readouterr().err
        assert sentence.startswith(f"tfprof: {error}")
        assert sentence.count("\n") == 1
    assert not objects(s3, "fleet")


def test_a_run_at_a_url_has_the_graph_of_a_folder_above(tmp_path: Path) -> None:
    write_fleet(tmp_path, workers=1, steps=1)
    fsspec.filesystem("memory").put(str(tmp_path), "/above/logs", recursive=True)
    (run,) = find_files(["memory://above/logs"], "memory://above/fleet").files
    assert (run.worker, run.step) == ("worker_0", 0)
    assert run.model.graph is not None
    assert run.model.graph.name == "memory:///above/logs/graph.pbtxt"
