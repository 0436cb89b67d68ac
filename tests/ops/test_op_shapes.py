"""Every operation type with float operations has a shape rule, or a reason why not.

And every rule says what TensorFlow says. Each is built with inputs of several sizes, with open
dimensions, with unknown ranks and with unknown constants (`shape_oracle.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import sampling
from every_op import ruled
from shape_cases import cases
from shape_exceptions import LIKE, NOT_BUILT, ONE_SIZE
from shape_oracle import Compared, compared, inexact, unknown, untrue
from shape_variants import leaves
from tfprof.ops.dtypes import DTYPES
from tfprof.ops.table import OPS, names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from forked import Forked

# These are compared in every run; of the others, a sample.
ALWAYS: Final = names(
    """
    Reshape MatMul EnsureShape BiasAdd Conv Conv2D UniqueV2 Bitcast ImmutableConst DynamicStitch
    {SpaceToBatch,BatchToSpace}{,ND}
    """
)


def test_one_row_has_everything_that_is_known_of_a_type() -> None:
    conv, less, switch = OPS["Conv2D"], OPS["Less"], OPS["Switch"]
    assert conv.float_ops is not None
    assert conv.tensorflow is not None
    assert conv.float_ops.formula is not conv.tensorflow.formula
    assert conv.shape is not None
    assert less.value is not None
    assert DTYPES[less.dtype.fixed].name == "bool"
    assert switch.item is not None
    assert switch.is_a("no arithmetic")
    assert not conv.is_a("no arithmetic")
    assert OPS["OfSomebodyElse"].shape is None


def test_every_type_with_float_operations_has_a_shape_rule_or_a_reason() -> None:
    neither = {op for op in ruled() if not OPS[op].shape and not OPS[op].no_shape}
    assert neither == set()
    needless = {op for op in OPS if OPS[op].declares_shapes and OPS[op].shape}
    assert needless == set()
    both = {op for op in OPS if OPS[op].shape and OPS[op].no_shape}
    assert both == set()


def test_reasons_are_few() -> None:
    """Of 614 types; whoever adds one says why the shape does not follow."""
    assert sum(bool(OPS[op].no_shape) for op in ruled()) <= 24


def test_whoever_has_the_rule_of_another_type_has_that_rule() -> None:
    for op, other in LIKE.items():
        assert OPS[op].shape is OPS[other].shape, op


def test_every_type_with_a_shape_rule_has_a_case_or_a_reason() -> None:
    ruled = {op for op in OPS if OPS[op].shape}
    assert {case.op for case in cases()} == ruled - set(NOT_BUILT)
    assert set(NOT_BUILT) <= ruled


@pytest.fixture(scope="module")
def oracle(tensorflow: Forked) -> list[Compared]:
    """The cases of some types, in a whole run of all, built by TensorFlow."""
    types = sorted({case.op for case in cases()} - set(ALWAYS))
    chosen = {*ALWAYS, *sampling.sampled(types, 60, "shapes of operation types")}
    return compared(tensorflow, [n for n, case in enumerate(cases()) if case.op in chosen])


@pytest.mark.sampled
def test_tensorflow_builds_every_case(oracle: list[Compared]) -> None:
    assert [str(case.case) for case in oracle if not case.opened or not case.bound] == []


@pytest.mark.sampled
def test_sizes_differ_between_bindings(oracle: list[Compared]) -> None:
    """A number that a rule invents is wrong for one of two sizes."""
    sizes: dict[str, int] = {}
    for case in oracle:
        has_dimensions = case.case.op not in ONE_SIZE and any(leaves(case.opened[0].inputs))
        needed = 2 if has_dimensions else 1
        sizes[case.case.op] = max(sizes.get(case.case.op, 0), len(case.bound) + 2 - needed)
    assert {op for op, count in sizes.items() if count < 2} == set()


# With sizes, shapes equal those of TensorFlow; with open inputs, they agree with every size, and
# all is known that TensorFlow knows.
@pytest.mark.sampled
@pytest.mark.parametrize("differences", [inexact, untrue, unknown])
def test_shapes_are_those_of_tensorflow(
    oracle: list[Compared], differences: Callable[[Compared], Iterable[str]]
) -> None:
    assert [line for case in oracle for line in differences(case)] == []


@pytest.mark.sampled
def test_an_invented_dimension_is_found(oracle: list[Compared]) -> None:
    """What a rule must not say: a size of the case itself where it is open."""
    case = next(case for case in oracle if case.case.op == "MatMul" and len(case.bound) > 1)
    opened = [both._replace(ours=case.bound[0].theirs) for both in case.opened]
    assert [*untrue(case)] == []
    assert [*untrue(case._replace(opened=opened))] != []
    assert [*unknown(case._replace(opened=[both._replace(ours=[]) for both in opened]))] != []
