"""Profilers of several steps, op logs and advice of live models: as the original's."""

from __future__ import annotations

import contextlib
import io
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest
from google.protobuf.message import DecodeError

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow.compat.v1 as tf

import live_models
import tfprof
from live_models import MODELS, Live
from sampling import sampled
from side_by_side import Both, Done, same_done, with_their_doc

if TYPE_CHECKING:
    from pathlib import Path

    from oracle import Oracle

VIEWS: Final = {
    "scope": "profile_name_scope",
    "graph": "profile_graph",
    "op": "profile_operations",
    "code": "profile_python",
}
TREES: Final = ("scope", "graph")
STEPS: Final = (0, 7, 3, 7)  # one of them twice: its numbers are those of both runs
SHOWN: Final = ["micros", "bytes", "params", "float_ops", "occurrence", "device"]


class Run:
    """A model and what its steps recorded."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.live: Live = live_models.build(name)
        self.recorded = [self.live.step(number) for number in range(len(STEPS))]

    def profiler(self, profilers: Any) -> Any:
        """A profiler that has seen all steps."""
        made = profilers.Profiler(self.live.untouched(), self.live.op_log)
        for number, recorded in zip(STEPS, self.recorded, strict=True):
            made.add_step(number, recorded)
        return made


@pytest.fixture
def same(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Both:
    return Both(capfd, tmp_path)


# What differs from step to step or from device to device; where a step records nothing, the
# original ends its process.
LIKE_OTHERS: Final = ("mlp_ref", "adam", "rnn_ref", "servers", "summaries", "nothing")


ASKED: Final = [name for name in MODELS if name not in LIKE_OTHERS]


@pytest.fixture(scope="module", params=sampled(ASKED, 3, "steps", again=True))
def run(request: pytest.FixtureRequest) -> Run:
    return Run(request.param)


def options(profilers: Any, step: int) -> dict[str, Any]:
    builder = profilers.ProfileOptionBuilder().with_max_depth(10000).select(SHOWN)
    built: dict[str, Any] = builder.order_by("micros").with_step(step).build()
    return built


@pytest.mark.sampled
def test_steps(same: Both, run: Run) -> None:
    for view in sampled([*VIEWS], 2, f"steps of {run.name}"):

        def call(profilers: Any, _: Path, view: str = view) -> list[Any]:
            profiler = run.profiler(profilers)
            asked = getattr(profiler, VIEWS[view])
            return [asked(options(profilers, step)) for step in (-1, 3, 7)]

        ours, theirs = same.ours(call), same.theirs(call)
        if view == "graph":
            ours = with_their_doc(ours)
        same_done(ours, theirs)


@pytest.mark.sampled
def test_a_profiler_grows(same: Both, run: Run) -> None:
    """Each view is asked once, at another time: a view drawn earlier is left as it is (Q9)."""

    def call(profilers: Any, _: Path) -> list[Any]:
        profiler = profilers.Profiler(run.live.untouched(), op_log=run.live.op_log)
        answers = []
        for number, recorded, view in zip(STEPS, run.recorded, VIEWS.values(), strict=True):
            profiler.add_step(number, recorded)
            answers.append(round(profiler._coverage, 6))
            answers.append(getattr(profiler, view)(options(profilers, -1)))
        return answers

    same(call, "graph")


def sections(done: Done) -> Done:
    """The same with what each checker says in the order of their names (Q15)."""
    found = re.split(r"(?m)^(?=\w+Checker:$)", done.stdout)
    return replace(done, stdout="".join(sorted(part.strip() for part in found)))


@pytest.mark.sampled
def test_advice(same: Both, run: Run) -> None:
    calls = [
        lambda profilers, _: profilers.advise(run.live.untouched()),
        lambda profilers, _: profilers.advise(run.live.untouched(), run_meta=run.recorded[0]),
        lambda profilers, _: run.profiler(profilers).advise(tfprof.model_analyzer.ALL_ADVICE),
        lambda profilers, _: run.profiler(profilers).advise({"OperationChecker": {}}),
    ]
    for call in sampled(calls, 2, f"advice on {run.name}"):
        ours, theirs = sections(same.ours(call)), sections(same.theirs(call))
        same_done(ours, theirs)
        assert "OperationChecker" in theirs.stdout


@pytest.mark.sampled
@pytest.mark.usefixtures("no_source_text")
def test_op_logs(same: Both, run: Run) -> None:
    all_given = [{}, {"add_trace": False}, {"run_meta": run.recorded[0]}]
    for given in sampled(all_given, 1, f"log of {run.name}"):

        def call(profilers: Any, out: Path, given: dict[str, Any] = given) -> Any:
            # Ours says what the file holds, and the original nothing.
            with contextlib.redirect_stderr(io.StringIO()):
                profilers.write_op_log(
                    run.live.untouched(), str(out.parent), run.live.op_log, **given
                )
            log = (out.parent / "tfprof_log").read_bytes()
            (out.parent / "tfprof_log").unlink()
            return tf.profiler.OpLogProto.FromString(log)

        assert same(call).result.log_entries


@pytest.mark.sampled
def test_saved_profiles_are_read_by_either(run: Run, oracle: Oracle, tmp_path: Path) -> None:
    ours = run.profiler(tfprof).serialize_to_string()
    theirs = run.profiler(tf.profiler).serialize_to_string()
    path = tmp_path / "profile"
    path.write_bytes(theirs)
    for view in sampled([*VIEWS], 2, f"saved {run.name}"):
        asked = {"select": SHOWN, "order_by": "name"}
        answers = [_answer(oracle, saved, view, asked) for saved in (ours, theirs)]
        same_done(*(done for done, _ in answers))
        report = getattr(tfprof.load(profile=path), view)(**asked, max_depth=10000, flops="log")
        done = Done(stdout=str(report))
        if view == "graph":
            done = with_their_doc(done)
        same_done(done, Done(stdout=answers[1][1]))


def _answer(oracle: Oracle, saved: bytes, view: str, asked: dict[str, Any]) -> tuple[Done, str]:
    """What the original makes of a saved profile, and the report in it."""
    oracle.load_profile(saved)
    found = oracle.ask(view, asked)
    message = tf.profiler.GraphNodeProto if view in TREES else tf.profiler.MultiGraphNodeProto
    stdout, stderr = found.stdout.decode(), found.stderr.decode()
    try:
        result = message.FromString(found.result)
    except DecodeError:  # more than a hundred levels
        result = None
    return Done(result, stdout, stderr), found.report.decode()


@pytest.mark.sampled
def test_nothing_of_the_model_changes(run: Run) -> None:
    graph, log = run.live.untouched(), run.live.op_log
    before = graph.as_graph_def(add_shapes=True), graph.version, len(graph.collections)
    said = log and log.SerializeToString()
    recorded = [kept.SerializeToString(deterministic=True) for kept in run.recorded]
    nothing = {"output": "none"}
    tfprof.profile(graph, run.recorded[0], log, cmd="code", options=nothing)
    profiler = tfprof.Profiler(graph, log)
    for number, kept in zip(STEPS, run.recorded, strict=True):
        profiler.add_step(number, kept)
    profiler.profile_graph(nothing)
    assert before == (graph.as_graph_def(add_shapes=True), graph.version, len(graph.collections))
    assert said == (log and log.SerializeToString())
    assert recorded == [kept.SerializeToString(deterministic=True) for kept in run.recorded]


def test_the_default_graph(same: Both) -> None:
    with live_models.build("mlp").graph.as_default():
        done = same(lambda profilers, _: profilers.profile())
        assert "hidden/weights" in done.stdout
        same(lambda profilers, _: profilers.Profiler().profile_name_scope(options(profilers, -1)))


@pytest.mark.parametrize("view", ["scope", "graph", "op"])
def test_no_graph(same: Both, view: str) -> None:
    assert tf.executing_eagerly()
    assert same(lambda profilers, _: profilers.profile(cmd=view), view).stdout
