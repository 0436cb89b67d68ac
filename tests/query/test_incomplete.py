"""A total that does not count everything says so, in every format; TensorFlow writes the models.

Nothing expected here comes from tfprof: what a graph hides, and the size of what it does not hide,
is worked out beside each test.
"""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any, Final

import pytest

import tfprof
from case import GraphDef
from model_files import worker
from printed import printed
from tfprof import cli
from tfprof.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from forked import Forked

ADDED_UP: Final = "Float operations add up 2 signatures: {}; give --signature to count one."
COSTS: Final = ["float_ops", "multiply_adds", "activation_bytes"]


@pytest.fixture(scope="module")
def models(tensorflow: Forked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("incomplete")
    tensorflow.script(worker("incomplete"), str(folder))
    return folder


def by_name(report: Any) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in report.rows}


def lines(report: Any) -> dict[str, str]:
    """The exact totals below the table."""
    labels = ("Parameters", "Parameter bytes", "Float operations", "Multiply-adds")
    text = str(report).splitlines()
    return {
        label: line.removeprefix(label).strip()
        for label in (*labels, "Activation bytes")
        for line in text
        if line.startswith(f"{label}  ")
    }


def test_a_layer_of_unknown_shape_has_no_plain_number(models: Path) -> None:
    """The product and the Relu in `dense` have no known size; the sum in `head` has 2·3."""
    report = tfprof.load(models / "dense").summary()
    rows = by_name(report)
    assert [rows["dense"][name] for name in COSTS] == [None, None, None]
    assert rows["dense"]["incomplete"] == COSTS
    assert [rows["head"][name] for name in COSTS] == [6, 0, 24]
    assert rows["head"]["incomplete"] == []
    assert (report.total["float_ops"], report.total["multiply_adds"]) == (6, None)
    assert report.total_incomplete == COSTS
    assert (report.total["parameters"], rows["dense"]["trainable"]) == (12, 12)
    told = lines(report)
    assert told["Float operations"] == "≥ 6"
    assert told["Multiply-adds"] == "?"
    assert told["Activation bytes"] == "≥ 24"
    assert told["Parameters"] == "12 (12 trainable, 0 not)"


def test_a_gru_of_unknown_shape_has_no_plain_total(models: Path) -> None:
    """Keras: 3·5·(4 + 5 + 2) = 165 parameters; none of its products has a known size."""
    report = tfprof.load(models / "gru").summary()
    assert report.total["parameters"] == 165
    assert report.total_incomplete == COSTS
    assert report.total["multiply_adds"] is None
    told = lines(report)
    assert told["Float operations"].startswith(("≥ ", "?"))
    assert told["Multiply-adds"] == "?"
    (gru,) = (row for row in report.rows if row["parameters"] == 165)
    assert set(gru["incomplete"]) == set(COSTS)


def test_convolutions_in_text_format_are_not_zero(models: Path) -> None:
    """Parameters 3·3·3·4 + 3·3·4·6 = 324; the image that they meet has no known size."""
    report = tfprof.load(models / "conv.pbtxt").summary()
    assert report.total["parameters"] == 3 * 3 * 3 * 4 + 3 * 3 * 4 * 6
    assert report.total["multiply_adds"] is report.total["float_ops"] is None
    assert {"float_ops", "multiply_adds"} <= set(report.total_incomplete)
    for row in report.rows:
        assert row["float_ops"] is None
    assert lines(report)["Multiply-adds"] == "?"


def test_an_operation_without_a_rule_makes_lower_bounds(models: Path) -> None:
    """AdjustHue has no rule; the sum has 2·3·3·3 = 54 elements of 4 bytes, and so has the image."""
    report = tfprof.load(models / "hue").summary()
    rows = by_name(report)
    assert (rows["colour"]["float_ops"], rows["sum"]["float_ops"]) == (None, 54)
    assert rows["colour"]["incomplete"] == ["float_ops", "multiply_adds"]
    assert report.total_incomplete == ["float_ops", "multiply_adds"]
    assert report.total["activation_bytes"] == 2 * 54 * 4
    assert "≥ 54" in str(report)


@pytest.mark.parametrize("name", ["loop", "old_loop.pb"])
def test_a_loop_that_counts_once_makes_lower_bounds(models: Path, name: str) -> None:
    """One product of 2x4 and 4x4 is 2·4·4 = 32 multiply-adds; how often it runs is not known."""
    report = tfprof.load(models / name).summary()
    assert report.total["multiply_adds"] == 32
    assert report.total_incomplete == COSTS
    assert lines(report)["Multiply-adds"] == "≥ 32"
    assert any("once" in sentence for sentence in report.sentences)
    root = tfprof.load(models / name).scope(select=["float_ops"]).rows[0]
    assert root.incomplete == ["total_float_ops"]


