"""Summaries of graphs small enough to be summed up by hand."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from google.protobuf import text_format

from case import GraphDef, OpLogProto
from printed import printed
from printed_tables import check_sums
from profiles import PROFILES
from small_summaries import (
    FLOAT,
    VARIABLE,
    dims,
    graph_of,
    loaded,
    node,
    perceptron,
    placeholder,
    shapes,
    variable,
)
from tfprof import cli
from tfprof.errors import UsageError
from tfprof.read import Source, load
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from pathlib import Path

HANDMADE: Final = PROFILES["handmade"]


SUMMARY: Final = """\
net
Layer      Output shape  Parameters  Float ops  Mult-adds  Weights  Activations
───────────────────────────────────────────────────────────────────────────────
body       (4, 16)              400      3.20k      1.54k  1.60 kB      1.02 kB
  a        (4, 16)              128      1.02k        512    512 B        256 B
  b        (4, 16)              272      2.11k      1.02k  1.09 kB        512 B
  (other)  (4, 16)                0         64          0      0 B        256 B
head       (4, 3)                48        384        192    192 B         48 B
───────────────────────────────────────────────────────────────────────────────
Total                           448      3.58k      1.73k  1.79 kB      1.07 kB

Parameters        448 (trainable: unknown)
Parameter bytes   1,792
Float operations  3,584
Multiply-adds     1,728
Activation bytes  1,072

