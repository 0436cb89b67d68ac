"""ProfileContext with real sessions: which runs are traced, and what is left behind."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

import pytest
from google.protobuf import text_format

import tfprof
from case import GraphDef, RunMetadata
from tf_wheel import piece
from tfprof.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from oracle import Oracle

ProfileProto: Final[Any] = piece("tensorflow.core.profiler.tfprof_log_pb2").ProfileProto

# Where Random(111).randint(0, 10) < 2 says so, asked once for each of the steps 12 to 99.
CHOSEN_AT_RANDOM: Final = (35, 43, 46, 48, 55, 56, 66, 70, 77, 90)

TIMES: Final = {
    "max_depth": 100,
    "min_bytes": 0,
    "min_micros": 0,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "show_name_regexes": [".*"],
    "select": ["micros", "bytes", "params", "float_ops", "occurrence"],
    "output": "none",
}


class Model:
    """A small graph, its session, and what can be run of it."""

    def __init__(self, unused: int = 0) -> None:
        v1 = tensorflow().compat.v1
        self.graph = v1.Graph()
        with self.graph.as_default():
            self.x = v1.placeholder("float32", [1, 4], name="x")
            weights = v1.get_variable("weights", [4, 3], use_resource=True)
            self.y = v1.matmul(self.x, weights, name="y")
            self.z = v1.square(self.y, name="z")
            v1.constant(2, name="two")
            for number in range(unused):
                v1.constant(number, name=f"unused_{number}")
            start = v1.global_variables_initializer()
        self.session = v1.Session(graph=self.graph)
        self.session.run(start)
        self.graph.finalize()

    def run(self, fetches: Any = None, **more: Any) -> Any:
        wanted = self.y if fetches is None else fetches
        return self.session.run(wanted, {self.x: [[1.0, 2.0, 3.0, 4.0]]}, **more)


def tensorflow() -> Any:
    """TensorFlow, when first needed: collecting tests does not wait for it."""
    return import_module("tensorflow")


def context(*arguments: Any, **named: Any) -> Any:
    return import_module("tfprof.profile_context").ProfileContext(*arguments, **named)


def base_session() -> Any:
    return tensorflow().compat.v1.Session.__mro__[1]


@pytest.fixture(scope="module")
def kept_model() -> Iterator[Model]:
    model = Model()
    yield model
    model.session.close()


@pytest.fixture
def model(kept_model: Model) -> Iterator[Model]:
    """The model; and whatever a test does, sessions are afterwards as they were."""
    kinds = (*tensorflow().compat.v1.Session.__mro__, tensorflow().compat.v1.InteractiveSession)
    before = [dict(vars(kind)) for kind in kinds]
    yield kept_model
    after = [dict(vars(kind)) for kind in kinds]
    assert [list(one) for one in after] == [list(one) for one in before]
    changed = [key for b, a in zip(before, after, strict=True) for key in b if a[key] is not b[key]]
    assert not changed


def steps_of(path: Path) -> list[int]:
    saved = ProfileProto.FromString(path.read_bytes())
    return sorted(saved.steps)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- which steps -------------------------------------------------------------------------------


def test_listed_steps_are_traced_and_dumped(model: Model, tmp_path: Path) -> None:
    folder = tmp_path / "not" / "yet"
    with context(folder, trace_steps=[1, 3], dump_steps=[2, 4]) as profiled:
        for _ in range(6):
            model.run()
    assert names(folder) == ["profile_2", "profile_4"]
    assert steps_of(folder / "profile_2") == [1]
    assert steps_of(folder / "profile_4") == [1, 3]
    assert steps_of_profiler(profiled) == [1, 3]


def steps_of_profiler(profiled: Any) -> list[int]:
    return sorted(ProfileProto.FromString(profiled.profiler.serialize_to_string()).steps)


def test_new_fetches_are_traced_after_the_warm_up(model: Model, tmp_path: Path) -> None:
    with context(tmp_path) as profiled:
        for _ in range(11):
            model.run([model.y, model.z])
        assert profiled.profiler is None
        for _ in range(5):
            model.run({"one": model.y, "other": [model.z]})  # 11, then nothing new
        model.run("z:0")  # 16
        model.run((model.z, model.y))  # the first again
        model.run(model.z.op)  # 18
    assert steps_of_profiler(profiled) == [11, 16, 18]
    assert not names(tmp_path)


def test_runs_at_random_while_little_is_covered(tmp_path: Path) -> None:
    model = Model(unused=60)
    with model.session, context(tmp_path) as profiled:
        for _ in range(150):
            model.run()
    assert names(tmp_path) == ["profile_100"]
    assert steps_of(tmp_path / "profile_100") == [11, *CHOSEN_AT_RANDOM]
    assert steps_of_profiler(profiled) == [11, *CHOSEN_AT_RANDOM]


def test_no_run_at_random_where_most_is_covered(tmp_path: Path) -> None:
    v1 = tensorflow().compat.v1
    with v1.Graph().as_default():
        drawn = v1.square(v1.random.uniform([2]))
        with v1.Session() as session, context(tmp_path) as profiled:
            for _ in range(60):
                session.run(drawn)
    assert steps_of_profiler(profiled) == [11]


def test_the_next_step_on_request(model: Model, tmp_path: Path) -> None:
    with context(tmp_path, trace_steps=[], dump_steps=[]) as profiled:
        model.run()
        profiled.trace_next_step()
        profiled.dump_next_step()
        model.run()
        model.run()
        profiled.dump_next_step()
        model.run()
        profiled.trace_next_step()
        model.run()
    assert names(tmp_path) == ["profile_1", "profile_3"]
    assert steps_of(tmp_path / "profile_1") == steps_of(tmp_path / "profile_3") == [1]
    assert steps_of_profiler(profiled) == [1, 4]


def test_a_dump_before_any_trace_holds_the_graph(model: Model, tmp_path: Path) -> None:
    with context(tmp_path, trace_steps=[], dump_steps=[0]):
        model.run()
    saved = tfprof.load(profile=tmp_path / "profile_0")
    assert saved.steps == ()
    parameters = saved.scope(account_type_regexes=["_trainable_variables"], select=["params"])
    assert parameters.to_dict()["total_params"][0] == 12


def test_steps_go_on_when_entered_again(model: Model, tmp_path: Path) -> None:
    profiled = context(tmp_path, trace_steps=[1], dump_steps=[])
    with profiled:
        model.run()
    model.run()
    assert profiled.profiler is None
    with profiled:
        model.run()
    assert steps_of_profiler(profiled) == [1]


# --- what comes of them ------------------------------------------------------------------------


@pytest.mark.parametrize("cmd", ["scope", "graph", "op", "code"])
def test_auto_profiles_are_those_of_the_original(model: Model, tmp_path: Path, cmd: str) -> None:
    runs = [RunMetadata() for _ in range(4)]
    with context(tmp_path, trace_steps=[0], dump_steps=[]) as profiled:
        profiled.add_auto_profiling(cmd, TIMES, [1, 3])
        for run_metadata in runs:
            model.run(model.z, run_metadata=run_metadata)
    original = tensorflow().compat.v1.profiler.Profiler(model.graph)
    ask = {
        "scope": original.profile_name_scope,
        "graph": original.profile_graph,
        "op": original.profile_operations,
        "code": original.profile_python,
    }[cmd]
    expected = {}
    for step in (0, 1, 3):
        original.add_step(step, runs[step])
        expected[step] = ask(TIMES).SerializeToString(deterministic=True)
    del expected[0]
    found = profiled.get_profiles(cmd)
    assert {
        step: answer.SerializeToString(deterministic=True) for step, answer in found.items()
    } == expected
    assert expected[1] != expected[3]


def test_a_dump_says_the_same_in_the_original(model: Model, tmp_path: Path, oracle: Oracle) -> None:
    with context(tmp_path, trace_steps=[0, 2], dump_steps=[2]):
        for _ in range(3):
            model.run(model.z)
    oracle.load_profile((tmp_path / "profile_2").read_bytes())
    asked = {"select": ["micros", "bytes", "params"], "order_by": "micros", "step": 2}
    saved = tfprof.load(profile=tmp_path / "profile_2")
    assert saved.steps == (0, 2)
    for view in ("scope", "graph", "op", "code"):
        theirs = oracle.ask(view, asked).report.decode().partition("\nProfile:\n")[2]
        mine = getattr(saved, view)(max_depth=10_000, account_type_regexes=[".*"], **asked)
        assert mine.text().partition("\nProfile:\n")[2] == theirs
        assert len(theirs.splitlines()) > 3, view


def test_the_next_run_is_captured(model: Model) -> None:
    with context() as profiled:
        with pytest.raises(UsageError, match="no run was captured"):
            profiled.run_meta()
        model.run()
        profiled.capture_next_run_meta()
        model.run(model.z)
        captured = profiled.run_meta()
        model.run()
    assert profiled.run_meta() is captured
    assert traced_nodes(captured) >= {"y", "z"}
    assert profiled.profiler is None


def traced_nodes(run_metadata: Any) -> set[str]:
    return {
        node.node_name for device in run_metadata.step_stats.dev_stats for node in device.node_stats
    }


def test_files_for_the_command(model: Model, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    with context() as profiled:
        profiled.add_auto_profile_dump(folder, [1])
        for _ in range(102):
            model.run(model.z)
    assert steps_of_profiler(profiled) == [1]
    assert names(folder) == ["graph.pbtxt", "run_meta", "tfprof_log"]
    run_metadata = RunMetadata.FromString((folder / "run_meta").read_bytes())
    assert traced_nodes(run_metadata) >= {"y", "z"}
    graph = text_format.Parse((folder / "graph.pbtxt").read_text(), GraphDef())
    assert [node.name for node in graph.node] == [op.name for op in model.graph.get_operations()]
    files = (folder / "graph.pbtxt", folder / "run_meta", folder / "tfprof_log")
    report = tfprof.load(*files).scope(
        account_type_regexes=["_trainable_variables|MatMul"],
        select=["params", "float_ops", "micros"],
        flops="log",
    )
    totals = {name: values[0] for name, values in report.to_dict().items()}
    assert totals["total_params"] == 4 * 3
    assert totals["total_float_ops"] == 2 * 4 * 3
    assert totals["total_micros"] > 0


def test_the_caller_gets_what_was_asked_for(model: Model, tmp_path: Path) -> None:
    config = tensorflow().compat.v1
    options = config.RunOptions(
        trace_level=config.RunOptions.SOFTWARE_TRACE, output_partition_graphs=True
    )
    asked = options.SerializeToString()
    with context(tmp_path, trace_steps=[0], dump_steps=[1]) as profiled:
        filled = []
        for step in range(3):  # traced, looked at, left alone
            run_metadata = RunMetadata()
            values = model.run(model.y, options=options, run_metadata=run_metadata)
            assert values.shape == (1, 3), step
            filled.append(run_metadata)
    assert all(traced_nodes(one) >= {"y"} for one in filled)
    assert all(len(one.partition_graphs) == 1 for one in filled)
    assert options.SerializeToString() == asked
    assert steps_of_profiler(profiled) == [0]


def test_debug_tells_and_keeps_the_runs(
    model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with context(tmp_path, dump_steps=[12], debug=True) as profiled:
        profiled.add_auto_profiling("op", TIMES, [2])
        for _ in range(13):
            model.run([model.z, model.y])
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("debug")]
    assert said == [
        "debug: tracing step: 2",
        "debug: profiling op step: 2",
        "debug: trace fetches: y:0-z:0",
        "debug: tracing step: 11",
        "debug: trace fetches: y:0-z:0",
        "debug: dumping file at step: 12",
    ]
    assert names(tmp_path) == ["profile_12", "run_meta_11", "run_meta_2"]
    kept = text_format.Parse((tmp_path / "run_meta_2").read_text(), RunMetadata())
    assert traced_nodes(kept) >= {"y", "z"}


# --- sessions and threads ----------------------------------------------------------------------


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
    here = [line.partition("test_profile_context.py:")[2].lstrip("0123456789:") for line in code]
    assert [*filter(None, here)] == [
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


def all_at_once(works: list[Callable[[], None]]) -> None:
    threads = [Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


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
        assert refused == ["Already in context: this ProfileContext is entered in another thread"]
        model.run()
    assert steps_of_profiler(outer) == [0]
    assert inner.profiler is None


# --- nothing is left ---------------------------------------------------------------------------


def test_run_is_put_back(model: Model, tmp_path: Path) -> None:
    v1 = tensorflow().compat.v1
    before = v1.Session.run
    with context(tmp_path):
        assert v1.Session.run is not before
        assert v1.Session.run.__name__ == "run"
    assert v1.Session.run is before
    with pytest.raises(ZeroDivisionError), context(tmp_path, trace_steps=[0]):
        model.run(1 // 0)
    assert v1.Session.run is before


def test_a_run_that_fails_is_no_step_of_the_profile(model: Model, tmp_path: Path) -> None:
    errors = tensorflow().errors
    with context(tmp_path, trace_steps=[0, 1], dump_steps=[]) as profiled:
        with pytest.raises(errors.InvalidArgumentError):
            model.session.run(model.y)  # nothing is fed
        model.run()
    assert steps_of_profiler(profiled) == [1]


def test_who_replaced_run_later_keeps_it(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    with context(tmp_path, trace_steps=[0, 1], dump_steps=[]) as profiled:
        below = base_session().run

        def above(session: Any, *arguments: Any, **named: Any) -> Any:
            calls.append(session)
            return below(session, *arguments, **named)

        with monkeypatch.context() as patch:
            patch.setattr(base_session(), "run", above)
            model.run()
            profiled.__exit__(None, None, None)
            model.run()
            assert base_session().run is above
        base_session().run = below.__wrapped__
    assert len(calls) == 2
    assert steps_of_profiler(profiled) == [0]


def test_not_enabled_it_does_nothing(model: Model, tmp_path: Path) -> None:
    before = base_session().run
    folder = tmp_path / "nothing"
    with context(folder, trace_steps=[0], dump_steps=[0], enabled=False) as profiled:
        assert base_session().run is before
        profiled.add_auto_profiling("op", TIMES, [0])
        profiled.trace_next_step()
        profiled.dump_next_step()
        model.run()
        with context("", enabled=False), context(tmp_path, trace_steps=[0], dump_steps=[]) as real:
            model.run()
    assert profiled.profiler is None
    assert not folder.exists()
    assert steps_of_profiler(real) == [0]


def test_tensorflow_is_imported_when_a_context_is_entered() -> None:
    program = """if True:
        import sys, tfprof
        context = tfprof.ProfileContext("folder")
        assert "tensorflow" not in sys.modules
        sys.modules["tensorflow"] = None
        with context:
            print("entered")
    """
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert not ran.stdout
    assert ran.stderr.splitlines()[-1] == (
        "tfprof.errors.UsageError: a ProfileContext needs TensorFlow, which is not installed"
    )


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"profile_dir": ""}, "Must have a directory for profile."),
        ({"dump_steps": [1]}, "Must have a directory for profile."),
        ({"trace_steps": [1]}, "Must have a directory for profile."),
        ({"debug": True}, "Must have a directory for profile."),
        ({"profile_dir": "d", "trace_steps": range(101)}, "Only support tracing up to 100 steps."),
    ],
)
def test_what_cannot_be_made(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        context(**given)
    assert str(refusal.value) == sentence


def test_a_hundred_steps_can_be_traced() -> None:
    assert context("d", trace_steps=range(100)).profiler is None


def test_what_cannot_be_asked_for() -> None:
    bare = context()
    with pytest.raises(UsageError, match=r"^unknown cmd: opp; did you mean 'op'\?"):
        bare.add_auto_profiling("opp", TIMES, [1])
    bare.add_auto_profiling("op", TIMES, [1])
    with pytest.raises(UsageError, match=r"^No autoprofiler for command: op, was run$"):
        bare.get_profiles("op")
    with pytest.raises(UsageError, match="there is no directory to dump into"):
        bare.dump_next_step()
    with pytest.raises(UsageError, match=r"^Must have a directory for profile\.$"):
        bare.add_auto_profile_dump("", [1])


def test_a_folder_that_cannot_be_made(model: Model, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with context(tmp_path / "file" / "dir", trace_steps=[1], dump_steps=[0]) as profiled:
        with pytest.raises(OutputError, match="cannot be made"):
            model.run()
        model.run()
    assert steps_of_profiler(profiled) == [1]
