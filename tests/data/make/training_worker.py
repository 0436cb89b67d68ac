"""Models with trained, frozen and helper variables, and graphs that train, in a process of its own.

python training_worker.py FOLDER   →  FOLDER/truth.json, the weights that Keras counts, and
    plain frozen transfer lora        SavedModels that Keras exports
    calls.pb                          the graph of `frozen` alone: functions, and no list
    rnn.frozen lowered.frozen         loops of TensorFlow 1 whose weights are constants
    state.frozen                      the same, of a loop that reads no input
    slots slots.meta                  training steps with momentum written by hand
    descent.pb momentum.pb            training steps of a small network
"""

from __future__ import annotations

import json
import sys
from math import prod
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework.convert_to_constants import (
    convert_variables_to_constants_v2 as constants_of,
)

L = keras.layers
v1 = tf.compat.v1


def plain() -> Any:
    layers = [L.Dense(4, name="first"), L.BatchNormalization(name="norm"), L.Dense(3, name="last")]
    return keras.Sequential([keras.Input((8,)), *layers], name="net")


def frozen() -> Any:
    model = plain()
    model.layers[0].trainable = False
    return model


def transfer() -> Any:
    """A base that is not trained, its batch normalization included, and a new head."""
    image = keras.Input((16, 16, 3))
    x = L.ReLU()(L.BatchNormalization(name="norm")(L.Conv2D(4, 3, name="conv")(image)))
    base = keras.Model(image, x, name="base")
    base.trainable = False
    given = keras.Input((16, 16, 3))
    x = L.GlobalAveragePooling2D()(base(given, training=False))
    return keras.Model(given, L.Dense(2, name="head")(x), name="net")


def lora() -> Any:
    model = plain()
    model.layers[0].enable_lora(2)
    return model


def weights(variables: list[Any]) -> int:
    return sum(prod(variable.shape) for variable in variables)


def recurrent() -> None:
    """A loop over 6 steps: 13x5 + 5 parameters, a head of 5x3, and zeros to start with."""
    x = v1.placeholder(tf.float32, [4, 6, 8], "x")
    kernel, bias = v1.get_variable("kernel", [8 + 5, 5]), v1.get_variable("bias", [5])
    steps = tf.TensorArray(tf.float32, 6).unstack(tf.transpose(x, [1, 0, 2]))

    def step(at: Any, state: Any) -> Any:
        both = tf.concat([steps.read(at), state], 1)
        return at + 1, tf.tanh(tf.matmul(both, kernel) + bias)

    _, state = v1.while_loop(lambda at, _: at < 6, step, [0, tf.zeros([4, 5])])
    tf.matmul(state, v1.get_variable("head", [5, 3]), name="y")


def state_only() -> None:
    """A loop that starts with ones and multiplies by 5x5 parameters."""
    x = v1.placeholder(tf.float32, [4, 5], "x")
    kernel = v1.get_variable("kernel", [5, 5])
    start = [0, tf.ones([4, 5])]
    _, state = v1.while_loop(
        lambda at, _: at < 6, lambda at, state: (at + 1, tf.tanh(tf.matmul(state, kernel))), start
    )
    tf.add(state, x, name="y")


def frozen_graph(build: Any) -> bytes:
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as graph, v1.variable_scope("net", use_resource=False):
        build()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            definition = graph.as_graph_def()
            result = v1.graph_util.convert_variables_to_constants(session, definition, ["net/y"])
    v1.enable_control_flow_v2()
    return bytes(result.SerializeToString())


def lowered() -> bytes:
    """A recurrent layer of Keras whose loop was made one of TensorFlow 1."""
    given = keras.Input((12, 8))
    model = keras.Model(given, L.Dense(3)(L.LSTM(5)(given)))
    function = tf.function(lambda x: model(x, training=False))
    concrete = function.get_concrete_function(tf.TensorSpec((2, 12, 8)))
    graph = constants_of(concrete, lower_control_flow=True).graph
    return bytes(graph.as_graph_def().SerializeToString())


