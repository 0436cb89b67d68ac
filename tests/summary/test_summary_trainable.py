"""Which variables and constants are parameters, and which parameters are trained."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import paths
import tfprof

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from forked import Forked


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("training")


def total(path: Path) -> dict[str, Any]:
    return tfprof.load(path).summary().total


@pytest.mark.parametrize("name", ["plain", "frozen", "transfer", "lora"])
def test_an_export_counts_what_keras_counts(folder: Path, name: str) -> None:
    truth = json.loads((folder / "truth.json").read_text())[name]
    numbers = total(folder / name)
    assert {key: numbers[key] for key in truth} == truth
    assert numbers["parameters"] == sum(truth.values())


def test_frozen_layers_of_keras_3_are_known_or_said_to_be_unknown(
    tensorflow: Forked, tmp_path: Path
) -> None:
    out = tensorflow.script(paths.MAKE / "frozen_worker.py", str(tmp_path))
    counted = {
        name: tuple(map(int, rest)) for name, *rest in map(str.split, out.decode().splitlines())
    }
    assert counted == dict.fromkeys(("compiled", "plain"), (6 * 4 + 4 + 4 * 2 + 2, 4 * 2 + 2))
    for name, trained in {"compiled": 10, "plain": None}.items():
        numbers = total(tmp_path / name)
        assert (numbers["parameters"], numbers.get("trainable")) == (38, trained)


def test_a_graph_with_functions_and_no_list_says_unknown(folder: Path) -> None:
    """The graph of a SavedModel alone: it holds each variable, but not whether it is trained."""
    truth = json.loads((folder / "truth.json").read_text())["frozen"]
    report = tfprof.load(folder / "calls.pb").summary()
    assert report.total["parameters"] == sum(truth.values())
    assert "trainable" not in report.total
    assert "Trainable: unknown. This file does not record it." in report.sentences


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("rnn.frozen", (8 + 5) * 5 + 5 + 5 * 3),
        ("state.frozen", 5 * 5),
        # Four gates of 8 inputs, 5 units and a bias, then 5x3 and a bias.
        ("lowered.frozen", 4 * (8 + 5 + 1) * 5 + (5 + 1) * 3),
    ],
)
def test_weights_of_frozen_loops_count_and_where_a_loop_starts_does_not(
    folder: Path, name: str, parameters: int
) -> None:
    assert total(folder / name)["parameters"] == parameters


@pytest.mark.parametrize("name", ["slots", "slots.meta"])
def test_slots_that_only_training_reads_are_no_parameters(folder: Path, name: str) -> None:
    numbers = total(folder / name)
    assert (numbers["parameters"], numbers["trainable"]) == (8 * 5 + 5, 8 * 5 + 5)


@pytest.mark.parametrize("signature", ["serve", "train", "by_hand"])
def test_slots_by_signature(folder: Path, signature: str) -> None:
    numbers = tfprof.load(folder / "slots", signature=signature).summary().total
    assert (numbers["parameters"], numbers["trainable"]) == (8 * 5 + 5, 8 * 5 + 5)
