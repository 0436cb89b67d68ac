"""capture(): what is in the folder, and that nothing is left behind, whatever happens inside."""

from __future__ import annotations

import gc
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
import tensorflow as tf

import tfprof
from captured import calls, events, plane, read, steps, trace
from tfprof.capture.folder import Capture
from tfprof.capture.tensorflow_internals import call_method

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE: Final = str(Path(__file__))
weight = tf.Variable(tf.ones([3, 3]), name="weight")


def _train_step(x: Any) -> Any:
    return tf.reduce_sum(tf.matmul(x, weight))


def _looped(x: Any) -> Any:
    return tf.map_fn(lambda row: row + 1.0, compiled(x))


MATMUL: Final = inspect.getsourcelines(_train_step)[1] + 1
train_step = tf.function(_train_step)
looped = tf.function(_looped)
compiled = tf.function(lambda x: x * 2.0, jit_compile=True)


OWNER, METHOD = call_method()


def method() -> Any:
    """The method of TensorFlow that calls go through."""
    return getattr(OWNER, METHOD)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """TensorFlow is afterwards as it was, and can be profiled."""
    before = method()
    yield
    gc.collect()
    assert method() is before
    with pytest.raises(tf.errors.UnavailableError):
        tf.profiler.experimental.stop()


def refused(folder: Path, error: type[Exception], sentence: str | None = None) -> None:
    """Assert that a capture into this folder is refused before anything is run."""
    with pytest.raises(error, match=sentence), tfprof.capture(folder):
        pytest.fail("it was entered")


def test_all_that_runs_is_in_the_folder(tmp_path: Path) -> None:
    with tfprof.capture(tmp_path / "log"):
        train_step(tf.ones([2, 3]))
        looped(tf.ones([2, 3]))
        train_step(tf.ones([5, 3]))
        train_step(tf.ones([2, 3]))
        tf.function(lambda: tf.constant(1.0))()
        gc.collect()  # the last one is gone
    assert calls(tmp_path / "log") == ["train_step", "looped", "train_step_1", "lambda"]
    made = read(tmp_path / "log")
    assert list(made.nodes("VarHandleOp")) == ["weight"]
    functions = made.functions().values()
    assert sum("_XlaMustCompile" in function.attr for function in functions) == 1
    assert {stack[-1] for stack in made.stacks_of("MatMul")} == {(HERE, MATMUL)}
    loaded = tfprof.load(tmp_path / "log" / "saved_model.pb")
    report = loaded.scope(select=["params"], account_type_regexes=["_trainable_variables"])
    assert report.rows[0].total_params == 9


def test_functions_that_call_the_same_are_all_there(tmp_path: Path) -> None:
    added = tf.function(lambda x: compiled(x) + 1.0)
    squared = tf.function(lambda x: tf.square(compiled(x)))
    added(tf.ones([2, 3]))
    squared(tf.ones([2, 3]))
    with tfprof.capture(tmp_path) as run:
        for _ in range(3):
            with run.step():
                added(tf.ones([2, 3]))
                squared(tf.ones([2, 3]))
    loaded = tfprof.load(tmp_path)
    assert loaded.steps == (0, 1, 2)
    names = loaded.profile.nodes.name.tolist()
    assert {b"lambda/add", b"lambda_1/Square"} <= set(names)


def test_numbers_in_the_names_of_functions_are_the_programs_own(tmp_path: Path) -> None:
    def block_2(x: Any) -> Any:
        return x * 2.0

    def block_3(x: Any) -> Any:
        return x + 3.0

    first, second = tf.function(block_2), tf.function(block_3)
    with tfprof.capture(tmp_path):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(first(weight))
        tape.gradient(loss, weight)
        second(tf.ones([2, 3]))
    assert calls(tmp_path) == ["block_2", "block_2_backward", "block_3"]


def test_the_call_of_a_function_has_the_line_that_called_it(tmp_path: Path) -> None:
    with tfprof.capture(tmp_path):
        train_step(tf.ones([2, 3]))
    made = read(tmp_path)
    begin = inspect.getsourcelines(test_the_call_of_a_function_has_the_line_that_called_it)[1]
    assert made.stack("train_step@")[-1] == (HERE, begin + 2)
    assert made.stack("x@") == made.stack("train_step@")


def test_what_a_thread_of_a_framework_made_has_the_line_of_the_call(tmp_path: Path) -> None:
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    function = tf.function(lambda: strategy.run(tf.random.uniform, ([2],)))
    with tfprof.capture(tmp_path):
        function()
    made = read(tmp_path)
    keys = list(made.lines.name_to_trace_id)
    assert any("uniform" in key for key in keys)
    assert {made.stack(key)[-1][0] for key in keys} == {HERE}


def test_functions_are_called_as_ever(tmp_path: Path) -> None:
    before = method()
    with tfprof.capture(tmp_path):
        assert method() is not before
        assert train_step(tf.ones([2, 3])).numpy() == 18
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(lambda x: tf.debugging.check_numerics(x, "no"))(tf.constant(np.nan))


def test_a_wrapper_on_top_of_ours_stays(tmp_path: Path) -> None:
    before, seen = method(), []
    for function in (train_step, looped):  # traced before: tracing calls functions of its own
        function(tf.ones([2, 3]))
    try:
        with tfprof.capture(tmp_path / "one"):
            ours = method()

            def theirs(function: Any, *inputs: Any) -> Any:
                seen.append(function)
                return ours(function, *inputs)

            setattr(OWNER, METHOD, theirs)
            train_step(tf.ones([2, 3]))
        assert method() is theirs
        assert train_step(tf.ones([2, 3])).numpy() == 18
        with tfprof.capture(tmp_path / "two"):
            looped(tf.ones([2, 3]))
        assert method() is theirs
    finally:
        setattr(OWNER, METHOD, before)
    assert len(seen) == 3
    assert calls(tmp_path / "one") == ["train_step"]
    assert calls(tmp_path / "two") == ["looped"]


