"""Functions with nodes of the same names: each event counts for its own function, or for none.

f and g have the nodes `product` and `act`; g alone has `second`. The program calls f twice and g
five times, so these are the numbers of runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
import tensorflow as tf

import tfprof
from xplane_traces import counts

if TYPE_CHECKING:
    from pathlib import Path

OF_F: Final = 2
OF_G: Final = 5
NODES_OF_G: Final = ("product", "second", "act")


def _f(x: Any) -> Any:
    return tf.nn.relu(tf.matmul(x, x, name="product"), name="act")


def _g(x: Any) -> Any:
    product = tf.matmul(x, x, name="product")
    return tf.nn.relu(tf.matmul(x, product, name="second"), name="act")


def _same_names(x: Any) -> Any:
    return tf.nn.relu(tf.matmul(x, x, transpose_a=True, name="product"), name="act")


class Traced:
    """The trace of both functions, and graphs of one of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.f, self.g, self.other = map(tf.function, (_f, _g, _same_names))
        x = tf.ones([4, 4])
        for function in (self.f, self.g, self.other):
            function(x)
        self.captured = self._captured("f", [self.f])
        self.both = self._captured("both", [self.f] * OF_F + [self.g] * OF_G)
        self.alike = self._captured("alike", [self.f] * OF_F + [self.other] * OF_G)
        self.only_other = self._captured("only_other", [self.g] * OF_G)
        concrete = self.f.get_concrete_function(x)
        self.own_graph = self._graph("own.pb", concrete.graph.as_graph_def())
        with tf.Graph().as_default() as graph:
            _f(tf.compat.v1.placeholder(tf.float32, [4, 4], name="x"))
        self.plain = self._graph("plain.pb", graph.as_graph_def())

    def _captured(self, name: str, functions: list[Any]) -> Path:
        x = tf.ones([4, 4])
        with tfprof.capture(self.folder / name) as run, run.step():
            for function in functions:
                function(x)
        return self.folder / name

    def _graph(self, name: str, graph: Any) -> Path:
        path = self.folder / name
        path.write_bytes(graph.SerializeToString())
        return path

    def name(self, function: Any) -> str:
        return str(function.get_concrete_function(tf.ones([4, 4])).name.decode())


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    return Traced(tmp_path_factory.mktemp("functions"))


def loaded(graph: Path, captured: Path) -> tfprof.Loaded:
    (trace,) = captured.glob("plugins/profile/*/*.xplane.pb")
    return tfprof.load(graph, trace=trace)


def runs(graph: Path, captured: Path) -> dict[str, int]:
    return of_nodes(loaded(graph, captured))


def of_nodes(loaded: tfprof.Loaded) -> dict[str, int]:
    """How often each product and its companions ran."""
    every = counts(loaded.profile, 0)
    return {name: ran for name, ran in every.items() if name.rpartition("/")[2] in NODES_OF_G}


def of_g(traced: Traced) -> dict[str, int]:
    scope = f"_not_in_graph/{traced.name(traced.g)}"
    return {f"{scope}/{node}": OF_G for node in NODES_OF_G}


def test_a_captured_function_takes_no_events_of_another(traced: Traced) -> None:
    assert runs(traced.captured / "saved_model.pb", traced.both) == {
        "f/product": OF_F,
        "f/act": OF_F,
        **of_g(traced),
    }


def test_the_graph_of_one_function_takes_no_events_of_another(traced: Traced) -> None:
    assert runs(traced.own_graph, traced.both) == {"product": OF_F, "act": OF_F, **of_g(traced)}


def test_if_two_functions_fit_a_graph_without_names_neither_is_taken(traced: Traced) -> None:
    made = runs(traced.own_graph, traced.alike)
    assert made == {
        f"_not_in_graph/{traced.name(function)}/{node}": ran
        for function, ran in ((traced.f, OF_F), (traced.other, OF_G))
        for node in ("product", "act")
    }


def test_with_their_names_two_functions_that_are_alike_are_kept_apart(traced: Traced) -> None:
    name = traced.name(traced.other)
    made = runs(traced.captured / "saved_model.pb", traced.alike)
    assert {made.pop(f"_not_in_graph/{name}/{node}") for node in ("product", "act")} == {OF_G}
    assert set(made.values()) == {OF_F}


@pytest.mark.parametrize("graph", ["own_graph", "plain"])
def test_a_graph_without_the_function_takes_none_of_its_events(traced: Traced, graph: str) -> None:
    assert runs(getattr(traced, graph), traced.only_other) == of_g(traced)


def test_a_plain_graph_takes_no_events_of_functions(traced: Traced) -> None:
    assert all(name.startswith("_not_in_graph/") for name in runs(traced.plain, traced.both))


def test_a_note_names_the_functions_that_are_not_in_the_graph(traced: Traced) -> None:
    notes = " ".join(note.text for note in loaded(traced.own_graph, traced.both).profile.notes)
    assert "ran in functions that the graph does not have" in notes
    assert traced.name(traced.g) in notes
    assert traced.name(traced.f) not in notes


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a graph with two functions that are not inlined, and that graph without one."""
    folder = tmp_path_factory.mktemp("session")
    kept = {"autograph": False, "experimental_attributes": {"_noinline": True}}
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [4, 4], name="x")
        result = tf.matmul(x, x, name="product")
        for function in (_f, _g):
            with tf.control_dependencies([result]):
                result = tf.function(function, **kept)(result)
    with tf.compat.v1.Session(graph=graph) as run:
        metadata = tf.compat.v1.RunMetadata()
        options = tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE)
        run.run(result, {x: [[1.0] * 4] * 4}, options=options, run_metadata=metadata)
    (folder / "run.pb").write_bytes(metadata.SerializeToString())
    definition = graph.as_graph_def()
    (folder / "whole.pb").write_bytes(definition.SerializeToString())
    for function in list(definition.library.function):
        if "__g_" in function.signature.name:
            definition.library.function.remove(function)
    (folder / "without_g.pb").write_bytes(definition.SerializeToString())
    return folder


def ran_in(session: Path, graph: str) -> dict[str, int]:
    return of_nodes(tfprof.load(session / graph, session / "run.pb"))


def test_each_stat_of_a_run_counts_for_its_own_function(session: Path) -> None:
    f, g = "PartitionedCall", "PartitionedCall_1"
    nodes = ["product", f"{f}/product", f"{f}/act", f"{g}/product", f"{g}/second", f"{g}/act"]
    assert ran_in(session, "whole.pb") == dict.fromkeys(nodes, 1)


def test_stats_of_a_function_that_is_not_in_the_graph_count_for_no_other(session: Path) -> None:
    f, outside = "PartitionedCall", "_not_in_graph"
    nodes = ["product", f"{f}/product", f"{f}/act", *(f"{outside}/{node}" for node in NODES_OF_G)]
    assert ran_in(session, "without_g.pb") == dict.fromkeys(nodes, 1)
    loaded = tfprof.load(session / "without_g.pb", session / "run.pb")
    assert any("the graph does not have" in note.text for note in loaded.profile.notes)
