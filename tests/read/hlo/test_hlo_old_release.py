"""Programs that JAX 0.4.30 compiled, in 2024, count as those of today.

Its names hold the arguments of primitives, its metadata source lines instead of stack frames, its
text the shapes of operands; and no loop says how often it runs.
"""

from __future__ import annotations

from typing import Final

import pytest

import hlo_figures as figures
import hlo_oracle
from hlo_recorded import DATA, FORMS, by_type, content, contracted, elements, facts, loaded

OLD: Final = DATA / "jax_0_4"
PROGRAMS: Final = ("flax_linen", "plain", "half", "branches", "library", "sharded")


def test_the_programs_are_recorded() -> None:
    assert sorted(facts(OLD)) == sorted([*PROGRAMS, "nested"])
    for name, old in facts(OLD).items():
        assert old[:3] == facts()[name][:3]  # the same arguments as today


@pytest.mark.parametrize("name", PROGRAMS)
def test_products_and_convolutions_are_exact(name: str) -> None:
    expected = figures.total(figures.CONTRACTIONS[name])
    assert hlo_oracle.contractions(content(name, folder=OLD)) == expected
    for form in FORMS:
        assert contracted(loaded(name, form, OLD)) == expected, form


@pytest.mark.parametrize("name", ["flax_linen", "plain", "half", "sharded"])
def test_parameters_are_those_of_the_pytree(name: str) -> None:
    for form in FORMS:
        total = loaded(name, form, OLD).summary().total["parameters"]
        assert total == elements(facts(OLD)[name].params), form


@pytest.mark.parametrize("form", FORMS)
def test_modules_have_their_float_operations(form: str) -> None:
    rows = loaded("flax_linen", form, OLD).scope(
        select=["float_ops"], account_type_regexes=["dot", "convolution"], max_depth=3
    )
    found = {row.name: row.total_float_ops for row in rows if row.depth == 3}
    expected: dict[str, int] = {}
    for part, ops in figures.CONTRACTIONS["flax_linen"].items():
        layer = "Net/" + part.split()[0].split("/")[0]
        expected[layer] = expected.get(layer, 0) + ops
    assert {layer: found[layer] for layer in expected} == expected


def test_primitives_are_named_without_their_arguments() -> None:
    rows = loaded("plain", folder=OLD).scope(select=["op_types"], max_depth=1000)
    kinds = {kind for row in rows for kind in row.op_types}
    assert {"dot", "dot_general", "tanh"} <= kinds
    assert not [kind for kind in kinds if "[" in kind]


def test_a_loop_that_does_not_say_how_often_it_runs_is_a_lower_bound() -> None:
    root = by_type(loaded("nested", folder=OLD))["_TFProfRoot"]
    exact = figures.total(figures.CONTRACTIONS["nested"])
    assert root.total_float_ops >= exact or "total_float_ops" in root.incomplete


@pytest.mark.parametrize("form", FORMS)
def test_a_loop_with_a_constant_bound_runs_that_often(form: str) -> None:
    assert contracted(loaded("nested", form, OLD)) == figures.total(figures.CONTRACTIONS["nested"])
