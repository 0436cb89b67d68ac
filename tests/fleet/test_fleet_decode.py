"""Rows of a fleet are what loading the same files of one worker gives, for every kind of file."""

from __future__ import annotations

import gzip
import shutil
from functools import cache
from pathlib import Path  # noqa: TC003 - of a constant
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import tfprof
from converted import convert
from fleet_engine import HereEngine
from fleet_files import write_fleet
from profiles import DATA, PROFILES, content
from sampling import sampled
from tfprof.columns.unique import unique
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.gather import gather
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.tables.fields import METRICS
from tfprof.writers.saved import saved

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.model import Profile

# Traces with their graphs, then without.
TRACES: Final[list[tuple[Path, Path | None]]] = [
    *((path.with_name("trace.xplane.pb.gz"), path) for path in sorted(DATA.glob("xplane/*/gra*"))),
    *((path, None) for path in sorted(DATA.glob("xplane/*/trace*"))),
]
ADDED_UP: Final = ("micros", "accelerator_micros", "cpu_micros", "bytes", "peak_bytes")
OF_RUNS: Final = [metric for metric in METRICS if metric not in ("params", "float_ops")]


def rows_of(dataset: Dataset, worker: str, step: int) -> dict[str, dict[str, int]]:
    """The metrics of each node, summed over devices."""
    totals: dict[str, dict[str, int]] = {}
    for batch in dataset.scan(["name", *METRICS], lambda name: name == worker, step):
        table = batch.table.to_pydict()
        for at, name in enumerate(table["name"]):
            of_node = totals.setdefault(name, dict.fromkeys(METRICS, 0))
            for metric in METRICS:
                of_node[metric] += table[metric][at]
    return totals


def check_rows(dataset: Dataset, worker: str, step: int, profile: Profile, number: int) -> None:
    """The rows of a step are what the *profile* says of its step *number*."""
    rows = rows_of(dataset, worker, step)
    names = [name.decode("utf-8", "backslashreplace") for name in profile.nodes.name]
    counted, _ = with_float_ops(profile, "all", step=number)
    (recorded,) = (each for each in profile.steps if each.number == number)
    ran = np.zeros(len(profile), np.bool_)
    ran[recorded.node] = True
    assert {names[node] for node in np.flatnonzero(ran)} <= rows.keys() <= {*names}
    for metric in OF_RUNS:
        expected = profile.values(metric, number).tolist()
        assert expected == [rows[name][metric] if name in rows else 0 for name in names], metric
    expected = profile.values("params", number)[ran].tolist()
    assert expected == [rows[names[node]]["params"] for node in np.flatnonzero(ran)]
    # Of nodes that ran in another step of the file alone, views leave out what did not run.
    alone = replace(counted, steps=(recorded,))
    expected = alone.values("float_ops", number).tolist()
    assert expected == [rows[name]["float_ops"] if name in rows else 0 for name in names]
    (row,) = (
        row
        for row in dataset.steps([*ADDED_UP, "executions", "nodes", "span_us"]).to_pylist()
        if (row["worker"], row["step"]) == (worker, step)
    )
    for metric in ADDED_UP:
        assert row[metric] == int(profile.values(metric, number).sum())
    timed = recorded.counts_as > 0
    assert row["executions"] == timed.sum()
    assert row["nodes"] == unique(np.append(recorded.node, recorded.memory_node)).size
    ends = (recorded.start_us + recorded.us)[timed]
    assert row["span_us"] == (ends.max() - recorded.start_us[timed].min() if ends.size else 0)


def gathered(folder: Path, **options: Any) -> Dataset:
    target = str(folder.parent / "dataset")
    done = gather([str(folder)], target, engine=HereEngine(), strict=True, **options)
    assert not done.skipped
    return Dataset.open(target)


def steps_of(dataset: Dataset) -> dict[str, list[int]]:
    return {worker: sorted(steps) for worker, steps in dataset.manifest.steps.items()}


