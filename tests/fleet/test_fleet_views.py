"""Views of gathered fleets: what single workers add up to, what the text says, what is an error."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import paths
import tfprof
from fleet_datasets import write_dataset
from fleet_files import write_fleet
from fleet_parts import store
from tfprof import cli
from tfprof.errors import UsageError
from tfprof.fleet.statistics import Percentile
from tfprof.tables.fields import METRICS
from tfprof.tables.statistics import STATS
from traced_peak import peak_and

if TYPE_CHECKING:
    from tfprof.results.fleet import Fleet
    from tfprof.results.loaded import Loaded
    from tfprof.results.report import Report

    Gathered = tuple[dict[str, Loaded], Fleet]

SAMPLED = [metric for metric in METRICS if metric != "params"]
FLOPS = ("log", "all", "tensorflow")
REAL = paths.DATA / "fleet"


def load_worker(folder: Path, graph: Path, op_log: Path) -> Loaded:
    return tfprof.load(graph, sorted(folder.glob("run_meta_*")), op_log)


def written(folder: Path, graph: str) -> Gathered:
    truth = write_fleet(folder, workers=3, steps=2, graph=graph)
    workers = {}
    for name in truth.workers:
        own = folder if graph == "shared" else folder / name
        workers[name] = load_worker(folder / name, own / "graph.pbtxt", own / "tfprof_log")
    return workers, tfprof.fleet(write_dataset(folder / "fleet", workers))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    """Three workers with two steps each."""
    return written(tmp_path_factory.mktemp("shared"), "shared")


@pytest.fixture(scope="module")
def different(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    """The same; the graph of the last worker has one layer more."""
    return written(tmp_path_factory.mktemp("different"), "different")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    """The runs of a real cluster, gathered. Two workers have smaller batches than the third."""
    target = tmp_path_factory.mktemp("real") / "fleet"
    tfprof.gather_fleet(REAL, target, processes=1)
    workers = {
        folder.name: load_worker(folder, REAL / "graph.pbtxt.gz", REAL / "tfprof_log.gz")
        for folder in sorted(REAL.glob("worker_*"))
    }
    return workers, tfprof.fleet(target)


def totals(report: Report) -> dict[Any, Any]:
    """Own and total numbers of each row by the names from the root to it."""
    paths: list[tuple[str, ...]] = []
    result = {}
    for row in report.rows:
        above = () if row.parent is None or report.view == "op" else paths[row.parent]
        paths.append((*above, row.name))
        columns = [n for n in report.columns if n.startswith(("own_", "total_"))]
        result[paths[-1]] = {n: getattr(row, n) or 0 for n in columns if not n.endswith("defined")}
    return result


# Another graph draws another tree: only scopes and types are the same.
@pytest.mark.parametrize(
    ("which", "view"),
    [
        *(("shared", view) for view in ("scope", "graph", "op")),
        *(pytest.param("real", view, marks=pytest.mark.whole) for view in ("scope", "graph")),
        ("real", "op"),
        ("real", "code"),
        ("different", "scope"),
        ("different", "op"),
    ],
)
def test_sums_are_those_of_single_workers(
    which: str, view: str, request: pytest.FixtureRequest
) -> None:
    workers, fleet = request.getfixturevalue(which)
    options = {"select": SAMPLED, "order_by": "name", "max_depth": 1000, "flops": "all"}
    single = [
        totals(loaded.ask(view, {**options, "step": step}))
        for loaded in workers.values()
        for step in loaded.steps
    ]
    compared = 0
    for row, numbers in totals(fleet.ask(view, {**options, "stat": "sum"})).items():
        if view == "op" and not all(row in sample for sample in single):
            continue  # a total counts the rows behind it
        for name, number in numbers.items():
            expected = sum(sample[row][name] for sample in single if row in sample)
            assert number == expected, (row, name)
            compared += bool(expected)
    assert compared > 30


def test_float_ops_are_by_the_shapes_of_each_run(real: Gathered) -> None:
    _, fleet = real
    reports = [fleet.scope(select=["float_ops"], worker=f"worker_{at}") for at in range(3)]
    first, second, larger_batch = (report.rows[0].total_float_ops for report in reports)
    assert first == second < larger_batch


def test_an_incomplete_fleet_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_fleet(tmp_path / "runs", workers=3, steps=3)
    (tmp_path / "runs" / "worker_1" / "run_meta_2").write_bytes(b"damaged")
    fleet = str(tmp_path / "fleet")
    tfprof.gather_fleet(tmp_path / "runs", fleet, processes=1)
    skipped = "1 file was skipped (1 damaged): see 'tfprof info'"
    lacks = "1 worker has fewer steps than others: worker_1 has 2 of 3 steps"
    for command in (["op", "--stat=sum"], ["workers"]):
        for form in ([], ["--format=json"], ["--format=md"], ["--format=csv"]):
            assert cli.run([*command, fleet, *form]) == 0
            out, err = capsys.readouterr()
            is_csv = form == ["--format=csv"]  # which has rows alone
            says, silent = (err, out) if is_csv else (out, err)
            assert skipped in says
            assert skipped not in silent
            assert lacks in says.replace(r"\_", "_")  # as Markdown has it
    assert tfprof.fleet(fleet).op(worker="worker_1").sentences == (skipped,)
    answer = tfprof.fleet(fleet).sql("select sum(micros) as micros from rows")
    assert str(answer).endswith(f"\n\n{skipped}\n{lacks}")
    assert json.loads(b"".join(answer.pieces("json")))["incomplete"] == [skipped, lacks]


def test_rows_are_filtered_and_sorted_by_the_statistic(shared: Gathered) -> None:
    _, fleet = shared
    for stat in STATS:
        every = fleet.op(stat=stat, select=["micros"], max_depth=1000).rows[1:]
        numbers = [row.own_micros for row in every]
        assert numbers == sorted(numbers, reverse=True)
        least = int(numbers[3])
        above = [row.name for row in fleet.scope(stat=stat, max_depth=1000, min_micros=least)]
        rows = fleet.scope(stat=stat, max_depth=1000).rows
        assert above == [r.name for r in rows if r.parent is None or r.total_micros >= least]
        assert len(above) < len(rows)


def test_input_shapes_have_the_statistic_of_their_nodes(shared: Gathered) -> None:
    workers, fleet = shared
    report = fleet.op(stat="p90", select=["input_shapes", "micros"], max_depth=1000)
    groups = {row.name: row.input_shape_groups for row in report.rows}
    samples = [
        {row.name: row.input_shape_groups for row in loaded.op(
            step=step, select=["input_shapes"], max_depth=1000, order_by="name")}
        for loaded in workers.values()
        for step in loaded.steps
    ]  # fmt: skip
    assert len(groups["MatMul"]) == 2
    for group in groups["MatMul"]:
        each = [g for sample in samples for g in sample["MatMul"] if g["shapes"] == group["shapes"]]
        assert group["micros"] == np.percentile([g["micros"] for g in each], 90)
        assert group["runs"] == np.percentile([g["runs"] for g in each], 90)


def test_a_device_is_that_of_the_worker_or_of_all(shared: Gathered) -> None:
    _, fleet = shared
    shown: dict[str, Any] = {"show_name_regexes": ["layer_1/(MatMul|weights)"]}
    for worker, task in (({}, "*"), ({"worker": "worker_2"}, "2")):
        report = fleet.scope(select=["device"], **shown, **worker)
        devices = {row.name: row.devices for row in report}
        assert devices["layer_1/MatMul"] == [f"/job:worker/replica:0/task:{task}/device:gpu:0"]
        assert "*" not in devices["layer_1/weights"][0]


def test_nodes_of_other_graphs_are_counted_and_noted(different: Gathered) -> None:
    workers, fleet = different
    extra = {row.name for row in workers["worker_2"].scope(max_depth=1000)} - {
        row.name for row in workers["worker_0"].scope(max_depth=1000)
    }
    assert extra
    report = fleet.scope(stat="max", max_depth=1000)
    assert extra <= {row.name for row in report if row.total_micros}
    assert any("2 graphs" in str(note) for note in report.notes)
    only = fleet.scope(stat="max", worker=["worker_[01]"], max_depth=1000)
    assert not any(row.total_micros for row in only if row.name in extra)


@pytest.mark.parametrize("chosen", [[0], [2], [0, 1], [1, 2], [0, 1, 2]])
def test_numbers_of_workers_are_those_of_the_graphs_that_they_ran(
    different: Gathered, chosen: list[int]
) -> None:
    workers, fleet = different
    options: dict[str, Any] = {
        "select": ["params", "float_ops", "micros", "bytes"], "order_by": "name",
        "max_depth": 1000, "flops": "all",
    }  # fmt: skip
    names = [f"worker_{number}" for number in chosen]
    report = fleet.scope(**options, worker=names, stat="sum")
    single = [
        workers[name].scope(**options, step=step) for name in names for step in workers[name].steps
    ]
    expected: dict[Any, dict[str, int]] = {}
    for sample in single:
        for row, numbers in totals(sample).items():
            known = expected.setdefault(row, dict.fromkeys(numbers, 0))
            for name, number in numbers.items():
                known[name] = max(known[name], number) if "params" in name else known[name] + number
    assert totals(report) == expected
    larger = 2 in chosen
    assert report.rows[0].total_params == (64 * 64 + 64) * (13 if larger else 12)
    assert str(report.flops) in {str(sample.flops) for sample in single}
    assert any("2 graphs" in str(note) for note in report.notes) == (larger and len(chosen) > 1)
    of_fleet, of_worker = fleet.chosen(names).summary().rows, workers[names[-1]].summary().rows
    assert [row["parameters"] for row in of_fleet] == [row["parameters"] for row in of_worker]


def test_nodes_of_other_graphs_keep_types_and_inputs(different: Gathered) -> None:
    _, fleet = different
    trained = fleet.scope(account_type_regexes=["_trainable_variables"], select=["params"])
    assert trained.rows[0].total_params == 13 * (64 * 64 + 64)
    options: dict[str, Any] = {"max_depth": 1000, "order_by": "name", "select": ["micros"]}
    below = "layer_12/(BiasAdd|MatMul|weights/read)"
    chain = [row.name for row in fleet.graph(**options, show_name_regexes=[below])]
    assert chain[1:] == ["layer_12/BiasAdd", "layer_12/MatMul", "layer_12/weights/read"]


@pytest.mark.parametrize("stat", ["sum", "p90"])
def test_a_question_that_is_changed_is_answered_for_its_own_step(
    different: Gathered, stat: str
) -> None:
    fleet = different[1]
    options: dict[str, Any] = {"select": ["micros"], "order_by": "name", "max_depth": 1000}
    fresh = {
        step: totals(tfprof.fleet(fleet.dataset.storage.root).op(**options, stat=stat, step=step))
        for step in (-1, 0, 1)
    }
    assert fresh[0] != fresh[1] != fresh[-1]
    fleet = tfprof.fleet(fleet.dataset.storage.root)
    every = fleet.op(**options, stat=stat)
    for step in (0, 1):
        changed = every.asked(step=step)
        assert totals(changed) == fresh[step]
        assert "over 3 worker steps" in str(changed.answer.counted.samples)
        assert totals(fleet.op(**options, stat=stat, step=step)) == fresh[step]
    assert totals(every.asked(step=0).asked(step=None)) == fresh[-1]


def test_float_ops_do_not_depend_on_what_was_asked_before(shared: Gathered) -> None:
    options: dict[str, Any] = {"select": ["float_ops"], "stat": "sum", "max_depth": 1000}
    path = shared[1].dataset.storage.root
    fresh = {flops: totals(tfprof.fleet(path).scope(**options, flops=flops)) for flops in FLOPS}
    assert fresh["log"] != fresh["all"]
    fleet = tfprof.fleet(path)
    first = fleet.scope(**{**options, "select": ["micros"]}, flops="all")
    assert totals(first.asked(select=("float_ops",), flops="log")) == fresh["log"]
    for flops in FLOPS:
        assert totals(fleet.scope(**options, flops=flops)) == fresh[flops]


HALF = 2**62


def test_sums_beyond_64_bits_are_refused_and_means_are_right(tmp_path: Path) -> None:
    store(tmp_path / "fits", w1={0: [HALF, 3]}, w2={0: [HALF - 9, 5]})
    root, *nodes = tfprof.fleet(tmp_path / "fits").scope(stat="sum", select=["micros"]).rows
    assert root.total_micros == 2**63 - 1
    assert [row.own_micros for row in nodes] == [2 * HALF - 9, 8]
    store(tmp_path / "node", w1={0: [HALF, 3]}, w2={0: [HALF, 5]})
    store(tmp_path / "root", w1={0: [HALF, 3]}, w2={0: [3, HALF]})
    for name, largest in (("node", HALF), ("root", HALF // 2)):
        fleet = tfprof.fleet(tmp_path / name)
        with pytest.raises(UsageError, match="the sum of micros over 2 worker steps does not fit"):
            fleet.scope(stat="sum", select=["micros"], order_by="name").text()
        assert fleet.scope(stat="sum", select=["bytes"]).rows[0].total_bytes == 0
        mean = fleet.scope(select=["micros"], order_by="micros")
        assert [row.total_micros for row in mean.rows[:2]] == [float(HALF), float(largest)]
    twice = ["VariableV2", "Variable.*"]  # counts each node twice
    with pytest.raises(UsageError, match="does not fit"):
        tfprof.fleet(tmp_path / "fits").op(stat="sum", account_type_regexes=twice)


# --- what the numbers are -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stat", "what", "further"),
    [("sum", "sum", ""), ("p90", "90th percentile", "; rows do not add up to their totals")],
)
def test_every_form_says_what_the_numbers_are(
    shared: Gathered, stat: str, what: str, further: str
) -> None:
    report = shared[1].op(stat=stat)
    sentence = f"{stat}: each number is the {what} over 6 worker steps (3 workers){further}"
    assert f"\n{sentence}\nnode name |" in report.text()
    document = json.loads(b"".join(report.pieces("json")))
    assert sentence in [note["text"] for note in document["notes"]]
    assert document["fleet"] == {
        "stat": stat, "adds_up": stat == "sum", "workers": 3, "worker_steps": 6,
            "incomplete": [],
    }  # fmt: skip
    for form in ("md", "table"):
        assert sentence in b"".join(report.pieces(form)).decode()
    assert sentence in report._repr_html_()
    shares = [column.whole for column in report.table().columns if column.name == "own_micros"]
    assert bool(shares[0]) == (stat == "sum")  # parts of what does not add up are no shares


def test_data_frames_hold_the_same_numbers(shared: Gathered) -> None:
    report = shared[1].op(stat="p99", select=["micros", "input_shapes", "float_ops"])
    for frame in (report.to_pandas(), report.to_polars()):
        assert frame["own_micros"].to_list() == [row.own_micros for row in report.rows]
    arrow = report.to_arrow()
    assert str(arrow.schema.field("own_micros").type) == "double"
    assert str(shared[1].op(stat="sum").to_arrow().schema.field("own_micros").type) == "int64"
    lines = b"".join(report.pieces("csv")).decode().splitlines()
    column = lines[0].split(",").index("own_micros")
    assert float(lines[2].split(",")[column]) == report.rows[1].own_micros


def test_the_message_holds_sums(shared: Gathered) -> None:
    report = shared[1].op(stat="sum", order_by="name", max_depth=1000)
    message, row = report.proto(), report.rows[1]
    assert message.children[0].exec_micros == row.own_micros
    nodes = message.children[0].graph_nodes
    assert sum(node.exec_micros for node in nodes) == row.own_micros
    with pytest.raises(UsageError, match="output proto holds whole numbers only"):
        shared[1].op(stat="p90").proto()


# --- what cannot be asked -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["op", "FLEET", "--stat=p95"], "stat has no 'p95'; did you mean 'p99'?"),
        (["op", "FLEET", "--worker=wroker_1"], "no worker matches 'wroker_1'; did you mean"),
        (["op", "FLEET", "--worker=1"], "no worker matches '1' (a regex matches the whole name)"),
        (["op", "FLEET", "--step=7"], "there is no step 7 (steps: 0, 1)"),
        (["scope", "FLEET", "--select=tensor_value"], "a fleet has no tensor_value"),
        (["scope", "FLEET", "--output=timeline:outfile=x.json"], "a fleet has no output timeline"),
        (["op", "FLEET", "--output=pprof:outfile=x.pb"], "a fleet has no output pprof"),
        (["op", "FLEET", "--output=proto:outfile=x.pb"], "output proto holds whole numbers only"),
        (["overview", "FLEET"], "summary, scope, graph, op, code, explain, page, workers"),
        (["advise", "FLEET"], "advise takes no fleet; these do: "),
        (["op", "FLEET", "GRAPH"], "is a fleet, with a graph and runs of its own: leave out"),
        (["op", "GRAPH", "--stat=p90"], "stat is for a fleet, and these files are none"),
        (["op", "GRAPH", "--worker=x"], "worker is for a fleet, and these files are none"),
    ],
)
def test_errors_are_one_sentence(
    shared: Gathered, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = shared[1].dataset.storage.path("")
    places = {"FLEET": path, "GRAPH": str(Path(path).parent / "graph.pbtxt")}
    assert cli.run([places.get(word, word) for word in words]) == UsageError.exit_code
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("tfprof: ")
    assert sentence in error


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"stat": 90}, "stat takes one of mean, sum"),
        ({"worker": 3}, "worker takes a regex or a list of them, not 3"),
        ({"worker": "("}, "not a valid regex"),
    ],
)
def test_wrong_arguments_are_usage_errors(
    shared: Gathered, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError) as raised:
        shared[1].op(**options)
    assert sentence in str(raised.value)
    with pytest.raises(UsageError, match="is for a fleet"):
        shared[0]["worker_0"].op(**options)


def test_the_command_prints_what_python_gives(
    shared: Gathered, capsys: pytest.CaptureFixture[str]
) -> None:
    path = shared[1].dataset.storage.path("")
    line = ["scope", path, "--stat=max", "--worker=worker_[12]", "--step=1", "--max_depth=3"]
    assert cli.run(line) == 0
    report = shared[1].scope(stat="max", worker="worker_[12]", step=1, max_depth=3)
    assert capsys.readouterr().out == report.text()
    assert "max: each number is the maximum over 2 worker steps (2 workers)" in report.text()


# --- percentiles ----------------------------------------------------------------------------------


def test_a_percentile_of_many_blocks_is_that_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfprof.fleet.statistics._BLOCK_BYTES", 7 * 8 * 5)
    rng = np.random.default_rng(0)
    samples = rng.integers(-9, 9, (40, 7)) * rng.choice([0, 1, 300, 10**6, 10**13], (40, 1))
    samples[3:17] = 0
    for name in ("p50", "p90", "p99"):
        gathering = Percentile(STATS[name], 7)
        for sample in samples:
            gathering.add(sample)
        expected = np.percentile(samples, STATS[name].percent, axis=0)
        assert gathering.result().tolist() == expected.tolist()


def test_memory_of_a_percentile_does_not_grow_with_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfprof.fleet.statistics._BLOCK_BYTES", 1 << 18)

    def gather(samples: int) -> None:
        gathering = Percentile(STATS["p90"], 100)
        for number in range(samples):
            gathering.add(np.arange(100) * number)
        gathering.result()

    _, few, many = (peak_and(partial(gather, count))[0] for count in (10, 1_000, 20_000))
    assert many < 1.3 * few


@pytest.mark.whole
def test_memory_of_an_answer_does_not_grow_with_workers(
    shared: Gathered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfprof.fleet.statistics._BLOCK_BYTES", 1 << 16)
    loaded = shared[0]["worker_0"]

    def peak(workers: int) -> int:
        names = [f"worker_{number}" for number in range(workers)]
        path = write_dataset(tmp_path / str(workers), dict.fromkeys(names, loaded))
        return peak_and(partial(tfprof.fleet(path).scope, stat="p90"))[0]

    peak(2)
    assert peak(40) < 1.6 * peak(5)
