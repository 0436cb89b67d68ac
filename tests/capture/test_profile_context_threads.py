"""ProfileContexts, sessions and threads, several of each at once."""

from __future__ import annotations

import re
import sys
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

import tfprof
from profiled_sessions import (
    Model,
    all_at_once,
    base_session,
    context,
    steps_of_profiler,
    tensorflow,
)
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from oracle import Oracle


def test_every_kind_of_session_counts(model: Model, tmp_path: Path) -> None:
    v1 = tensorflow().compat.v1
    with context(tmp_path, trace_steps=range(10), dump_steps=[]) as profiled:
        model.run()  # made before
        with v1.Session(graph=model.graph) as inside:
            inside.run("two:0")
        interactive = v1.InteractiveSession(graph=model.graph)
        interactive.run("two:0")
        interactive.close()
    assert steps_of_profiler(profiled) == [0, 1, 2]


def test_runs_of_a_monitored_session_are_told_apart(tmp_path: Path) -> None:
    v1 = tensorflow().compat.v1
    with v1.Graph().as_default():
        train = v1.assign_add(v1.train.get_or_create_global_step(), 1, name="train")
        other = v1.identity(3, name="other")
        hook = v1.train.StopAtStepHook(last_step=100)  # fetches too
        with context(tmp_path) as profiled, v1.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(12):
                session.run(train)
            session.run(other)
            session.run(other)
            profiled.trace_next_step()
            session.run(other)
    first, second, third = steps_of_profiler(profiled)
    assert first == 11
    assert third == second + 2


def test_sessions_of_several_graphs_are_one_profile(
    model: Model, tmp_path: Path, oracle: Oracle
) -> None:
    v1 = tensorflow().compat.v1
    with v1.Graph().as_default() as other:
        start = v1.get_variable("more", [50], use_resource=True).initializer
    second = v1.Session(graph=other)
    with second, context(tmp_path, trace_steps=range(4), dump_steps=[3]):
        for _ in range(2):
            model.run(model.z)
            second.run(start)
    saved = tfprof.load(profile=tmp_path / "profile_3")
    assert saved.steps == (0, 1, 2, 3)
    report = saved.scope(select=["micros"]).to_dict()
    times = dict(zip(report["name"], report["own_micros"], strict=True))
    assert times["z"] > 0
    assert times["more/Initializer/random_uniform/RandomUniform"] > 0

    # Each variable is one of its own graph, with the call stack that made it there.
    oracle.load_profile((tmp_path / "profile_3").read_bytes())
    asked = {"account_type_regexes": ["_trainable_variables"], "select": ["params"]}
    code = oracle.ask("code", asked).report.decode().splitlines()
    here = [
        re.search(r"(?:conftest|profiled_sessions|test_profile\w+)\.py:\d+:(.*)", line)
        for line in code
    ]
    assert [found[1] for found in here if found] == [
        "kept_model (--/12 params)",
        "__init__ (--/12 params)",
        "test_sessions_of_... (--/50 params)",
    ]


class Blocking:
    """A run that lasts until it is let go."""

    def __init__(self) -> None:
        v1 = tensorflow().compat.v1
        self.begun, self.may_end = Event(), Event()
        with v1.Graph().as_default() as graph:
            self.wait = v1.py_func(self._wait, [], "int64", name="wait")
        self.session = v1.Session(graph=graph)

    def _wait(self) -> int:
        self.begun.set()
        assert self.may_end.wait(30)
        return 7


def test_a_run_during_a_traced_one_just_passes(model: Model, tmp_path: Path) -> None:
    blocking = Blocking()
    got: list[int] = []
    with blocking.session, context(tmp_path, trace_steps=[0, 1, 2], dump_steps=[]) as profiled:
        thread = Thread(target=lambda: got.append(blocking.session.run(blocking.wait)))
        thread.start()
        assert blocking.begun.wait(30)
        model.run()  # step 1, which is not waited for
        blocking.may_end.set()
        thread.join()
        model.run()  # step 2
    assert got == [7]
    assert steps_of_profiler(profiled) == [0, 2]


def test_a_run_that_is_left_alone_holds_nobody_up(model: Model, tmp_path: Path) -> None:
    blocking = Blocking()
    with blocking.session, context(tmp_path, trace_steps=[1], dump_steps=[]) as profiled:
        thread = Thread(target=blocking.session.run, args=[blocking.wait])
        thread.start()
        assert blocking.begun.wait(30)
        model.run()
        blocking.may_end.set()
        thread.join()
    assert steps_of_profiler(profiled) == [1]


def test_many_threads_lose_no_step(model: Model, tmp_path: Path) -> None:
    def work() -> None:
        for _ in range(100):
            model.run()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with context(tmp_path, trace_steps=[400], dump_steps=[]) as profiled:
            all_at_once([work] * 4)
            model.run()
    finally:
        sys.setswitchinterval(before)
    assert steps_of_profiler(profiled) == [400]


def test_a_thread_has_a_context_of_its_own(model: Model, tmp_path: Path) -> None:
    inner_entered, outer_ran = Event(), Event()
    inner = context(tmp_path, trace_steps=[0], dump_steps=[])

    def work() -> None:
        with inner:
            inner_entered.set()
            assert outer_ran.wait(30)
            model.run(model.y)

    with context(tmp_path, trace_steps=[1], dump_steps=[]) as outer:
        thread = Thread(target=work)
        thread.start()
        assert inner_entered.wait(30)
        model.run(model.z)
        model.run(model.z)
        outer_ran.set()
        thread.join()
        hooked = base_session().run
        model.run(model.z)
    assert base_session().run is not hooked
    assert steps_of_profiler(inner) == [0]
    assert steps_of_profiler(outer) == [1]


def test_contexts_may_be_left_in_any_order(model: Model, tmp_path: Path) -> None:
    entered, leave = Event(), Event()
    late = context(tmp_path, trace_steps=[0, 1], dump_steps=[])

    def work() -> None:
        with late:
            entered.set()
            assert leave.wait(30)

    thread = Thread(target=work)
    with context(tmp_path, trace_steps=[0], dump_steps=[]) as early:
        thread.start()
        assert entered.wait(30)
        model.run()  # of this thread's context
    model.run()  # this thread has none any more: of the other's
    leave.set()
    thread.join()
    assert steps_of_profiler(early) == [0]
    assert steps_of_profiler(late) == [0]


def test_a_context_in_a_context_is_refused(model: Model, tmp_path: Path) -> None:
    with context(tmp_path, trace_steps=[0], dump_steps=[]) as outer:
        inner = context(tmp_path, trace_steps=[0], dump_steps=[])
        for again in (outer, inner):
            with pytest.raises(UsageError, match="Already in context"), again:
                pytest.fail("entered")
        refused: list[str] = []

        def enter() -> None:
            with pytest.raises(UsageError) as refusal:
                outer.__enter__()
            refused.append(str(refusal.value))

        all_at_once([enter])
        assert refused == ["Already in context: another thread is inside this ProfileContext"]
        model.run()
    assert steps_of_profiler(outer) == [0]
    assert steps_of_profiler(inner) == []