class Slots(tf.Module):  # type: ignore[misc]
    """8x5 + 5 parameters, and as many slots, which are trainable: tf.Variable's default."""

    def __init__(self) -> None:
        self.w = tf.Variable(tf.ones((8, 5)), name="w")
        self.b = tf.Variable(tf.zeros(5), name="b")
        self.slots = [tf.Variable(tf.zeros_like(each)) for each in (self.w, self.b)]

    @tf.function(input_signature=[tf.TensorSpec((4, 8))])  # type: ignore[untyped-decorator]
    def serve(self, x: Any) -> Any:
        return {"y": tf.nn.relu(tf.matmul(x, self.w) + self.b)}

    @tf.function(input_signature=[tf.TensorSpec((4, 8))])  # type: ignore[untyped-decorator]
    def train(self, x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.relu(tf.matmul(x, self.w) + self.b) ** 2)
        self.update(tape.gradient(loss, [self.w, self.b]))
        return {"loss": loss}

    @tf.function(input_signature=[tf.TensorSpec((4, 8))])  # type: ignore[untyped-decorator]
    def by_hand(self, x: Any) -> Any:
        """The gradient of a sum, without a tape."""
        y = tf.matmul(x, self.w) + self.b
        self.update([tf.matmul(x, tf.ones_like(y), transpose_a=True), tf.reduce_sum(y * 0 + 1, 0)])
        return {"loss": tf.reduce_sum(y)}

    def update(self, gradients: Any) -> None:
        for variable, slot, gradient in zip((self.w, self.b), self.slots, gradients, strict=True):
            slot.assign(0.9 * slot + gradient)
            variable.assign_sub(0.1 * slot)


def slots_in_a_session(path: str) -> None:
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [4, 8], "x")
        w, b = v1.get_variable("w", [8, 5]), v1.get_variable("b", [5])
        loss = tf.reduce_mean(tf.nn.relu(tf.matmul(x, w) + b) ** 2, name="loss")
        updates = []
        for variable, gradient in zip((w, b), tf.gradients(loss, [w, b]), strict=True):
            slot = v1.get_variable(f"{variable.op.name}_slot", variable.shape)
            new = v1.assign(slot, 0.9 * slot + gradient)
            updates.append(v1.assign_sub(variable, 0.1 * new))
        tf.group(*updates, name="train")
        v1.train.Saver()
        v1.global_variables_initializer()
        v1.train.export_meta_graph(path)


def network(optimizer: Any) -> bytes:
    """A training step of 16 rows, 8 inputs, 6 hidden units and 3 outputs."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [16, 8], "x")
        wanted = v1.placeholder(tf.float32, [16, 3], "wanted")
        with v1.variable_scope("hidden", use_resource=True):
            w, b = v1.get_variable("w", [8, 6]), v1.get_variable("b", [6])
            hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b))
        with v1.variable_scope("head", use_resource=True):
            w, b = v1.get_variable("w", [6, 3]), v1.get_variable("b", [3])
            y = tf.nn.bias_add(tf.matmul(hidden, w), b)
        loss = tf.reduce_sum(tf.square(y - wanted), name="loss")
        optimizer.minimize(loss)
        v1.train.Saver()
        v1.global_variables_initializer()
        return bytes(graph.as_graph_def(add_shapes=True).SerializeToString())


def main(folder: str) -> None:
    root, truth = Path(folder), {}
    for build in (plain, frozen, transfer, lora):
        model = build()
        model.export(root / build.__name__, verbose=False)
        truth[build.__name__] = {
            "trainable": weights(model.trainable_weights),
            "non_trainable": weights(model.non_trainable_weights),
        }
    (root / "truth.json").write_text(json.dumps(truth), encoding="utf-8")
    message = saved_model_pb2.SavedModel.FromString((root / "frozen/saved_model.pb").read_bytes())
    (root / "calls.pb").write_bytes(message.meta_graphs[0].graph_def.SerializeToString())
    (root / "rnn.frozen").write_bytes(frozen_graph(recurrent))
    (root / "state.frozen").write_bytes(frozen_graph(state_only))
    (root / "lowered.frozen").write_bytes(lowered())
    slots = Slots()
    signatures = {name: getattr(slots, name) for name in ("serve", "train", "by_hand")}
    tf.saved_model.save(slots, str(root / "slots"), signatures=signatures)
    slots_in_a_session(str(root / "slots.meta"))
    (root / "descent.pb").write_bytes(network(v1.train.GradientDescentOptimizer(0.1)))
    (root / "momentum.pb").write_bytes(network(v1.train.MomentumOptimizer(0.1, 0.9)))


if __name__ == "__main__":
    main(*sys.argv[1:])
