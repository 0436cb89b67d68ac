"""tfprof explain: rule, formula, shapes, runs and variables of a node, by hand calculation."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import every_op
import paths
import tfprof
from case import GraphDef, RunMetadata
from formula_values import value_of
from printed import printed
from tfprof import cli
from tfprof.errors import UsageError
from tfprof.explain import explain_nodes
from tfprof.ops import table
from tfprof.ops.op import Op, size
from tfprof.read import Source, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from forked import Forked
    from tfprof.results.loaded import Loaded

TF2: Final = paths.DATA / "tf2"


@pytest.fixture(autouse=True)
def no_rule_outlives_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_by_user", {})


class Graph:
    """A graph in the making: "name = Type(input, …)", and the shapes of its outputs."""

    def __init__(self) -> None:
        self.message = GraphDef()

    def add(self, line: str, *shapes: list[int] | None, **attributes: Any) -> Graph:
        node = self.message.node.add()
        node.name, _, rest = line.partition(" = ")
        node.op, _, inputs = rest.rstrip(")").partition("(")
        node.input.extend(filter(None, inputs.split(", ")))
        for shape in shapes:
            self._shape(node.attr["_output_shapes"].list.shape.add(), shape)
        for name, value in attributes.items():
            if name == "shape":
                self._shape(node.attr[name].shape, value)
            elif isinstance(value, bool):
                node.attr[name].b = value
            else:
                node.attr[name].type = value
        return self

    @staticmethod
    def _shape(shape: Any, dims: list[int] | None) -> None:
        shape.unknown_rank = dims is None
        for dim in dims or ():
            shape.dim.add(size=dim)

    def loaded(self, **more: Any) -> Loaded:
        return tfprof.load(self.message.SerializeToString(), **more)


def convolution(batch: int = 8) -> Graph:
    """8 images of 28x28x16 with 32 filters of 3x3, padded."""
    return (
        Graph()
        .add("image = Placeholder", [batch, 28, 28, 16], dtype=1)
        .add("kernel = VarHandleOp", [], shape=[3, 3, 16, 32], dtype=1)
        .add("kernel/read = ReadVariableOp(kernel)", [3, 3, 16, 32], dtype=1)
        .add("net/conv/Conv2D = Conv2D(image, kernel/read)", [batch, 28, 28, 32], T=1)
    )


def row_of(loaded: Loaded, name: str, **options: Any) -> dict[str, Any]:
    (row,) = loaded.explain(name=name, **options).rows
    return row


# --- by hand ---------------------------------------------------------------------------------


def test_a_convolution() -> None:
    """A multiply-add for each of 3·3·16 weights that each of 8·28·28·32 elements sees."""
    row = row_of(convolution().loaded(), ".*/Conv2D")
    assert 2 * 8 * 28 * 28 * 32 * 3 * 3 * 16 == 57_802_752
    assert row == {
        "name": "net/conv/Conv2D",
        "op": "Conv2D",
        "float_ops": 57_802_752,
        "runs": 1,
        "total_float_ops": 57_802_752,
        "rule": "ours",
        "rule_text": row["rule_text"],
        "formula": "2 · size(output) · input1[0]·input1[1]·input1[2]",
        "calculation": "2 · 8·28·28·32 · 3·3·16",
        "runs_reason": "once per run of the graph",
        "shapes": [
            "input 0: 8x28x28x16, declared in the graph from image",
            "input 1: 3x3x16x32, declared in the graph from kernel/read",
            "output 0: 8x28x28x32, declared in the graph",
        ],
        "variables": ["kernel: 3x3x16x32"],
        "parameters": 3 * 3 * 16 * 32,
        "unknown": [],
        "remedies": [],
    }
    assert row["rule_text"].startswith("A convolution")


def test_a_product_of_matrices() -> None:
    """3·5 elements, each a sum of 4 products; the factor is cast behind its variable."""
    graph = Graph()
    graph.add("x = Placeholder", [3, 4], dtype=1)
    graph.add("w = VarHandleOp", [], shape=[4, 5], dtype=1)
    graph.add("w/read = ReadVariableOp(w)", [4, 5], dtype=1)
    graph.add("w/cast = Cast(w/read)", [4, 5], SrcT=1, DstT=19)
    graph.add("mm = MatMul(x, w/cast)", [3, 5], T=1)
    row = row_of(graph.loaded(), "mm")
    assert (row["calculation"], row["float_ops"]) == ("2 · 4 · 3·5", 2 * 4 * 15)
    assert (row["variables"], row["parameters"]) == (["w: 4x5"], 20)


def test_a_batch_normalization_that_is_not_trained() -> None:
    """A product and a sum per element; per channel: + ε, root, reciprocal, ·, ·, -."""
    graph = Graph()
    graph.add("x = Placeholder", [8, 28, 28, 32], dtype=1)
    graph.add("c = Const", [32], dtype=1)
    graph.add(
        "bn = FusedBatchNormV3(x, c, c, c, c)", *[[8, 28, 28, 32], *[[32]] * 5], is_training=False
    )
    row = row_of(graph.loaded(), "bn")
    assert row["calculation"] == "2 · 8·28·28·32 + 6 · 32"
    assert row["float_ops"] == 2 * 8 * 28 * 28 * 32 + 6 * 32 == 401_600
    assert row["formula"] == "2 · size(input0) + 6 · size(input1)"


def test_a_node_in_the_body_of_a_loop() -> None:
    """The recorded LSTM: 50 steps, each 1x128 by 128x512."""
    loaded = tfprof.load(TF2 / "lstm.pb.gz")
    row = row_of(loaded, ".*/while/body/.*/MatMul_1")
    assert row["calculation"] == "2 · 128 · 1·512"
    assert (row["float_ops"], row["runs"]) == (2 * 128 * 512, 50)
    assert row["total_float_ops"] == 50 * 131_072 == 6_553_600
    assert row["runs_reason"] == "body of loop net_1/lstm_1/while: 50 times, by its constant bound"
    assert row["parameters"] == 128 * 512
    (condition,) = loaded.explain(name=".*/while/cond/.*Less").rows[:1]
    assert condition["runs"] == 51


def test_a_loop_over_an_open_dimension(model_folder: Callable[[str], Path]) -> None:
    """One iteration per step of the input, whose length is open."""
    loaded = tfprof.load(model_folder("open_layers") / "backwards_gru")
    row = loaded.explain(name=".*/while/body/.*/MatMul.*", dims={"batch": 3}).rows[0]
    (remedy,) = row["remedies"]
    assert remedy.startswith("--dim ")
    length = remedy.removeprefix("--dim ").removesuffix("=N")
    again = loaded.explain(name=".*/while/body/.*/MatMul.*", dims={"batch": 3, length: 9}).rows[0]
    assert (again["runs"], again["remedies"]) == (9, [])


def test_branches_of_which_one_counts() -> None:
    """The recorded choice: x @ w, or x + 1."""
    loaded = tfprof.load(TF2 / "chosen.pb.gz")
    taken, other = row_of(loaded, ".*/matmul"), row_of(loaded, ".*/cond/add")
    assert (taken["runs"], taken["total_float_ops"]) == (1, 2 * 64 * 8 * 64)
    assert (other["runs"], other["float_ops"], other["total_float_ops"]) == (0, 8 * 64, 0)
    assert "with the most float operations" in taken["runs_reason"]
    assert taken["unknown"] == ["which branch of cond runs"]
    assert taken["remedies"] == ["--run_meta_path: a run records how often it runs"]


def test_a_run_says_how_often() -> None:
    """The recorded session ran its loop 5 times."""
    session = TF2 / "session"
    loaded = tfprof.load(session / "graph.pb", session / "run_meta.pb")
    row = row_of(loaded, "loop/body/mm_0")
    assert (row["runs"], row["total_float_ops"]) == (5, 5 * 2 * 32 * 64 * 64)
    assert "recorded" in row["runs_reason"]
    assert row["unknown"] == []


# --- what is unknown -------------------------------------------------------------------------


def test_an_open_dimension_and_the_option_that_gives_it() -> None:
    loaded = convolution(batch=-1).loaded()
    row = row_of(loaded, ".*/Conv2D")
    assert (row["float_ops"], row["total_float_ops"]) == (None, None)
    assert row["calculation"] == "2 · ?·28·28·32 · 3·3·16"
    assert row["shapes"][0] == "input 0: ?x28x28x16, known in part from image"
    assert row["unknown"] == ["float operations: the shapes of input 0, output 0 are unknown"]
    assert row["remedies"] == ["--dim batch=N"]
    sized = row_of(loaded, ".*/Conv2D", dims={"batch": 8})
    assert (sized["float_ops"], sized["unknown"]) == (57_802_752, [])
    assert sized["shapes"][2] == "output 0: 8x28x28x32, inferred with --dim batch=8"
    assert sized["shapes"][1].startswith("input 1: 3x3x16x32, declared in the graph")


def test_what_no_size_settles_needs_a_run() -> None:
    graph = Graph()
    graph.add("x = Placeholder", None, dtype=1)
    graph.add("y = SomeReader(x)", None)
    graph.add("relu = Relu(y)", None, T=1)
    row = row_of(graph.loaded(), "relu")
    assert row["float_ops"] is None
    assert row["shapes"] == ["input 0: ?, unknown from y", "output 0: ?, unknown"]
    assert row["remedies"] == ["--run_meta_path: a run records the shapes it has"]
    run = RunMetadata()
    stats = run.step_stats.dev_stats.add(device="/cpu:0").node_stats
    for name in ("y", "relu"):
        node = stats.add(node_name=name, all_start_micros=1, op_end_rel_micros=1)
        for length in (6, 7):
            output = node.output.add(slot=0) if length == 6 else node.output[0]
            output.tensor_description.shape.dim.add(size=length)
    ran = row_of(graph.loaded(run_meta=run.SerializeToString()), "relu")
    assert ran["shapes"][1] == "output 0: 6x7, recorded by a run"
    assert (ran["calculation"], ran["float_ops"]) == ("6·7", 42)
    assert ran["runs_reason"] == "recorded by the run"


def test_an_inferred_shape_says_so() -> None:
    graph = Graph().add("x = Placeholder", [2, 3], dtype=1).add("relu = Relu(x)", T=1)
    row = row_of(graph.loaded(), "relu")
    assert row["shapes"][1] == "output 0: 2x3, inferred"
    assert (row["float_ops"], row["rule_text"]) == (6, "One float operation per element of output.")


def test_a_type_without_a_rule_and_a_users_rule() -> None:
    graph = Graph().add("x = Placeholder", [2, 3], dtype=1).add("it = Mine(x)", [2, 3])
    row = row_of(graph.loaded(), "it")
    assert (row["rule"], row["float_ops"]) == ("none", None)
    assert row["rule_text"] == "There is no rule for this type."
    assert row["remedies"] == ["a rule of your own: @tfprof.flops_rule('Mine')"]

    @tfprof.flops_rule("Mine")
    def mine(op: Op) -> int:
        """Five steps per element."""
        return 5 * size(op.input(0))

    row = row_of(graph.loaded(), "it")
    assert (row["rule"], row["rule_text"]) == ("user", "Five steps per element.")
    assert (row["formula"], row["calculation"]) == ("5 · size(input0)", "5 · 2·3")
    assert (row["float_ops"], row["unknown"]) == (mine(Op("Mine", [(2, 3)])), [])


def test_no_arithmetic_is_0_and_nothing_unknown() -> None:
    row = row_of(convolution().loaded(), "image")
    assert (row["float_ops"], row["unknown"]) == (0, [])
    assert "no arithmetic" in row["rule_text"]


def test_a_number_of_the_op_log_and_the_rule_beside_it() -> None:
    sample = tfprof.load_sample()
    (row,) = sample.explain(name="unit_1_0/sub1/conv1/Conv2D").rows
    assert row["float_ops"] == 2 * 128 * 32 * 32 * 16 * 3 * 3 * 16 == 603_979_776
    assert (row["rule"], row["calculation"]) == ("op log", "2 · 128·32·32·16 · 3·3·16")
    assert row["rule_text"] == "The op log has the number; the rule (ours) gives the same."


def test_saved_and_converted_profiles_say_the_same(tmp_path: Path) -> None:
    loaded = convolution().loaded()
    loaded.save(tmp_path / "saved")
    loaded.convert(tmp_path / "converted")
    for name in ("saved", "converted"):
        again = tfprof.load(profile=tmp_path / name)
        assert row_of(again, ".*/Conv2D") == row_of(loaded, ".*/Conv2D")


def test_a_run_alone_has_no_graph() -> None:
    run = RunMetadata()
    stats = run.step_stats.dev_stats.add(device="/cpu:0").node_stats
    stats.add(node_name="mm", all_start_micros=1, op_end_rel_micros=1)
    row = row_of(tfprof.load(run_meta=run.SerializeToString()), "mm")
    assert (row["float_ops"], row["runs"]) == (None, 1)
    assert row["remedies"] == ["--graph_path: rules need the graph itself"]


# --- which nodes -----------------------------------------------------------------------------


def test_types_names_and_layers_narrow_each_other() -> None:
    sample = tfprof.load_sample()
    report = sample.explain(op="Conv2D", layer="unit_1_0")
    assert {row["op"] for row in report.rows} == {"Conv2D"}
    assert [row["name"] for row in report.rows] == [
        "unit_1_0/sub1/conv1/Conv2D",
        "unit_1_0/sub2/conv2/Conv2D",
    ]
    assert len(sample.explain(op="Conv2D", name="unit_1_0/sub1/.*").rows) == 1
    # The names of layers are those of the summary; inside a call, without the call's name.
    inner = tfprof.load(TF2 / "conv" / "saved_model.pb").explain(layer="c1_1", op="Conv2D")
    assert inner.rows[0]["name"].endswith("/net_1/c1_1/convolution")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "say which nodes to explain: --name REGEX, --op REGEX or --layer NAME"),
        ({"name": "Conv2D"}, "'Conv2D' (a regex matches the whole name): try '.*Conv2D.*'"),
        ({"name": "kernal"}, "no name matches 'kernal'; did you mean 'kernel'?"),
        ({"op": "conv2d"}, "no node has the type 'conv2d'; there is 'Conv2D'"),
        ({"layer": "cnv"}, "there is no layer 'cnv'; did you mean 'conv'?"),
        ({"name": "kernel", "op": "Conv2D"}, "no node fits all of --name, --op and --layer"),
        ({"name": "("}, "is not a valid regex"),
        ({"name": 5}, "name takes a regex or a list of regexes, not 5"),
        ({"op": [b"x"]}, "op takes a regex or a list of regexes, not [b'x']"),
        ({"layer": 5}, "layer takes a text, not 5"),
        ({"name": "kernel", "most": 0}, "most takes a whole number from 1 to"),
    ],
)
def test_what_matches_nothing_is_an_error(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        convolution().loaded().explain(**options)


def test_so_many_nodes_and_no_more() -> None:
    sample = tfprof.load_sample()
    report = sample.explain(op="Conv2D")
    assert len(report.rows) == 20
    numbers = [row["total_float_ops"] for row in report.rows]
    assert numbers == sorted(numbers, reverse=True)
    facts = report.table().facts
    assert facts is not None
    everything = sample.explain(op="Conv2D", most=1000)
    assert facts["nodes"] == len(everything.rows) == 31
    total = sum(row["total_float_ops"] for row in everything.rows)
    assert facts["total_float_ops"] == total
    assert str(report).endswith(
        f"\n31 nodes: {total:,} float operations; --most N explains 11 more.\n"
    )
    assert report.table().hidden.reasons == {"most": 11}


def test_a_sum_of_which_something_is_unknown_is_a_lower_bound() -> None:
    graph = convolution().add("other = Mine(net/conv/Conv2D)")
    text = str(graph.loaded().explain(op="Conv2D|Mine"))
    assert text.endswith("\n2 nodes: ≥ 57,802,752 float operations, 1 of them unknown.\n")


# --- as the command prints it ----------------------------------------------------------------


def test_the_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.pb"
    path.write_bytes(convolution(batch=-1).message.SerializeToString())
    assert printed(capsys, "explain", path, "--name=.*/Conv2D", "--dim=batch=8") == (
        "net/conv/Conv2D (Conv2D)\n"
        "  float operations  57,802,752\n"
        "  rule              ours: A convolution in any number of dimensions, and what is fused "
        "into it.\n"
        "  formula           2 · size(output) · input1[0]·input1[1]·input1[2]\n"
        "                    2 · 8·28·28·32 · 3·3·16 = 57,802,752\n"
        "  shapes            input 0   8x28x28x16  inferred with --dim batch=8, from image\n"
        "                    input 1   3x3x16x32   declared in the graph, from kernel/read\n"
        "                    output 0  8x28x28x32  inferred with --dim batch=8\n"
        "  runs              1, once per run of the graph\n"
        "  variables         kernel 3x3x16x32 = 4,608\n"
    )
    out = printed(capsys, "explain", path, "--op=Conv2D")
    assert "2 · ?·28·28·32 · 3·3·16 = ?\n" in out
    assert out.endswith("are unknown; give --dim batch=N\n")
    assert cli.run(["explain", str(path)]) == 2
    assert "say which nodes to explain" in capsys.readouterr().err


def test_the_page_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    root = paths.ROOT
    page = (root / "docs" / "explain.md").read_text(encoding="utf-8")
    example = re.search(r"```console\n\$ tfprof (explain \S+) (.*)\n((?s:.*?))```", page)
    assert example is not None
    command, folder = example[1].split()
    out = printed(capsys, command, root / folder, *example[2].split())
    assert out == example[3]
    # 3·3·3 weights for each of 8 images of 14·14·8, and a bias: the 690k of the summary.
    assert 2 * 8 * 14 * 14 * 8 * 3 * 3 * 3 + 8 * 14 * 14 * 8 == 689_920
    assert "9 nodes: 689,920 float operations" in out  # 7 of the call, and two variables


def test_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.pb"
    path.write_bytes(convolution().message.SerializeToString())
    words = ("explain", path, "--op=Conv2D")
    document = json.loads(printed(capsys, *words, "--format=json"))
    assert document["schema"] == "tfprof.explanation/1"
    assert document["rows"][0]["calculation"] == "2 · 8·28·28·32 · 3·3·16"
    assert (document["nodes"], document["total_float_ops"]) == (1, 57_802_752)
    (row,) = csv.DictReader(io.StringIO(printed(capsys, *words, "--format=csv")))
    assert (row["float_ops"], row["parameters"]) == ("57802752", "4608")
    assert "| net/conv/Conv2D | Conv2D |" in printed(capsys, *words, "--format=md")


def test_in_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "graph.pb"
    path.write_bytes(convolution().message.SerializeToString())
    lines = io.TextIOWrapper(io.BytesIO(b"explain -op Conv2D\nexplain -op Conv3D\n"))
    monkeypatch.setattr("sys.stdin", lines)
    assert cli.run([f"--graph_path={path}"]) == 0
    shown = capsys.readouterr()
    assert "2 · 8·28·28·32 · 3·3·16 = 57,802,752" in shown.out
    assert "E: no node has the type 'Conv3D'; did you mean 'Conv2D'?" in shown.err


def test_a_row_of_a_report() -> None:
    loaded = convolution().loaded()
    scope = loaded.scope(select=["float_ops"])
    names = {row.name: row for row in scope.rows}
    assert scope.explain(names["net/conv/Conv2D"]).rows[0]["float_ops"] == 57_802_752
    # A scope stands for what is inside it, a type for its nodes.
    inside = scope.explain(names["net"])
    assert [row["name"] for row in inside.rows] == ["net/conv/Conv2D"]
    types = loaded.op(select=["float_ops"])
    (conv,) = (row for row in types.rows if row.name == "Conv2D")
    assert types.explain(conv).rows == inside.rows
    theirs = loaded.op(select=["float_ops"], flops="tensorflow")
    assert theirs.explain(conv.row).rows[0]["rule"] == "tensorflow"
    with pytest.raises(UsageError, match="there is no row 99: the report has"):
        scope.explain(99)


# --- formulas of all rules -------------------------------------------------------------------


def test_every_rule_has_a_formula_that_comes_to_what_is_counted(tensorflow: Forked) -> None:
    graph = every_op.wheel(tensorflow).bound
    profile = load(Source("built", np.frombuffer(graph, np.uint8)))
    named = enumerate(profile.nodes.name.texts())
    nodes = np.array([node for node, name in named if name.endswith("/it")])
    explained = explain_nodes(profile, nodes, most=nodes.size).nodes
    assert {node.op for node in explained} >= every_op.ruled() - every_op.NOT_BUILT
    known = [node for node in explained if node.counting.float_ops is not None]
    assert {node.op for node in known if not node.counting.formula} == set()
    wrong = {
        node.op: (node.counting.numbers, node.counting.float_ops)
        for node in known
        if value_of(node.counting.numbers) != node.counting.float_ops
    }
    assert wrong == {}
    # A formula is more than a number: it names a tensor, except where one step is all there is.
    plain = {node.op for node in known if not re.search("input|output", node.counting.formula)}
    assert plain == {"CountUpTo"}


def test_numbers_of_any_size_can_be_written() -> None:
    """A variable of 254 dimensions of 10^18, and a product of two such: cut to 64 bits."""
    shape = [10**18] * 254
    graph = Graph()
    graph.add("v = VarHandleOp", [], shape=shape, dtype=1)
    graph.add("read = ReadVariableOp(v)", shape, dtype=1)
    graph.add("mul = Mul(read, read)", shape, T=1)
    row = row_of(graph.loaded(), "mul")
    assert row["float_ops"] == row["parameters"] == 2**63 - 1
    assert row["variables"] == [f"v: {'x'.join(['1' + '0' * 18] * 32)}x…"]
    assert len(row["calculation"]) <= 400
    assert str(graph.loaded().explain(name="mul"))


def test_a_dimension_of_0_is_part_of_the_formula() -> None:
    graph = Graph().add("x = Placeholder", [0, 4], dtype=1).add("exp = Exp(x)", [0, 4], T=1)
    row = row_of(graph.loaded(), "exp")
    assert (row["formula"], row["calculation"], row["float_ops"]) == ("size(output)", "0·4", 0)


def test_nothing_to_explain() -> None:
    with pytest.raises(UsageError, match="there is nothing to explain"):
        tfprof.load(b"").explain(name=".*")


def test_a_node_with_many_inputs_lists_some() -> None:
    """One addition less than there are inputs, of 6 elements each."""
    graph = Graph().add("x = Placeholder", [2, 3], dtype=1)
    graph.add(f"sum = AddN({', '.join(['x'] * 100)})", [2, 3], T=1)
    row = row_of(graph.loaded(), "sum")
    assert row["float_ops"] == 99 * 6
    assert len(row["shapes"]) == 65
    assert row["shapes"][-1] == "and 37 more"
    assert "and 93 more" in str(graph.loaded().explain(name="sum"))
