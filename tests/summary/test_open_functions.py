"""Functions with open dimensions cost what they compute, for given sizes and as formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from open_functions_figures import DATA_DEPENDENT, FIGURES, FIXED, KERNELS, NO_FORMULA, PARTLY
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

CERTAIN = [name for name in FIGURES if name not in DATA_DEPENDENT]


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("open_functions")


def test_every_model_has_figures(folder: Path) -> None:
    assert {path.name for path in folder.iterdir() if path.is_dir()} == FIGURES.keys()
    assert FIGURES.keys() >= NO_FORMULA | DATA_DEPENDENT | PARTLY | KERNELS.keys() | FIXED.keys()


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampled(CERTAIN, 12, "sizes of functions"))
def test_sizes_give_numbers(name: str, folder: Path) -> None:
    model = OpenModel(name, folder)
    check_with_sizes(model, FIGURES[name], FIXED.get(name), partly=name in PARTLY)


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampled(CERTAIN, 5, "formulas of functions"))
def test_formulas_give_the_same(name: str, folder: Path) -> None:
    check_formula(OpenModel(name, folder), FIGURES[name][0], has_formula=name not in NO_FORMULA)


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
