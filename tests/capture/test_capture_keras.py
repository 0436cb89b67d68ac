"""capture_callback(): which batches of Keras are captured, and what of the model."""

from __future__ import annotations

import gc
import inspect
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfprof
from captured import calls, read, steps
from live_functions import KERAS_3, Own, layers
from processes import python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """TensorFlow can be profiled afterwards."""
    yield
    gc.collect()
    with pytest.raises(tf.errors.UnavailableError):
        tf.profiler.experimental.stop()


def fit(*callbacks: Any, model: Any = None, rows: int = 10, inputs: int = 3, **more: Any) -> Any:
    """Train a model, which is our own if none is given, with batches of two rows."""
    if model is None:
        model = Own()
        model.compile("sgd", "mse")
    given, ones = np.ones([rows, inputs], np.float32), np.ones([rows, 4], np.float32)
    model.fit(given, ones, batch_size=2, verbose=0, callbacks=list(callbacks), **more)
    return model


def test_some_batches_of_fit(tmp_path: Path) -> None:
    model = fit(tfprof.capture_callback(tmp_path, batches=(2, 3)))
    assert steps(tmp_path) == [2, 3]
    made = read(tmp_path)
    assert len(calls(tmp_path)) == 1
    handles = made.nodes("VarHandleOp")
    dense = f"own/{model.dense.name}"
    rate = f"{model.optimizer.name}/learning_rate" if KERAS_3 else "learning_rate"
    assert {f"{dense}/kernel", f"{dense}/bias", rate} <= set(handles)
    (lines, first) = inspect.getsourcelines(Own.call)
    (place,) = [place for place, line in enumerate(lines) if "# the line of the dense" in line]
    assert made.stack(f"{dense}/kernel@")[-1][1] == first + place
    listed = made.meta.collection_def["trainable_variables"].bytes_list.value
    assert len(listed) == 2


def test_batches_are_counted_over_epochs(tmp_path: Path) -> None:
    fit(tfprof.capture_callback(tmp_path, batches=(6, 20)), epochs=2)
    assert steps(tmp_path) == [6, 7, 8, 9]
    assert tfprof.load(tmp_path).steps == (6, 7, 8, 9)


KERAS_2 = """if True:
    import sys
    import numpy as np, tf_keras, tfprof
    model = tf_keras.Sequential([tf_keras.layers.Dense(4)])
    model.compile("sgd", "mse")
    callback = tfprof.capture_callback(sys.argv[1], batches=(6, 20))
    ones = np.ones([10, 3], np.float32), np.ones([10, 4], np.float32)
    model.fit(*ones, batch_size=2, epochs=2, verbose=0, callbacks=[callback])
    print(tfprof.load(sys.argv[1]).steps)
"""


@pytest.mark.whole
def test_batches_of_keras_2_are_counted_over_epochs(tmp_path: Path) -> None:
    """Keras 2 marks each batch itself, by its number in the epoch, around our step."""
    pytest.importorskip("tf_keras")
    assert python("-c", KERAS_2, tmp_path).stdout == "(6, 7, 8, 9)\n"


@pytest.mark.parametrize(
    ("batches", "taken"), [((5, 8), [1, 2, 3, 4]), ((7, 8), [3, 4]), ((3, 9), [3, 4])]
)
def test_a_training_that_is_too_short_has_its_last_batches_captured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], batches: tuple[int, int], taken: list[int]
) -> None:
    fit(tfprof.capture_callback(tmp_path, batches=batches))
    assert steps(tmp_path) == taken
    told = capsys.readouterr().err
    instead = (
        f"training has 5 batches: capturing {taken[0]} to 4 instead of {batches[0]} to {batches[1]}"
    )
    assert (instead in told) == (batches[0] > 4)
    assert "nothing was captured" not in told


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_a_training_of_unknown_length_that_is_too_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Own()
    model.compile("sgd", "mse")
    data = ((np.ones([2, 3]), np.ones([2, 4])) for _ in range(5))
    callback = tfprof.capture_callback(tmp_path / "log", batches=(5, 8))
    model.fit(data, shuffle=False, verbose=0, callbacks=[callback])
    assert not (tmp_path / "log").exists()
    assert capsys.readouterr().err.endswith(
        "nothing was captured: training had 5 batches, and the first to capture is batch 5, "
        "counted from 0\n"
    )


def test_batches_that_keras_runs_at_once_are_one_step(tmp_path: Path) -> None:
    model = Own()
    model.compile("sgd", "mse", steps_per_execution=4)
    fit(tfprof.capture_callback(tmp_path, batches=(5, 8)), model=model, rows=26)
    assert steps(tmp_path) == [4, 8]


@pytest.mark.parametrize("work", ["evaluate", "predict"])
def test_evaluation_and_prediction_are_captured(tmp_path: Path, work: str) -> None:
    model = Own()
    model.compile("sgd", "mse")
    ones = [np.ones([10, 3], np.float32), np.ones([10, 4], np.float32)]
    callback = tfprof.capture_callback(tmp_path, batches=(2, 3))
    given = ones if work == "evaluate" else ones[:1]
    getattr(model, work)(*given, batch_size=2, verbose=0, callbacks=[callback])
    assert steps(tmp_path) == [2, 3]
    assert len(calls(tmp_path)) == 1


