"""Models with open dimensions cost what they compute, for given sizes and as formulas.

Functions of TensorFlow, and layers of Keras.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import open_functions_figures
import open_layers_figures
from open_functions_figures import DATA_DEPENDENT, FIGURES, KERNELS
from open_models import (
    OpenModel,
    check_formula,
    check_with_sizes,
    float_ops_by_type,
    is_incomplete,
    multiply_adds,
)
from open_sizes import B, T
from sampling import sampled
from tfprof.summary.build_summary import summary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FAMILIES: Final = {"open_functions": open_functions_figures, "open_layers": open_layers_figures}


def certain(count: int, what: str) -> list[tuple[str, str]]:
    """So many models of each family whose costs do not depend on data."""
    drawn = []
    for family, figures in FAMILIES.items():
        names = [name for name in figures.FIGURES if name not in DATA_DEPENDENT]
        drawn += [(family, name) for name in sampled(names, count, f"{what} {family}")]
    return drawn


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("open_functions")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_model_has_figures(family: str, model_folder: Callable[[str], Path]) -> None:
    figures, folder = FAMILIES[family], model_folder(family)
    known = figures.FIGURES.keys()
    assert {path.name for path in folder.iterdir() if path.is_dir()} == known
    assert known >= figures.NO_FORMULA | figures.FIXED.keys() | figures.PARTLY
    assert FIGURES.keys() >= DATA_DEPENDENT | KERNELS.keys()


@pytest.mark.sampled
@pytest.mark.parametrize(("family", "name"), certain(12, "sizes of"))
def test_sizes_give_numbers(family: str, name: str, model_folder: Callable[[str], Path]) -> None:
    figures, model = FAMILIES[family], OpenModel(name, model_folder(family))
    partly = name in figures.PARTLY
    check_with_sizes(model, figures.FIGURES[name], figures.FIXED.get(name), partly=partly)


@pytest.mark.sampled
@pytest.mark.parametrize(("family", "name"), certain(5, "formulas of"))
def test_formulas_give_the_same(
    family: str, name: str, model_folder: Callable[[str], Path]
) -> None:
    figures, model = FAMILIES[family], OpenModel(name, model_folder(family))
    check_formula(model, figures.FIGURES[name][0], has_formula=name not in figures.NO_FORMULA)


@pytest.mark.parametrize("name", sorted(DATA_DEPENDENT))
def test_what_depends_on_data_is_said_to(name: str, folder: Path) -> None:
    model = OpenModel(name, folder)
    sums = summary(model.open, dims=model.sizes)
    assert is_incomplete(sums)
    assert sums.total.parameters == FIGURES[name][1]
    least = sums.total.multiply_adds
    assert least is None or (least.constant or 0) <= FIGURES[name][0]


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_cost_what_textbooks_say(name: str, folder: Path) -> None:
    model = OpenModel(name, folder)
    by_type = float_ops_by_type(model.open, model.sizes)
    assert {op: by_type.get(op) for op in KERNELS[name]} == KERNELS[name]


def test_arrays_of_the_first_tensorflow_have_lengths(folder: Path) -> None:
    sums = summary(OpenModel("arrays", folder).fixed, dims={"batch": B, "x_1": T})
    assert sums.counts.uncounted == ()
    # Without a run, a loop of single nodes counts once; what it wrote has all steps.
    assert multiply_adds(sums) == B * 14 * 8 + T * B * 8 * 3
