"""capture(): what is in the folder, and that nothing is left behind, whatever happens inside."""

from __future__ import annotations

import gc
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

import tfprof
from live_functions import Folder, Own
from tfprof.capture.folder import Capture

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


def functions() -> Any:
    """The class of TensorFlow that calls go through."""
    return type(train_step.get_concrete_function(tf.ones([2, 3])).inference_fn)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """TensorFlow is afterwards as it was, and can be profiled."""
    before = functions().call_flat
    yield
    gc.collect()
    assert functions().call_flat is before
    with pytest.raises(tf.errors.UnavailableError):
        tf.profiler.experimental.stop()


def read(folder: Path) -> Folder:
    lines = folder / "debug" / "saved_model_debug_info.pb"
    return Folder.parsed((folder / "saved_model.pb").read_bytes(), lines.read_bytes())


def trace(folder: Path) -> Any:
    (file,) = (folder / "plugins" / "profile").glob("*/*.xplane.pb")
    return xplane_pb2.XSpace.FromString(file.read_bytes())


def plane(space: Any, name: str) -> Any:
    (found,) = [one for one in space.planes if one.name == name]
    return found


def events(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """(name, numbers) of what happened on the host."""
    host = plane(trace(folder), "/host:CPU")
    name = {number: one.name for number, one in host.event_metadata.items()}
    told = {number: one.name for number, one in host.stat_metadata.items()}
    return [
        (
            name[event.metadata_id],
            {told[stat.metadata_id]: stat.int64_value for stat in event.stats},
        )
        for line in host.lines
        for event in line.events
    ]


def calls(folder: Path) -> list[str]:
    return list(read(folder).nodes("StatefulPartitionedCall"))


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


def test_functions_are_called_as_ever(tmp_path: Path) -> None:
    before = functions().call_flat
    with tfprof.capture(tmp_path):
        assert functions().call_flat is not before
        assert train_step(tf.ones([2, 3])).numpy() == 18
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(lambda x: tf.debugging.check_numerics(x, "no"))(tf.constant(np.nan))


def test_the_trace_has_every_operation(tmp_path: Path) -> None:
    train_step(tf.ones([2, 3]))
    with tfprof.capture(tmp_path):
        train_step(tf.ones([2, 3]))
    environment = plane(trace(tmp_path), "Task Environment")
    told = {
        environment.stat_metadata[stat.metadata_id].name: stat.bytes_value
        for stat in environment.stats
    }
    # Field 2 of ProfileOptions is the level of the host, field 4 that of Python.
    assert b"\x10\x03" in told["profile_options"]
    assert b"\x20\x01" not in told["profile_options"]
    names = {name for name, _ in events(tmp_path)}
    assert {"MatMul:MatMul", "Sum:Sum", "MatMul/ReadVariableOp:ReadVariableOp"} <= names


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
    steps = sorted(told["step_num"] for _, told in events(tmp_path) if "step_num" in told)
    assert steps == [0, 1, 7]


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
    assert not list((tmp_path / "log").iterdir())


def test_one_inside_of_another_is_refused(tmp_path: Path) -> None:
    with (
        tfprof.capture(tmp_path / "outer"),
        pytest.raises(tfprof.UsageError, match=r"^there is a capture already"),
        tfprof.capture(tmp_path / "inner"),
    ):
        pytest.fail("it was entered")
    assert calls(tmp_path / "outer") == []


def test_a_profiler_that_runs_is_left_alone(tmp_path: Path) -> None:
    tf.profiler.experimental.start(str(tmp_path / "theirs"))
    try:
        with (
            pytest.raises(tfprof.UsageError, match=r"^TensorFlow's profiler runs already"),
            tfprof.capture(tmp_path / "ours"),
        ):
            pytest.fail("it was entered")
    finally:
        tf.profiler.experimental.stop(save=False)


def test_a_saved_model_is_not_overwritten(tmp_path: Path) -> None:
    tf.saved_model.save(tf.Module(), str(tmp_path))
    before = (tmp_path / "saved_model.pb").read_bytes()
    with (
        pytest.raises(tfprof.OutputError, match=r"saved_model.pb is not of a capture"),
        tfprof.capture(tmp_path),
    ):
        pytest.fail("it was entered")
    assert (tmp_path / "saved_model.pb").read_bytes() == before
    (tmp_path / "saved_model.pb").write_bytes(b"\xff\xff")
    with pytest.raises(tfprof.OutputError), tfprof.capture(tmp_path):
        pytest.fail("it was entered")


def test_what_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(tfprof.OutputError), tfprof.capture(tmp_path / "file"):
        pytest.fail("it was entered")
    with pytest.raises(tfprof.UsageError, match=r"is empty$"):
        tfprof.capture("")
    with pytest.raises(tfprof.UsageError, match="folder"):
        tfprof.capture(7)  # type: ignore[arg-type]
    with pytest.raises(tfprof.UsageError, match="was not entered"):
        Capture(tmp_path).finish()


# --- in fit ----------------------------------------------------------------------------------


def fit(callback: Any, **more: Any) -> Any:
    model = Own()
    model.compile("sgd", "mse")
    batches, ones = np.ones([10, 3], np.float32), np.ones([10, 4], np.float32)
    model.fit(batches, ones, batch_size=2, verbose=0, callbacks=[callback], **more)
    return model


def test_some_batches_of_fit(tmp_path: Path) -> None:
    model = fit(tfprof.capture_callback(tmp_path, batches=(2, 3)))
    steps = sorted(told["step_num"] for _, told in events(tmp_path) if "step_num" in told)
    assert steps == [2, 3]
    made = read(tmp_path)
    assert len(calls(tmp_path)) == 1
    handles = made.nodes("VarHandleOp")
    dense = f"own/{model.dense.name}"
    assert {f"{dense}/kernel", f"{dense}/bias", "sgd/learning_rate"} <= set(handles)
    (lines, first) = inspect.getsourcelines(Own.call)
    (place,) = [place for place, line in enumerate(lines) if "# the line of the dense" in line]
    assert made.stack(f"{dense}/kernel@")[-1][1] == first + place
    listed = made.meta.collection_def["trainable_variables"].bytes_list.value
    assert len(listed) == 2


def test_batches_are_counted_over_epochs(tmp_path: Path) -> None:
    fit(tfprof.capture_callback(tmp_path, batches=(6, 20)), epochs=2)
    steps = sorted(told["step_num"] for _, told in events(tmp_path) if "step_num" in told)
    assert steps == [6, 7, 8, 9]


def test_a_training_that_is_too_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit(tfprof.capture_callback(tmp_path, batches=(5, 8)))
    assert not (tmp_path / "saved_model.pb").exists()
    assert "nothing was captured: training had 5 batches" in capsys.readouterr().err


class Failing(keras.callbacks.Callback):  # type: ignore[misc]
    """Fails in the middle of a batch."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
        if batch == 1:
            raise ZeroDivisionError


def test_training_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    callback = tfprof.capture_callback(tmp_path / "log", batches=(1, 2))
    with pytest.raises(ZeroDivisionError):
        fit(keras.callbacks.CallbackList([Failing(), callback]))
    assert not (tmp_path / "log" / "saved_model.pb").exists()
    fit(callback)  # what was left open is dropped
    assert len(calls(tmp_path / "log")) == 1
    with pytest.raises(ZeroDivisionError):
        fit(keras.callbacks.CallbackList([Failing(), callback]))
    del callback


@pytest.mark.parametrize("batches", [5, (5,), (8, 5), (-1, 2), "58"])
def test_batches_that_make_no_sense(batches: Any) -> None:
    with pytest.raises(tfprof.UsageError, match=r"^batches takes"):
        tfprof.capture_callback("log", batches=batches)
