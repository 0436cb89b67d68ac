"""`tfprof workers` on fleets with planted faults; the numbers come from what was planted."""

from __future__ import annotations

import csv
import io
import json
import pickle
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import tfprof
from fleet_datasets import write_dataset
from fleet_engine import HereEngine
from fleet_files import LAYERS, write_fleet
from tfprof import cli
from tfprof.errors import UsageError
from tfprof.fleet import slow_nodes
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.gather import gather
from tfprof.fleet.worker_sums import add_up, step_times
from tfprof.fleet.writer import Writer
from tfprof.writers.workers import text

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleet_files import Truth
    from tfprof.results.workers_report import WorkersReport

    Make = Callable[..., "Written"]


class Written:
    """A gathered fleet, what its files hold, and its report."""

    def __init__(self, folder: Path, **planted: Any) -> None:
        self.truth: Truth = write_fleet(folder / "runs", **planted)
        self.path = str(folder / "fleet")
        gather([str(folder / "runs")], self.path, engine=HereEngine())

    @cached_property
    def report(self) -> WorkersReport:
        return tfprof.fleet(self.path).workers()

    def usual_span(self, worker: str) -> float:
        spans = self.truth.spans
        return median(spans[worker, step] for step in self.truth.steps)

    def usual_micros(self, worker: str, op: str, place: str = "worker") -> float:
        """The median over steps of the time of *op* on devices of *place*."""
        rows = [row for row in self.truth.rows if row.worker == worker and row.op == op]
        rows = [row for row in rows if f"job:{place}" in row.device]
        return median(
            sum(row.micros for row in rows if row.step == step) for step in self.truth.steps
        )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Fleets by what is planted in them, each made once."""
    known: dict[str, Written] = {}

    def make(**planted: Any) -> Written:
        key = repr(planted)
        if key not in known:
            known[key] = Written(tmp_path_factory.mktemp("planted"), **planted)
        return known[key]

    return make


SLOW: Final[dict[str, Any]] = {"slow": ("worker_2", "MatMul", 3.0)}
SLOW_STEP: Final[dict[str, Any]] = {"workers": 3, "steps": 4, "slow_step": (2, 3.0), "skew": 1}


def test_a_planted_straggler_is_named_first(written: Make) -> None:
    fleet = written(**SLOW)
    others = [f"worker_{number}" for number in (0, 1, 3)]
    (one,) = fleet.report.stragglers
    assert one["worker"] == "worker_2"
    assert one["steps_stand_out"]
    assert one["micros"] == fleet.usual_span("worker_2")
    peers = median(map(fleet.usual_span, ["worker_2", *others]))
    assert one["peers_micros"] == pytest.approx(peers, rel=0.01)
    assert one["factor"] == pytest.approx(one["micros"] / peers, rel=0.01)
    assert one["others_wait"] == pytest.approx(1 - peers / one["micros"], rel=0.01)
    (cause,) = one["causes"]
    assert (cause["op"], cause["device"], cause["node"]) == ("MatMul", "gpu:0", None)
    assert cause["micros"] == fleet.usual_micros("worker_2", "MatMul")
    usual = median(fleet.usual_micros(worker, "MatMul") for worker in ["worker_2", *others])
    assert cause["peers_micros"] == usual
    assert cause["factor"] == pytest.approx(3, rel=0.02)
    assert fleet.report.slow_steps == []
    assert fleet.report.rows[0]["worker"] == "worker_2"


def test_an_operation_of_a_few_per_cent(written: Make) -> None:
    fleet = written(workers=6, slow=("worker_1", "BiasAdd", 3.0))
    first = fleet.report.stragglers[0]
    assert first["worker"] == "worker_1"
    assert (first["causes"][0]["op"], first["causes"][0]["device"]) == ("BiasAdd", "cpu:0")
    assert first["factor"] < 1.06


def test_one_slow_node_of_many(written: Make) -> None:
    # The last worker has 13 layers beside 12, and is compared all the same.
    report = written(slow=("worker_1", "layer_3/MatMul", 3.0), graph="different").report
    assert {row["group"] for row in report.rows} == {0}
    one = report.stragglers[0]
    assert one["worker"] == "worker_1"
    assert one["causes"][0]["node"] == "layer_3/MatMul"
    assert one["causes"][0]["factor"] == pytest.approx(3, rel=0.1)


def test_of_a_large_fleet_stragglers_and_some_others_are_looked_at_by_node(
    written: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = written(**SLOW)
    whole = fleet.report.stragglers
    monkeypatch.setattr(slow_nodes, "_MOST_CELLS", 0)
    monkeypatch.setattr(slow_nodes, "_LEAST_WORKERS", 2)
    assert tfprof.fleet(fleet.path).workers().stragglers == whole


def test_a_skewed_server_is_named_first(written: Make) -> None:
    fleet = written(**SLOW_STEP)
    held = fleet.report.servers
    first, second = fleet.truth.server_params
    assert [(row["server"], row["parameters"], row["bytes"]) for row in held["servers"]] == [
        ("ps:1", second, 4 * second), ("ps:0", first, 4 * first)
    ]  # fmt: skip
    assert held["skew"] == 2 * second / (first + second)
    assert held["split"] == {"variable": "embedding/weights", "bytes": 1_280_000, "server": "ps:1"}
    assert all((move["from"], move["to"]) == ("ps:1", "ps:0") for move in held["moves"])
    moved = sum(move["bytes"] for move in held["moves"])
    assert held["skew_after_moves"] == (4 * second - moved) / (2 * (first + second))
    assert fleet.report.stragglers == []


def test_the_time_of_servers(written: Make) -> None:
    fleet = written(**SLOW_STEP)
    worker_steps = len(fleet.truth.spans)
    for row in fleet.report.servers["servers"]:
        task = f"/job:ps/replica:0/task:{row['server'][3:]}/"
        total = sum(each.micros for each in fleet.truth.rows if each.device.startswith(task))
        assert row["micros"] == pytest.approx(total / worker_steps)


def test_a_slow_step_is_named_first(written: Make) -> None:
    fleet = written(**SLOW_STEP)
    (one,) = fleet.report.slow_steps
    assert one["step"] == 2
    assert one["factor"] == pytest.approx(3, rel=0.02)
    assert (one["workers"], one["recorded_by"]) == ([], 3)
    assert one["micros"] == median(fleet.truth.spans[worker, 2] for worker in fleet.truth.workers)
    assert one["causes"][0]["op"] == "MatMul"
    assert fleet.report.stragglers == []


def test_nothing_planted(written: Make) -> None:
    report = written().report
    assert report.stragglers == []
    assert report.slow_steps == []
    assert report.servers["skew"] == 1
    assert report.servers["moves"] == []
    assert "No straggler among 4 workers." in report.text()
    assert "No step stands out among 3." in report.text()
    assert "They are balanced" in report.text()


def test_a_worker_with_one_layer_more_is_no_straggler(written: Make) -> None:
    report = written(workers=4, steps=5, graph="different").report
    assert report.stragglers == []
    assert {row["group"] for row in report.rows} == {0}
    (longer,) = (row for row in report.rows if row["worker"] == "worker_3")
    # It runs 13 layers beside 12, and takes as long for each.
    assert longer["factor"] == pytest.approx(1, abs=0.02)


def test_one_worker_and_one_step(written: Make) -> None:
    report = written(workers=1, steps=1).report
    (row,) = report.rows
    assert (row["factor"], row["spread"], row["share"]) == (None, None, 1.0)
    shown = report.text()
    assert "There is one worker: nothing to compare it with." in shown
    assert "1 step per worker at most" in shown
    assert "No straggler" not in shown


def test_shares_and_spread(written: Make) -> None:
    fleet = written(**SLOW)
    whole = sum(fleet.truth.spans.values())
    for row in fleet.report.rows:
        spans = [fleet.truth.spans[row["worker"], step] for step in fleet.truth.steps]
        assert row["share"] == pytest.approx(sum(spans) / whole)
        assert (row["least_micros"], row["most_micros"]) == (min(spans), max(spans))
        middle = float(np.median(spans))
        distance = float(np.median(np.abs(np.array(spans) - middle)))
        assert row["spread"] == pytest.approx(1.4826 * distance / middle)


def test_sums_by_type_and_device_are_those_of_the_files(written: Make) -> None:
    fleet = written(**SLOW)
    dataset = Dataset.open(fleet.path)
    sums = add_up(dataset, step_times(dataset), {}).sums
    for number, worker in enumerate(fleet.truth.workers):
        for key, place in (("MatMul", "worker"), ("ApplyGradientDescent", "ps")):
            columns = [at for at, each in enumerate(sums.keys) if each.op == key]
            found = sum(sums.micros[number, at] for at in columns)
            if place == "worker":
                assert found == fleet.usual_micros(worker, key)
            else:
                assert {sums.keys[at].device for at in columns} == {"ps:0/cpu:0", "ps:1/cpu:0"}
        at = next(at for at, each in enumerate(sums.keys) if each.op == "Relu")
        assert sums.nodes[number, at] == LAYERS


def test_text_fits_the_screen(written: Make) -> None:
    report = written(**SLOW).report
    for width in (60, 80, 120):
        lines = b"".join(text(report, width)).decode().splitlines()
        assert max(map(len, lines)) <= width
    shown = report.text()
    assert "worker_2 is the straggler: it takes 2.7 times as long as the median worker" in shown
    assert "the time of a step is from its first start to its last end" in shown
    assert " ms" not in [line[:3] for line in shown.splitlines()]


def test_data_formats(written: Make, capsysbinary: Any) -> None:
    path = written(**SLOW).path
    assert cli.run(["workers", path, "--format=json"]) == 0
    document = json.loads(capsysbinary.readouterr().out)
    assert document["schema"] == "tfprof.workers/1"
    assert document["time"] == "span_us"
    assert document["stragglers"][0]["worker"] == "worker_2"
    assert [row["straggler"] for row in document["rows"]] == [True, False, False, False]
    assert cli.run(["workers", path, "--format=csv", "--rows=2"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsysbinary.readouterr().out.decode())))
    assert [row["straggler"] for row in rows] == ["true", "false"]
    assert cli.run(["workers", path, "--format=md"]) == 0
    lines = capsysbinary.readouterr().out.decode().splitlines()
    assert lines[0].startswith("| worker | group | steps |")
    assert any(r"worker\_2 is the straggler" in line for line in lines)


def test_frames(written: Make) -> None:
    report = written(workers=1, steps=1).report
    assert report.to_pandas()["factor"].isna().tolist() == [True]
    assert report.to_polars()["factor"].to_list() == [None]
    assert report.to_arrow()["worker"].to_pylist() == ["worker_0"]
    assert pickle.loads(pickle.dumps(report)).rows == report.rows  # noqa: S301 - our own


def test_an_empty_fleet(tmp_path: Path) -> None:
    Writer.at(str(tmp_path)).commit([], [])
    report = tfprof.fleet(tmp_path).workers()
    assert report.rows == []
    assert report.text().startswith("0 workers, 0 steps")


def test_times_are_sums_of_operations_where_spans_are_unknown(
    written: Make, tmp_path: Path
) -> None:
    runs = Path(written(**SLOW).path).parent / "runs"
    workers = {
        name: tfprof.load(runs / "graph.pbtxt", sorted((runs / name).iterdir())[:2])
        for name in ("worker_1", "worker_2")
    }
    report = tfprof.fleet(write_dataset(tmp_path / "fleet", workers)).workers()
    assert "the time of a step is the sum of its operations" in report.text()
    truth = written(**SLOW).truth
    for row in report.rows:
        sums = [sum(truth.micros(row["worker"], step).values()) for step in (0, 1)]
        assert row["micros"] == median(sums)


def test_only_some_workers(written: Make) -> None:
    fleet = tfprof.fleet(written(**SLOW).path)
    report = fleet.chosen("worker_[013]").workers()
    assert sorted(row["worker"] for row in report.rows) == ["worker_0", "worker_1", "worker_3"]
    assert report.stragglers == []


def test_mistakes(written: Make, tmp_path: Path, capsys: Any) -> None:
    path = written(**SLOW).path
    for words, said in (
        ([], "workers needs one fleet"),
        ([path, path], "workers needs one fleet"),
        ([str(tmp_path)], "is not a fleet; to make one: tfprof fleet SOURCE -o fleet"),
        ([path, "--worker=nobody"], "no worker matches 'nobody'"),
    ):
        assert cli.run(["workers", *words]) == UsageError.exit_code
        assert said in capsys.readouterr().err
    with pytest.raises(UsageError, match="rows takes 0 or more"):
        tfprof.fleet(path).workers(rows=-1)
