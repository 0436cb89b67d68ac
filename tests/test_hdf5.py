"""Keras's HDF5 files say what Keras says of the models in them."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from math import prod
from typing import TYPE_CHECKING, Any, Final

import h5py
import numpy as np
import pytest

import tfprof
from hdf5_worker import MODELS
from tfprof import cli
from tfprof.errors import InputError
from tfprof.read import Source
from tfprof.read.keras import h5_process
from tfprof.read.keras.hdf5 import read_hdf5
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES: Final = [f"{build.__name__}-{keras}" for build in MODELS for keras in (2, 3)]
each_model = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("hdf5")


@pytest.fixture(scope="module")
def truth(folder: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    return said


def rows(report: Any) -> list[list[Any]]:
    """Name, class, parameters and output shape of the layers."""
    kept = [row for row in report.rows if row["depth"] == 1 and row["name"] != "(other)"]
    return [[row[key] for key in ("name", "type", "parameters", "output_shape")] for row in kept]


@each_model
@pytest.mark.parametrize("end", [".h5", "-bare.h5"])
def test_a_model_has_the_layers_and_parameters_that_keras_counts(
    name: str, end: str, folder: Path, truth: dict[str, Any]
) -> None:
    loaded = tfprof.load(folder / f"{name}{end}")
    report, said = loaded.summary(depth=1), truth[name]
    assert report.total["parameters"] == said["parameters"]
    layers = rows(report)
    assert [row[:3] for row in layers] == [row[:3] for row in said["layers"]]
    if "own" in name:  # which does not say what it returns, nor which of its weights are trained
        assert report.total["trainable"] == said["trainable"] + 3
        assert any("weights of Gate are trainable" in str(note) for note in loaded.notes)
        return
    assert report.total["trainable"] == said["trainable"]
    assert loaded.notes == ()
    for layer, expected in zip(layers, said["layers"], strict=True):
        assert layer[3] == expected[3] or expected[3] is None, layer[0]


@each_model
def test_it_computes_what_the_archive_does(name: str, folder: Path) -> None:
    totals = [tfprof.load(folder / f"{name}{end}").summary().total for end in (".h5", ".keras")]
    for key in ("parameters", "trainable", "multiply_adds", "float_ops", "activation_bytes"):
        assert totals[0][key] == totals[1][key], key


@each_model
def test_weights_alone_are_layers_and_parameters(
    name: str, folder: Path, truth: dict[str, Any]
) -> None:
    ends = [".weights.h5", "-old_weights.h5"] if name.endswith("2") else [".weights.h5"]
    for end in ends:
        loaded = tfprof.load(folder / f"{name}{end}")
        report = loaded.summary(depth=1)
        assert report.total["parameters"] == truth[name]["parameters"]
        assert "trainable" not in report.total
        assert "Trainable: unknown. This file does not record it." in report.sentences
        assert any("holds weights only" in str(note) for note in loaded.notes)
        counts = sorted(row[2] for row in rows(report) if row[2])
        assert counts == sorted(row[2] for row in truth[name]["layers"] if row[2])
        if end != ".weights.h5":  # the old layout has all layers by their names, in order
            assert [row[0] for row in rows(report)] == [row[0] for row in truth[name]["layers"]]
        elif name.endswith("3"):  # the new one has names and classes of those with weights
            named = {(row[0], row[2]) for row in rows(report)}
            assert named == {(row[0], row[2]) for row in truth[name]["layers"] if row[2]}


@pytest.mark.parametrize("name", ["images-2", "images-3"])
def test_what_the_optimizer_keeps_is_no_part_of_the_model(
    name: str, folder: Path, truth: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    for end in (".h5", ".weights.h5", "-bare.h5"):
        assert cli.run(["info", str(folder / f"{name}{end}")]) == 0
        said = capfd.readouterr().out
        assert f"variables with {truth[name]['parameters']:,} parameters\n" in said
        apart = f"  {truth[name]['optimizer']:,} optimizer parameters\n"
        assert (apart in said) == ("bare" not in end)
