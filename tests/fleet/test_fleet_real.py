"""A real fleet: three workers and two parameter servers of TensorFlow, four steps each.

Expectations come from reading one worker at a time, as `tfprof scope` does.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

import tfprof
from fleet_engine import HereEngine
from profiles import DATA
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.gather import gather

if TYPE_CHECKING:
    from tfprof.model import Profile

_FLEET = DATA / "fleet"
_WORKERS = ("worker_0", "worker_1", "worker_2")
_STEPS = (101, 102, 103, 104)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    target = tmp_path_factory.mktemp("real") / "fleet"
    gather([str(_FLEET)], str(target), engine=HereEngine())
    return Dataset.open(str(target))


@cache
def _alone(worker: str) -> Profile:
    runs = [_FLEET / worker / f"run_meta_{step}.gz" for step in _STEPS]
    return tfprof.load(_FLEET / "graph.pbtxt.gz", runs, _FLEET / "tfprof_log.gz").profile


def test_workers_and_steps_come_from_the_paths(dataset: Dataset) -> None:
    assert dataset.workers == [*_WORKERS]
    table = dataset.steps([])
    pairs = sorted(zip(table["worker"].to_pylist(), table["step"].to_pylist(), strict=True))
    assert pairs == [(worker, step) for worker in _WORKERS for step in _STEPS]
    assert not dataset.manifest.skipped
    assert len(dataset.graph_ids) == 1


@pytest.mark.parametrize("metric", ["micros", "cpu_micros", "occurrence", "bytes", "output_bytes"])
def test_rows_add_up_to_each_worker_s_own_profile(dataset: Dataset, metric: str) -> None:
    found: dict[tuple[str, int, str], int] = {}
    for batch in dataset.scan(["name", metric]):
        table = batch.table
        names, values = table["name"].to_pylist(), table[metric].to_pylist()
        for worker, step, rows in batch.samples():
            for name, value in zip(names[rows], values[rows], strict=True):
                key = worker, step, name
                found[key] = found.get(key, 0) + value
    for worker in _WORKERS:
        profile = _alone(worker)
        names = [name.decode() for name in profile.nodes.name]
        for place, step in enumerate(_STEPS):
            values = profile.values(metric, place).tolist()
            for name, value in zip(names, values, strict=True):
                assert found.get((worker, step, name), 0) == value, (worker, step, name)


def test_variables_are_on_the_servers_that_held_them(dataset: Dataset) -> None:
    held: dict[str, dict[str, int]] = {}
    for batch in dataset.scan(["name", "op", "device", "params"]):
        for row in batch.table.to_pylist():
            if row["op"] == "VariableV2":
                held.setdefault(row["device"], {})[row["name"]] = row["params"]
    # The setter places variables in turn: the embedding and both biases on the first server.
    server = "/job:ps/replica:0/task:{}/device:cpu:0".format
    assert held == {
        server(0): {"embedding/table": 4000 * 48, "layer_0/bias": 48, "layer_1/bias": 10},
        server(1): {"layer_0/weights": 48 * 48, "layer_1/weights": 48 * 10, "global_step": 1},
    }


def test_the_worker_with_the_large_batch_takes_longest(dataset: Dataset) -> None:
    table = dataset.steps(["micros"])
    worker, micros = np.array(table["worker"].to_pylist()), table["micros"].to_numpy()
    slowest = min(micros[worker == "worker_2"])
    assert slowest > max(micros[worker != "worker_2"])


def test_workers_names_the_straggler_and_the_large_server(dataset: Dataset) -> None:
    report = tfprof.fleet(dataset.storage.path("")).workers()
    assert [straggler["worker"] for straggler in report.stragglers] == ["worker_2"]
    large, small = report.servers["servers"]
    assert (large["server"], large["variables"], large["parameters"]) == ("ps:0", 3, 192_058)
    assert (small["server"], small["variables"], small["parameters"]) == ("ps:1", 3, 2_785)
    # Floats of four bytes, and the global step of eight.
    held = np.array([4 * 192_058, 4 * 2_784 + 8])
    assert [large["bytes"], small["bytes"]] == held.tolist()
    assert report.servers["skew"] == pytest.approx(held.max() / held.mean())


def test_stat_sum_is_the_sum_of_single_workers(dataset: Dataset) -> None:
    fleet = tfprof.fleet(dataset.storage.path(""))
    alone = sum(
        int(_alone(worker).values("micros", step).sum()) for worker in _WORKERS for step in range(4)
    )
    root = fleet.scope(stat="sum", max_depth=1, select=["micros"]).rows[0]
    assert root.total_micros == alone