def test_signatures_that_are_added_up_are_named(models: Path) -> None:
    """2·4·3 and 5·4·3 multiply-adds."""
    both = tfprof.load(models / "two").summary()
    assert ADDED_UP.format("encode, predict") in both.sentences
    assert both.total["multiply_adds"] == 24 + 60
    one = tfprof.load(models / "two", signature="encode").summary()
    assert one.total["multiply_adds"] == 24
    assert not any("add up" in sentence for sentence in one.sentences)


def test_traces_that_are_added_up_are_named(models: Path, tmp_path: Path) -> None:
    loaded = tfprof.load(models / "traces" / "saved_model.pb")
    sentence = ADDED_UP.format("product, product_1")
    assert sentence in loaded.summary().sentences
    loaded.convert(tmp_path / "converted")
    assert sentence in tfprof.load(profile=tmp_path / "converted").summary().sentences


def test_a_program_that_runs_eagerly_is_unknown(
    models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Keras: 4·3 + 3 parameters; the capture holds no function, so nothing else is known."""
    made = json.loads(printed(capsys, "summary", models / "eager", "--format=json"))
    assert made["total"]["parameters"] == 15
    assert [made["total"][name] for name in COSTS] == [None, None, None]
    assert made["total_incomplete"] == [COSTS[0], "flops_per_second", *COSTS[1:]]
    assert any("unknown" in one and "run_eagerly=True" in one for one in made["sentences"])
    # Without the model, not even the parameters are known.
    assert cli.run(["summary", str(models / "eager_alone")]) == InputError.exit_code
    error = capsys.readouterr().err
    assert "parameters and float operations are unknown" in error
    assert "run_eagerly=True" in error


@pytest.mark.parametrize("folder", ["eager", "eager_alone"])
def test_eager_operations_of_a_trace_are_not_zero(
    models: Path, folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["op", str(models / folder), "--select=float_ops", "--flops=all", "--max_depth=99"]
    made = json.loads(printed(capsys, *words, "--format=json"))
    rows = {row["name"]: row for row in made["rows"]}
    assert rows["_TFProfRoot"]["total_float_ops"] is None
    assert rows["MatMul"]["own_float_ops"] is None
    assert rows["MatMul"]["incomplete"] == ["own_float_ops", "total_float_ops"]
    assert rows["ReadVariableOp"]["own_float_ops"] == 0
    assert {"op": "MatMul", "nodes": 1, "why": "not in the graph"} in made["flops"]["uncounted"]


# --- every format ------------------------------------------------------------------------------


def test_formats_of_a_summary(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("summary", models / "dense")
    made = json.loads(printed(capsys, *words, "--format=json"))
    assert made["total_incomplete"] == COSTS
    assert [row["incomplete"] for row in made["rows"]] == [COSTS, []]
    rows = list(csv.DictReader(io.StringIO(printed(capsys, *words, "--format=csv"))))
    assert [row["incomplete"] for row in rows] == ["|".join(COSTS), ""]
    assert [row["float_ops"] for row in rows] == ["", "6"]
    table = printed(capsys, *words, "--format=md").splitlines()
    # layer, parameters, trainable, not; float operations, multiply-adds, bytes, activations
    assert table[2] == "| dense | ? | 12 | 12 | 0 | ? | ? | 48 B | ? |"
    assert table[4] == "| **total** |  | 12 | 12 | 0 | ≥ 6 | ? | 48 B | ≥ 24 B |"
    total = next(line for line in printed(capsys, *words).splitlines() if line.startswith("Total"))
    assert total.split() == ["Total", "12", "0", "≥", "6", "?", "48", "B", "≥", "24", "B"]
    frame = tfprof.load(models / "dense").summary().to_pandas()
    assert frame["incomplete"].tolist() == [COSTS, []]
    assert frame["float_ops"].isna().tolist() == [True, False]


def test_formulas_are_lower_bounds_too(models: Path) -> None:
    """A part with an open batch and a part without a rule: 3 elements a row are added."""
    graph = GraphDef()
    x = graph.node.add(name="x", op="Placeholder")
    x.attr["dtype"].type = 1
    x.attr["shape"].shape.dim.add(size=-1)
    x.attr["shape"].shape.dim.add(size=3)
    for name, op in (("a/Add", "AddV2"), ("b/Own", "SomebodysOwn")):
        graph.node.add(name=name, op=op, input=["x", "x"]).attr["T"].type = 1
    path = models / "formula.pb"
    path.write_bytes(graph.SerializeToString())
    report = tfprof.load(path).summary()
    assert report.total["float_ops"] == "3*batch"
    assert report.total_incomplete == COSTS
    assert lines(report)["Float operations"] == "≥ 3·batch"
    assert "≥ 3·batch  " in str(report)


def test_a_variable_of_unknown_shape_makes_parameters_a_lower_bound(tensorflow: Forked) -> None:
    program = """
import sys
import tensorflow as tf
v1 = tf.compat.v1
with tf.Graph().as_default() as graph:
    x = v1.placeholder(tf.float32, [2, 4])
    with v1.variable_scope("a"):
        x = x @ v1.Variable(tf.ones([4, 3]), use_resource=False)
    with v1.variable_scope("b"):
        start = v1.placeholder(tf.float32)
        x = x + v1.Variable(start, validate_shape=False, use_resource=False)
    print(graph.as_graph_def().SerializeToString().hex())
"""
    ran = tensorflow(program)
    assert ran.code == 0, ran.told
    data = bytes.fromhex(ran.out.decode())
    loaded = tfprof.load(graph=data)
    report = loaded.summary()
    rows = by_name(report)
    assert (rows["a"]["parameters"], rows["b"]["parameters"]) == (12, None)
    assert report.total["parameters"] == 12
    assert {"parameters", "parameter_bytes"} <= set(report.total_incomplete)
    assert "parameters" not in rows["a"]["incomplete"]
    assert lines(report)["Parameters"] == "≥ 12 (trainable: unknown)"
    assert any(one.startswith("Parameters: at least these.") for one in report.sentences)
    by_scope = loaded.scope(select=["params"])
    said = "params does not count 1 variable of unknown shape, such as 'b/Variable'"
    assert [str(note) for note in by_scope.coverage] == [said]
    scopes = {row.name: row for row in by_scope.rows}
    assert scopes["b"].total_params is None
    assert scopes["b"].incomplete == ["total_params"]
    assert scopes["a"].incomplete == []
    assert scopes["_TFProfRoot"].incomplete == ["total_params"]


def test_a_variable_that_a_function_captured_has_no_size_in_views(models: Path) -> None:
    graph = GraphDef()
    graph.node.add(name="w", op="Placeholder").attr["dtype"].type = 20  # DT_RESOURCE
    graph.node.add(name="w/Read", op="ReadVariableOp", input=["w"]).attr["dtype"].type = 1
    graph.node.add(name="table", op="Placeholder").attr["dtype"].type = 20
    path = models / "captured.pb"
    path.write_bytes(graph.SerializeToString())
    report = tfprof.load(path).scope(select=["params"])
    assert [str(note) for note in report.coverage] == [
        "params does not count 1 variable of unknown shape, such as 'w'"
    ]
    rows = {row.name: row for row in report.rows}
    assert (rows["w"].total_params, rows["_TFProfRoot"].total_params) == (None, None)
    assert (rows["table"].total_params, rows["table"].incomplete) == (0, [])


# --- standard error ----------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["stdout", "pprof", "proto"])
def test_what_is_not_counted_is_the_first_line_on_stderr(
    models: Path, tmp_path: Path, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The note on nodes that were left out comes with the model, and is printed behind it."""
    target = "stdout" if output == "stdout" else f"{output}:outfile={tmp_path / 'out'}"
    words = [f"--graph_path={models / 'dense' / 'saved_model.pb'}", "--select=float_ops"]
    assert cli.run(["graph", *words, "--flops=all", f"--output={target}"]) == 0
    out, err = capsys.readouterr()
    first, second, *_ = err.splitlines()
    assert first.startswith("float_ops counts 1 of the graph's 4 operations; not counted:")
    assert "no output needs" in second
    assert "≥" not in out


def test_a_timeline_has_it_first_on_stderr(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (trace,) = (models / "eager_alone").glob("plugins/profile/*/*.xplane.pb")
    words = [f"--trace_path={trace}", "--select=micros,float_ops", "--flops=all"]
    assert cli.run(["scope", *words, f"--output=timeline:outfile={tmp_path / 'out'}"]) == 0
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith("float_ops counts 0 of the run's ")


def test_python_prints_it_first(tensorflow: Forked, models: Path) -> None:
    path = models / "dense" / "saved_model.pb"
    program = f"""
import tfprof
options = {{"select": ["float_ops"], "output": "stdout", "max_depth": 9}}
tfprof.profile({str(path)!r}, cmd="op", options=options, flops="all")
"""
    ran = tensorflow(program)
    assert ran.code == 0, ran.told
    assert ran.told.startswith("float_ops counts 1 of the graph's 4 operations; not counted:")
    assert b"\xe2\x89\xa5" not in ran.out


def test_an_error_comes_after_the_notes_of_its_files(
    models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["scope", str(models / "dense"), "--step=3"]) == 2
    _, note, error = capsys.readouterr().err.splitlines()
    assert "no output needs" in note
    assert "there is no step 3" in error
