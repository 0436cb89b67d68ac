"""The files of tests/support/fleet_files.py hold what its Truth says, read one worker at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import tfprof
from fleet_files import LAYERS, Truth, write_fleet

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.results.loaded import Loaded

_SLOW = ("worker_1", "MatMul", 3.0)


def _of_worker(folder: Path, worker: str, steps: int) -> Loaded:
    runs = [folder / worker / f"run_meta_{step}" for step in range(steps)]
    return tfprof.load(folder / "graph.pbtxt", runs, folder / "tfprof_log")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    folder = tmp_path_factory.mktemp("fleet")
    return folder, write_fleet(folder, 2, 2, slow=_SLOW, slow_step=(1, 2.0), skew=1)


_METRICS = (
    *("micros", "accelerator_micros", "cpu_micros", "occurrence"),
    *("bytes", "peak_bytes", "residual_bytes", "output_bytes"),
)


@pytest.mark.parametrize("metric", _METRICS)
def test_a_worker_s_profile_has_the_numbers(fleet: tuple[Path, Truth], metric: str) -> None:
    folder, truth = fleet
    for worker in truth.workers:
        profile = _of_worker(folder, worker, 2).profile
        names = [name.decode() for name in profile.nodes.name]
        for step in truth.steps:
            values = dict(zip(names, profile.values(metric, step).tolist(), strict=True))
            assert values == truth.total(metric, worker, step)


def test_parameters_and_spans(fleet: tuple[Path, Truth]) -> None:
    folder, truth = fleet
    profile = _of_worker(folder, "worker_0", 2).profile
    layer = 64 * 64 + 64
    assert truth.server_params == [LAYERS // 2 * layer, LAYERS // 2 * layer + 5000 * 64]
    assert profile.values("params", None).sum() == sum(truth.server_params)
    for step in profile.steps:
        end = (step.start_us + step.us).max()
        assert truth.spans["worker_0", step.number] == end - step.start_us.min()


def test_planted_faults(fleet: tuple[Path, Truth]) -> None:
    _, truth = fleet

    def of_type(worker: str, step: int, op: str) -> float:
        rows = [row for row in truth.rows if row[:2] == (worker, step) and row.op == op]
        return float(np.sum([row.micros for row in rows]))

    assert of_type("worker_1", 0, "MatMul") / of_type("worker_0", 0, "MatMul") == pytest.approx(
        3, 0.1
    )
    assert of_type("worker_1", 0, "Relu") / of_type("worker_0", 0, "Relu") == pytest.approx(1, 0.1)
    assert of_type("worker_0", 1, "Relu") / of_type("worker_0", 0, "Relu") == pytest.approx(2, 0.1)
