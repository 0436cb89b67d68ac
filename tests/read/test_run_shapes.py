"""A run tells shapes that the graph leaves open, as the original takes them."""

from __future__ import annotations

import base64
import json
from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from google.protobuf import text_format

import paths
from sampling import numbers
from tfprof.errors import InputError
from tfprof.ops.counting import count
from tfprof.read import Source, add_run, load
from tfprof.read.run_shapes import with_run_shapes
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forked import Forked
    from tfprof.model import Profile

WORKER: Final = paths.SUPPORT / "run_shapes_worker.py"
PAIRS: Final = 60
GraphDef: Final[Any] = message("tensorflow.GraphDef")
RunMetadata: Final[Any] = message("tensorflow.RunMetadata")

Dims = list[int]
LEFT_OUT: Final = "no shape at all"


def drawn_shape(shape: Any, dims: Dims | None) -> None:
    shape.SetInParent()
    shape.unknown_rank = dims is None
    for size in dims or ():
        shape.dim.add(size=size)


def graph(**outputs: list[Dims | None] | None) -> Any:
    """A graph of nodes with these listed outputs; None lists none."""
    made = GraphDef()
    for name, shapes in outputs.items():
        node = made.node.add(name=name, op="Split")
        for dims in shapes or ():
            drawn_shape(node.attr["_output_shapes"].list.shape.add(), dims)
    return made


def run(*stats: tuple[str, Sequence[Dims | str]]) -> Any:
    """A run of these stats, each with the shapes of its outputs."""
    made = RunMetadata()
    device = made.step_stats.dev_stats.add(device="/cpu:0")
    for name, shapes in stats:
        stat = device.node_stats.add(node_name=name, all_start_micros=1)
        for slot, dims in enumerate(shapes):
            output = stat.output.add(slot=slot)
            if not isinstance(dims, str):
                drawn_shape(output.tensor_description.shape, dims)
    return made


def source(made: Any) -> Source:
    return Source("run", np.frombuffer(made.SerializeToString(deterministic=True), np.uint8))


def with_float_ops(nodes: Any, *runs: Any) -> Profile:
    profile = load(source(nodes))
    for one in runs:
        profile = with_run_shapes(profile, source(one))
    return profile


def shapes(profile: Profile, name: str) -> list[Dims]:
    """The shapes of a node's outputs; unknown is [], a scalar [1], an unknown dimension -1."""
    row = [*profile.nodes.name.texts()].index(name)
    first, last = profile.outputs.start[row : row + 2].tolist()
    return [profile.outputs.shape[output] for output in range(first, last)]


def notes(profile: Profile) -> list[str]:
    return [str(note) for note in profile.notes]


def test_an_open_shape_is_filled_and_others_stay() -> None:
    nodes = graph(a=[[-1, 3], [4]], b=[[-1]], c=[None])
    profile = with_float_ops(nodes, run(("a", [[2, 3], [9]]), ("c", [[]])))
    assert shapes(profile, "a") == [[2, 3], [4]]
    assert shapes(profile, "b") == [[-1]]
    assert shapes(profile, "c") == [[1]]
    assert notes(profile) == []


def test_each_output_is_filled_on_its_own() -> None:
    profile = with_float_ops(graph(a=[[-1, 3], [-1, 3]]), run(("a", [[2, 4], [2, 3]])))
    assert shapes(profile, "a") == [[-1, 3], [2, 3]]
    assert len(profile.notes) == 1


def test_the_first_shape_that_fits_counts_and_those_before_it_are_notes() -> None:
    stats = [("a", [dims]) for dims in ([2, 4], [2, 3, 1], [], [5, 3], [7, 3], [2, 4])]
    profile = with_float_ops(graph(a=[[-1, 3]]), run(*stats))
    assert shapes(profile, "a") == [[5, 3]]
    assert notes(profile) == [
        "Node a incompatible shapes: Shapes (None, 3) and (2, 4) are not compatible.",
        "Node a incompatible shapes: Shapes (None, 3) and (2, 3, 1) are not compatible.",
        "Node a incompatible shapes: Shapes (None, 3) and () are not compatible.",
    ]


def test_the_same_contradiction_is_one_note() -> None:
    profile = with_float_ops(graph(a=[[-1]]), run(("a", [[]]), ("a", [[]]), ("a", [[]])))
    (note,) = notes(profile)
    assert note == "Node a incompatible shapes: Shapes (None,) and () are not compatible. (3 times)"


@pytest.mark.parametrize(
    "stat",
    [
        pytest.param(("a:0", [[2, 3]]), id="another name"),
        pytest.param(("a", [[2, 3], [2, 3]]), id="more outputs"),
        pytest.param(("a", []), id="fewer outputs"),
        pytest.param(("a", [[-5, 3]]), id="a negative dimension"),
    ],
)
def test_what_tells_nothing(stat: tuple[str, list[Dims | str]]) -> None:
    profile = with_float_ops(graph(a=[[-1, 3]]), run(stat))
    assert shapes(profile, "a") == [[-1, 3]]
    assert notes(profile) == []


def test_a_second_run_fills_what_the_first_left_open() -> None:
    nodes = graph(a=[[-1]], b=[[-1]])
    profile = with_float_ops(nodes, run(("a", [[2]])), run(("a", [[5]]), ("b", [[6]])))
    assert (shapes(profile, "a"), shapes(profile, "b")) == ([[2]], [[6]])