def test_the_trace_has_every_operation(tmp_path: Path) -> None:
    train_step(tf.ones([2, 3]))
    with tfprof.capture(tmp_path):
        train_step(tf.ones([2, 3]))
    # On some processors oneDNN does the work: `MatMul:_MklMatMul`.
    names = {name.replace(":_Mkl", ":") for name, _ in events(tmp_path)}
    assert {"MatMul:MatMul", "Sum:Sum", "MatMul/ReadVariableOp:ReadVariableOp"} <= names


@pytest.mark.skipif(
    tf.__version__.startswith(("2.14", "2.16")), reason="this release does not record its options"
)
def test_the_options_of_the_trace(tmp_path: Path) -> None:
    with tfprof.capture(tmp_path):
        train_step(tf.ones([2, 3]))
    environment = plane(trace(tmp_path), "Task Environment")
    stats = {
        environment.stat_metadata[stat.metadata_id].name: stat.bytes_value
        for stat in environment.stats
    }
    # Field 2 of ProfileOptions is the level of the host, field 4 that of Python.
    assert b"\x10\x03" in stats["profile_options"]
    assert b"\x20\x01" not in stats["profile_options"]


def test_calls_of_python_are_traced_when_asked_for(tmp_path: Path) -> None:
    with tfprof.capture(tmp_path, python=True):
        train_step(tf.ones([2, 3]))
    assert any(name.startswith("$") for name, _ in events(tmp_path))


def test_steps_are_marked(tmp_path: Path) -> None:
    with tfprof.capture(tmp_path) as run:
        for _ in range(2):
            with run.step() as number:
                train_step(tf.ones([2, 3]))
        assert number == 1
        with run.step(7):
            train_step(tf.ones([2, 3]))
    assert steps(tmp_path) == [0, 1, 7]


def test_gradients_of_functions_are_captured_with_a_tape_outside(tmp_path: Path) -> None:
    with tfprof.capture(tmp_path):
        with tf.GradientTape() as tape:
            loss = train_step(tf.ones([2, 3]))
        tape.gradient(loss, weight)
    assert calls(tmp_path) == ["train_step", "train_step_backward"]


def test_one_after_the_other_into_the_same_folder(tmp_path: Path) -> None:
    with tfprof.capture(tmp_path):
        train_step(tf.ones([2, 3]))
    with tfprof.capture(tmp_path):
        looped(tf.ones([2, 3]))
    assert calls(tmp_path) == ["looped"]


def test_nothing_is_written_where_the_program_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), tfprof.capture(tmp_path / "log"):
        train_step(tf.ones([2, int(1 / 0)]))
    assert not (tmp_path / "log").exists()
    (tmp_path / "theirs").mkdir()
    with pytest.raises(ZeroDivisionError), tfprof.capture(tmp_path / "theirs" / "a" / "b"):
        train_step(tf.ones([2, int(1 / 0)]))
    with pytest.raises(ZeroDivisionError), tfprof.capture(tmp_path / "theirs"):
        train_step(tf.ones([2, int(1 / 0)]))
    assert not list((tmp_path / "theirs").iterdir())


def test_one_inside_of_another_is_refused(tmp_path: Path) -> None:
    with tfprof.capture(tmp_path / "outer"):
        refused(tmp_path / "inner", tfprof.UsageError, "^a capture is already running")
    assert calls(tmp_path / "outer") == []


def test_a_profiler_that_runs_is_left_alone(tmp_path: Path) -> None:
    tf.profiler.experimental.start(str(tmp_path / "theirs"))
    try:
        sentence = "^TensorFlow's profiler is already running"
        refused(tmp_path / "ours", tfprof.UsageError, sentence)
        assert not (tmp_path / "ours").exists()
    finally:
        tf.profiler.experimental.stop(save=False)


def test_a_saved_model_is_not_overwritten(tmp_path: Path) -> None:
    tf.saved_model.save(tf.Module(), str(tmp_path))
    before = (tmp_path / "saved_model.pb").read_bytes()
    sentence = r"saved_model.pb was not written by a capture"
    refused(tmp_path, tfprof.OutputError, sentence)
    assert (tmp_path / "saved_model.pb").read_bytes() == before
    (tmp_path / "saved_model.pb").write_bytes(b"\xff\xff")
    refused(tmp_path, tfprof.OutputError)


def test_what_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused(tmp_path / "file", tfprof.OutputError)
    with pytest.raises(tfprof.UsageError, match=r"is empty$"):
        tfprof.capture("")
    with pytest.raises(tfprof.UsageError, match="folder"):
        tfprof.capture(7)  # type: ignore[arg-type]
    with pytest.raises(tfprof.UsageError, match="was not entered"):
        Capture(tmp_path).finish()


def test_what_the_capture_itself_runs_is_not_in_the_profile(tmp_path: Path) -> None:
    train_step(tf.ones([2, 3]))
    x = tf.ones([2, 3])
    with tfprof.capture(tmp_path / "log") as run, run.step():
        train_step(x)
    loaded = tfprof.load(tmp_path / "log")
    assert not any("SyncDevice" in name for name in loaded.profile.nodes.name.texts())
    assert not any("outside all steps" in note.text for note in loaded.profile.notes)
