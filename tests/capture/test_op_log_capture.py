"""The op log of a live graph: entry by entry the one that the original makes, and nothing lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from tensorflow.python.framework import graph_util, ops

import tfprof
from tfprof import tfprof_logger
from tfprof.capture.call_stacks import Texts, Traces

if TYPE_CHECKING:
    from oracle import Oracle

v1: Final = tf.compat.v1
tf.get_logger().setLevel("ERROR")
Log = v1.profiler.OpLogProto


def asinh_flops(graph: Any, node: Any) -> Any:
    shape = graph_util.tensor_shape_from_node_def_name(graph, node.input[0])
    shape.assert_is_fully_defined()
    return ops.OpStats("flops", 7 * shape.num_elements())


ops.RegisterStatistics("Asinh", "flops")(asinh_flops)


def dense(features: Any, width: int) -> Any:
    weights = v1.get_variable(
        f"w{width}", [features.shape[1], width], initializer=v1.ones_initializer()
    )
    return tf.nn.relu(tf.matmul(features, weights))


def network() -> Any:
    """Known and unknown shapes, a loop of stacks, imported nodes, a statistic of our own."""
    graph = tf.Graph()
    with graph.as_default():
        rows = v1.placeholder_with_default(tf.ones([3, 4]), [None, 4], name="rows")
        hidden = dense(rows, 5)
        for number, width in enumerate((6, 6, 7)):
            with v1.variable_scope(f"layer{number}"):
                hidden = dense(hidden, width)
        known = tf.reduce_sum(tf.square(tf.ones([2, 3])), name="known")
        tf.asinh(hidden, name="open")
        tf.asinh(tf.ones([5, 2]), name="counted")
        tf.nn.relu(tf.ones([4, 5]), name="shrink")
        v1.get_variable("fixed", [9], trainable=False)
        v1.get_variable("ref", [2, 2], use_resource=False)
        tf.import_graph_def(small().as_graph_def(), name="imported")
        v1.gradients(tf.reduce_sum(hidden), v1.trainable_variables()[0])
        assert known.shape == ()
    return graph


def small() -> Any:
    graph = tf.Graph()
    with graph.as_default():
        tf.square(tf.ones([4]), name="square")
    return graph


def function() -> Any:
    scale = tf.Variable(tf.ones([3, 4]))

    def scaled(rows: Any) -> Any:
        return tf.matmul(rows, scale)

    return tf.function(scaled).get_concrete_function(tf.TensorSpec([2, 3])).graph


GRAPHS = {"network": network, "function": function, "empty": tf.Graph}


def run(graph: Any) -> Any:
    recorded = v1.RunMetadata()
    with v1.Session(graph=graph) as session, graph.as_default():
        session.run(v1.global_variables_initializer())
        full = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        session.run(["open:0", "known:0"], options=full, run_metadata=recorded)
    return recorded


def user_log() -> Any:
    """Entries of nodes that are there and that are not, twice, with and without stacks."""
    log = Log()
    log.id_to_string[1] = "theirs.py"
    log.id_to_string[7] = "make"
    for name, float_ops, types, frames in (
        ("open", 11, ["first"], []),
        ("elsewhere", 9, ["other"], [(1, 7)]),
        ("counted", 0, ["kept"], []),
        ("open", 0, ["second", "second"], []),
        ("w5", 3, ["_trainable_variables"], [(7, 1), (1, 7)]),
    ):
        entry = log.log_entries.add(name=name, float_ops=float_ops, types=types)
        for file, name_id in frames:
            entry.code_def.traces.add(file_id=file, function_id=name_id, lineno=3)
    return log


def theirs(folder: Path, *arguments: Any, **named: Any) -> Any:
    v1.profiler.write_op_log(arguments[0], str(folder), *arguments[1:], **named)
    return Log.FromString((folder / "tfprof_log").read_bytes())


def ours(folder: Path, *arguments: Any, **named: Any) -> Any:
    tfprof.write_op_log(arguments[0], folder, *arguments[1:], **named)
    return Log.FromString((folder / "tfprof_log").read_bytes())


@pytest.mark.usefixtures("no_source_text")
@pytest.mark.parametrize("add_trace", [True, False])
@pytest.mark.parametrize("graph", GRAPHS)
def test_it_is_theirs(tmp_path: Path, graph: str, *, add_trace: bool) -> None:
    made = GRAPHS[graph]()
    one = ours(tmp_path, made, add_trace=add_trace)
    other = theirs(tmp_path, made, add_trace=add_trace)
    assert one == other
    assert bool(one.log_entries) == (graph != "empty")


def test_lines_have_their_text_and_all_else_is_theirs(tmp_path: Path) -> None:
    graph = network()
    mine, other = frames(ours(tmp_path, graph)), frames(theirs(tmp_path, graph))
    assert [frame[:-1] for frame in mine] == [frame[:-1] for frame in other]
    assert {text for *_, text in other} == {"none"}
    for _, file, line, _, text in mine:
        known = not file.startswith("<")  # <frozen runpy> is no file
        lines = Path(file).read_text(encoding="utf-8").splitlines() if known else [""] * line
        assert text == (lines[line - 1].strip() or "none")
    assert 'known = tf.reduce_sum(tf.square(tf.ones([2, 3])), name="known")' in {
        text for *_, text in mine
    }


def frames(log: Any) -> list[tuple[str, str, int, str, str]]:
    """The node, file, line, function and text of every frame."""
    text = dict(log.id_to_string)
    return [
        (entry.name, text[at.file_id], at.lineno, text[at.function_id], text[at.line_id])
        for entry in log.log_entries
        for at in entry.code_def.traces
    ]


def test_lines_of_functions_have_their_text() -> None:
    def double(numbers: Any) -> Any:
        return tf.add(numbers, numbers, name="twice")

    function = tf.function(double)
    function(tf.ones([2]))
    rows = tfprof.load(function).code(era="2018", max_depth=100).rows
    assert [row.name for row in rows if ":double:" in row.name] == [
        f"{Path(__file__).name}:{line_of('tf.add(numbers')}:double:return tf.add(num..."
    ]


def line_of(text: str) -> int:
    """The number of the first line of this file that contains *text*."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_line_that_cannot_be_read_has_no_text() -> None:
    texts = Texts()
    traces = Traces(texts)
    traces.add([Operation([("nowhere.py", 7, "build", ""), ("<stdin>", 0, "<module>", None)])])
    assert traces.frames()[3].tolist() == [0, 0]
    assert texts.column()[0] == b"none"


