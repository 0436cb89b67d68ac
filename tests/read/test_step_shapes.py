"""Steps that ran with different shapes: each is counted with its own.

100 samples in batches of 32 are three batches of 32 and one of 4. A Dense layer of 16 units over 8
inputs multiplies a matrix of [batch, 8] by one of [8, 16]: 2 · 8 · 16 float operations per sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfprof

if TYPE_CHECKING:
    from pathlib import Path

SIZES: Final = {4: 32, 5: 32, 6: 32, 7: 4}
PER_SAMPLE: Final = 2 * 8 * 16


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The second epoch of a training, captured."""
    place = tmp_path_factory.mktemp("short")
    layers = [keras.Input((8,)), keras.layers.Dense(16, name="wide"), keras.layers.Dense(4)]
    model = keras.Sequential(layers)
    model.compile("sgd", "mse")
    data = np.ones([100, 8], np.float32), np.ones([100, 4], np.float32)
    callback = tfprof.capture_callback(place, batches=(min(SIZES), max(SIZES)))
    model.fit(*data, batch_size=32, epochs=2, verbose=0, callbacks=[callback])
    return place


def product(loaded: tfprof.Loaded, **options: Any) -> int:
    """The float operations of the product of the first layer, on the way forward."""
    report = loaded.scope(select=["float_ops"], max_depth=99, flops="all", **options)
    products = [row for row in report.rows if row.name.endswith("/wide_1/MatMul")]
    (row,) = [row for row in products if "gradient_tape" not in row.name]
    return int(row.total_float_ops)


@pytest.mark.parametrize("kind", ["loaded", "converted"])
def test_each_step_is_counted_with_its_own_shapes(folder: Path, tmp_path: Path, kind: str) -> None:
    loaded = tfprof.load(folder)
    if kind == "converted":
        loaded.convert(tmp_path / "converted")
        loaded = tfprof.load(profile=tmp_path / "converted")
    counted = {step: product(loaded, step=step) for step in SIZES}
    assert counted == {step: PER_SAMPLE * size for step, size in SIZES.items()}
    assert product(loaded) == PER_SAMPLE * sum(SIZES.values()) // len(SIZES)


def test_a_note_says_which_shapes_a_summary_counts(folder: Path) -> None:
    loaded = tfprof.load(folder)
    notes = [note.text for note in loaded.profile.notes if "different shapes" in note.text]
    assert len(notes) == 1
    assert notes[0].endswith("a summary with those of step 4")
    (wide,) = [row for row in loaded.summary().rows if row["name"] == "wide"]
    assert wide["multiply_adds"] == PER_SAMPLE // 2 * SIZES[4]


def test_steps_with_equal_shapes_have_no_note(tmp_path: Path) -> None:
    function = tf.function(lambda x: tf.matmul(x, x))
    with tfprof.capture(tmp_path) as run:
        for _ in range(2):
            with run.step():
                function(tf.ones([3, 3]))
    loaded = tfprof.load(tmp_path)
    assert not loaded.profile.step_shapes
    assert not any("different shapes" in note.text for note in loaded.profile.notes)


@pytest.fixture(scope="module")
def open_signature(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("open")
    weight = tf.Variable(tf.ones([8, 16]))

    def multiply(x: Any) -> Any:
        return tf.matmul(x, weight)

    function = tf.function(multiply, input_signature=[tf.TensorSpec([None, 8])])
    with tfprof.capture(place) as run:
        for size in (3, 5):
            with run.step():
                function(tf.ones([size, 8]))
    return place


def test_a_capture_of_an_open_signature_has_a_summary(open_signature: Path) -> None:
    summary = tfprof.load(open_signature).summary()
    assert summary.total["parameters"] == 8 * 16
    assert summary.total["float_ops"] == PER_SAMPLE * 3


def test_the_size_of_an_open_dimension_can_still_be_set(open_signature: Path) -> None:
    loaded = tfprof.load(open_signature)
    assert loaded.summary(dims={"batch": 7}).total["float_ops"] == PER_SAMPLE * 7
    graph = tfprof.load(open_signature / "saved_model.pb")
    assert graph.summary(dims={"batch": 7}).total["float_ops"] == PER_SAMPLE * 7
    with pytest.raises(tfprof.UsageError, match="no dimension of the inputs is called 'batches'"):
        loaded.summary(dims={"batches": 7})
