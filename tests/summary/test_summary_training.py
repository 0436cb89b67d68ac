"""summary --training: forward, backward and optimizer of a step, against figures by hand."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any, Final

import pytest

import tfprof
from counted_graphs import text_profile
from printed import printed
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# 16 rows, 8 inputs, 6 hidden units, 3 outputs: 48 + 6 + 18 + 3 parameters.
ROWS, INPUTS, HIDDEN, OUTPUTS = 16, 8, 6, 3
PARAMETERS: Final = INPUTS * HIDDEN + HIDDEN + HIDDEN * OUTPUTS + OUTPUTS
FIRST, SECOND = ROWS * INPUTS * HIDDEN, ROWS * HIDDEN * OUTPUTS
# Two products, two biases, a Relu; difference and square of each output, and their sum.
FORWARD: Final = (
    2 * (FIRST + SECOND) + ROWS * HIDDEN * 2 + ROWS * OUTPUTS * 3 + (ROWS * OUTPUTS - 1)
)
# Each product has two gradients: an optimizer of TensorFlow 1 waits for all gradients of an
# operation, also for that of the input. The gradient of a bias is a sum over rows, that of a Relu a
# comparison and a product; of a square 2 · x and a product; of the difference a negative.
BACKWARD: Final = (
    2 * 2 * (FIRST + SECOND)
    + (ROWS - 1) * (HIDDEN + OUTPUTS)
    + 2 * ROWS * HIDDEN
    + 3 * ROWS * OUTPUTS
)


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("training")


def parts(report: Any) -> dict[str, tuple[Any, Any]]:
    return {row["name"]: (row["float_ops"], row["multiply_adds"]) for row in report.rows}


# Per parameter: rate · gradient and a difference; then a product and a sum for the momentum.
@pytest.mark.parametrize(("name", "steps"), [("descent.pb", 2), ("momentum.pb", 4)])
def test_a_training_graph_of_tensorflow_1(folder: Path, name: str, steps: int) -> None:
    report = tfprof.load(folder / name).summary(training=True)
    assert parts(report) == {
        "forward": (FORWARD, FIRST + SECOND),
        "backward": (BACKWARD, 2 * (FIRST + SECOND)),
        "optimizer": (steps * PARAMETERS, 0),
    }
    total = {
        "float_ops": FORWARD + BACKWARD + steps * PARAMETERS,
        "multiply_adds": 3 * (FIRST + SECOND),
    }
    assert report.total == total
    assert not any("stimate" in sentence for sentence in report.sentences)
    whole = tfprof.load(folder / name).summary().total
    assert whole["float_ops"] == FORWARD


@pytest.mark.parametrize("name", ["slots", "slots.meta"])
def test_an_optimizer_written_by_hand(folder: Path, name: str) -> None:
    """Of 8x5 + 5 parameters: 0.9 · slot + gradient, then rate · slot and a difference."""
    signature = "train" if name == "slots" else None
    rows = parts(tfprof.load(folder / name, signature=signature).summary(training=True))
    assert rows["optimizer"] == (4 * 45, 0)
    assert rows["forward"][1] == 4 * 8 * 5
    # Nothing waits for the gradient of the input, so it does not run.
    assert rows["backward"][1] == 4 * 8 * 5


def test_a_model_without_gradients_is_estimated(folder: Path) -> None:
    """8x4, 4x3 and a batch normalization; 12 steps of Adam for each trainable parameter."""
    loaded = tfprof.load(folder / "frozen")
    forward = loaded.summary(dims={"batch": 2}).total
    assert forward["multiply_adds"] == 2 * (8 * 4 + 4 * 3)
    report = loaded.summary(dims={"batch": 2}, training=True)
    trained = 2 * 4 + 4 * 3 + 3
    assert parts(report) == {
        "forward": (forward["float_ops"], 88),
        "backward": (2 * forward["float_ops"], 176),
        "optimizer": (12 * trained, 0),
    }
    assert report.sentences[1:3] == (
        "Estimate: the graph has no gradients. Backward is 2 × forward.",
        "Optimizer: unknown. It counts as Adam, 12 operations per trainable parameter.",
    )


def test_an_estimate_with_an_open_batch_is_a_formula(folder: Path) -> None:
    rows = parts(tfprof.load(folder / "plain").summary(training=True))
    assert rows["forward"][1] == "44*batch"
    assert rows["backward"][1] == "88*batch"
    assert rows["optimizer"] == (12 * 59, 0)


def test_an_estimate_without_a_list_of_trainable_parameters(folder: Path) -> None:
    report = tfprof.load(folder / "calls.pb").summary(training=True)
    assert parts(report)["optimizer"] == (12 * 67, 0)
    assert (
        "Optimizer: unknown. It counts as Adam, 12 operations per parameter, trainable or not."
        in report.sentences
    )


def test_the_command_writes_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("summary", folder / "descent.pb", "--training")
    named = ["forward", "backward", "optimizer"]
    text = printed(capsys, *words)
    assert [line.split()[0] for line in text.splitlines()[2:5]] == named
    assert f"Float operations  {FORWARD + BACKWARD + 150:,}" in text
    assert "Parameters" not in text
    document = json.loads(printed(capsys, *words, "--format=json"))
    assert document["training"] == "graph"
    assert [row["name"] for row in document["rows"]] == named
    assert document["rows"][1]["multiply_adds"] == 2 * (FIRST + SECOND)
    lines = [*csv.DictReader(printed(capsys, *words, "--format=csv").splitlines())]
    assert [line["name"] for line in lines] == named
    assert (lines[2]["float_ops"], lines[2]["multiply_adds"]) == (str(2 * PARAMETERS), "0")
    assert "parameters" not in lines[0]
    assert "| backward |" in printed(capsys, *words, "--format=md")


def test_what_is_not_counted_is_a_lower_bound_in_its_part_and_in_the_total() -> None:
    """A product of 2x3 and 3x2, and an operation without a rule."""
    shape = "attr { key: '_output_shapes' value { list { shape { %s } } } }"
    wide, square = (
        shape % " ".join(f"dim {{ size: {n} }}" for n in dims) for dims in ((2, 3), (2, 2))
    )
    graph = f"""
    node {{ name: "x" op: "Placeholder" {wide} }}
    node {{ name: "p" op: "MatMul" input: "x" input: "x" {square}
        attr {{ key: "transpose_b" value {{ b: true }} }} }}
    node {{ name: "f" op: "Frobnicate" input: "p" {square} }}
    """
    report = Loaded(text_profile(graph)).summary(training=True)
    assert parts(report) == {"forward": (24, 12), "backward": (48, 24), "optimizer": (0, 0)}
    lower = ["float_ops", "multiply_adds"]
    assert [row["incomplete"] for row in report.rows] == [lower, lower, []]
    assert report.total_incomplete == lower