def test_the_validation_of_a_training_is_not_counted(tmp_path: Path) -> None:
    more = np.ones([8, 3], np.float32), np.ones([8, 4], np.float32)
    callback = tfprof.capture_callback(tmp_path, batches=(6, 7))
    fit(callback, epochs=2, validation_data=more)
    assert steps(tmp_path) == [6, 7]


def test_the_weights_of_the_model_are_told_from_all_other_variables(tmp_path: Path) -> None:
    model = Own()
    model.compile("adam", "mse", metrics=["mae"])
    fit(tfprof.capture_callback(tmp_path, batches=(2, 3)), model=model)
    loaded = tfprof.load(tmp_path)
    report = loaded.scope(select=["params"], account_type_regexes=["_model_variables"])
    assert report.rows[0].total_params == model.count_params() == 3 * 4 + 4 + 7 * 7
    report = loaded.scope(select=["params"], account_type_regexes=["_trainable_variables"])
    assert report.rows[0].total_params == 3 * 4 + 4


class Failing(keras.callbacks.Callback):  # type: ignore[misc]
    """Fails in the middle of a batch."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
        if batch == 1:
            raise ZeroDivisionError


def test_training_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    callback = tfprof.capture_callback(tmp_path / "log", batches=(1, 2))
    with pytest.raises(ZeroDivisionError):
        fit(Failing(), callback)
    assert not (tmp_path / "log" / "saved_model.pb").exists()
    fit(callback)  # what was left open is dropped
    assert len(calls(tmp_path / "log")) == 1
    with pytest.raises(ZeroDivisionError):
        fit(Failing(), callback)
    del callback


def test_training_goes_on_where_something_else_profiles(tmp_path: Path) -> None:
    tf.profiler.experimental.start(str(tmp_path / "theirs"))
    sentence = (
        "^tfprof: nothing was captured: TensorFlow's profiler is already running: stop it first$"
    )
    try:
        with pytest.warns(UserWarning, match=sentence):
            model = fit(tfprof.capture_callback(tmp_path / "log", batches=(1, 2)))
    finally:
        tf.profiler.experimental.stop(save=False)
    assert model.optimizer.iterations == 5
    assert not (tmp_path / "log").exists()


def test_training_goes_on_where_the_folder_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "debug").touch()  # a file in place of a folder
    with pytest.warns(UserWarning, match="^tfprof") as told:
        model = fit(tfprof.capture_callback(tmp_path, batches=(1, 2)), epochs=2)
    assert model.optimizer.iterations == 10
    (warning,) = told
    assert str(warning.message) == (
        f"tfprof: the capture in {tmp_path} is incomplete: the lines of the program are missing: "
        f"the folder {tmp_path / 'debug'} cannot be made: File exists"
    )
    assert steps(tmp_path) == [1, 2]
    assert (tmp_path / "saved_model.pb").exists()


@pytest.mark.parametrize("batches", [5, (5,), (8, 5), (-1, 2), "58"])
def test_batches_that_make_no_sense(batches: Any) -> None:
    with pytest.raises(tfprof.UsageError, match=r"^batches takes"):
        tfprof.capture_callback("log", batches=batches)


@pytest.mark.skipif(not KERAS_3, reason="other optimizers")
def test_the_parts_of_a_training_step(tmp_path: Path) -> None:
    """Batches of 2 rows: 3x4 weights and 4 biases, and a layer of 4x4 weights below them."""
    model = keras.Sequential([keras.Input([3]), layers.Dense(4), layers.Dense(4, use_bias=False)])
    model.compile("sgd", "mse")
    fit(tfprof.capture_callback(tmp_path, batches=(2, 3)), model=model)
    report = tfprof.load(tmp_path).summary(training=True)
    rows = {row["name"]: row for row in report.rows}
    assert [*rows] == ["forward", "backward", "optimizer"]
    assert rows["forward"]["multiply_adds"] == 2 * 3 * 4 + 2 * 4 * 4
    # The gradients of both kernels and of what the second layer takes; not of the input.
    assert rows["backward"]["multiply_adds"] == 2 * 3 * 4 + 2 * (2 * 4 * 4)
    assert rows["optimizer"]["multiply_adds"] == 0
    # A product with the rate and a difference for each weight.
    assert rows["optimizer"]["float_ops"] == 2 * model.count_params()
    assert not any("stimate" in sentence for sentence in report.sentences)
    # Products, a bias, and at least difference, square and sum of the loss.
    least = 2 * 56 + 2 * 4 + 3 * 2 * 4
    assert least <= rows["forward"]["float_ops"] <= least + 20


@pytest.mark.skipif(not KERAS_3, reason="other optimizers")
def test_the_parts_of_a_training_step_with_a_layer_that_is_used_twice(tmp_path: Path) -> None:
    """The gradients of its 4x4 weights are summed up on the way back; Adam has 12 steps."""
    given, twice = keras.Input([4]), layers.Dense(4, use_bias=False)
    model = keras.Model(given, twice(twice(given)))
    model.compile("adam", "mse")
    fit(tfprof.capture_callback(tmp_path, batches=(2, 3)), model=model, inputs=4)
    rows = {row["name"]: row for row in tfprof.load(tmp_path).summary(training=True).rows}
    assert rows["forward"]["multiply_adds"] == 2 * (2 * 4 * 4)
    assert rows["backward"]["multiply_adds"] == 3 * (2 * 4 * 4)
    # m += (g - m) · a; v += (g² - v) · b; w -= rate · m / (√v + ε); and a few for the rate.
    assert 12 * 16 <= rows["optimizer"]["float_ops"] < 12 * 16 + 16
