"""Which rule counts an operation: TensorFlow's, ours or the user's; and what a user's may be."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import tfprof
from counted_graphs import flops, text_profile, uncounted
from draw import profile as drawn
from tfprof.errors import UsageError
from tfprof.ops import table
from tfprof.ops.counting import count
from tfprof.ops.op import Op, size
from tfprof.ops.shape import UnknownShape
from tfprof.ops.table import flops_rule, rules

if TYPE_CHECKING:
    from tfprof.ops.table import Which

LARGEST: Final = 2**63 - 1


@pytest.fixture(autouse=True)
def no_rule_outlives_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_by_user", {})


def test_tensorflow_has_46_rules_and_all_has_them_all() -> None:
    theirs, everyone = table.rules("tensorflow"), table.rules("all")
    assert len(theirs) == 46
    assert theirs.keys() < everyone.keys()
    assert {rule.origin for rule in theirs.values()} == {"tensorflow"}
    assert {rule.origin for rule in everyone.values()} == {"tensorflow", "ours"}


def test_contractions_are_marked() -> None:
    contractions = {rule.op for rule in table.rules("tensorflow").values() if rule.contraction}
    assert contractions == {
        *("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Conv2D", "Conv3D"),
        *("Conv2DBackpropInput", "Conv2DBackpropFilter", "DepthwiseConv2dNative"),
    }


def test_rules_of_another_name_are_refused() -> None:
    which: Any = "some"
    with pytest.raises(UsageError, match="unknown rules 'some'"):
        count(drawn("a op=Neg"), which)


@pytest.mark.parametrize("which", ["tensorflow", "all"])
def test_a_rule_of_the_user_counts_with_either_and_replaces_any(which: Which) -> None:
    profile = drawn("""
        x  op=Const out=2x3
        a  op=Mine  < x
        b  op=Neg   < x
    """)

    @flops_rule("Mine", "Neg")
    def mine(op: Op) -> float:
        return 10.75 * size(op.input())

    assert flops(profile, which) == {"a": 64, "b": 64}
    assert mine(Op("Mine", [(4,)])) == 43

    @flops_rule("Mine")
    def _(_: Op) -> int:
        return 5

    assert flops(profile, which) == {"a": 5, "b": 64}


def test_a_rule_of_the_user_may_lack_a_shape() -> None:
    @flops_rule("Mine")
    def _(op: Op) -> int:
        return size(op.input(3))

    assert uncounted(drawn("a op=Mine")) == [("Mine", 1, "unknown shape")]

    @flops_rule("Mine")
    def _(_: Op) -> int:
        raise tfprof.UnknownShape

    assert uncounted(drawn("a op=Mine")) == [("Mine", 1, "unknown shape")]


class Indexed:
    """Stands for a whole number as sizes of other libraries do."""

    def __index__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return "Indexed"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((7, 7), (7.9, 7), (True, 1), (Fraction(15, 2), 7), (Indexed(), 7), (10**400, LARGEST)),
        *((np.int32(7), 7), (np.uint8(7), 7), (np.float32(7.5), 7), (np.array(7), 7)),
    ],
    ids=repr,
)
def test_a_rule_of_the_user_gives_any_real_number(value: Any, expected: int) -> None:
    @flops_rule("Mine")
    def _(_: Op) -> Any:
        return value

    assert flops(drawn("a op=Mine")) == {"a": expected}


@pytest.mark.parametrize(
    "value",
    [
        *(None, "many", "7", 1j, [7], np.array([7, 7]), Decimal(7)),
        *(-1, -0.5, np.int64(-1), float("nan"), float("inf"), np.float32("nan")),
    ],
    ids=repr,
)
def test_a_rule_of_the_user_gives_nothing_else(value: Any) -> None:
    @flops_rule("Mine")
    def _(_: Op) -> Any:
        return value

    with pytest.raises(
        UsageError, match=f"the rule of Mine returned {re.escape(repr(value))}, which is not"
    ):
        count(drawn("a op=Mine"))


def test_a_mistake_in_a_rule_of_the_user_is_seen() -> None:
    @flops_rule("Mine")
    def _(op: Op) -> int:
        return op.output()[7]

    sentence = "^the rule of Mine failed: IndexError: tuple index out of range$"
    with pytest.raises(UsageError, match=sentence) as caught:
        count(drawn("a op=Mine out=2"))
    assert isinstance(caught.value.__cause__, IndexError)


def test_a_rule_names_operations() -> None:
    def formula(_: Op) -> int:
        return 0

    decorator: Any = flops_rule
    with pytest.raises(UsageError, match="needs the names of operation types"):
        decorator(formula)
    with pytest.raises(UsageError, match="needs the names of operation types"):
        flops_rule()


def test_a_rule_is_a_function() -> None:
    formula: Any = 7
    with pytest.raises(UsageError, match="a rule must be a function that takes an Op, not 7"):
        flops_rule("Mine")(formula)
    assert "Mine" not in table.rules()


def test_a_text_is_the_name_of_one_attribute() -> None:
    @flops_rule("Mine", attributes="strides")
    def _(op: Op) -> int:
        return int(op.attr("strides"))

    node = 'node { name: "n" op: "Mine" attr { key: "strides" value { i: 3 } } }'
    assert flops(text_profile(node)) == {"n": 3}
    names: Any = [1]
    with pytest.raises(UsageError, match="attributes are names"):
        flops_rule("Mine", attributes=names)


class SlowName(str):
    """A name that lets other threads run whenever it is put into a table."""

    __slots__ = ()

    def __hash__(self) -> int:
        sleep(0.01)
        return super().__hash__()


def test_rules_registered_at_once_are_all_there() -> None:
    def register(number: int) -> None:
        flops_rule(SlowName(f"Mine{number}"))(lambda _: 1)

    threads = [Thread(target=register, args=[number]) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(table.rules("tensorflow")) == 46 + 5


def test_numbers_beyond_64_bits_wrap_around_as_in_tensorflow_or_stop_at_the_largest() -> None:
    profile = drawn(f"""
        x  op=Const   out={2**31}x{2**31}
        m  op=MatMul  out={2**31}x{2**31} < x, x
        n  op=MatMul  out={3 * 2**30}x{2**31} < x, x
        s  op=Softmax < x
    """)
    theirs = {"m": 0, "n": 0, "s": LARGEST}
    assert flops(profile) == {name: value for name, value in theirs.items() if value}
    assert flops(profile, "all") == {"m": LARGEST, "n": LARGEST, "s": LARGEST}
    odd = drawn("""
        x  op=Const   out=3x3037000501
        m  op=MatMul  out=3037000501x1 < x, x
    """)
    assert flops(odd) == {"m": 2 * 3037000501**2 - 2**64}


def test_an_attribute_of_another_type_is_an_unknown_shape() -> None:
    op = Op(
        "XlaConv", [(1, 8, 8, 3), (3, 3, 3, 4)], [(1, 8, 8, 4)], attributes={"dimension_numbers": 7}
    )
    with pytest.raises(UnknownShape):
        rules()["XlaConv"].formula(op)
