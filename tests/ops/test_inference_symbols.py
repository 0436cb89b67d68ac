"""Open dimensions of inputs have names; sizes given for them go through the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pytest
from google.protobuf import text_format

from counted_graphs import text_profile
from tf_wheel import piece
from tfprof.errors import InputError, UsageError
from tfprof.ops.inferred_shapes import engine_of, with_inferred_shapes
from tfprof.ops.op import GraphOp
from tfprof.ops.symbols import symbols
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.read import Source, load
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from tfprof.model import Profile

INPUTS = """
node { name: "net/ids" op: "Placeholder" attr { key: "shape" value { shape {
    dim { size: -1 } dim { size: -1 } dim { size: 7 } } } } }
node { name: "image" op: "PlaceholderWithDefault" attr { key: "shape" value { shape {
    dim { size: -1 } dim { size: 7 } } } } }
node { name: "rate" op: "Placeholder" attr { key: "shape" value { shape { } } } }
node { name: "any" op: "Placeholder" attr { key: "shape" value { shape { unknown_rank: true } } } }
"""
PRODUCT = """
node { name: "w" op: "VariableV2" attr { key: "shape" value { shape {
    dim { size: 7 } dim { size: 5 } } } } }
node { name: "mul" op: "MatMul" input: "image" input: "w" }
node { name: "scaled" op: "Mul" input: "mul" input: "rate" }
"""


def wire_profile(text: str) -> Profile:
    """The profile of a graph with tensors in it, as TensorFlow writes it."""
    graph = piece("tensorflow.core.framework.graph_pb2").GraphDef()
    text_format.Parse(text, graph)
    return load(Source("graph.pb", np.frombuffer(graph.SerializeToString(), np.uint8)))


OPEN: Final = """node {{ name: "{}" op: "Placeholder" attr {{ key: "shape" value {{ shape {{
    dim {{ size: 2 }} dim {{ size: -1 }} }} }} }} }}"""
LISTED: Final = """
node { name: "x" op: "Placeholder" attr { key: "_output_shapes" value { list { shape {
    dim { size: 3 } dim { size: -1 } } } } } }
node { name: "y" op: "Relu" attr { key: "_output_shapes" value { list { shape {
    dim { size: -1 } } } } } }
