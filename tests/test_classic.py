"""The calls of tf.profiler: what they take, print, return, refuse and leave alone."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import pytest

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

import tfprof
from profiles import PROFILES
from side_by_side import Both
from tfprof import model_analyzer, tfprof_log_pb2
from tfprof.read.schema import message

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

v1: Final = tf.compat.v1
tf.get_logger().setLevel("ERROR")

SHOWN: Final = ["micros", "bytes", "params", "float_ops", "occurrence", "device", "input_shapes"]
EVERYTHING: Final = tfprof.ProfileOptionBuilder().with_max_depth(999).select(SHOWN).build()
QUIET: Final = {**EVERYTHING, "output": "none"}
HANDMADE: Final = PROFILES["handmade"]
VIEWS: Final = ("scope", "graph", "op", "code")


def model() -> Any:
    """A layer whose rows only a run tells."""
    graph = tf.Graph()
    with graph.as_default():
        rows = v1.placeholder_with_default(tf.ones([3, 4]), [None, 4], name="rows")
        weights = v1.get_variable("weights", [4, 5], initializer=v1.ones_initializer())
        tf.square(tf.matmul(rows, weights, name="product"), name="end")
        v1.global_variables_initializer()
    return graph


def grow(graph: Any) -> None:
    with graph.as_default():
        tf.square(graph.get_tensor_by_name("end:0"), name="more")
        most = tf.negative(graph.get_tensor_by_name("product:0"), name="most")
        tf.square(most, name="last")


def apart(work: Callable[..., Any], *arguments: Any) -> Any:
    """What *work* returns, whose call stacks do not show who asked for it."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work, *arguments).result()


def recorded(graph: Any, fetched: str) -> Any:
    run = v1.RunMetadata()
    with v1.Session(graph=graph) as session:
        session.run("init")
        full = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        session.run(f"{fetched}:0", options=full, run_metadata=run)
    return run


@cache
def runs() -> tuple[Any, Any]:
    """What two steps recorded, the second after the model had grown."""
    graph = model()
    first = recorded(graph, "end")
    grow(graph)
    return first, recorded(graph, "most")


def told(node: str, *dims: int) -> Any:
    """What a run of one node records, with the shape of its output."""
    run = v1.RunMetadata()
    stats = run.step_stats.dev_stats.add(device="/cpu:0").node_stats.add(
        node_name=node, all_start_micros=1, op_end_rel_micros=2
    )
    shape = stats.output.add().tensor_description.shape
    for size in dims:
        shape.dim.add(size=size)
    return run


def a_log() -> Any:
    log = v1.profiler.OpLogProto()
    log.log_entries.add(name="product", float_ops=77, types=["mine"])
    log.id_to_string[5] = "five"
    return log


