"""The graphs of models that Keras ships and of a small transformer, in a process of its own.

python keras_worker.py FOLDER MODEL...   →  FOLDER/MODEL.pb, a GraphDef with shapes each
MODEL@SIDE is one for images of that side.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import tensorflow as tf


def transformer() -> Any:
    """Two blocks of attention, with 128 tokens, 256 features, 4 heads and 1000 words."""
    layers = tf.keras.layers
    tokens = tf.keras.Input((128,), batch_size=1)
    x = layers.Embedding(1000, 256)(tokens)
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 64)(x, x))
        wide = layers.Dense(1024, activation="gelu")(x)
        x = layers.LayerNormalization()(x + layers.Dense(256)(wide))
    return tf.keras.Model(tokens, layers.Dense(1000)(x))


def main(folder: str, *models: str) -> None:
    for name in models:
        if name == "transformer":
            model, shape = transformer(), [1, 128]
        else:
            kind, _, side = name.partition("@")
            like = {"input_shape": (int(side), int(side), 3)} if side else {}
            model = getattr(tf.keras.applications, kind)(weights=None, **like)
            shape = [1, *model.input_shape[1:]]
        function = tf.function(lambda given, model=model: model(given, training=False))
        traced = function.get_concrete_function(tf.TensorSpec(shape))
        graph = traced.graph.as_graph_def(add_shapes=True)
        Path(folder, f"{name}.pb").write_bytes(graph.SerializeToString())


if __name__ == "__main__":
    main(*sys.argv[1:])