float_ops counts all 5 operations of the graph
Trainable: unknown. This file does not record it.
"""


def test_it_is_a_table_of_layers_with_a_total_that_can_be_checked_by_hand() -> None:
    assert str(loaded(*perceptron()).summary()) == SUMMARY


def test_depth_says_how_far_blocks_are_split() -> None:
    rows = loaded(*perceptron()).summary(depth=1).rows
    assert [(row["name"], row["parameters"]) for row in rows] == [("body", 400), ("head", 48)]


def test_open_dimensions_make_formulas() -> None:
    report = loaded(*perceptron("?")).summary()
    assert report.total["multiply_adds"] == "432*batch"
    assert report.total["float_ops"] == "896*batch"
    assert report.total["activation_bytes"] == "268*batch"
    assert report.total["parameters"] == 448
    assert "Open dimensions: batch; --dim batch=N gives numbers." in report.sentences
    assert str(loaded(*perceptron("?")).summary(dims={"batch": 4})) == SUMMARY


def image(size: str) -> list[str]:
    """A convolution with a stride: what comes out depends on whether the size is odd."""
    strides = 'attr { key: "strides" value { list { i: 1 i: 2 i: 2 i: 1 } } }'
    padding = 'attr { key: "padding" value { s: "SAME" } }'
    return [
        placeholder("image", f"1x{size}x{size}x3"),
        variable("conv/w", "3x3x3x8"),
        node("conv/Conv2D", "Conv2D", "image", "conv/w/read", attributes=FLOAT + strides + padding),
        variable("head/w", "8"),
        node("head/Mul", "Mul", "conv/Conv2D", "head/w/read"),
    ]


def test_what_no_formula_tells_is_asked_for() -> None:
    graph = loaded(*image("?"))
    report = graph.summary()
    assert report.total["multiply_adds"] is None
    assert report.total["parameters"] == 3 * 3 * 3 * 8 + 8
    (sentence,) = (one for one in report.sentences if "?" in one)
    assert sentence == (
        "Numbers shown as ? depend on image_1, image_2: give --dim image_1=N,image_2=N."
    )
    assert " ? " in str(report)
    given = graph.summary(dims={"image_1": 7, "image_2": 7})
    assert given.total["multiply_adds"] == 4 * 4 * 8 * 27


def test_more_open_dimensions_than_can_be_tried_are_asked_for() -> None:
    report = loaded(placeholder("x", "?x?x?x?"), node("a/Relu", "Relu", "x")).summary()
    assert report.total["float_ops"] is None
    assert any("batch, x_1, x_2, x_3" in sentence for sentence in report.sentences)


# --- what is the model and what is not ---------------------------------------------------------


def training(*more: str) -> list[str]:
    """A model with a slot, an initialiser, a saver, a report and gradients."""
    return [
        *perceptron(),
        variable("net/head/w/Momentum", "16x3"),
        variable("global_step", "1", "DT_INT64"),
        node("net/head/w/init", "RandomStandardNormal", of="16x3"),
        node("net/head/w/Assign", "Assign", "net/head/w", "net/head/w/init"),
        node("loss", "Sum", "net/head/MatMul", of="1"),
        node("loss_summary", "ScalarSummary", "loss"),
        node(
            "gradients/head/MatMul",
            "MatMul",
            "net/body/Relu",
            "net/head/MatMul",
            attributes=FLOAT + 'attr { key: "transpose_a" value { b: true } }',
            of="16x3",
        ),
        node(
            "train", "ApplyMomentum", "net/head/w", "net/head/w/Momentum", "gradients/head/MatMul"
        ),
        node("save/SaveV2", "SaveV2", "net/head/w", "net/head/w/Momentum"),
        node("save/control_dependency", "Identity", "x", "^save/SaveV2"),
        *more,
    ]


def test_training_saving_and_reporting_are_not_the_model() -> None:
    report = loaded(*training()).summary()
    assert report.total["parameters"] == 448
    assert report.total["multiply_adds"] == 1728
    assert any(sentence.startswith("Left out: 2 operations") for sentence in report.sentences)


def test_named_outputs_say_what_counts() -> None:
    graph = loaded(*training())
    assert graph.summary(outputs=["net/body/a/MatMul:0"]).total["parameters"] == 128
    with_training = graph.summary(outputs=["train"])
    assert with_training.total["multiply_adds"] == 1728 + 4 * 16 * 3
    # The slot is read by nothing but what comes of the gradients.
    assert with_training.total["parameters"] == 448
    with pytest.raises(UsageError, match="there is no node 'net/haed'"):
        graph.summary(outputs=["net/haed"])


def test_counters_are_no_parameters() -> None:
    counter = [
        variable("net/steps", "3", "DT_INT32"),
        node("net/head/Add", "Add", "net/head/MatMul", "net/steps/read", of="4x3"),
    ]
    report = loaded(*perceptron(), *counter).summary()
    assert report.total["parameters"] == 448
    assert any("1 integer variable, such as" in sentence for sentence in report.sentences)


def constant(name: str, shape: str, kind: str = "DT_FLOAT") -> str:
    value = f"tensor {{ dtype: {kind} tensor_shape {{ {dims(shape)} }} }}"
    attributes = (
        f'attr {{ key: "dtype" value {{ type: {kind} }} }}'
        f'attr {{ key: "value" value {{ {value} }} }}'
    )
    return node(name, "Const", attributes=attributes, of=shape)


def test_constants_stand_in_for_variables_that_are_gone() -> None:
    graph = loaded(
        placeholder("x", "4x8"),
        constant("a/w", "8x16"),
        node("a/w/read", "Identity", "a/w", of="8x16"),
        node("a/MatMul", "MatMul", "x", "a/w/read", of="4x16"),
        constant("a/shape", "2", "DT_INT32"),
        node("a/Reshape", "Reshape", "a/MatMul", "a/shape", of="8x8"),
        constant("b/scale", "8"),
        constant("b/epsilon", ""),
        node("b/Add", "Add", "b/scale", "b/epsilon", of="8"),  # of nothing but constants
        node("b/Mul", "Mul", "a/Reshape", "b/Add", of="8x8"),
        constant("unused/w", "100"),
        node("unused/Neg", "Neg", "unused/w", of="100"),  # and never meets an input
    )
    report = graph.summary()
    assert {row["name"]: row["parameters"] for row in report.rows if row["parameters"]} == {
        "a": 128,
        "b": 8,
    }
    assert any("2 constants" in one and "a guess" in one for one in report.sentences)


def test_inputs_that_do_not_exist_are_no_error() -> None:
    text = b'node { name: "a" op: "NoOp" input: "g:3" input: "^h" }'
    loaded = Loaded(load(Source("a.pbtxt", np.frombuffer(text, np.uint8))))
    assert loaded.summary().total["parameters"] == 0


def test_constants_of_unknown_shape_are_not_taken_for_no_parameters() -> None:
    text = "".join(
        [
            placeholder("x", "4x8"),
            node("a/w", "Const", attributes=VARIABLE),
            node("a/MatMul", "MatMul", "x", "a/w"),
            node("b/Relu", "Relu", "a/MatMul"),
        ]
    )
    report = Loaded(load(Source("a.pbtxt", np.frombuffer(text.encode(), np.uint8)))).summary()
    assert {row["name"]: row["parameters"] for row in report.rows} == {"a": None, "b": 0}
    assert report.total["parameters"] is report.total["parameter_bytes"] is None
    assert (
        "Parameters: unknown. This file does not record the shape of 1 constant."
        in report.sentences
    )
    assert "Parameters        ?\n" in str(report)


def test_activations_are_what_is_computed_in_bytes_of_its_type() -> None:
    half = 'attr { key: "T" value { type: DT_HALF } }'
    to_half = f'{FLOAT} attr {{ key: "DstT" value {{ type: DT_HALF }} }}'
    report = loaded(
        placeholder("x", "10"),
        node("a/Cast", "Cast", "x", attributes=to_half, of="10"),
        node("b/Neg", "Neg", "a/Cast", attributes=half, of="10"),
        node("b/Reshape", "Reshape", "b/Neg", attributes=half, of="2x5"),  # the same memory
        node("c/Less", "Less", "b/Neg", "b/Neg", attributes=half, of="10"),
        node("d/TopKV2", "TopKV2", "x", "x", attributes=FLOAT + shapes("3", "3")),
    ).summary()
    activations = {row["name"]: row["activation_bytes"] for row in report.rows}
    assert activations == {"a": 20, "b": 20, "c": 10, "d": 24}


def test_what_is_left_out_for_being_the_default_has_its_type_all_the_same() -> None:
    half = 'attr { key: "T" value { type: DT_HALF } }'
    report = loaded(
        placeholder("x", "2x4"),
        node("pool/MaxPool", "MaxPool", "x", attributes="", of="2x4"),
        node("half/MaxPool", "MaxPool", "x", attributes=half, of="2x4"),
        node("fft/RFFT", "RFFT", "x", attributes="", of="2x3"),
        node("back/IRFFT", "IRFFT", "fft/RFFT", attributes="", of="2x4"),
        node("abs/ComplexAbs", "ComplexAbs", "fft/RFFT", attributes="", of="2x3"),
        node("fake/Fake", "FakeQuantWithMinMaxVars", "x", "x", "x", attributes="", of="2x4"),
        node("size/ResizeBilinear", "ResizeBilinear", "x", attributes=half, of="2x4"),
        node("where/Where", "Where", "x", of="5x2"),
        node("table/Table", "HashTableV2", attributes="", of="1"),
    ).summary()
    activations = {row["name"]: row["activation_bytes"] for row in report.rows}
    assert activations == {
        "pool": 32, "half": 16, "fft": 48, "back": 32, "abs": 24, "fake": 32, "size": 32,
        "where": 80, "table": 0,
    }  # fmt: skip
    assert not any("unknown size" in one for one in report.sentences)


def test_an_output_of_unknown_type_is_not_counted_as_nothing() -> None:
    report = loaded(
        placeholder("x", "2x4"),
        node("a/Neg", "Neg", "x", of="2x4"),
        node("b/Own", "SomebodysOwn", "a/Neg", attributes="", of="2x4"),
    ).summary()
    assert report.total["activation_bytes"] == 32
    assert "Not in the activation bytes: 1 output of unknown size." in report.sentences


def test_multiply_adds_are_whole_however_many_float_operations_are_given() -> None:
    graph = graph_of(placeholder("x", "4x8"), node("a/m", "MatMul", "x", "x"))
    log = OpLogProto()
    log.log_entries.add(name="a/m", float_ops=2**60 + 1)
    data = np.frombuffer(log.SerializeToString(), np.uint8)
    large = Loaded(load(Source("graph", graph), log=Source("log", data))).summary()
    assert large.total["multiply_adds"] == 2**59
    assert f"Multiply-adds     {2**59:,}\n" in str(large)


# --- every table adds up -----------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3, 9])
def test_printed_rows_add_up_to_the_printed_total(depth: int) -> None:
    graph = Loaded(load(Source("graph", np.fromfile(HANDMADE.graph, np.uint8))))
    for report in (graph.summary(depth), loaded(*training()).summary(depth)):
        check_sums(str(report))


@pytest.mark.parametrize("depth", [1, 2, 3, 9])
def test_rows_of_a_block_add_up_to_it(depth: int) -> None:
    report = loaded(*training()).summary(depth)
    numbers = ("parameters", "parameter_bytes", "float_ops", "multiply_adds", "activation_bytes")
    blocks = {row["parent"] for row in report.rows}
    for block in blocks:
        whole = report.total if block is None else report.rows[block]
        inside = [row for row in report.rows if row["parent"] == block]
        for name in numbers:
            assert sum(row[name] for row in inside) == whole[name]
    assert len(blocks) == min(depth, 3)  # all of it, net, and body in net


# --- the command -------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> str:
    graph = text_format.Parse("".join(perceptron()), GraphDef())
    (tmp_path / "graph.pb").write_bytes(graph.SerializeToString())
    return str(tmp_path / "graph.pb")


def test_it_comes_as_data(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    document: Any = json.loads(printed(capsys, "summary", path, "--format=json"))
    assert document["schema"] == "tfprof.summary/1"
    assert document["model"] == "net"
    assert document["total"]["float_ops"] == 3584
    assert [row["path"] for row in document["rows"]][1:3] == ["net/body/a", "net/body/b"]
    rows = list(csv.DictReader(io.StringIO(printed(capsys, "summary", path, "--format=csv"))))
    assert [row["parameters"] for row in rows] == ["400", "128", "272", "0", "48"]
    table = printed(capsys, "summary", path, "--format=md").splitlines()
    assert table[0].startswith("| layer | output shape | parameters |")
    assert table[3] == "| &emsp;a | (4, 16) | 128 | 1.02k | 512 | 512 B | 256 B |"


def test_it_is_printed_or_goes_to_a_file(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, "summary", path) == SUMMARY
    target = tmp_path / "summary.txt"
    assert printed(capsys, "summary", path, f"--output=file:outfile={target}") == ""
    assert target.read_text(encoding="utf-8") == SUMMARY


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--depth=0"], "--depth takes a whole number of at least 1, not 0"),
        (["--outputs=nowhere"], "there is no node 'nowhere' in the graph"),
        (["--dim=rows=3"], "no dimension of the inputs is called 'rows'"),
        (["--output=pprof:outfile=x"], "summary has no output pprof"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    words: list[str], sentence: str, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["summary", path, *words]) == 2
    assert sentence in capsys.readouterr().err.splitlines()[-1]


def test_its_options_are_for_it_alone(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["scope", path, "--depth=2"]) == 2
    assert "scope takes no --depth (summary and diff do)" in capsys.readouterr().err


def test_tables_of_other_libraries_have_its_rows() -> None:
    frame = loaded(*perceptron()).summary().to_pandas()
    assert frame["parameters"].tolist() == [400, 128, 272, 0, 48]
    formulas = loaded(*perceptron("?")).summary()
    assert formulas.to_polars()["multiply_adds"].to_list()[-1] == "48*batch"
    assert formulas.to_arrow()["parameters"].to_pylist() == [400, 128, 272, 0, 48]
