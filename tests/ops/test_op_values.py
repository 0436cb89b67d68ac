"""What value rules say of small constants is what TensorFlow computes.

Each rule gets constants, then the same with numbers that are unknown: what it still says must be
true whatever these numbers are.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import paths
from shape_variants import Inputs, admits, bindings, numbers, pattern, variants
from tfprof.ops.engine import VALUE, Engine
from tfprof.ops.shape import HOLE
from tfprof.ops.table import OPS
from tfprof.read import Source, load
from value_cases import ELSEWHERE, value_cases

if TYPE_CHECKING:
    from forked import Forked

WORKER: Final = paths.SUPPORT / "value_oracle_worker.py"


def test_every_type_with_a_value_rule_has_a_case() -> None:
    # Those of HLO are for the bounds of loops, which the tests of JAX programs count.
    ruled = {op for op in OPS if OPS[op].value and not OPS[op].declares_shapes}
    assert {case.op for case in value_cases()} | ELSEWHERE == ruled


class Values:
    """What TensorFlow computes and our rules say, by case."""

    def __init__(self, inputs_of: list[Inputs], ran: dict[str, list[Any]], graph: bytes) -> None:
        self.inputs_of, self.ran = inputs_of, ran
        profile = load(Source("values", np.frombuffer(graph, np.uint8)))
        place = {name: node for node, name in enumerate(profile.nodes.name.texts())}
        self._names = [name for name in place if name.startswith("c")]
        settled = Engine(profile, {}).settle(VALUE, [place[name] for name in self._names])
        self.ours = dict(zip(self._names, settled, strict=True))


@pytest.fixture(scope="module")
def values(tensorflow: Forked) -> Values:
    return Values(*pickle.loads(tensorflow.script(WORKER)))  # noqa: S301 - our own worker's


def test_constants_have_the_values_that_tensorflow_computes(values: Values) -> None:
    wrong = []
    for number, case in enumerate(value_cases()):
        for place, inputs in enumerate(bindings(values.inputs_of[number])):
            name = f"c{number}/b{place}"
            ours = values.ours.get(name, [])
            # TensorFlow does not build or run every binding; it runs the case itself.
            theirs = values.ran.get(name, [])
            is_known = len(ours) == len(theirs) and not any(said is None for said in ours)
            if not _agree(ours, theirs) or (place == 0 and not (theirs and is_known)):
                wrong.append((case.op, case.attributes, inputs, ours, theirs))
    assert wrong == [], "\n".join(map(str, wrong))


def test_what_is_said_with_unknown_numbers_holds_for_all_of_them(values: Values) -> None:
    wrong = []
    for number, case in enumerate(value_cases()):
        inputs = values.inputs_of[number]
        bound = [
            (numbers(one), values.ran[f"c{number}/b{place}"])
            for place, one in enumerate(bindings(inputs))
            if f"c{number}/b{place}" in values.ran
        ]
        for place, less in enumerate(variants(inputs)):
            known, ours = pattern(less, inputs), values.ours.get(f"c{number}/v{place}", [])
            wrong += [
                (case.op, case.attributes, less, ours, theirs)
                for sizes, theirs in bound
                if admits(known, sizes) and not _agree(ours, theirs)
            ]
    assert wrong == [], "\n".join(map(str, wrong))


def _agree(ours: list[Any], theirs: list[Any]) -> bool:
    """Whether all that ours say is what TensorFlow returns."""
    return all(
        said is None
        or (
            said.shape == array.shape
            and bool(np.all((said == HOLE) | np.isclose(said, array, rtol=1e-5)))
        )
        for said, array in zip(ours, theirs, strict=False)
    )