# --- runs -----------------------------------------------------------------------------------------


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampled([*PROFILES], 1, "runs of a fleet"))
def test_runs_of_real_models(name: str, tmp_path: Path) -> None:
    files, folder = PROFILES[name], tmp_path / "logs"
    (folder / "worker").mkdir(parents=True)
    shutil.copy(files.graph, folder)
    shutil.copy(files.op_log, folder)
    for number, run in enumerate(files.runs):
        shutil.copy(run, folder / "worker" / f"run_meta_{number + 5}{run.suffix}")
    dataset = gathered(folder)
    assert steps_of(dataset) == {"worker": [number + 5 for number in range(len(files.runs))]}
    together = tfprof.load(files.graph, [*files.runs], files.op_log).profile
    for number, run in enumerate(files.runs):
        alone = tfprof.load(files.graph, run, files.op_log).profile
        check_rows(dataset, "worker", number + 5, alone, 0)
        check_rows(dataset, "worker", number + 5, together, number)


def test_runs_of_functions(tmp_path: Path) -> None:
    folder = shutil.copytree(DATA / "tf2" / "session", tmp_path / "logs")
    dataset = gathered(folder)
    assert steps_of(dataset) == {"logs": [0]}
    alone = tfprof.load(folder / "graph.pb", folder / "run_meta.pb").profile
    check_rows(dataset, "logs", 0, alone, 0)


def test_a_real_fleet(tmp_path: Path) -> None:
    dataset = gathered(shutil.copytree(DATA / "fleet", tmp_path / "logs"))
    assert steps_of(dataset) == {f"worker_{n}": [101, 102, 103, 104] for n in range(3)}
    assert len(dataset.manifest.graphs) == 1
    folder = tmp_path / "logs"
    for worker, step in (("worker_0", 101), ("worker_2", 103)):
        run = folder / worker / f"run_meta_{step}.gz"
        alone = tfprof.load(folder / "graph.pbtxt.gz", run, folder / "tfprof_log.gz").profile
        check_rows(dataset, worker, step, alone, 0)


def test_rows_by_device_are_those_that_were_written(tmp_path: Path) -> None:
    truth = write_fleet(tmp_path / "logs", workers=3, steps=2)
    dataset = gathered(tmp_path / "logs")
    columns = truth.rows[0]._fields
    rows = [
        tuple(row[name] for name in columns)
        for batch in dataset.scan(columns)
        for row in batch.table.to_pylist()
    ]
    assert sorted(rows) == sorted(tuple(row) for row in truth.rows)
    steps = dataset.steps(["span_us"]).to_pylist()
    assert {(row["worker"], row["step"]): row["span_us"] for row in steps} == truth.spans


def test_a_run_without_a_graph(tmp_path: Path) -> None:
    files, folder = PROFILES["handmade"], tmp_path / "logs"
    folder.mkdir()
    shutil.copy(files.runs[0], folder / "run_meta_0.pbtxt")
    dataset = gathered(folder)
    check_rows(dataset, "logs", 0, tfprof.load(None, files.runs[0]).profile, 0)


# --- traces ---------------------------------------------------------------------------------------


