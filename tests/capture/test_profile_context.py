"""ProfileContext with real sessions: which runs are traced, and what comes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from google.protobuf import text_format

import tfprof
from case import GraphDef, RunMetadata
from profiled_sessions import (
    TIMES,
    Model,
    context,
    names,
    steps_of,
    steps_of_profiler,
    tensorflow,
    traced_nodes,
)
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from oracle import Oracle


# Where Random(111).randint(0, 10) < 2 says so, asked once for each of the steps 12 to 99.
CHOSEN_AT_RANDOM: Final = (35, 43, 46, 48, 55, 56, 66, 70, 77, 90)


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


def test_the_profiler_is_there_from_the_first_access_on(model: Model, tmp_path: Path) -> None:
    """As in the original: of the default graph, whether or not anything ran."""
    v1 = tensorflow().compat.v1
    with v1.Graph().as_default():
        v1.get_variable("only_here", [5, 7], use_resource=True)
        profiled = context(tmp_path, trace_steps=[1], dump_steps=[])
        first = profiled.profiler
        parameters = {**TIMES, "account_type_regexes": ["VarHandleOp"]}
        assert first.profile_name_scope(parameters).total_parameters == 35
    with profiled:
        assert profiled.profiler is first
        model.run()
        assert steps_of_profiler(profiled) == []
        model.run()
    assert profiled.profiler is first
    assert steps_of_profiler(profiled) == [1]
    # The graphs of sessions are added with their steps: 5·7 and 4·3.
    assert first.profile_name_scope(parameters).total_parameters == 47


def test_the_folder_is_made_by_the_first_dump(model: Model, tmp_path: Path) -> None:
    folder, others = tmp_path / "new" / "dumps", tmp_path / "others"
    with context(folder, trace_steps=[0, 1], dump_steps=[1]) as profiled:
        profiled.add_auto_profile_dump(others, [2])
        assert names(tmp_path) == []
        model.run()
        assert names(tmp_path) == []
        model.run()
        assert names(tmp_path) == ["new"]
        assert names(folder) == ["profile_1"]
        model.run()
        assert names(tmp_path) == ["new", "others"]
    with context(tmp_path / "never", trace_steps=[0], dump_steps=[]):
        model.run()
    assert names(tmp_path) == ["new", "others"]


def test_new_fetches_are_traced_after_the_warm_up(model: Model, tmp_path: Path) -> None:
    with context(tmp_path) as profiled:
        for _ in range(11):
            model.run([model.y, model.z])
        assert steps_of_profiler(profiled) == []
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
    assert steps_of_profiler(profiled) == []
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
    assert profiled.profiler is not None
    assert profiled.profiler.loaded.steps == (0, 1, 3)


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
    assert steps_of_profiler(profiled) == []


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
