"""Summaries of real models say what Keras says of them, from every form that they come in."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import tfprof
from model_files import SUMMARIES as MODELS
from printed import printed
from tfprof.read import Source
from tfprof.read.keras.archive import read_keras

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

each_model = pytest.mark.parametrize("name", MODELS)

# Multiply-adds of one example, by hand. Of a recurrent layer: steps × (inputs + units) × gates.
SERIES: Final = {
    "lstm": 20 * (8 + 16) * 4 * 16 + 20 * (16 + 4) * 4 * 4 + 4 * 3,
    "gru": 20 * (8 + 12) * 3 * 12 + 12 * 3,
}


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("summary")


@pytest.fixture(scope="module")
def truth(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    return told


def layers(report: Any) -> dict[str, int]:
    """The parameters of the outermost rows."""
    return {row["name"]: row["parameters"] for row in report.rows if row["depth"] == 1}


@each_model
def test_a_saved_model_has_the_parameters_that_keras_counts(
    name: str, folder: Path, truth: dict[str, Any]
) -> None:
    total = tfprof.load(folder / name).summary().total
    assert total["parameters"] == truth[name]["parameters"]
    assert total["parameter_bytes"] == 4 * truth[name]["parameters"]
    assert total["trainable"] + total["non_trainable"] == total["parameters"]
    assert total["trainable"] == truth[name]["trainable"]


@each_model
def test_each_layer_has_its_own(name: str, folder: Path, truth: dict[str, Any]) -> None:
    told = layers(tfprof.load(folder / name).summary(depth=1))
    told.pop("(other)", None)
    expected = truth[name]["layers"]
    assert told.items() <= expected.items()
    assert {layer for layer, count in expected.items() if count} <= told.keys()


@each_model
def test_the_graph_of_a_function_tells_as_many(
    name: str, folder: Path, truth: dict[str, Any]
) -> None:
    report = tfprof.load(folder / f"{name}.pb").summary()
    assert report.total["parameters"] == truth[name]["parameters"]
    assert "trainable" not in report.total
    assert "Trainable: unknown. This file does not record it." in report.sentences


@pytest.mark.parametrize("name", ["conv", "gru", "mobilenet"])
def test_constants_of_a_frozen_graph_are_a_good_guess(
    name: str, folder: Path, truth: dict[str, Any]
) -> None:
    report = tfprof.load(folder / f"{name}.frozen").summary()
    assert report.total["parameters"] == truth[name]["parameters"]
    assert any(": a guess." in sentence for sentence in report.sentences)
    whole = tfprof.load(folder / name).summary()
    if name != "gru":  # of which the graph has one step more, that nothing needs
        assert report.total["multiply_adds"] == whole.total["multiply_adds"]


@each_model
@pytest.mark.parametrize("with_h5py", [True, False])
def test_an_archive_tells_the_same(
    name: str,
    with_h5py: bool,  # noqa: FBT001
    folder: Path,
    truth: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not with_h5py:
        monkeypatch.setitem(sys.modules, "h5py", None)
    data = np.fromfile(folder / f"{name}.keras", np.uint8)
    loaded = tfprof.Loaded(read_keras(Source("archive", data)))
    report = loaded.summary(depth=1)
    assert report.total["parameters"] == truth[name]["parameters"]
    assert report.total["trainable"] == truth[name]["trainable"]
    told = {layer: count for layer, count in layers(report).items() if count}
    assert told == {layer: count for layer, count in truth[name]["layers"].items() if count}
    whole = tfprof.load(folder / name).summary().total
    assert report.total["multiply_adds"] == whole["multiply_adds"]
    # A loop counts its steps, and four Dense layers multiply dimensions to make a matrix.
    more = " + 4" if name == "transformer" else ""
    if name not in SERIES and name != "nested":
        assert f"{report.total['float_ops']}{more}" == whole["float_ops"]
    assert any("h5py" in str(note) for note in loaded.notes) == (not with_h5py)


@pytest.mark.parametrize("name", SERIES)
def test_loops_count_as_often_as_they_run(name: str, folder: Path) -> None:
    total = tfprof.load(folder / name).summary(dims={"batch": 1}).total
    assert total["multiply_adds"] == SERIES[name]


def test_multiply_adds_of_a_transformer_are_a_formula(folder: Path) -> None:
    report = tfprof.load(folder / "transformer").summary()
    total = report.summary.total.multiply_adds
    assert total is not None
    batch, tokens = report.summary.symbols
    projections, dense = 4 * 32 * 32, 2 * 32 * 64
    expected = {
        (1, 2): 2 * 2 * 32,  # two blocks: queries times keys, weights times values
        (1, 1): 2 * (projections + dense) + 32 * 100,
    }
    assert total.terms == expected
    assert total.at({batch: 3, tokens: 7}) == 3 * 49 * 128 + 3 * 7 * expected[1, 1]


@each_model
def test_a_formula_is_what_comes_of_its_sizes(name: str, folder: Path) -> None:
    loaded = tfprof.load(folder / name)
    formulas = loaded.summary()
    sizes = {symbol: 5 + number for number, symbol in enumerate(formulas.summary.symbols)}
    numbers = loaded.summary(dims=sizes)
    assert sizes
    rows = zip(formulas.summary.rows, numbers.summary.rows, strict=True)
    for symbolic, plain in rows:
        for metric in ("float_ops", "multiply_adds", "activation_bytes"):
            formula = getattr(symbolic.numbers, metric)
            assert formula.at(sizes) == Fraction(getattr(plain.numbers, metric).constant)


def test_a_training_graph_is_summed_up_without_its_training(folder: Path) -> None:
    report = tfprof.load(folder / "trained.meta").summary()
    assert report.total["parameters"] == 8 * 5 + 5 + 5
    assert report.total["trainable"] == 8 * 5 + 5
    assert report.total["multiply_adds"] == 4 * 8 * 5
    assert [row["name"] for row in report.rows][:1] == ["head"]
    assert any("Left out: " in sentence for sentence in report.sentences)


def test_named_outputs_are_all_that_counts(folder: Path) -> None:
    loaded = tfprof.load(folder / "lstm.pb")
    # Keras runs a cell once to learn its shapes, and nothing takes what comes of it.
    spare = loaded.summary(dims={"batch": 1}).total["multiply_adds"]
    needed = loaded.summary(dims={"batch": 1}, outputs=["Identity"])
    assert needed.total["multiply_adds"] == SERIES["lstm"] < spare
    assert any("Left out: " in sentence for sentence in needed.sentences)


def test_the_command_says_it_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "summary", folder / "conv", "--dim", "batch=1")
    lines = text.splitlines()
    assert lines[0] == "net"
    assert lines[1].split()[0] == "Layer"
    assert "float_ops counts all" in text
    assert "global_average_pooling2d  " in text  # in full, where there is no terminal


# --- functions ---------------------------------------------------------------------------------


def function(folder: Path, name: str, **options: Any) -> Any:
    return tfprof.load(folder / "functions", signature=name).summary(**options)


def test_rounds_that_a_formula_multiplies_by_are_not_said_to_be_unknown(folder: Path) -> None:
    report = function(folder, "rounds")
    assert report.total["multiply_adds"] == "64*batch"
    assert not any("once" in one for one in report.sentences)


def test_gradients_that_train_nothing_are_part_of_the_model(folder: Path) -> None:
    assert function(folder, "slope").total["multiply_adds"] == 2 * 4 * 8 * 8
    assert function(folder, "trained").total["multiply_adds"] == 4 * 8 * 8


def test_where_nothing_is_trained_that_is_told(folder: Path) -> None:
    report = function(folder, "slope")
    assert (report.total["trainable"], report.total["non_trainable"]) == (0, 64)
    assert not any("Parameters: unknown" in one or "Trainable" in one for one in report.sentences)


def test_casts_of_variables_are_no_layers(folder: Path) -> None:
    report = tfprof.load(folder / "mixed").summary()
    assert [row["name"] for row in report.rows] == ["half", "head", "(other)"]
