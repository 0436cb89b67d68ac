"""Float operations by rule: what a formula sees, which rule counts, what is said of the rest."""

from __future__ import annotations

from random import Random
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draw import profile as drawn
from tfprof.errors import InputError, UsageError
from tfprof.flops import Op, UnknownShape, count, flops_rule, size, table
from tfprof.flops.counting import Counts, Uncounted
from tfprof.flops.signatures import signatures
from tfprof.read import Source, add_run, load
from tfprof.read.schema import message
from tfprof.reporters.saved import saved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.flops.table import Which
    from tfprof.model import Profile

GraphDef: Final[Any] = message("tensorflow.GraphDef")
LARGEST: Final = 2**63 - 1


@pytest.fixture(autouse=True)
def no_rule_outlives_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_by_user", {})


def text_profile(graph: str) -> Profile:
    return load(Source("graph.pbtxt", np.frombuffer(graph.encode(), np.uint8)))


def flops(profile: Profile, which: Which = "tensorflow") -> dict[str, int]:
    """What is counted, by name, without the zeros."""
    values = zip(profile.nodes.name.texts(), count(profile, which).float_ops.tolist(), strict=True)
    return {name: value for name, value in values if value}


def uncounted(profile: Profile) -> list[tuple[str, int, str]]:
    return [*count(profile, "tensorflow").uncounted]


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
    with pytest.raises(UsageError, match="the rule of Neg asks for attribute U"):
        count(text_profile(node))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('s: "NHWC"', "NHWC"),
        ("i: -3", -3),
        ("f: 0.5", 0.5),
        ("b: true", True),
        ("b: false", False),
        ("shape { dim { size: 2 } dim { size: -1 } }", [2, -1]),
        ("list { i: [1, 2, 2, 1] }", [1, 2, 2, 1]),
        ('list { s: ["a", "b"] }', ["a", "b"]),
        ("list { b: [true, false] }", [True, False]),
        ("list { shape { dim { size: 4 } } }", [[4]]),
        ("list { }", []),
    ],
)
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


def test_an_input_is_the_output_that_its_number_names() -> None:
    profile = drawn("""
        s  op=Split out=2,3x4,5
        a  op=Neg   < s
        b  op=Neg   < s:0
        c  op=Neg   < s:1
        d  op=Neg   < s:2
        e  op=Neg   < s:3
        f  op=Neg   < s:one
        g  op=Neg   < s:99999999999999999999
    """)
    assert flops(profile) == {"a": 2, "b": 2, "c": 12, "d": 5}
    assert uncounted(profile) == [("Neg", 3, "unknown shape")]


def test_control_inputs_are_none_of_the_data_inputs() -> None:
    profile = drawn("""
        x  op=Const out=2x3
        y  op=Const out=7
        a  op=Neg   < ^y, x
        b  op=Neg   < ^y
        n  op=AddN  < x, x, ^y
    """)
    assert flops(profile) == {"a": 6, "n": 12}
    assert uncounted(profile) == [("Neg", 1, "unknown shape")]


def test_inputs_that_no_node_has_are_unknown_shapes() -> None:
    profile = drawn("a op=Neg < nobody, someone:1, ^else")
    assert uncounted(profile) == [("Neg", 1, "unknown shape")]


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


def test_of_two_nodes_of_a_name_the_first_is_counted() -> None:
    profile = drawn("""
        x  op=Const out=2
        a  op=Neg   < x
        a  op=Rsqrt < x
    """)
    assert flops(profile) == {"a": 2}
    assert count(profile, "tensorflow").ops == 1


# --- shapes --------------------------------------------------------------------------------


@pytest.mark.parametrize("dims", ["?x3", "3x?", "?"])
def test_a_shape_is_known_in_full_or_not_at_all(dims: str) -> None:
    profile = drawn(f"""
        x  op=Const out={dims}
        a  op=Neg   < x
    """)
    assert uncounted(profile) == [("Neg", 1, "unknown shape")]