"""


@pytest.mark.parametrize(
    ("graph", "names"),
    [
        pytest.param(
            INPUTS.replace("net/ids", "serving_default_ids"),
            ["batch", "ids_1"],
            id="an input of a saved model is called as in the model",
        ),
        pytest.param(
            OPEN.format("a/b") + OPEN.format("a_b"),
            ["a_b_1", "a_b_1_2"],
            id="names that become alike are told apart",
        ),
        pytest.param(LISTED, ["x_1"], id="what is listed counts, and only inputs have symbols"),
    ],
)
def test_names(graph: str, names: list[str]) -> None:
    assert [one.name for one in symbols(text_profile(graph))] == names


def test_the_first_dimension_is_shared_and_others_are_named_after_their_input() -> None:
    found = [(one.name, one.places) for one in symbols(text_profile(INPUTS))]
    assert found == [("batch", ((0, 0), (1, 0))), ("net_ids_1", ((0, 1),))]


def test_sizes_go_through_the_graph() -> None:
    profile = with_inferred_shapes(text_profile(INPUTS + PRODUCT), {"batch": 8})
    found = {
        name: profile.outputs.shape[int(profile.outputs.start[node])]
        for node, name in enumerate(profile.nodes.name.texts())
    }
    assert found == {
        "net/ids": [8, -1, 7], "image": [8, 7], "rate": [1], "any": [], "w": [7, 5],
        "mul": [8, 5], "scaled": [8, 5],
    }  # fmt: skip


def test_a_shape_listed_in_full_stays() -> None:
    listed = 'attr { key: "_output_shapes" value { list { shape { dim { size: 9 } } } } }'
    graph = INPUTS + f'node {{ name: "odd" op: "Relu" input: "image" {listed} }}'
    profile = with_inferred_shapes(text_profile(graph), {"batch": 8})
    assert profile.outputs.shape[int(profile.outputs.start[4])] == [9]


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        (
            {"bacth": 8},
            (
                r"no dimension of the inputs is called 'bacth'; did you mean 'batch'\? "
                r"\(there are: batch, net_ids_1\)"
            ),
        ),
        ({"batch": 0}, "dim batch takes a whole number from 1 to 9223372036854775807, not 0"),
        ({"batch": 2.5}, "dim batch takes a whole number from 1 to .*, not 2.5"),
    ],
)
def test_wrong_dimensions_are_refused_in_one_sentence(dims: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}$"):
        with_inferred_shapes(text_profile(INPUTS), dims)


def test_a_graph_without_open_inputs_says_so() -> None:
    with pytest.raises(UsageError, match=r"called 'batch' \(there is none\)$"):
        with_float_ops(text_profile('node { name: "a" op: "NoOp" }'), "all", {"batch": 1})


class TestOption:
    """How sizes are asked for."""

    @pytest.mark.parametrize(
        "options",
        [
            {"dim": "batch=8,net_ids_1=3"},
            {"dim": ["batch=8", "net_ids_1=3"]},
            {"dim": {"batch": 8, "net_ids_1": 3}},
            {"dims": {"batch": 8, "net_ids_1": 3}},
        ],
    )
    def test_words_lists_and_dictionaries_ask_the_same(self, options: dict[str, object]) -> None:
        assert Query.of(options).dims == {"batch": 8, "net_ids_1": 3}

    @pytest.mark.parametrize("size", [1, 2**63 - 1])
    def test_the_least_and_the_largest_size(self, size: int) -> None:
        assert Query.of({"dim": f"batch={size}"}).dims == {"batch": size}

    @pytest.mark.parametrize(
        "written", ["batch", "batch=", "=8", "batch=-1", "batch=0", "batch=x", "batch=1e3",
                    "batch=٣", "batch=9223372036854775808"]
    )  # fmt: skip
    def test_what_is_no_size_is_refused(self, written: str) -> None:
        with pytest.raises(UsageError, match=r"^dim takes NAME=SIZE .*, not '?"):
            Query.of({"dim": written})

    def test_two_sizes_of_one_dimension_are_refused(self) -> None:
        with pytest.raises(UsageError, match=r"^dim gives batch two sizes, 8 and 9$"):
            Query.of({"dim": "batch=8,batch=9"})

    def test_the_answer_counts_with_the_sizes(self) -> None:
        profile = text_profile(INPUTS + PRODUCT)

        def asked(**options: object) -> tuple[int, str]:
            query = Query.of({"select": "float_ops", "flops": "all", **options})
            made = answer(profile, "scope", query)
            return int(made.counted.total("float_ops")[0]), str(made.flops)

        assert asked(dims={"batch": 8}) == (
            2 * 8 * 7 * 5 + 8 * 5,
            "float_ops counts all 2 operations of the graph",
        )
        assert asked(dims={"batch": 9})[0] == 2 * 9 * 7 * 5 + 9 * 5
        total, line = asked()
        assert total == 0
        assert line.endswith("1 MatMul (unknown shape), 1 Mul (unknown shape); "
                             "give --dim batch=N,net_ids_1=N")  # fmt: skip

    def test_rules_of_tensorflow_see_shapes_as_tensorflow_does(self) -> None:
        _, counts = with_float_ops(text_profile(INPUTS + PRODUCT), "tensorflow", {"batch": 8})
        assert counts.counted == 0
        assert "--dim" not in str(counts)


class TestHostile:
    """Graphs that no TensorFlow would make end soon, and in a sentence."""

    def test_cycles_leave_shapes_open(self) -> None:
        ring = "".join(
            f'node {{ name: "n{i}" op: "Relu" input: "n{(i + 1) % 50}" }}' for i in range(50)
        )
        tail = 'node { name: "after" op: "Identity" input: "n0" }'
        profile = with_inferred_shapes(text_profile(ring + tail))
        assert not profile.outputs.shape.are_whole().any()

    def test_a_long_chain_is_followed_to_its_end(self) -> None:
        count = 5000
        chain = "".join(
            f'node {{ name: "n{i}" op: "Relu" input: "{f"n{i + 1}" if i + 1 < count else "x"}" }}'
            for i in range(count)
        )
        placeholder = """node { name: "x" op: "Placeholder" attr { key: "shape" value { shape {
            dim { size: 3 } } } } }"""
        profile = with_inferred_shapes(text_profile(chain + placeholder))
        assert profile.outputs.shape.are_whole().all()
        assert profile.outputs.shape[0] == [3]

    def test_large_numbers_make_no_large_tensors(self) -> None:
        graph = """
        node { name: "huge" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT64
            tensor_shape { dim { size: 2 } } int64_val: 4611686018427387904 } } } }
        node { name: "filled" op: "Fill" input: "huge" input: "huge" }
        node { name: "shape" op: "Shape" input: "filled" }
        node { name: "again" op: "Fill" input: "shape" input: "huge" }
        node { name: "tiled" op: "Tile" input: "again" input: "huge" }
        """
        profile = with_inferred_shapes(wire_profile(graph))
        wide = 1 << 62
        assert [profile.outputs.shape[row] for row in range(5)] == [
            [2], [wide, wide], [2], [wide, wide], [-1, -1],
        ]  # fmt: skip

    def test_a_rank_without_end_is_unknown(self) -> None:
        axis = """node { name: "axis" op: "Const" attr { key: "value" value { tensor {
            dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }"""
        chain = "".join(
            f'node {{ name: "n{i}" op: "ExpandDims" input: "{f"n{i - 1}" if i else "axis"}" '
            'input: "axis" }'
            for i in range(300)
        )
        profile = with_inferred_shapes(wire_profile(axis + chain))
        ranks = [len(profile.outputs.shape[row]) for row in range(len(profile.outputs.shape))]
        assert max(ranks) == 254
        assert ranks.count(0) > 0

    def test_a_damaged_attribute_is_told(self) -> None:
        graph = message("tensorflow.GraphDef")()
        node = graph.node.add(name="c", op="Placeholder")  # type: ignore[attr-defined]
        node.attr["equation"].s = b"ij->i"
        whole = graph.SerializeToString()
        # The text claims to be longer than the attribute that it is in.
        broken = whole.replace(b"\x12\x05ij->i", b"\x12\x7fij->i")
        assert broken != whole
        profile = load(Source("broken.pb", np.frombuffer(broken, np.uint8)))
        with pytest.raises(
            InputError, match=r"^broken\.pb: an attribute of the graph is damaged: "
        ):
            GraphOp(engine_of(profile, {}), 0).attr("equation")

    def test_operations_without_the_inputs_they_need_are_open(self) -> None:
        kinds = ("MatMul", "Reshape", "Conv2D", "StridedSlice", "Pack", "ConcatV2", "SplitV",
                 "Einsum", "TensorListStack", "ReadVariableOp", "FusedBatchNormV3", "Range",
                 "GatherV2", "Select", "Sum", "Merge", "Switch", "Const", "Unpack")  # fmt: skip
        nodes = "".join(f'node {{ name: "{kind}" op: "{kind}" }}' for kind in kinds)
        profile = with_inferred_shapes(text_profile(nodes))
        whole = profile.outputs.shape.are_whole()
        owner = [
            kinds[node]
            for node in range(len(kinds))
            for row in range(int(profile.outputs.start[node]), int(profile.outputs.start[node + 1]))
            if whole[row]
        ]
        assert owner == ["Merge"]  # its second output is a number
