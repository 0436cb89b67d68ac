"""Graphs with loops, choices and calls, in a process of its own.

    python loops_worker.py FOLDER   →  FOLDER/NAME.pb, a GraphDef with a function library each

All is traced below one more function, so that what no output needs is left out. Models of Keras
are exported as SavedModels, FOLDER/NAME/saved_model.pb.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable

Spec: Final = tf.TensorSpec
layers: Final = tf.keras.layers
WEIGHTS: Final = tf.Variable(tf.zeros([64, 64]))


def twice(x: Any) -> Any:
    inner = tf.function(lambda one: one @ WEIGHTS)
    return inner(inner(x))


def compiled(x: Any) -> Any:
    inner = tf.function(lambda one: one @ WEIGHTS, jit_compile=True)
    return inner(inner(x))


def mapped(x: Any) -> Any:
    return tf.map_fn(lambda row: tf.linalg.matvec(WEIGHTS, row), x)


def chosen(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: x @ WEIGHTS, lambda: x @ WEIGHTS @ WEIGHTS)


def nested(x: Any) -> Any:
    """5 turns of 3 inner ones and a choice of 2 products or 1."""
    for _ in tf.range(5):
        for _ in tf.range(3):
            x = x @ WEIGHTS
        x = tf.cond(
            tf.reduce_sum(x) > 0, lambda x=x: x @ WEIGHTS, lambda x=x: x @ WEIGHTS @ WEIGHTS
        )
    return x


def endless(x: Any) -> Any:
    return tf.while_loop(lambda y: tf.reduce_sum(y) > 0, lambda y: y @ WEIGHTS, [x])[0]


def down(x: Any) -> Any:
    """From 10 to 4 in steps of 2: 10, 8, 6, 4."""
    return tf.while_loop(lambda i, _: i >= 4, lambda i, y: (i - 2, y @ WEIGHTS), [10, x])[1]


def bounded(x: Any) -> Any:
    """At most 6 turns, whatever the numbers say."""
    return tf.while_loop(
        lambda y: tf.reduce_sum(y) > 0, lambda y: y @ WEIGHTS, [x], maximum_iterations=6
    )[0]


def doubling(x: Any) -> Any:
    """Two variables that begin as one tensor, of which the one that is compared is no counter."""
    one = tf.constant(1)
    return tf.while_loop(
        lambda i, _k, _y: i < 64, lambda i, k, y: (i * 2, k + 1, y @ WEIGHTS), [one, one, x]
    )[2]


def growing(x: Any) -> Any:
    """A tensor that gets longer each turn."""
    return tf.while_loop(
        lambda i, _: i < 4,
        lambda i, y: (i + 1, tf.concat([y, x], 0)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 64])],
    )[1]


def by_counter(x: Any) -> Any:
    """A slice whose length is the counter, so another each turn."""
    return tf.while_loop(
        lambda i, _: i < 4, lambda i, y: (i + 1, y + tf.reduce_sum(x[:i] @ WEIGHTS)), [1, 0.0]
    )[1]


def learned(x: Any) -> Any:
    """A loop, and the loop that goes back through it."""
    with tf.GradientTape() as tape:
        y = tf.while_loop(lambda i, _: i < 7, lambda i, y: (i + 1, y @ WEIGHTS), [0, x])[1]
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, WEIGHTS)


FUNCTIONS: Final[dict[str, Callable[[Any], Any]]] = {
    function.__name__: function
    for function in (
        twice, compiled, mapped, chosen, nested, endless, down, bounded, doubling, growing,
        by_counter, learned,
    )
}  # fmt: skip


def transformer() -> Any:
    """Two blocks of attention, with 256 features, 4 heads and 1000 words."""
    tokens = tf.keras.Input((None,), name="tokens")
    x = layers.Embedding(1000, 256)(tokens)
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 64)(x, x))
        wide = layers.Dense(1024, activation="gelu")(x)
        x = layers.LayerNormalization()(x + layers.Dense(256)(wide))
    return tf.keras.Model(tokens, layers.Dense(1000)(x))


def recurrent(layer: Any) -> Any:
    frames = tf.keras.Input((None, 64), name="frames")
    return tf.keras.Model(frames, layer(frames))


def convolutional() -> Any:
    image = tf.keras.Input((32, 32, 3), name="image")
    x = layers.Conv2D(16, 3, strides=2)(image)
    x = layers.ReLU()(layers.BatchNormalization()(x))
    x = layers.DepthwiseConv2D(3, padding="same")(x)
    x = layers.Conv2DTranspose(8, 3, strides=2, padding="same")(x)
    x = layers.MaxPooling2D()(layers.ZeroPadding2D()(layers.UpSampling2D()(x)))
    x = layers.SeparableConv2D(8, 3)(layers.AveragePooling2D(2)(x))
    x = layers.Dropout(0.5)(layers.GlobalAveragePooling2D()(x))
    return tf.keras.Model(image, layers.Dense(10, activation="softmax")(x))


def main(folder: str) -> None:
    for name, function in FUNCTIONS.items():
        below = tf.function(function, autograph=name == "nested")
        traced = tf.function(lambda x, below=below: below(x)).get_concrete_function(Spec([8, 64]))
        graph = traced.graph.as_graph_def(add_shapes=True)
        Path(folder, f"{name}.pb").write_bytes(graph.SerializeToString())
    for name, model in {
        "transformer": transformer(),
        "lstm": recurrent(layers.LSTM(128)),
        "gru": recurrent(layers.GRU(128)),
        "convolutional": convolutional(),
    }.items():
        model.export(str(Path(folder, name)), verbose=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
