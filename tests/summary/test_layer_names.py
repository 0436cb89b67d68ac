"""The rows of a summary are the layers that Keras lists: name, class, shape and parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

import tfprof
from layer_rows import check_rows, outer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODELS: Final = ("functional", "sequential", "subclassed")
# Forms that record the names and classes of all layers.
WHOLE: Final = (
    *(f"{keras}_{model}.keras" for keras in ("keras3", "keras2") for model in MODELS[:2]),
    *(f"keras2_{model}.saved" for model in MODELS),
)
# Forms that record neither: names come from the graph, which has no trace of some layers.
NAMED: Final = tuple(
    form.format(model)
    for form in ("keras3_{}.export", "keras3_{}.saved", "keras2_{}.export", "keras2_{}.plain")
    for model in MODELS
)
# What they do to a tensor at inference is nothing, or it costs nothing.
WITHOUT_WORK: Final = {"InputLayer", "Dropout", "Flatten"}
# `tf.saved_model.save` does not record which layers of a Keras 3 model are frozen.
UNRECORDED: Final = tuple(f"keras3_{model}.saved" for model in MODELS)


def quick(forms: tuple[str, ...]) -> list[Any]:
    """Most runs try the functional models; a whole run tries all."""
    return [form if "functional" in form else pytest.param(form, marks=pytest.mark.whole)
            for form in forms]  # fmt: skip


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("layer_names")


def said(folder: Path, form: str) -> list[dict[str, Any]]:
    """What Keras says of the layers."""
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    layers: list[dict[str, Any]] = truth[form.partition(".")[0]]
    return layers


@pytest.mark.parametrize("form", quick(WHOLE))
def test_rows_are_the_layers_of_the_model(form: str, folder: Path) -> None:
    layers = said(folder, form)
    rows = outer(tfprof.load(folder / form).summary(depth=1))
    names = [(row["name"], row["type"]) for row in rows]
    assert names == [(layer["name"], layer["type"]) for layer in layers]
    check_rows(rows, layers)


@pytest.mark.parametrize("form", quick(NAMED))
def test_a_graph_has_the_names_that_keras_gave(form: str, folder: Path) -> None:
    layers = said(folder, form)
    rows = outer(tfprof.load(folder / form).summary(depth=1))
    names = [row["name"] for row in rows]
    expected = [layer for layer in layers if layer["name"] in names]
    assert names == [layer["name"] for layer in expected]
    assert {each["type"] for each in layers if each not in expected} <= WITHOUT_WORK
    assert not any(row["type"] for row in rows)
    check_rows(rows, expected, recorded=form not in UNRECORDED)


@pytest.mark.parametrize("form", ["keras3_functional.keras", "keras2_functional.saved"])
def test_nested_models_have_rows_of_their_own(form: str, folder: Path) -> None:
    (inner,) = (layer for layer in said(folder, form) if layer["inner"])
    rows = tfprof.load(folder / form).summary(depth=2).rows
    (at,) = (row["row"] for row in rows if row["name"] == inner["name"])
    below = [row for row in rows if row["parent"] == at]
    names = [(row["name"], row["type"]) for row in below]
    assert names == [(layer["name"], layer["type"]) for layer in inner["inner"]]
    check_rows(below, inner["inner"])


def test_a_converted_profile_keeps_names_and_types(folder: Path, tmp_path: Path) -> None:
    loaded = tfprof.load(folder / "keras2_functional.saved")
    loaded.convert(tmp_path / "profile.tfprof")
    loaded.save(tmp_path / "profile.pb")
    expected = loaded.summary().rows
    assert tfprof.load(profile=tmp_path / "profile.tfprof").summary().rows == expected
    names = [(row["name"], row["type"]) for row in expected]
    rows = tfprof.load(profile=tmp_path / "profile.pb").summary().rows
    assert [(row["name"], row["type"]) for row in rows] == names


def test_people_read_name_and_class(folder: Path) -> None:
    lines = str(tfprof.load(folder / "keras3_functional.keras").summary()).splitlines()
    assert lines[0] == "net (Functional)"
    starts = [line.split("  ")[0] for line in lines]
    assert "conv2d_1 (Conv2D)" in starts
    assert "inner (Sequential)" in starts


def test_explain_finds_a_layer_by_the_name_in_the_summary(folder: Path) -> None:
    explained = tfprof.load(folder / "keras3_functional.export").explain(layer="conv2d_1")
    assert "conv2d_1_2/" in str(explained)
