"""The calls of tf.profiler on a small model: answered as the original answers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import tfprof
from side_by_side import Both
from small_model import EVERYTHING, QUIET, VIEWS, a_log, apart, grow, model, runs, told, v1
from tfprof import model_analyzer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def same(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Both:
    return Both(capfd, tmp_path)


@pytest.mark.parametrize("view", VIEWS)
def test_without_options_and_without_a_graph(same: Both, view: str) -> None:
    with model().as_default():
        assert "20 params" in same(lambda profiler, _: profiler.profile(cmd=view), view).stdout


def test_without_a_graph_while_operations_run_at_once(same: Both) -> None:
    same(lambda profiler, _: profiler.profile(options=dict(EVERYTHING)))
    same(lambda profiler, _: profiler.profile(run_meta=runs()[0], options=dict(EVERYTHING)))
    same(lambda profiler, _: profiler.Profiler().serialize_to_string())


@pytest.mark.usefixtures("no_source_text")
def test_a_profiler_whose_graph_grows(same: Both) -> None:
    first, second = runs()

    def steps(profiler: Any, _: Path) -> list[Any]:
        graph = apart(model)
        log = a_log()
        log.ClearField("id_to_string")  # the original loses it
        one = profiler.Profiler(graph, log)
        results = [one.profile_name_scope(EVERYTHING)]
        one.add_step(7, first)
        coverage = [one._coverage]
        results += [one.profile_graph(QUIET), one.profile_python(EVERYTHING)]
        saved = lines(one.serialize_to_string())
        apart(grow, graph)
        one.add_step(9, second)
        coverage.append(one._coverage)
        results += [
            one.profile_name_scope({**EVERYTHING, "step": step, "order_by": "micros"})
            for step in (-1, 7, 9)
        ]
        results += [one.profile_operations(EVERYTHING), one.profile_python(EVERYTHING)]
        return [coverage, *map(as_theirs, results), saved]

    assert same(steps).result[0][0] > 0


def lines(saved: bytes) -> list[str]:
    """A saved profile, less the fields that are ours alone."""
    from tensorflow.core.profiler import tfprof_log_pb2 as theirs  # noqa: PLC0415

    made = theirs.ProfileProto.FromString(saved)
    made.DiscardUnknownFields()
    return str(made).splitlines()


def as_theirs(result: Any) -> Any:
    kind = getattr(v1.profiler, result.DESCRIPTOR.name)
    return kind.FromString(result.SerializeToString())


def test_shapes_that_a_step_told_stay_known(same: Both) -> None:
    """The second run tells nothing of `product`, whose rows the first one told."""
    first, _ = runs()
    empty = v1.RunMetadata()
    empty.step_stats.SetInParent()

    def steps(profiler: Any, _: Path) -> Any:
        graph = model()
        one = profiler.Profiler(graph)
        one.add_step(0, first)
        with graph.as_default():
            v1.square(graph.get_tensor_by_name("product:0"), name="late")
        one.add_step(1, empty)
        return as_theirs(one.profile_name_scope({**EVERYTHING, "step": 1}))

    result = same(steps).result
    (late,) = (child for child in result.children if child.name == "late")
    assert late.float_ops == 15


def test_a_run_of_another_model(same: Both) -> None:
    graph, run = model(), told("product", 2, 3, 9)
    said = same(lambda profiler, _: profiler.profile(graph, run, options=dict(EVERYTHING))).stderr
    assert said == (
        "Node product incompatible shapes: Shapes (None, 5) and (2, 3, 9) are not compatible.\n"
    )

    def steps(profiler: Any, _: Path) -> Any:
        one = profiler.Profiler(graph)
        one.add_step(0, run)
        return as_theirs(one.profile_name_scope(EVERYTHING))

    assert said in same(steps).stderr


@pytest.mark.parametrize("run", [None, 0])
def test_advice(same: Both, run: int | None) -> None:
    graph = model()
    given = {} if run is None else {"run_meta": runs()[run]}
    asked: list[Any] = [None, *({checker: {}} for checker in model_analyzer.ALL_ADVICE)]
    for options in asked:

        def call(profiler: Any, _: Path, options: Any = options) -> Any:
            return as_theirs(profiler.advise(graph, options=options, **given))

        same(call)
    ours, theirs = tfprof.advise(graph, **given), v1.profiler.advise(graph, **given)
    assert as_theirs(ours) == theirs
    assert set(ours.checkers) == set(model_analyzer.ALL_ADVICE) - {"JobChecker"}


def test_an_answer_too_deep_for_the_original(same: Both) -> None:
    """It prints the report all the same; ours has to say in the message what is printed."""
    with v1.Graph().as_default() as graph:
        end = v1.get_variable("start", [2, 3]).read_value()
        for _ in range(150):
            end = v1.square(end)
    options = {**EVERYTHING, "select": ["params", "float_ops"]}
    done = same(lambda profiler, _: profiler.profile(graph, cmd="graph", options=options), "graph")
    assert "Cannot parse returned proto" in done.stderr
    assert "/900 flops" in done.stdout


def test_a_message_is_whole_however_deep() -> None:
    graph = v1.Graph()
    with graph.as_default():
        end = v1.ones([2])
        for _ in range(300):
            end = v1.square(end)
    node = tfprof.profile(graph, cmd="graph", options=QUIET | {"max_depth": 1000})
    depth = 0
    while node.children:
        node, depth = node.children[0], depth + 1
    assert depth == 301


@pytest.mark.parametrize("selected", ["op_types", "device", "input_shapes", "tensor_value"])
def test_pprof_of_what_has_no_numbers(same: Both, selected: str) -> None:
    """A line on stderr, no file, no error, and the root alone; as in the original."""
    graph = model()

    def call(profiler: Any, out: Path) -> Any:
        options = {**EVERYTHING, "select": [selected], "output": f"pprof:outfile={out}"}
        return profiler.profile(graph, cmd="code", options=options)

    def steps(profiler: Any, out: Path) -> Any:
        options = {**EVERYTHING, "select": [selected], "output": f"pprof:outfile={out}"}
        return as_theirs(profiler.Profiler(graph).profile_python(options))

    for done in (same(call), same(steps)):
        assert f"pprof doesn't support -select={selected}\n" in done.stderr
        assert not done.files
        assert not done.result.children
