"""Profilers of several steps, advice, and the older names of the calls."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import tfprof
from small_model import QUIET, model, runs, told, v1
from tfprof import model_analyzer, tfprof_log_pb2

if TYPE_CHECKING:
    from pathlib import Path


# --- advice ----------------------------------------------------------------------------------


def test_checkers_have_options() -> None:
    run = runs()[0]
    (three,) = tfprof.advise(model(), run, {"ExpensiveOperationChecker": {}}).checkers.values()
    (one,) = tfprof.advise(
        model(), run, {"ExpensiveOperationChecker": {"top": "1"}}
    ).checkers.values()
    assert (len(three.reports[0].splitlines()), len(one.reports[0].splitlines())) == (3, 1)


def test_checkers_that_do_not_exist() -> None:
    with pytest.raises(tfprof.UsageError, match="no checker 'JobCheker'; did you mean"):
        tfprof.advise(model(), options={"JobCheker": {}})
    with pytest.raises(tfprof.UsageError, match="OperationChecker has no option 'x'"):
        tfprof.Profiler(model()).advise({"OperationChecker": {"x": "1"}})


# --- the profiler ----------------------------------------------------------------------------


def test_ten_profilers_in_ten_threads() -> None:
    graph = model()
    first, second = runs()

    def one(step: int) -> Any:
        profiler = tfprof.Profiler(graph)
        profiler.add_step(step, first)
        profiler.add_step(step + 1, second)
        return [
            profiler.profile_name_scope({**QUIET, "step": step}),
            profiler.profile_python(QUIET),
        ]

    expected = one(0)
    assert expected[0].total_exec_micros > 0
    with ThreadPoolExecutor(10) as threads:
        assert all(result == expected for result in threads.map(one, range(10)))


def test_steps_from_many_threads_all_count() -> None:
    profiler = tfprof.Profiler(model())
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda step: profiler.add_step(step, runs()[0]), range(16)))
    assert profiler.loaded.steps == tuple(range(16))


@pytest.mark.parametrize("run", [v1.RunMetadata(), b""])
def test_a_run_that_recorded_nothing(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    profiler = tfprof.Profiler(model())
    capsys.readouterr()
    profiler.add_step(3, run)
    assert capsys.readouterr().err == "Invalid RunMetadata for step 3\n"
    assert profiler.loaded.steps == ()
    with pytest.raises(tfprof.UsageError, match="add_step needs"):
        profiler.add_step(4, None)


def test_the_profile_so_far_does_not_change() -> None:
    profiler = tfprof.Profiler(model())
    before = profiler.loaded
    profiler.add_step(0, runs()[0])
    assert before.steps == ()
    assert profiler.loaded.steps == (0,)


def test_the_profile_so_far_counts_by_the_shapes_that_runs_told() -> None:
    graph = model()
    with graph.as_default():
        v1.nn.relu(graph.get_tensor_by_name("product:0"), name="relu")
    profiler = tfprof.Profiler(graph)

    def of_relu() -> list[int]:
        report = profiler.loaded.op(account_type_regexes=["Relu"], select=["float_ops"])
        return report.to_dict()["total_float_ops"]

    assert not any(of_relu())
    profiler.add_step(0, told("relu", 3, 5))
    assert 15 in of_relu()


def test_the_profile_is_written(tmp_path: Path) -> None:
    profiler = tfprof.Profiler(model())
    profiler.add_step(0, runs()[0])
    profiler._write_profile(tmp_path / "profile")
    assert (tmp_path / "profile").read_bytes() == profiler.serialize_to_string()
    loaded = tfprof.load(profile=tmp_path / "profile")
    asked = {"select": ["micros"], "flops": "log"}
    assert loaded.scope(**asked).text() == profiler.loaded.scope(**asked).text()


# --- older names -----------------------------------------------------------------------------


def test_the_older_call_in_both_spellings() -> None:
    options = model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS.copy()
    options["account_type_regexes"] = [".*"]
    options["output"] = "none"
    graph = model()
    earlier = model_analyzer.print_model_analysis(graph, tfprof_cmd="op", tfprof_options=options)
    later = model_analyzer.print_model_analysis(graph, cmd="op", options=options)
    assert earlier == later == tfprof.profile(graph, cmd="op", options=options)
    assert earlier.total_parameters == 20
    assert model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS["account_type_regexes"] == [
        "_trainable_variables"
    ]


def test_the_older_call_without_options() -> None:
    assert model_analyzer.print_model_analysis(model()).total_parameters == 20


def test_the_older_presets() -> None:
    common = {
        "start_name_regexes": [".*"], "trim_name_regexes": [], "show_name_regexes": [".*"],
        "hide_name_regexes": [], "min_params": 0, "output": "stdout", "dump_to_file": "",
    }  # fmt: skip
    listed = [
        *("max_depth", "min_bytes", "min_micros", "min_float_ops", "order_by"),
        *("account_type_regexes", "account_displayed_op_only", "select"),
    ]
    table = {
        "TRAINABLE_VARS_PARAMS_STAT_OPTIONS": (
            *(10000, 0, 0, 0, "name", ["_trainable_variables"], True, ["params"]),
        ),
        "FLOAT_OPS_OPTIONS": (10000, 0, 0, 1, "float_ops", [".*"], True, ["float_ops"]),
        "PRINT_PARAMS_ON_DEVICE": (
            *(1, 0, 0, 0, "name", [".*ps.*task:0.*"], False, ["device", "params"]),
        ),
        "PRINT_ALL_TIMING_MEMORY": (10000, 1, 1, 0, "name", [".*"], True, ["micros", "bytes"]),
    }
    for name, values in table.items():
        expected = {**common, **dict(zip(listed, values, strict=True))}
        assert getattr(model_analyzer, name) == expected


def test_older_names_of_methods_and_messages() -> None:
    graph = model()
    profiler = model_analyzer.Profiler(graph, tfprof_log_pb2.OpLog())
    assert profiler.profile_python_codes(QUIET) == profiler.profile_python(QUIET)
    assert tfprof_log_pb2.OpLogProto is tfprof_log_pb2.OpLog is tfprof.OpLogProto
    with pytest.raises(AttributeError, match="OpLogs"):
        _ = tfprof_log_pb2.OpLogs
    checkers: dict[str, dict[str, str]] = {"OperationChecker": {}}
    assert model_analyzer.advise(graph, tfprof_options=checkers) == model_analyzer.advise(
        graph, None, checkers
    )


def test_profilers_of_one_graph_are_written_alike() -> None:
    graph = model()
    live = {tfprof.Profiler(graph).serialize_to_string() for _ in range(4)}
    messages = [graph.as_graph_def(add_shapes=True) for _ in range(4)]
    given = {tfprof.Profiler(message).serialize_to_string() for message in messages}
    assert (len(live), len(given)) == (1, 1)