def test_where_no_outputs_are_listed_the_attribute_shape_tells_some() -> None:
    profile = drawn("""
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
    """)
    assert flops(profile) == {"a": 6, "b": 1, "c": 20, "g": 7, "j": 9}


def test_an_operation_that_cannot_be_is_an_unknown_shape() -> None:
    profile = drawn("""
        x  op=Const  out=5
        a  op=MatMul out=2x2 < x, x
    """)
    assert uncounted(profile) == [("MatMul", 1, "unknown shape")]


# --- which rule counts ---------------------------------------------------------------------


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
    with pytest.raises(UsageError, match="there are no rules 'some'"):
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
        return -5

    assert flops(profile, which) == {"a": -5, "b": 64}


def test_a_rule_of_the_user_may_lack_a_shape() -> None:
    @flops_rule("Mine")
    def _(op: Op) -> int:
        return size(op.input(3))

    assert uncounted(drawn("a op=Mine")) == [("Mine", 1, "unknown shape")]


@pytest.mark.parametrize("value", [None, "many", float("nan"), float("inf")])
def test_a_rule_of_the_user_gives_a_number(value: Any) -> None:
    @flops_rule("Mine")
    def _(_: Op) -> Any:
        return value

    with pytest.raises(UsageError, match="the rule of Mine gave"):
        count(drawn("a op=Mine"))


def test_a_mistake_in_a_rule_of_the_user_is_seen() -> None:
    @flops_rule("Mine")
    def _(op: Op) -> int:
        return op.output()[7]

    with pytest.raises(IndexError):
        count(drawn("a op=Mine out=2"))


def test_a_rule_names_operations() -> None:
    def formula(_: Op) -> int:
        return 0

    decorator: Any = flops_rule
    with pytest.raises(UsageError, match="names the operations"):
        decorator(formula)
    with pytest.raises(UsageError, match="names the operations"):
        flops_rule()


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
        "float_ops counts 1 of 5 operations; not counted: 2 Foo (no rule), "
        "1 Neg (unknown shape), 1 PartitionedCall (calls a function)"
    )


@pytest.mark.parametrize(
    ("kinds", "end"), [(5, "1 op4 (no rule)"), (6, " and 1 more kind"), (9, " and 4 more kinds")]
)
def test_few_kinds_are_named(kinds: int, end: str) -> None:
    rest = tuple(Uncounted(f"op{number}", 1, "no rule") for number in range(kinds))
    line = str(Counts(np.zeros(0, np.int64), 12_000, rest))
    assert line.startswith(f"float_ops counts {12_000 - kinds:,} of 12,000 operations; ")
    assert line.endswith(end)
    assert "op5" not in line