@pytest.fixture
def same(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Both:
    return Both(capfd, tmp_path)


def printed(call: Callable[[], object]) -> str:
    stdout = io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(io.StringIO()):
        call()
    return stdout.getvalue()


# --- the same as the original ----------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS)
def test_without_options_and_without_a_graph(same: Both, view: str) -> None:
    with model().as_default():
        assert "20 params" in same(lambda profiler, _: profiler.profile(cmd=view), view).stdout


def test_without_a_graph_while_operations_run_at_once(same: Both) -> None:
    same(lambda profiler, _: profiler.profile(options=dict(EVERYTHING)))
    same(lambda profiler, _: profiler.profile(run_meta=runs()[0], options=dict(EVERYTHING)))
    same(lambda profiler, _: profiler.Profiler().serialize_to_string())


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
            tf.square(graph.get_tensor_by_name("product:0"), name="late")
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


def test_a_message_is_whole_however_deep() -> None:
    graph = tf.Graph()
    with graph.as_default():
        end = tf.ones([2])
        for _ in range(300):
            end = tf.square(end)
    node = tfprof.profile(graph, cmd="graph", options=QUIET | {"max_depth": 1000})
    depth = 0
    while node.children:
        node, depth = node.children[0], depth + 1
    assert depth == 301


# --- forms of what is given ------------------------------------------------------------------


def test_a_graph_in_every_form(tmp_path: Path) -> None:
    nodes = model().as_graph_def(add_shapes=True)
    meta = v1.MetaGraphDef(graph_def=nodes)
    binary, text = tmp_path / "graph.pb", tmp_path / "graph.pbtxt"
    binary.write_bytes(nodes.SerializeToString())
    text.write_text(str(nodes))
    ours: Any = message("tensorflow.GraphDef")()
    ours.MergeFromString(nodes.SerializeToString())
    asked = {**EVERYTHING, "account_type_regexes": ["VarHandleOp", "Square", "MatMul"]}
    expected = printed(lambda: tfprof.profile(model(), options=asked))
    assert "weights (4x5, 20/20 params" in expected
    data = nodes.SerializeToString()
    for given in (nodes, meta, ours, data, bytearray(data), str(nodes).encode(), binary, str(text)):
        assert printed(partial(tfprof.profile, given, options=asked)) == expected


def test_a_run_and_an_op_log_in_every_form(tmp_path: Path) -> None:
    run, log = runs()[0], a_log()
    graph = model()
    asked = {**EVERYTHING, "select": [*SHOWN, "op_types"]}
    expected = printed(lambda: tfprof.profile(graph, run, log, options=asked))
    assert "mine" in expected
    paths = tmp_path / "run", tmp_path / "log.pbtxt"
    paths[0].write_bytes(run.SerializeToString())
    paths[1].write_text(str(log))
    ours = tfprof.OpLogProto.FromString(log.SerializeToString())
    for one, other in (
        (run.SerializeToString(), log.SerializeToString()),
        (str(run).encode(), str(log).encode()),
        paths,
        (str(paths[0]), ours),
    ):
        assert printed(partial(tfprof.profile, graph, one, other, options=asked)) == expected


def test_a_run_that_holds_a_cost_graph() -> None:
    run = v1.RunMetadata.FromString(runs()[0].SerializeToString())
    run.cost_graph.node.add(name="_SOURCE", device="/cpu:0")
    expected = tfprof.profile(model(), runs()[0], options=QUIET)
    assert expected.total_exec_micros > 0
    assert tfprof.profile(model(), run, options=QUIET) == expected


@pytest.mark.parametrize("graph", [v1.GraphDef(), b"", tf.Graph()])
def test_nothing_in_it(graph: Any) -> None:
    assert tfprof.profile(graph, options=QUIET) == tfprof.GraphNodeProto(name="_TFProfRoot")


def test_files_are_profiled_without_tensorflow() -> None:
    program = (
        "import sys, tfprof\n"
        "tfprof.profile(sys.argv[1], sys.argv[2], sys.argv[3], 'code', {'select': ['micros']})\n"
        "tfprof.Profiler(sys.argv[1]).advise()\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    files = map(str, (HANDMADE.graph, HANDMADE.runs[0], HANDMADE.op_log))
    done = subprocess.run(
        [sys.executable, "-c", program, *files], capture_output=True, text=True, check=True
    )
    assert "_TFProfRoot" in done.stdout


# --- what is left alone ----------------------------------------------------------------------


def test_neither_graph_nor_op_log_is_changed() -> None:
    graph, log = model(), a_log()
    nodes = graph.as_graph_def(add_shapes=True).SerializeToString(deterministic=True)
    for cmd in VIEWS:
        tfprof.profile(graph, runs()[0], log, cmd, QUIET)
    profiler = tfprof.Profiler(graph, log)
    profiler.add_step(0, runs()[0])
    tfprof.advise(graph, runs()[0], None)
    after = graph.as_graph_def(add_shapes=True).SerializeToString(deterministic=True)
    assert after == nodes
    assert log == a_log()
    assert graph.get_tensor_by_name("product:0").shape.as_list() == [None, 5]


def test_options_are_not_changed() -> None:
    given = {"select": ["params"], "output": "none"}
    tfprof.profile(model(), options=given)
    assert given == {"select": ["params"], "output": "none"}


# --- streams ---------------------------------------------------------------------------------


def test_reports_go_through_the_streams_of_python(capfd: pytest.CaptureFixture[str]) -> None:
    graph = model()
    print("before")
    tfprof.profile(graph)
    print("after")
    lines = capfd.readouterr().out.splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert any("weights" in line for line in lines)
    redirected = printed(lambda: tfprof.profile(graph))
    assert redirected.splitlines() == lines[1:-1]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("output", ["none", "file"])
def test_nothing_is_printed_unless_asked(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, output: str
) -> None:
    where = f"file:outfile={tmp_path / 'report'}" if output == "file" else "none"
    assert tfprof.profile(model(), options={**EVERYTHING, "output": where}).children
    assert capfd.readouterr().out == ""
    assert (tmp_path / "report").exists() == (output == "file")


def test_names_that_are_no_text_stop_nothing(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    graph = b"\n\x0a\n\x02\xff\xfe\x12\x04Name"
    assert "\\xff\\xfe" in printed(lambda: tfprof.profile(graph, options=EVERYTHING))
    assert tfprof.profile(graph, options=EVERYTHING) == tfprof.GraphNodeProto()
    out, err = capfdbinary.readouterr()
    assert b"\xff\xfe" in out
    assert err.startswith(b"Cannot parse returned proto: ")


def test_without_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert tfprof.profile(model()).total_parameters == 20


# --- what is refused -------------------------------------------------------------------------


def test_an_unknown_command_before_anything_else() -> None:
    with pytest.raises(tfprof.UsageError, match=r"^unknown cmd: scoop; did you mean 'scope'"):
        tfprof.profile("nowhere", cmd="scoop", options={"select": ["nothing"]})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"graph": 7}, "graph takes a tf.Graph, a GraphDef message, .* not int$"),
        ({"graph": v1.RunMetadata()}, "graph takes .* not a RunMetadata message$"),
        ({"run_meta": v1.GraphDef()}, "run_meta takes a RunMetadata message.* not a GraphDef"),
        ({"op_log": [1]}, "op_log takes an OpLogProto message.* not list$"),
        ({"flops": "most"}, "flops has no 'most'"),
        ({"options": {"order_by": "speed"}}, "order_by has no 'speed'"),
        ({"options": {"select": ["param"]}}, "select has no 'param'; did you mean 'params'"),
        ({"options": {"output": "timeline"}}, "output timeline needs a file"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tfprof.UsageError, match=sentence):
        tfprof.profile(**{"graph": model(), **arguments})


def test_what_has_a_graph_is_not_one() -> None:
    with v1.Session(graph=model()) as session:
        with pytest.raises(tfprof.UsageError, match=r"Session \(give its \.graph\)$"):
            tfprof.profile(session)
        assert tfprof.profile(session.graph, options=QUIET).children


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(tfprof.InputError, match="does not exist"):
        tfprof.profile(tmp_path / "nowhere")
    (tmp_path / "empty").touch()
    with pytest.raises(tfprof.InputError, match="is empty"):
        tfprof.profile(tmp_path / "empty")


def test_a_report_never_replaces_what_it_is_made_from(tmp_path: Path) -> None:
    path = tmp_path / "graph"
    path.write_bytes(model().as_graph_def().SerializeToString())
    with pytest.raises(tfprof.OutputError, match="is an input"):
        tfprof.profile(path, options={**EVERYTHING, "output": f"file:outfile={path}"})


# --- options ---------------------------------------------------------------------------------


def test_options_that_do_not_exist_are_told_and_ignored(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tfprof.profile(model(), options={**QUIET, "min_param": 1, "speed": 1})
    assert capsys.readouterr().err.splitlines()[:2] == [
        "tfprof: option 'min_param' is not known and ignored; did you mean 'min_params'?",
        "tfprof: option 'speed' is not known and ignored",
    ]


def test_options_left_out_hide_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    tfprof.profile(model(), options={"select": ["params"]})
    out = capsys.readouterr().out
    assert "weights (4x5, 20/20 params)" in out
    assert "-account_type_regexes       .*\n" in out


def test_a_number_is_as_good_as_true() -> None:
    options = {**QUIET, "account_displayed_op_only": 1, "show_name_regexes": ["weights"]}
    assert tfprof.profile(model(), options=options).total_parameters == 20


@pytest.mark.parametrize("flops", ["tensorflow", "all", "log"])
def test_who_counts_float_operations(flops: Any) -> None:
    graph = tf.Graph()
    with graph.as_default():
        tf.nn.relu(tf.square(tf.ones([2, 3]), name="square"), name="relu")
    profiler = tfprof.Profiler(graph, flops=flops)
    alone = tfprof.profile(graph, options=QUIET, flops=flops)
    assert alone.total_float_ops == {"tensorflow": 6, "all": 12, "log": 0}[flops]
    assert profiler.profile_name_scope(QUIET).total_float_ops == alone.total_float_ops


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
        tf.nn.relu(graph.get_tensor_by_name("product:0"), name="relu")
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
        "start_name_regexes": [".*"],
        "trim_name_regexes": [],
        "show_name_regexes": [".*"],
        "hide_name_regexes": [],
        "min_params": 0,
        "output": "stdout",
        "dump_to_file": "",
    }
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
