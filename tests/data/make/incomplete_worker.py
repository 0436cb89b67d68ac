"""Models that tfprof cannot count in full, as TensorFlow writes them: `python … FOLDER`.

`tf.numpy_function` hides a shape for good: nothing in the graph says what Python returns.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import tfprof

v1 = tf.compat.v1


def hidden(x: Any) -> Any:
    """*x*, of a shape that the graph does not hold."""
    return tf.numpy_function(lambda value: value, [x], tf.float32)


class Dense(tf.Module):  # type: ignore[misc]
    """A layer behind a hidden shape, and one behind a reshape."""

    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(tf.ones([4, 3]))

    @tf.function(input_signature=[tf.TensorSpec([2, 4])])  # type: ignore[untyped-decorator]
    def __call__(self, x: Any) -> dict[str, Any]:
        with tf.name_scope("dense"):
            y = tf.nn.relu(tf.linalg.matmul(hidden(x), self.w))
        with tf.name_scope("head"):
            return {"y": tf.reshape(y, [2, 3]) + 1.0}


class Gru(tf.Module):  # type: ignore[misc]
    """Keras's layer behind a hidden shape."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = keras.layers.GRU(5, name="gru")

    @tf.function(input_signature=[tf.TensorSpec([2, 7, 4])])  # type: ignore[untyped-decorator]
    def __call__(self, x: Any) -> dict[str, Any]:
        steps = hidden(x)
        steps.set_shape([None, None, 4])
        return {"y": self.layer(steps)}


class Hue(tf.Module):  # type: ignore[misc]
    """An operation without a rule, and a sum of 2·3·3·3 elements."""

    @tf.function(input_signature=[tf.TensorSpec([2, 3, 3, 3])])  # type: ignore[untyped-decorator]
    def __call__(self, x: Any) -> dict[str, Any]:
        with tf.name_scope("colour"):
            y = tf.image.adjust_hue(x, 0.1)
        with tf.name_scope("sum"):
            return {"y": y + x}


class Two(tf.Module):  # type: ignore[misc]
    """Two signatures that compute different things with the same variable."""

    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(tf.ones([4, 3]))

    @tf.function(input_signature=[tf.TensorSpec([2, 4])])  # type: ignore[untyped-decorator]
    def encode(self, x: Any) -> dict[str, Any]:
        return {"y": tf.linalg.matmul(x, self.w)}

    @tf.function(input_signature=[tf.TensorSpec([5, 4])])  # type: ignore[untyped-decorator]
    def predict(self, x: Any) -> dict[str, Any]:
        return {"y": tf.nn.relu(tf.linalg.matmul(x, self.w))}


class Loop(tf.Module):  # type: ignore[misc]
    """A loop that ends when the numbers say so; its body has a product of 2x4 and 4x4."""

    @tf.function(input_signature=[tf.TensorSpec([2, 4])])  # type: ignore[untyped-decorator]
    def __call__(self, x: Any) -> dict[str, Any]:
        w = tf.ones([4, 4])
        return {"y": tf.while_loop(lambda y: y[0, 0] < 99.0, lambda y: [y @ w], [x])[0]}


def text_graph(folder: Path) -> None:
    """Two convolutions in text format, the first behind a hidden shape."""
    with tf.Graph().as_default() as graph:
        x = hidden(v1.placeholder(tf.float32, [1, 8, 8, 3]))
        for name, inside, outside in (("conv1", 3, 4), ("conv2", 4, 6)):
            with v1.variable_scope(name):
                w = v1.get_variable("w", [3, 3, inside, outside], use_resource=False)
                x = tf.nn.relu(v1.nn.conv2d(x, w, 1, "SAME"))
    tf.io.write_graph(graph, str(folder), "conv.pbtxt", as_text=True)


def old_loop(folder: Path) -> None:
    """A loop of single nodes with a product of 2x4 and 4x4 in its body."""
    with tf.Graph().as_default() as graph:
        v1.disable_control_flow_v2()
        x, w = v1.placeholder(tf.float32, [2, 4], name="x"), tf.ones([4, 4])
        tf.while_loop(lambda i, _: i < 10, lambda i, y: [i + 1, y @ w], [tf.constant(0), x])
        v1.enable_control_flow_v2()
    (folder / "old_loop.pb").write_bytes(graph.as_graph_def(add_shapes=True).SerializeToString())


def captures(folder: Path) -> None:
    """A function with two traces, and models that run eagerly."""
    w = tf.Variable(tf.ones([4, 3]))

    @tf.function  # type: ignore[untyped-decorator]
    def product(x: Any) -> Any:
        return tf.linalg.matmul(x, w)

    with tfprof.capture(folder / "traces"):
        product(tf.ones([2, 4]))
        product(tf.ones([5, 4]))
    x, y = np.ones([8, 4], np.float32), np.ones([8, 3], np.float32)
    model = keras.Sequential([keras.layers.Input([4]), keras.layers.Dense(3)])
    model.compile("sgd", "mse", run_eagerly=True)
    callback = tfprof.capture_callback(folder / "eager", batches=(0, 1))
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[callback])
    with tfprof.capture(folder / "eager_alone"):
        model.fit(x, y, batch_size=4, verbose=0)


def main(folder: Path) -> None:
    for name, module in (("dense", Dense()), ("gru", Gru()), ("hue", Hue()), ("loop", Loop())):
        tf.saved_model.save(module, str(folder / name), signatures=module.__call__)
    two = Two()
    signatures = {"encode": two.encode, "predict": two.predict}
    tf.saved_model.save(two, str(folder / "two"), signatures=signatures)
    text_graph(folder)
    old_loop(folder)
    captures(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
