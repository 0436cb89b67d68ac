"""The example for Keras runs as a reader runs it, and what it leaves is read without TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import tfprof
from paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

BATCH: Final = 32
# By hand, for one image: a convolution of 3 x 3 to 26 x 26 x 8, with a bias and a Relu; windows of
# 2 x 2 to 13 x 13 x 8; a product of 1352 x 10 with a bias and a softmax of 5 steps per element.
CONVOLUTION: Final = 26 * 26 * 8 * (2 * 3 * 3 + 1 + 1)
POOLING: Final = 13 * 13 * 8 * 4
DENSE: Final = 2 * 1352 * 10 + 10 + 5 * 10
PARAMETERS: Final = (3 * 3 * 8 + 8) + (1352 * 10 + 10)


def line_of(text: str) -> int:
    """The number of the first line of the example that has this text."""
    example = (ROOT / "examples" / "keras_fit.py").read_text(encoding="utf-8")
    return example.partition(text)[0].count("\n") + 1


def test_it_shows_layers_operation_types_and_lines(keras_fit: tuple[str, Path]) -> None:
    out, _ = keras_fit
    _, layers, types, lines = out.split("\n=== ")
    assert "4,501,376" in layers
    assert f"{BATCH * (CONVOLUTION + POOLING + DENSE):,}" == "4,501,376"
    assert "Conv2DBackpropFilter" in types
    assert f"keras_fit.py:{line_of('model.fit(')}:train" in lines


@pytest.mark.parametrize("name", ["model.keras", "exported_model"])
def test_both_files_of_the_model_have_its_numbers(keras_fit: tuple[str, Path], name: str) -> None:
    summary = tfprof.load(keras_fit[1] / name).summary(dims={"batch": BATCH})
    assert [row["float_ops"] for row in summary.rows] == [
        BATCH * CONVOLUTION,
        BATCH * POOLING,
        0,
        BATCH * DENSE,
    ]
    assert summary.total["parameters"] == PARAMETERS
    assert summary.sentences[0].startswith("float_ops counts all ")


def test_the_recorded_batches_have_times(keras_fit: tuple[str, Path]) -> None:
    run = tfprof.load(keras_fit[1] / "log")
    assert run.steps == (5, 6, 7)
    times = {row.name: row.own_micros for row in run.op(select=["micros"]).rows}
    assert times["Conv2D"] > 0
    assert times["Conv2DBackpropFilter"] > 0


def test_the_overview_counts_gradients_for_their_layers(keras_fit: tuple[str, Path]) -> None:
    """Of the convolution: the gradients of its filter, its bias and its Relu; not of the image."""
    rows = tfprof.load(keras_fit[1] / "log").overview(rows=20).rows
    (layer,) = [row for row in rows if row["list"] == "layer" and "conv2d" in row["name"]]
    outputs = BATCH * 26 * 26 * 8
    gradients = 2 * 3 * 3 * outputs + (outputs - 8) + 2 * outputs
    assert layer["float_ops"] == BATCH * CONVOLUTION + gradients
    lines = [row["name"] for row in rows if row["list"] == "line of code"]
    assert f"keras_fit.py:{line_of('model.fit(')}:train" in lines
    assert "_TFProfRoot" not in lines
