"""Functions are part of the graph: their bodies stand below every node that calls them."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from google.protobuf import text_format

import paths
import tfprof
from tfprof.errors import InputError
from tfprof.model import BRANCH, CALLED, LOOP_BODY, LOOP_CONDITION
from tfprof.ops.symbols import symbols
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.read import Source, load
from tfprof.read.functions.calls import UNKNOWN_OUTPUT, flat_number, op_outputs
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tfprof.model import Profile

DATA: Final = paths.DATA / "tf2"
_GraphDef: Final[Any] = message("tensorflow.GraphDef")
_SIZE: Final = 2 * 64 * 64


# --- drawn: a line a node, "name = Op(input, input)", functions by name -------------------------


def drawn(graph: str, **functions: str) -> Profile:
    """The profile of a graph and its functions; "-> x, y" are what a function returns."""
    made = _GraphDef()
    for line in _lines(graph):
        _node(made.node.add(), line)
    for name, text in functions.items():
        function = made.library.function.add()
        function.signature.name = name
        *nodes, returned = _lines(text)
        if nodes and nodes[0].startswith("("):
            for argument in nodes.pop(0).strip("()").split():
                function.signature.input_arg.add(name=argument)
        for line in nodes:
            _node(function.node_def.add(), line)
        for number, value in enumerate(returned.removeprefix("->").split()):
            function.signature.output_arg.add(name=f"r{number}")
            function.ret[f"r{number}"] = value
    data = np.frombuffer(made.SerializeToString(), np.uint8)
    return load(Source("drawn", data))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _node(node: Any, line: str) -> None:
    """Such as "c = While(x, y) body=f cond=g"."""
    node.name, _, rest = line.partition(" = ")
    head, _, attributes = rest.partition(")")
    node.op, _, inputs = head.partition("(")
    node.input.extend(one.strip() for one in inputs.split(",") if one.strip())
    for pair in attributes.split():
        key, _, value = pair.partition("=")
        if "," in value:
            for one in value.split(","):
                node.attr[key].list.func.add(name=one)
        else:
            node.attr[key].func.name = value


def edges(profile: Profile) -> dict[str, list[str]]:
    """The inputs of each node, "x:1" and "^x" as a graph writes them."""
    names = list(profile.nodes.name.texts())
    found = {}
    for node, name in enumerate(names):
        part = slice(profile.edges.start[node], profile.edges.start[node + 1])
        found[name] = [
            ("^" if slot < 0 else "")
            + (names[source] if source >= 0 else profile.edges.unknown[-1 - source].decode())
            + (f":{slot}" if slot > 0 else "")
            for source, slot in zip(
                profile.edges.source[part].tolist(), profile.edges.slot[part].tolist(), strict=True
            )
        ]
    return found


def kinds(profile: Profile) -> Sequence[tuple[str, int]]:
    names = list(profile.nodes.name.texts())
    regions = profile.regions
    return [
        (names[call], kind)
        for call, kind in zip(regions.call.tolist(), regions.kind.tolist(), strict=True)
    ]


def test_a_body_stands_below_its_call_and_reads_what_the_call_was_given() -> None:
    profile = drawn(
        """
        x = Placeholder()
        call = PartitionedCall(x) f=f
        out = Identity(call)
        """,
        f="""
        (a)
        mul = Mul(a, a)
        sum = Sum(mul:z:0)
        -> sum:output:0
        """,
    )
    assert edges(profile) == {
        "x": [], "call": ["call/sum", "x"], "out": ["call"], "call/mul": ["x", "x"],
        "call/sum": ["call/mul"],
    }  # fmt: skip
    assert kinds(profile) == [("call", CALLED)]
    assert profile.regions.of_node.tolist() == [-1, -1, -1, 0, 0]


def test_arguments_are_handed_through_any_number_of_calls() -> None:
    profile = drawn(
        "x = Placeholder()\ncall = PartitionedCall(x) f=f",
        f="(a)\ninner = StatefulPartitionedCall(a) f=g\n-> inner:output:0",
        g="(b)\nmul = Mul(b, b)\n-> mul:z:0",
    )
    assert edges(profile)["call/inner/mul"] == ["x", "x"]
    assert edges(profile)["call/inner"] == ["call/inner/mul", "x"]
    assert edges(profile)["call"] == ["call/inner", "x"]


def test_a_function_called_twice_has_two_bodies() -> None:
    profile = drawn(
        "x = Placeholder()\na = PartitionedCall(x) f=f\nb = f(a)",
        f="(p)\nmul = Mul(p, p)\n-> mul:z:0",
    )
    assert edges(profile)["a/mul"] == ["x", "x"]
    assert edges(profile)["b/mul"] == ["a", "a"]
    assert [name.decode() for name in profile.regions.function] == ["f", "f"]


def test_a_loop_has_a_body_and_a_condition() -> None:
    profile = drawn(
        "i = Const()\nx = Placeholder()\nloop = While(i, x) body=step cond=test",
        step="(n a)\none = Const()\nadd = AddV2(n, one:output:0)\n"
        "mul = Mul(a, a)\n-> add:z:0 mul:z:0",
        test="(n a)\nfive = Const()\nless = Less(n, five:output:0)\n-> less:z:0",
    )
    assert edges(profile)["loop"] == ["loop/body/add", "loop/body/mul", "loop/cond/less", "i", "x"]
    assert edges(profile)["loop/body/mul"] == ["x", "x"]
    assert edges(profile)["loop/cond/less"] == ["i", "loop/cond/five"]
    assert kinds(profile) == [("loop", LOOP_BODY), ("loop", LOOP_CONDITION)]
    assert profile.regions.returns.tolist() == [2, 1]


def test_branches_do_not_read_what_chooses_between_them() -> None:
    branches = {"f": "(a)\nneg = Neg(a)\n-> neg:y:0", "g": "(a)\nexp = Exp(a)\n-> exp:y:0"}
    graph = "p = Const()\nx = Placeholder()\nif = If(p, x) then_branch=f else_branch=g"
    chosen = drawn(graph, **branches)
    assert edges(chosen)["if"] == ["if/then/neg", "if/else/exp", "p", "x"]
    assert edges(chosen)["if/then/neg"] == ["x"]
    cases = drawn("n = Const()\nx = Placeholder()\nc = Case(n, x) branches=f,g", **branches)
    assert edges(cases)["c"] == ["c/branch0/neg", "c/branch1/exp", "n", "x"]
    assert kinds(cases) == [("c", BRANCH), ("c", BRANCH)]


def test_a_named_output_becomes_its_number() -> None:
    profile = drawn(
        "x = Placeholder()\ncall = PartitionedCall(x) f=f",
        f="""
        (a)
        top = TopKV2(a, a)
        split = Split(a, a)
        use = AddN(top:indices:0, split:output:2)
        -> use:sum:0
        """,
    )
    assert edges(profile)["call/use"] == ["call/top:1", "call/split:2"]


def test_what_no_output_needs_takes_no_part_but_what_has_an_effect_does() -> None:
    profile = drawn(
        "x = Placeholder()\ncall = PartitionedCall(x) f=f",
        f="(a)\nuse = Neg(a)\ndead = Exp(a)\ndeader = Exp(dead:y:0)\nset = AssignVariableOp(a, a)\n"
        "-> use:y:0",
    )
    assert "call/use" in edges(profile)
    assert edges(profile)["call"] == ["call/use", "x", "^call/set"]
    assert not {"call/dead", "call/deader"} & set(edges(profile))
    (note,) = profile.notes
    assert str(note) == "2 nodes of functions that no output needs are left out"


def test_a_single_node_that_no_output_needs_is_one_node() -> None:
    calls = "x = Placeholder()\ncall = PartitionedCall(x) f=f"
    profile = drawn(calls, f="(a)\nuse = Neg(a)\ndead = Exp(a)\n-> use:y:0")
    text = "1 node of functions that no output needs is left out"
    assert [str(note) for note in profile.notes] == [text]


def test_an_argument_may_be_returned_as_it_is() -> None:
    profile = drawn("x = Placeholder()\ncall = PartitionedCall(x) f=f", f="(a)\n-> a")
    assert edges(profile) == {"x": [], "call": ["x", "x"]}


def test_a_name_that_is_taken_is_not_taken_again() -> None:
    profile = drawn(
        "x = Placeholder()\ncall = PartitionedCall(x) f=f\ncall/neg = Exp(x)",
        f="(a)\nneg = Neg(a)\n-> neg:y:0",
    )
    names = list(profile.nodes.name.texts())
    assert names == ["x", "call", "call/neg", "call/neg(3)"]
    assert edges(profile)["call"] == ["call/neg(3)", "x"]


def test_a_function_that_the_library_lacks_is_not_entered() -> None:
    profile = drawn("x = Placeholder()\ncall = PartitionedCall(x) f=gone", f="(a)\n-> a")
    assert edges(profile)["call"] == ["x"]
    assert not len(profile.regions)


@pytest.mark.parametrize(
    "functions",
    [
        {"f": "(a)\nc = PartitionedCall(a) f=f\n-> c:output:0"},
        {
            "f": "(a)\nc = PartitionedCall(a) f=g\n-> c:output:0",
            "g": "(a)\nc = While(a) body=f cond=f\n-> c:output:0",
        },
    ],
)
def test_recursion_is_an_error(functions: Mapping[str, str]) -> None:
    with pytest.raises(InputError, match="calls itself: f → "):
        drawn("x = Placeholder()\ncall = PartitionedCall(x) f=f", **functions)


def test_functions_that_double_at_every_call_are_refused_before_they_are_made() -> None:
    links = {
        f"f{n}": f"""
        (a)
        b = PartitionedCall(a) f=f{n + 1}
        c = PartitionedCall(b:output:0) f=f{n + 1}
        -> c:output:0
        """
        for n in range(40)
    }
    with pytest.raises(InputError, match="at most 1,000,000 nodes"):
        drawn("x = Placeholder()\ncall = PartitionedCall(x) f=f0", **links, f40="(a)\n-> a")


def test_a_long_chain_of_functions_is_no_special_case() -> None:
    count = 1_000
    link = "(a)\nc = PartitionedCall(a) f=f{}\n-> c:output:0"
    links = {f"f{n}": link.format(n + 1) for n in range(count)}
    last = {f"f{count}": "(a)\nneg = Neg(a)\n-> neg:y:0"}
    profile = drawn("x = Placeholder()\ncall = PartitionedCall(x) f=f0", **links, **last)
    assert len(profile.regions) == count + 1
    assert len(profile) == count + 3


def test_an_output_behind_a_list_has_no_number() -> None:
    assert flat_number(op_outputs()[b"SparseSplit"], b"output_values", 0) == UNKNOWN_OUTPUT
    assert flat_number(op_outputs()[b"FusedBatchNormV3"], b"batch_variance", 0) == 2
    assert flat_number(None, b"output", 7) == 7


# --- real: what TensorFlow 2.21 and Keras 3 make -------------------------------------------------


def real(name: str) -> tfprof.Loaded:
    return tfprof.load(DATA / f"{name}.pb.gz")


def float_ops(loaded: tfprof.Loaded, op: str) -> int:
    dims = {one.name: 1 for one in symbols(loaded.profile)}
    report = loaded.op(select=["float_ops"], min_float_ops=1, dim=dims)
    own: dict[str, int] = {row.name: row.own_float_ops for row in report.rows}
    return own[op]


@pytest.mark.parametrize(
    ("name", "op", "expected"),
    [
        ("nested", "MatMul", 2 * 8 * _SIZE),
        ("jitted", "MatMul", 2 * 8 * _SIZE),
        ("mapped", "MatMul", 8 * _SIZE),
        ("chosen", "MatMul", 8 * _SIZE),
        # With the cell that Keras traces to learn its shapes; no output needs it, but a GraphDef
        # does not say what its outputs are.
        ("lstm", "MatMul", 9_830_400 + 196_608),
        ("gru", "MatMul", 7_372_800 + 147_456),
        # A SavedModel does.
        ("lstm_saved_model", "MatMul", 9_830_400),
        ("gru_saved_model", "MatMul", 7_372_800),
    ],
)
def test_float_operations_of_functions_are_those_of_all_their_runs(
    name: str, op: str, expected: int
) -> None:
    assert float_ops(real(name), op) == expected


def test_all_four_views_show_the_bodies() -> None:
    nested = real("nested")
    for view in ("scope", "graph"):
        text = str(getattr(nested, view)(select=["float_ops"]))
        assert re.search(r"StatefulPartitionedCall_1/(MatMul|matmul)", text)
    assert float_ops(nested, "MatMul") == 2 * 8 * _SIZE
    saved = tfprof.load(DATA / "module", signature="nested")
    code = str(saved.code(select=["float_ops"]))
    assert "tf2.py" in code
    assert "product" in code


def test_a_text_graph_has_its_functions(tmp_path: Path) -> None:
    made = _GraphDef.FromString(gzip.decompress((DATA / "mapped.pb.gz").read_bytes()))
    path = tmp_path / "graph.pbtxt"
    path.write_text(text_format.MessageToString(made))
    loaded = tfprof.load(path)
    assert list(loaded.profile.nodes.name) == list(real("mapped").profile.nodes.name)
    assert loaded.profile.regions.kind.tolist() == [LOOP_BODY, LOOP_CONDITION]


@pytest.mark.parametrize("name", ["lstm", "chosen"])
def test_saved_and_converted_profiles_keep_the_bodies(tmp_path: Path, name: str) -> None:
    before = real(name)
    before.save(tmp_path / "saved")
    before.convert(tmp_path / "converted")
    asked: dict[str, Any] = {"select": ["float_ops"], "order_by": "float_ops"}
    for file in ("saved", "converted"):
        after = tfprof.load(profile=tmp_path / file)
        assert len(after.profile.regions) == len(before.profile.regions) > 0
        assert after.profile.edges.slot.tolist() == before.profile.edges.slot.tolist()
        assert str(after.scope(**asked)) == str(before.scope(**asked))
        assert str(after.op(**asked)) == str(before.op(**asked))


def test_names_that_come_twice_are_the_first_of_them() -> None:
    profile = drawn(
        "x = Placeholder()\nx = Const()\ncall = PartitionedCall(x) f=f\ncall = Neg(x)",
        f="(a)\nneg = Neg(a)\nneg = Exp(a)\n-> neg:y:0",
    )
    assert edges(profile)["call/neg"] == ["x"]
    assert edges(profile)["call"] == ["call/neg", "x"]


def test_loops_that_are_made_of_nodes_are_told_to_count_once() -> None:
    loop = drawn("x = Placeholder()\nenter = Enter(x)\ncond = LoopCond(enter)")
    counted, _ = with_float_ops(loop, "all")
    (note,) = counted.notes
    assert note.text == "1 loop (LoopCond) counts once: add a run to count every iteration"
    assert not with_float_ops(loop, "tensorflow")[0].notes