class Operation(NamedTuple):
    """An operation with a stack; its frames have no text of their own."""

    traceback: list[tuple[str, int, str, str | None]]


@pytest.mark.usefixtures("no_source_text")
def test_with_a_run_shapes_are_filled_in_and_nothing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = network()
    before = ours(tmp_path, graph)
    assert "ops no flops stats due to incomplete shapes." in capsys.readouterr().err
    recorded = run(graph)
    after = ours(tmp_path, graph, None, recorded)
    (line,) = capsys.readouterr().err.splitlines()
    assert "/tfprof_log contains " in line  # paths of source files
    assert after == theirs(tmp_path, graph, None, recorded)
    assert float_ops(after)["open"] == 7 * 3 * 7
    assert float_ops(before)["open"] == 0


def float_ops(log: Any) -> dict[str, int]:
    return {entry.name: entry.float_ops for entry in log.log_entries}


@pytest.mark.usefixtures("no_source_text")
def test_entries_of_the_user_come_first_and_keep_their_numbers(tmp_path: Path) -> None:
    graph, log = network(), user_log()
    one = ours(tmp_path, graph, log)
    other = theirs(tmp_path, graph, user_log())
    for entry in (*one.log_entries, *other.log_entries):
        if entry.name in {"w5", "elsewhere"}:
            assert entry.code_def.traces
            entry.ClearField("code_def")  # theirs are about to lose their texts
    assert one.log_entries == other.log_entries
    assert log == user_log()


