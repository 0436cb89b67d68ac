"""Operations that no formula can tell apart are counted by one call."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counted_graphs import flops
from draw import profile as drawn
from tfprof.ops import table
from tfprof.ops.counting import count
from tfprof.ops.op import Op, size
from tfprof.ops.shape import UnknownShape
from tfprof.ops.signatures import signatures
from tfprof.ops.table import flops_rule
from tfprof.read import Source, load
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Iterator


GraphDef: Final[Any] = message("tensorflow.GraphDef")


@pytest.fixture(autouse=True)
def no_rule_outlives_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_by_user", {})


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
