"""A live Keras model has the rows that Keras lists, of both Kerases."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfprof
from layer_names_worker import KERASES, MODELS, built, functional, truth
from layer_rows import check_rows, outer

if TYPE_CHECKING:
    from pathlib import Path


def names(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["name"], row["type"]) for row in rows]


@pytest.mark.parametrize("version", KERASES)
@pytest.mark.parametrize(
    "build", [functional, *(pytest.param(each, marks=pytest.mark.whole) for each in MODELS[1:])]
)
def test_rows_are_the_layers_of_the_model(version: str, build: Any) -> None:
    model = built(build, KERASES[version])
    layers = truth(model)
    rows = outer(tfprof.load(model).summary(depth=1))
    assert names(rows) == names(layers)
    check_rows(rows, layers)


@pytest.mark.parametrize("version", KERASES)
def test_layers_inside_layers_have_names_and_types(version: str) -> None:
    model = built(MODELS[-1], KERASES[version])
    rows = tfprof.load(model).summary(depth=2).rows
    (block,) = (row["row"] for row in rows if row["type"] == "Block")
    inner = [row for row in rows if row["parent"] == block and row["name"] != "(other)"]
    expected = [model.block.narrow, model.block.wide]
    assert names(inner) == [(layer.name, "Dense") for layer in expected]
    assert [row["parameters"] for row in inner] == [layer.count_params() for layer in expected]


@pytest.mark.parametrize("version", ["keras3", pytest.param("keras2", marks=pytest.mark.whole)])
def test_a_captured_fit_has_the_layers_and_their_time(version: str, tmp_path: Path) -> None:
    model = built(functional, KERASES[version])
    model.compile("sgd", "mse")
    images, labels = np.ones([8, 12, 12, 3], np.float32), np.ones([8, 3], np.float32)
    callback = tfprof.capture_callback(tmp_path, batches=(2, 3))
    model.fit(images, labels, batch_size=2, verbose=0, callbacks=[callback])
    report = tfprof.load(tmp_path).summary(depth=1)
    rows = outer(report)
    assert names(rows) == names(truth(model))
    timed = {row["name"]: row["micros"] for row in rows}
    assert timed["conv2d"] > 0
    assert report.total["micros"] == sum(row["micros"] for row in report.rows)