def test_texts_of_the_user_are_kept(tmp_path: Path) -> None:
    log = ours(tmp_path, network(), user_log())
    (entry,) = (entry for entry in log.log_entries if entry.name == "w5")
    frames = [
        (log.id_to_string[frame.file_id], log.id_to_string[frame.function_id], frame.lineno)
        for frame in entry.code_def.traces
    ]
    assert frames == [("make", "theirs.py", 3), ("theirs.py", "make", 3)]
    assert log.id_to_string[0] == "none"


def test_texts_that_a_log_does_not_have_are_none(tmp_path: Path) -> None:
    log = user_log()
    del log.id_to_string[7]
    merged = ours(tmp_path, network(), log)
    (entry,) = (entry for entry in merged.log_entries if entry.name == "elsewhere")
    (frame,) = entry.code_def.traces
    assert merged.id_to_string[frame.file_id] == "theirs.py"
    assert frame.function_id == 0


@pytest.mark.parametrize("with_user_log", [True, False])
def test_the_original_draws_code_view_of_our_log(
    tmp_path: Path, oracle: Oracle, *, with_user_log: bool
) -> None:
    graph = network()
    log = user_log() if with_user_log else None
    if log:
        for entry in log.log_entries:
            entry.ClearField("code_def")
    nodes = graph.as_graph_def(add_shapes=True).SerializeToString()
    written = ours(tmp_path, graph, log).SerializeToString()
    expected = theirs(tmp_path, graph, log).SerializeToString()
    options = {"select": ["float_ops", "params", "op_types"], "order_by": "float_ops"}
    oracle.load(nodes, expected)
    reports = [oracle.ask(view, options) for view in ("code", "scope")]
    oracle.load(nodes, written)
    for view, report in zip(("code", "scope"), reports, strict=True):
        again = oracle.ask(view, options)
        assert (again.stdout, again.stderr) == (report.stdout, report.stderr)
        assert b"dense" in report.stdout or view == "scope"


def test_the_message_is_what_is_written(tmp_path: Path) -> None:
    graph = network()
    message = tfprof_logger.merge_default_op_log(graph, user_log())
    assert Log.FromString(message.SerializeToString()) == ours(tmp_path, graph, user_log())


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(tfprof.OutputError, match="there is no folder"):
        tfprof.write_op_log(tf.Graph(), tmp_path / "nowhere")


def test_only_what_the_log_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = ours(tmp_path, network(), user_log(), flops="log")
    (line,) = capsys.readouterr().err.splitlines()
    assert "/tfprof_log contains " in line  # paths of source files
    assert {name for name, count in float_ops(log).items() if count} == {"elsewhere", "w5"}


def test_all_that_can_be_counted(tmp_path: Path) -> None:
    log = ours(tmp_path, network(), flops="all")
    fewer = float_ops(ours(tmp_path, network()))
    assert float_ops(log)["shrink"] == 20
    assert fewer["shrink"] == 0
    assert float_ops(log)["known"] == fewer["known"] == 5


# --- call stacks, of whatever class ------------------------------------------------------------


class Frame:
    """An element as it has been since 2.4."""

    def __init__(self, filename: str, lineno: int | None, name: str, line: str) -> None:
        self.filename, self.lineno, self.name, self.line = filename, lineno, name, line


class Op:
    def __init__(self, traceback: Any) -> None:
        self.traceback = traceback


FRAMES = [("a.py", 1, "f", "x = 1"), ("b.py", None, "f", ""), ("a.py", 1, "f", "x = 1")]


@pytest.mark.parametrize("element", [Frame, lambda *parts: parts], ids=["objects", "tuples"])
def test_elements_may_be_objects_or_tuples(element: Any) -> None:
    texts = Texts()
    traces = Traces(texts)
    stack = [element(*frame) for frame in FRAMES]
    traces.add([Op(stack), Op(None), Op([]), Op(list(stack)), Op(stack[:1]), Op(stack)])
    assert traces.of_operation.tolist() == [0, -1, -1, 0, 1, 0]
    assert traces.start.tolist() == [0, 3, 4]
    assert list(texts.column().texts()) == ["none", "a.py", "f", "x = 1", "b.py"]
    assert traces.frames().T.tolist() == [[1, 1, 2, 3], [4, -1, 2, 0], [1, 1, 2, 3], [1, 1, 2, 3]]