def test_a_node_without_listed_outputs_has_those_that_its_first_whole_stat_tells() -> None:
    nodes = graph(before=[[2]], a=None, between=[[3], [4]], b=None, after=[[5]])
    stats: list[tuple[str, list[Dims | str]]] = [
        ("b", [[-1], [8]]), ("a", [LEFT_OUT]), ("a", [[6], []]), ("a", [[7]]), ("b", [[9, 9]]),
    ]  # fmt: skip
    profile = with_float_ops(nodes, run(*stats))
    listed = {name: shapes(profile, name) for name in profile.nodes.name.texts()}
    assert listed == {
        "before": [[2]], "a": [[6], [1]], "between": [[3], [4]], "b": [[9, 9]], "after": [[5]],
    }  # fmt: skip


def test_a_node_that_only_the_run_names_has_no_outputs() -> None:
    told = run(("stranger", [[2]]), ("a", [[3]]))
    profile = add_run(load(source(graph(a=[[-1]]))), 0, source(told))
    profile = with_run_shapes(profile, source(told))
    assert (shapes(profile, "stranger"), shapes(profile, "a")) == ([], [[3]])


def test_the_profile_itself_stays_as_it_is_and_all_else_is_shared() -> None:
    before = load(source(graph(a=[[-1]])))
    after = with_run_shapes(before, source(run(("a", [[2]]))))
    assert (shapes(before, "a"), shapes(after, "a")) == ([[-1]], [[2]])
    assert after.nodes is before.nodes
    assert after.edges is before.edges


def test_a_run_in_text_tells_the_same() -> None:
    text = text_format.MessageToString(run(("a", [[2]]))).encode()
    told = Source("run.pbtxt", np.frombuffer(text, np.uint8))
    assert shapes(with_run_shapes(load(source(graph(a=[[-1]]))), told), "a") == [[2]]


def test_a_file_of_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match="expected a RunMetadata"):
        with_run_shapes(load(source(graph(a=[[-1]]))), source(graph(a=[[2], [3]])))


def test_what_is_filled_in_is_counted() -> None:
    nodes = graph(a=[[-1, 3]])
    nodes.node.add(name="neg", op="Neg", input=["a"])
    profile = load(source(nodes))
    assert count(profile, "tensorflow").float_ops.tolist() == [0, 0]
    told = with_run_shapes(profile, source(run(("a", [[2, 3]]))))
    assert count(told, "tensorflow").float_ops.tolist() == [0, 6]


def random_pair(case: int) -> tuple[Any, Any]:
    """A graph that TensorFlow can import, and a run that tells shapes, some of them wrong."""
    random = Random(case)  # noqa: S311 - the same every time
    nodes = GraphDef()
    # The version of the producer: before 24, a placeholder without dimensions had any shape.
    nodes.MergeFromString(b"\x22\x02\x08\x1b")
    stats: list[tuple[str, list[Dims | str]]] = []
    for number in range(8):
        dims = [random.choice([-1, -1, 1, 2]) for _ in range(random.randint(0, 3))]
        known = None if random.random() < 0.2 else dims
        name = f"n{number}"
        node = nodes.node.add(name=name, op="Placeholder")
        drawn_shape(node.attr["shape"].shape, known)
        node.attr["dtype"].MergeFromString(b"\x30\x01")
        stats += [(name, told(random, dims)) for _ in range(random.randint(0, 3))]
    random.shuffle(stats)
    return nodes, run(*stats)


def told(random: Random, dims: Dims) -> list[Dims | str]:
    fitting = [random.randint(0, 3) if dim < 0 or random.random() < 0.2 else dim for dim in dims]
    longer = [*fitting, 1] if random.random() < 0.2 else fitting
    outputs: list[Dims | str] = [LEFT_OUT if random.random() < 0.05 else longer]
    return outputs * random.choice([0, 1, 1, 1, 1, 1, 1, 2])


def original(tensorflow: Forked, pairs: Sequence[tuple[Any, Any]]) -> list[dict[str, Any]]:
    asked = [[base64.b64encode(one.SerializeToString()).decode() for one in p] for p in pairs]
    printed = tensorflow.script(WORKER, stdin=json.dumps(asked).encode() + b"\n")
    return [json.loads(line) for line in printed.splitlines()]


@pytest.mark.sampled
def test_shapes_and_notes_are_those_of_the_original(tensorflow: Forked) -> None:
    pairs = [random_pair(number) for number in numbers(PAIRS, PAIRS // 2)]
    contradictions = changed = 0
    for (nodes, stats), theirs in zip(pairs, original(tensorflow, pairs), strict=True):
        for node in nodes.node:
            node.attr["_output_shapes"].list.shape.add().CopyFrom(node.attr["shape"].shape)
        ours = with_float_ops(nodes, stats)
        expected = load(source(GraphDef.FromString(base64.b64decode(theirs["graph"]))))
        names = [*expected.nodes.name.texts()]
        assert [shapes(ours, n) for n in names] == [shapes(expected, n) for n in names]
        said = [note.text for note in ours.notes for _ in range(note.times)]
        assert sorted(said) == sorted(theirs["said"])
        contradictions += len(said)
        changed += sum(shapes(ours, n) != shapes(load(source(nodes)), n) for n in names)
    assert contradictions > len(pairs) / 4  # one each, give or take
    assert changed > len(pairs)
