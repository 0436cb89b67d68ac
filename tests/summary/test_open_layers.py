"""Keras models with open dimensions cost what their layers cost, in numbers and formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from open_layers_figures import FIGURES, FIXED, NO_FORMULA, PARTLY
from open_models import OpenModel, check_formula, check_with_sizes
from sampling import sampled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("open_layers")


def test_every_model_has_figures(folder: Path) -> None:
    assert {path.name for path in folder.iterdir() if path.is_dir()} == FIGURES.keys()
    assert FIGURES.keys() >= NO_FORMULA | FIXED.keys() | PARTLY


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampled([*FIGURES], 12, "sizes of layers"))
def test_sizes_give_numbers(name: str, folder: Path) -> None:
    model = OpenModel(name, folder)
    check_with_sizes(model, FIGURES[name], FIXED.get(name), partly=name in PARTLY)


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampled([*FIGURES], 5, "formulas of layers"))
def test_formulas_give_the_same(name: str, folder: Path) -> None:
    check_formula(OpenModel(name, folder), FIGURES[name][0], has_formula=name not in NO_FORMULA)