@pytest.mark.sampled
@pytest.mark.parametrize(("trace", "graph"), sampled(TRACES, 3, "traces of a fleet"))
def test_traces(trace: Path, graph: Path | None, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    shutil.copy(trace, folder / "host-1.xplane.pb.gz")
    if graph is not None:
        shutil.copy(graph, folder)
    dataset = gathered(folder)
    alone = tfprof.load(graph, trace=trace).profile
    assert steps_of(dataset) == {"host-1": [step.number for step in alone.steps]}
    for step in alone.steps:
        check_rows(dataset, "host-1", step.number, alone, step.number)


# --- profiles -------------------------------------------------------------------------------------


@cache
def loaded(name: str) -> Profile:
    if name == "loop":
        folder = DATA / "xplane" / name
        return tfprof.load(folder / "graph.pb.gz", trace=folder / "trace.xplane.pb.gz").profile
    files = PROFILES[name]
    return tfprof.load(files.graph, [*files.runs], files.op_log).profile


@pytest.mark.parametrize(
    "name", ["handmade", "loop", pytest.param("resnet", marks=pytest.mark.whole)]
)
@pytest.mark.parametrize("write", [convert, lambda profile: b"".join(saved(profile))])
def test_profiles(name: str, write: Callable[[Profile], bytes], tmp_path: Path) -> None:
    folder, profile = tmp_path / "logs", loaded(name)
    (folder / "worker").mkdir(parents=True)
    file = folder / "worker" / "profile.gz"
    file.write_bytes(gzip.compress(write(profile), 1))
    dataset = gathered(folder)
    alone = tfprof.load(profile=file).profile
    assert steps_of(dataset) == {"worker": [step.number for step in profile.steps]}
    for step in profile.steps:
        check_rows(dataset, "worker", step.number, alone, step.number)
        for metric in OF_RUNS:
            ours = alone.values(metric, step.number)
            assert ours.tolist() == profile.values(metric, step.number).tolist()


def test_a_profile_per_step_is_numbered_by_its_name(tmp_path: Path) -> None:
    files, folder = PROFILES["handmade"], tmp_path / "logs"
    (folder / "worker").mkdir(parents=True)
    for number, run in enumerate(files.runs):
        alone = tfprof.load(files.graph, run, files.op_log).profile
        (folder / "worker" / f"profile_{number + 3}.tfprof").write_bytes(convert(alone))
    dataset = gathered(folder)
    assert steps_of(dataset) == {"worker": [3, 4]}
    for number, run in enumerate(files.runs):
        alone = tfprof.load(files.graph, run, files.op_log).profile
        check_rows(dataset, "worker", number + 3, alone, 0)


# --- event files ----------------------------------------------------------------------------------


def test_event_files(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    (source,) = (model_folder("events") / "writer").rglob("*.tfevents.*")
    folder = tmp_path / "logs"
    (folder / "worker").mkdir(parents=True)
    shutil.copy(source, folder / "worker")
    dataset = gathered(folder)
    alone = tfprof.load(source).profile
    assert steps_of(dataset) == {"worker": [10, 20]}
    for step in alone.steps:
        check_rows(dataset, "worker", step.number, alone, step.number)


def test_the_graph_of_a_trace_may_be_in_event_files(
    model_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(model_folder("events") / "keras2", tmp_path / "logs")
    dataset = gathered(folder)
    alone = tfprof.load(folder).profile
    ((worker, (step,)),) = steps_of(dataset).items()
    (trace,) = folder.rglob("*.xplane.pb")
    assert worker.endswith(trace.name.removesuffix(".xplane.pb"))
    assert alone.in_graph.any()
    check_rows(dataset, worker, step, alone, step)
    assert dataset.graph(dataset.graph_ids[0]).in_graph.any()


# --- graphs ---------------------------------------------------------------------------------------


def test_the_stored_graph_is_that_of_the_first_run(tmp_path: Path) -> None:
    folder, files = tmp_path / "logs", DATA / "fleet"
    folder.mkdir()
    runs = sorted((files / "worker_0").iterdir())[:2]
    for run in runs:
        (folder / run.stem).write_bytes(content(run))
    model = files / "graph.pbtxt.gz", files / "tfprof_log.gz"
    dataset = gathered(folder, graph=str(model[0]), op_log=str(model[1]))
    (graph,) = dataset.graph_ids
    alone = tfprof.load(model[0], runs[0], model[1]).profile
    stored = dataset.graph(graph)
    assert not stored.steps
    assert stored.nodes.name.tolist() == alone.nodes.name.tolist()
    expected, _ = with_float_ops(alone, "all")
    counted, _ = with_float_ops(stored, "all")
    assert counted.nodes.float_ops.tolist() == expected.nodes.float_ops.tolist()
    assert expected.nodes.float_ops.any()
