"""A trace of a program and the SavedModel that it saved: executions are put on its nodes.

Saving traces functions again and wraps them in signatures, so the SavedModel has other numbers and
deeper calls than the program that ran.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfprof

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def executed(saved: Path, log: Path, call: Callable[[], Any]) -> tuple[set[str], set[str]]:
    """(nodes of the SavedModel that ran, nodes of the trace that it does not have)."""
    call()
    with tfprof.capture(log):
        call()
    (trace,) = log.rglob("*.xplane.pb")
    loaded = tfprof.load(saved / "saved_model.pb", trace=trace)
    ran = {row.name for row in loaded.scope(select=["micros"], min_micros=1).rows}
    every = {row.name for row in loaded.scope(select=["occurrence"], min_occurrence=1).rows}
    outside = "_not_in_graph/"
    names = {name for name in ran | every if name != "_TFProfRoot"}
    return (
        {name for name in names if not name.startswith("_not_in_graph")},
        {name.removeprefix(outside) for name in names if name.startswith(outside)},
    )


@pytest.fixture(scope="module")
def module() -> Any:
    made = tf.Module()
    made.weight = tf.Variable(tf.ones([64, 64]))

    def inner(x: Any) -> Any:
        return tf.nn.relu(x @ made.weight)

    def run(x: Any) -> Any:
        return made.inner(x) + 1.0

    made.inner = tf.function(inner)
    made.run = tf.function(run, input_signature=[tf.TensorSpec([None, 64])])
    return made


X = tf.ones([256, 64])


@pytest.mark.parametrize("called", ["run", "inner", "outer"])
def test_a_function_that_was_saved(module: Any, called: str, tmp_path: Path) -> None:
    tf.saved_model.save(module, str(tmp_path / "model"), signatures={"run": module.run})
    outer = tf.function(lambda x: module.run(x) * 2.0)
    function = outer if called == "outer" else getattr(module, called)
    inside, outside = executed(tmp_path / "model", tmp_path / "log", lambda: function(X))
    # signature ──► run ──► inner
    inner = "StatefulPartitionedCall/StatefulPartitionedCall/StatefulPartitionedCall"
    expected = {f"{inner}/matmul", f"{inner}/Relu"}
    if called != "inner":
        expected.add("StatefulPartitionedCall/StatefulPartitionedCall/add")
    assert expected <= inside
    assert not {name for name in outside if name.rpartition("/")[2] in {"matmul", "Relu", "add"}}


@pytest.mark.parametrize(
    ("called", "call"),
    [("one", "StatefulPartitionedCall"), ("two", "StatefulPartitionedCall_1"), ("unsaved", None)],
)
def test_a_name_that_several_functions_have(called: str, call: str | None, tmp_path: Path) -> None:
    """The Python function decides; the one that was never saved is nowhere in the graph."""
    weight = tf.Variable(tf.ones([64, 64]))

    def one(x: Any) -> Any:
        return tf.matmul(x, weight, name="product")

    def two(x: Any) -> Any:
        return tf.matmul(x, weight, name="product")

    def unsaved(x: Any) -> Any:
        return tf.matmul(x, weight, name="product")

    made = tf.Module()
    made.weight = weight
    functions = {
        each.__name__: tf.function(each, input_signature=[tf.TensorSpec([None, 64])])
        for each in (one, two, unsaved)
    }
    made.saved = {name: functions[name] for name in ("one", "two")}
    tf.saved_model.save(made, str(tmp_path / "model"), signatures=made.saved)
    function = functions[called]
    inside, outside = executed(tmp_path / "model", tmp_path / "log", lambda: function(X))
    products = {name for name in inside if name.endswith("product")}
    assert products == ({f"{call}/StatefulPartitionedCall/product"} if call else set())
    # A function that the graph does not have is a scope of its own.
    apart = [name for name in outside if name.endswith("/product")]
    assert bool(apart) == (call is None)


def test_a_keras_model_that_was_exported(tmp_path: Path) -> None:
    model = keras.Sequential(
        [keras.layers.Input([64]), keras.layers.Dense(64, activation="sigmoid")], name="net"
    )
    model.export(str(tmp_path / "model"))
    x = np.ones([256, 64], np.float32)
    inside, outside = executed(
        tmp_path / "model", tmp_path / "log", lambda: model.predict(x, batch_size=256, verbose=0)
    )
    # The names that Keras 2 gives do not fit the exported functions, so nothing is guessed.
    there, elsewhere = (inside, outside) if keras.__version__ >= "3" else (outside, inside)
    # With oneDNN, the product and the activation are one operation, which counts for the product.
    parts = ("MatMul", "Sigmoid")
    assert [name for name in there if name.endswith(parts)]
    assert not [name for name in elsewhere if name.endswith(parts)]