def test_when_everything_is_counted_the_line_says_so() -> None:
    assert str(count(drawn("x op=Const out=2\na op=Neg < x"))) == (
        "float_ops counts all 1 operations"
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


# --- one call a signature ------------------------------------------------------------------

TYPES: Final = ("MatMul", "AddN", "Neg", "Mul", "AvgPool", "Mine", "Any", "Const")


def random_graph(random: Random, nodes: int) -> Any:
    graph = GraphDef()
    for number in range(nodes):
        node = graph.node.add(name=f"n{number}", op=random.choice(TYPES))
        for _ in range(random.choice([0, 1, 2, 2, 3])):
            source = f"n{random.randrange(nodes + 1)}"
            node.input.append(random.choice([source, source, f"{source}:1", f"^{source}"]))
        for _ in range(random.choice([0, 1, 1, 2])):
            shape = node.attr["_output_shapes"].list.shape.add()
            for _ in range(random.choice([1, 2, 2])):
                shape.dim.add(size=random.choice([1, 2, 3, 3, -1]))
        if random.random() < 0.5:
            node.attr["transpose_a"].b = random.random() < 0.5
        if random.random() < 0.5:
            node.attr["data_format"].s = random.choice([b"NHWC", b"NCHW"])
            node.attr["ksize"].list.i.extend([1, random.randint(1, 2), 2, 1])
    return graph


def one_by_one(graph: Any) -> Iterator[int | None]:
    """What the formulas say, asked for each node."""
    outputs: dict[str, list[tuple[int, ...] | None]] = {}
    for node in graph.node:
        listed = node.attr["_output_shapes"].list.shape if "_output_shapes" in node.attr else []
        dims = [tuple(dim.size for dim in shape.dim) for shape in listed]
        outputs[node.name] = [None if min(one) < 0 else one for one in dims]
    for node in graph.node:
        inputs: list[tuple[int, ...] | None] = []
        for written in node.input:
            name, _, slot = written.partition(":")
            known = outputs.get(name, [])
            if not written.startswith("^"):
                inputs.append(known[int(slot or 0)] if int(slot or 0) < len(known) else None)
        attributes: dict[str, Any] = {}
        for key in ("transpose_a", "data_format", "ksize"):
            if key in node.attr:
                held = node.attr[key]
                attributes[key] = (
                    held.b if key == "transpose_a" else held.s.decode() or list(held.list.i)
                )
        op = Op(
            node.op,
            inputs,
            outputs[node.name],
            controls=len(node.input) - len(inputs),
            attributes=attributes,
        )
        rule = table.rules("tensorflow").get(node.op)
        try:
            yield None if rule is None else int(rule.formula(op))
        except (UnknownShape, IndexError):
            yield None


def register_mine() -> None:
    @flops_rule("Mine", attributes=("ksize",))
    def _(op: Op) -> int:
        return 1000 * op.inputs + 100 * op.controls + 10 * op.outputs + len(str(op.attr("ksize")))

    @flops_rule("Any")
    def _(op: Op) -> int:
        return size(op.input()) * (2 if op.attr("transpose_a") else 3)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_counting_by_signature_is_counting_one_by_one(seed: int, nodes: int) -> None:
    register_mine()
    graph = random_graph(Random(seed), nodes)  # noqa: S311 - the same every time
    data = np.frombuffer(graph.SerializeToString(), np.uint8)
    expected = list(one_by_one(graph))
    counts = count(load(Source("graph", data)), "tensorflow")
    assert counts.float_ops.tolist() == [value or 0 for value in expected]
    asked = [node.op in table.rules("tensorflow") for node in graph.node]
    unknown = sum(kind.nodes for kind in counts.uncounted if kind.why == "unknown shape")
    assert unknown == sum(was and value is None for was, value in zip(asked, expected, strict=True))


def test_a_formula_is_called_once_for_what_it_cannot_tell_apart() -> None:
    calls: list[str] = []

    @flops_rule("Mine", attributes=())
    def _(op: Op) -> int:
        calls.append(op.type)
        return size(op.input())

    lines = ["x op=Const out=2x3", "y op=Const out=7", "z op=Const out=2x3"]
    lines += [f"a{number} op=Mine out=2 < {'xyz'[number % 3]}" for number in range(300)]
    assert sum(flops(drawn("\n".join(lines))).values()) == 200 * 6 + 100 * 7
    assert len(calls) == 2


def test_signatures_are_told_apart_by_every_part() -> None:
    profile = drawn("""
        x  op=Const out=2
        y  op=Const out=3
        a  op=AddN  out=2   < x, x
        b  op=AddN  out=2   < x, x
        c  op=AddN  out=2   < x, y
        d  op=AddN  out=2   < x, x, ^y
        e  op=AddN  out=2,2 < x, x
        f  op=AddN  out=3   < x, x
        g  op=AddN          < x, x, x
    """)
    nodes = np.arange(2, 9)
    rule = table.rules("tensorflow")["AddN"]
    found = signatures(profile, nodes, np.zeros(7, np.int64), [rule])
    assert found.of_node.tolist() == [0, 0, 1, 2, 3, 4, 5]
