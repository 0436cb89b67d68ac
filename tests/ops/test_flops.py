"""Float operations by rule: what a formula sees of an operation, and what is said of the rest."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from counted_graphs import flops, text_profile, uncounted
from draw import profile as drawn
from tfprof.errors import InputError, UsageError
from tfprof.ops import table
from tfprof.ops.counting import Counts, Uncounted, count
from tfprof.ops.op import Op
from tfprof.ops.shape import UnknownShape
from tfprof.ops.table import flops_rule
from tfprof.read import Source, add_run, load
from tfprof.writers.saved import saved


@pytest.fixture(autouse=True)
def no_rule_outlives_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_by_user", {})


# --- what a formula sees -------------------------------------------------------------------


def test_an_op_tells_its_shapes_and_attributes() -> None:
    attributes: dict[str, Any] = {"k": [1, 2]}
    op = Op("Conv", [(2, 3), None], [(4,)], controls=1, attributes=attributes)
    assert (op.type, op.inputs, op.outputs, op.controls) == ("Conv", 2, 1, 1)
    assert (op.input(), op.input(0), op.output()) == ((2, 3), (2, 3), (4,))
    assert (op.attr("k"), op.attr("other"), op.attr("other", 7)) == ([1, 2], None, 7)


@pytest.mark.parametrize("number", [1, 2, -3])
def test_an_input_that_is_open_or_missing_is_an_unknown_shape(number: int) -> None:
    with pytest.raises(UnknownShape):
        Op("Conv", [(2, 3), None]).input(number)


def test_a_formula_that_asks_for_an_attribute_it_did_not_name_is_told_so() -> None:
    @flops_rule("Neg", attributes=["T"])
    def _(op: Op) -> int:
        return 1 if op.attr("T") is None else int(bool(op.attr("U")))

    node = 'node { name: "n" op: "Neg" attr { key: "T" value { i: 3 } } }'
    with pytest.raises(UsageError, match="the rule for Neg reads attribute U"):
        count(text_profile(node))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('s: "NHWC"', "NHWC"), ("i: -3", -3), ("f: 0.5", 0.5), ("b: true", True),
        ("b: false", False), ("shape { dim { size: 2 } dim { size: -1 } }", [2, -1]),
        ("list { i: [1, 2, 2, 1] }", [1, 2, 2, 1]), ('list { s: ["a", "b"] }', ["a", "b"]),
        ("list { b: [true, false] }", [True, False]),
        ("list { shape { dim { size: 4 } } }", [[4]]), ("list { }", []),
    ],
)  # fmt: skip
def test_attributes_come_as_plain_values(value: str, expected: object) -> None:
    seen: list[object] = []

    @flops_rule("Mine")
    def _(op: Op) -> int:
        seen.append(op.attr("a"))
        return 0

    count(text_profile(f'node {{ name: "n" op: "Mine" attr {{ key: "a" value {{ {value} }} }} }}'))
    assert seen == [expected]
    assert type(seen[0]) is type(expected)


def test_of_an_attribute_that_stands_twice_the_last_counts() -> None:
    @flops_rule("Mine", attributes=("a",))
    def _(op: Op) -> int:
        value = op.attr("a")
        assert isinstance(value, int)
        return value

    node = b"\x0a\x01n\x12\x04Mine" + b"".join(
        b"\x2a\x07\x0a\x01a\x12\x02\x18" + bytes([number]) for number in (5, 9)
    )
    graph = b"\x0a" + bytes([len(node)]) + node
    assert flops(load(Source("graph", np.frombuffer(graph, np.uint8)))) == {"n": 9}


def test_a_damaged_attribute_is_an_input_error() -> None:
    node = b"\x0a\x01n\x12\x06MatMul\x2a\x12\x0a\x0btranspose_a\x12\x03\x0a\x09x"
    graph = b"\x0a" + bytes([len(node)]) + node
    with pytest.raises(InputError, match="an attribute of the graph is damaged"):
        count(load(Source("graph", np.frombuffer(graph, np.uint8))), "tensorflow")


# --- inputs --------------------------------------------------------------------------------


# What a row says, a drawing, what is counted, and the rest of unknown shape by type.
# fmt: off
DRAWN: Final[list[tuple[str, str, dict[str, int], dict[str, int]]]] = [
    ("an input is the output that its number names", """
        s  op=Split out=2,3x4,5
        a  op=Neg   < s
        b  op=Neg   < s:0
        c  op=Neg   < s:1
        d  op=Neg   < s:2
        e  op=Neg   < s:3
        f  op=Neg   < s:one
        g  op=Neg   < s:99999999999999999999
        """, {"a": 2, "b": 2, "c": 12, "d": 5}, {"Neg": 3}),
    ("control inputs are none of the data inputs", """
        x  op=Const out=2x3
        y  op=Const out=7
        a  op=Neg   < ^y, x
        b  op=Neg   < ^y
        n  op=AddN  < x, x, ^y
        """, {"a": 6, "n": 12}, {"Neg": 1}),
    ("inputs that no node has are unknown shapes",
        "a op=Neg < nobody, someone:1, ^else", {}, {"Neg": 1}),
    ("of two nodes of a name the first is counted", """
        x  op=Const out=2
        a  op=Neg   < x
        a  op=Rsqrt < x
        """, {"a": 2}, {}),
    *(("a shape is known in full or not at all",
        f"x op=Const out={dims}\na op=Neg < x", {}, {"Neg": 1}) for dims in ("?x3", "3x?", "?")),
    ("an operation that cannot be is an unknown shape",
        "x op=Const out=5\na op=MatMul out=2x2 < x, x", {}, {"MatMul": 1}),
    ("where no outputs are listed, the attribute shape tells some", """
        variable     op=VariableV2      params=2x3
        scalar       op=VariableV2      params=1
        placeholder  op=Placeholder     params=4x5
        any          op=Placeholder     params=1
        open         op=Placeholder     params=?x5
        handle       op=VarHandleOp     params=7
        read         op=ReadVariableOp  < handle
        elsewhere    op=ReadVariableOp  < placeholder
        nowhere      op=ReadVariableOp  < nobody
        listed       op=VariableV2      params=2x3 out=9
        a            op=Neg < variable
        b            op=Neg < scalar
        c            op=Neg < placeholder
        d            op=Neg < any
        e            op=Neg < open
        f            op=Neg < handle
        g            op=Neg < read
        h            op=Neg < elsewhere
        i            op=Neg < nowhere
        j            op=Neg < listed
        """, {"a": 6, "b": 1, "c": 20, "g": 7, "j": 9}, {"Neg": 5}),
]
# fmt: on


@pytest.mark.parametrize(
    ("drawing", "counted", "unknown"), [row[1:] for row in DRAWN], ids=[row[0] for row in DRAWN]
)
def test_what_is_counted_of_a_drawing(
    drawing: str, counted: dict[str, int], unknown: dict[str, int]
) -> None:
    profile = drawn(drawing)
    assert flops(profile) == counted
    assert uncounted(profile) == [(op, nodes, "unknown shape") for op, nodes in unknown.items()]
    assert count(profile, "tensorflow").ops == len(counted) + sum(unknown.values())


def test_slots_of_inputs_stand_beside_their_sources() -> None:
    profile = drawn("""
        a  < b:2, ^a, c, d:1
        b  < ^d:7
    """)
    assert profile.edges.slot.tolist() == [2, -1, 0, 1, -1]
    assert profile.edges.start.tolist() == [0, 4, 5]


def test_inputs_of_a_saved_profile_are_first_outputs() -> None:
    profile = drawn("""
        x  op=Const out=2x3
        a  op=Neg   < x, x
    """)
    again = load(saved=Source("saved", np.frombuffer(b"".join(saved(profile)), np.uint8)))
    assert again.edges.slot.tolist() == [0, 0]
    assert flops(again) == flops(profile) == {"a": 6}


# --- what is said of the rest --------------------------------------------------------------


def test_what_is_not_counted_comes_with_its_reason_the_most_first() -> None:
    profile = drawn("""
        x   op=Const out=2x3
        a   op=Neg   < x
        b   op=Neg
        c1  op=Foo   < x
        c2  op=Foo   < x
        p   op=PartitionedCall < x
        i   op=Identity < x
    """)
    counts = count(profile, "tensorflow")
    assert counts.uncounted == (
        Uncounted("Foo", 2, "no rule"),
        Uncounted("Neg", 1, "unknown shape"),
        Uncounted("PartitionedCall", 1, "calls a function"),
    )
    assert (counts.ops, counts.counted) == (5, 1)
    assert str(counts) == (
        "float_ops counts 1 of the graph's 5 operations; not counted: 2 Foo (no rule), "
        "1 Neg (unknown shape), 1 PartitionedCall (calls a function)"
    )


@pytest.mark.parametrize(
    ("kinds", "end"), [(5, "1 op4 (no rule)"), (6, " and 1 more kind"), (9, " and 4 more kinds")]
)
def test_few_kinds_are_named(kinds: int, end: str) -> None:
    rest = tuple(Uncounted(f"op{number}", 1, "no rule") for number in range(kinds))
    line = str(Counts(np.zeros(0, np.int64), 12_000, rest))
    assert line.startswith(
        f"float_ops counts {12_000 - kinds:,} of the graph's 12,000 operations; "
    )
    assert line.endswith(end)
    assert "op5" not in line


def test_when_everything_is_counted_the_line_says_so() -> None:
    assert str(count(drawn("x op=Const out=2\na op=Neg < x"))) == (
        "float_ops counts the one operation of the graph"
    )


def test_nodes_that_only_a_run_names_are_no_operations() -> None:
    profile = drawn("x op=Const out=2\na op=Neg us=5 < x")
    stranger = b"\x0a\x0e\x0a\x0c\x0a\x06/cpu:0\x12\x02\x0a\x00"
    grown = add_run(profile, 1, Source("run", np.frombuffer(stranger, np.uint8)))
    assert len(grown) == len(profile) + 1
    assert count(grown, "tensorflow").ops == 1


def test_the_column_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        count(drawn("a op=Neg"), "tensorflow").float_ops[0] = 5


def test_an_empty_profile_counts_nothing() -> None:
    counts = count(load(), "tensorflow")
    assert (counts.float_ops.size, counts.ops, counts.uncounted) == (0, 0, ())
