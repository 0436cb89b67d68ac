"""Models for summaries, with what Keras itself says of them, in a process of its own.

python summary_worker.py FOLDER MODEL...   →  FOLDER/truth.json, and of each model
    MODEL          a SavedModel
    MODEL.pb       the GraphDef of its call, with shapes
    MODEL.frozen   the same with constants for variables, and without shapes
    MODEL.keras    the archive
and FOLDER/functions, a SavedModel of functions that Keras did not write,
and FOLDER/trained.meta, a MetaGraphDef of a small model that is trained in a session.
"""

from __future__ import annotations

import json
import sys
from math import prod
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import (
    convert_variables_to_constants_v2 as frozen,
)

L = tf.keras.layers


def conv() -> Any:
    image = tf.keras.Input((32, 32, 3), name="image")
    x = L.Conv2D(16, 3, padding="same", name="stem")(image)
    x = L.ReLU()(L.BatchNormalization(name="norm")(x))
    x = L.SeparableConv2D(24, 3, name="separable")(L.DepthwiseConv2D(3, name="depthwise")(x))
    x = L.PReLU(shared_axes=[1, 2])(L.Conv2DTranspose(8, 3, strides=2, name="up")(x))
    x = L.Dropout(0.5)(L.GlobalAveragePooling2D()(x))
    return tf.keras.Model(image, L.Dense(10, name="head")(x), name="net")


def lstm() -> Any:
    given = tf.keras.Input((20, 8), name="series")
    x = L.LSTM(16, return_sequences=True, name="first")(given)
    return tf.keras.Model(given, L.Dense(3, name="head")(L.LSTM(4)(x)), name="rnn")


def gru() -> Any:
    given = tf.keras.Input((20, 8), name="series")
    return tf.keras.Model(given, L.Dense(3)(L.GRU(12, name="gru")(given)), name="rnn")


def transformer() -> Any:
    tokens = tf.keras.Input((None,), dtype="int32", name="tokens")
    x = L.Embedding(100, 32, name="embedding")(tokens)
    for _ in range(2):
        x = L.LayerNormalization()(x + L.MultiHeadAttention(4, 8)(x, x))
        x = L.LayerNormalization()(x + L.Dense(32)(L.Dense(64, activation="gelu")(x)))
    return tf.keras.Model(
        tokens, L.EinsumDense("abc,cd->abd", (None, 100), bias_axes="d")(x), name="tf"
    )


def nested() -> Any:
    """A model in a model, wrapped layers, and layers that are not trained."""
    inner = tf.keras.Sequential([tf.keras.Input((8,)), L.Dense(4), L.Dense(4)], name="inner")
    inner.layers[0].trainable = False
    given = tf.keras.Input((8,))
    x = L.Bidirectional(L.LSTM(3), name="both")(L.Reshape((4, 1))(inner(given)))
    x = L.TimeDistributed(L.Dense(2), name="each")(L.Reshape((6, 1))(x))
    return tf.keras.Model(given, x, name="outer")


def mixed() -> Any:
    """Layers that compute in another type than that of their weights."""
    given = tf.keras.Input((8,))
    x = L.Dense(16, dtype="mixed_float16", name="half")(given)
    return tf.keras.Model(given, L.Dense(2, dtype="float32", name="head")(x), name="two")


def mobilenet() -> Any:
    return tf.keras.applications.MobileNetV2(weights=None)


def main(folder: str, *models: str) -> None:
    truth = {}
    for name in models:
        model = globals()[name]()
        path = Path(folder, name)
        (given,) = model.inputs
        traced = tf.function(lambda x, model=model: model(x, training=False))
        traced = traced.get_concrete_function(tf.TensorSpec(given.shape, given.dtype, "given"))
        graph = traced.graph.as_graph_def(add_shapes=True)
        path.with_suffix(".pb").write_bytes(graph.SerializeToString())
        constant = frozen(traced, lower_control_flow=False).graph.as_graph_def()
        path.with_suffix(".frozen").write_bytes(constant.SerializeToString())
        model.save(path.with_suffix(".keras"))
        model.export(path, verbose=False)
        truth[name] = {
            "parameters": model.count_params(),
            "trainable": sum(prod(weight.shape) for weight in model.trainable_weights),
            "layers": {layer.name: layer.count_params() for layer in model.layers},
        }
    Path(folder, "truth.json").write_text(json.dumps(truth), encoding="utf-8")
    functions(str(Path(folder, "functions")))
    trained(str(Path(folder, "trained.meta")))


class Functions(tf.Module):  # type: ignore[misc]
    """Functions with one variable of 8x8, which is not trained."""

    def __init__(self) -> None:
        self.w = tf.Variable(tf.ones((8, 8)), trainable=False)

    @tf.function(input_signature=[tf.TensorSpec((None, 8))])  # type: ignore[untyped-decorator]
    def rounds(self, x: Any) -> Any:
        y = tf.zeros((1, 8))
        for row in tf.range(tf.shape(x)[0]):
            y += tf.matmul(tf.ensure_shape(x[row : row + 1], (1, 8)), self.w)
        return {"y": y}

    @tf.function(input_signature=[tf.TensorSpec((4, 8))])  # type: ignore[untyped-decorator]
    def slope(self, x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(tf.matmul(x, self.w))
        return {"slope": tape.gradient(y, x)}

    @tf.function(input_signature=[tf.TensorSpec((4, 8))])  # type: ignore[untyped-decorator]
    def trained(self, x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(self.w)
            loss = tf.reduce_sum(tf.matmul(x, self.w))
        self.w.assign_sub(tape.gradient(loss, self.w))
        return {"loss": loss}


def functions(path: str) -> None:
    made = Functions()
    signatures = {name: getattr(made, name) for name in ("rounds", "slope", "trained")}
    tf.saved_model.save(made, path, signatures=signatures)


def trained(path: str) -> None:
    """A model of old with an optimizer, a saver, a summary and a counter; 8x5 + 5 parameters."""
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [4, 8], "x")
        with v1.variable_scope("head", use_resource=False):
            w = v1.get_variable("w", [8, 5])
            b = v1.get_variable("b", [5])
            mean = v1.get_variable("mean", [5], trainable=False)
            y = tf.matmul(x, w) + b - mean
        loss = tf.reduce_mean(y**2, name="loss")
        v1.summary.scalar("loss_summary", loss)
        step = v1.train.get_or_create_global_step()
        v1.train.AdamOptimizer().minimize(loss, step)
        v1.train.Saver()
        v1.global_variables_initializer()
        v1.train.export_meta_graph(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
