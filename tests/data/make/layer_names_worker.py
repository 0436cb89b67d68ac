"""Models of both Kerases with the layers that Keras itself lists, in a process of its own.

python layer_names_worker.py FOLDER   →  FOLDER/truth.json, and for each model
    MODEL.export    a SavedModel by model.export
    MODEL.saved     a SavedModel by tf.saved_model.save; of tf_keras by model.save
    MODEL.plain     a SavedModel of tf_keras by tf.saved_model.save
    MODEL.keras     the archive, except of a subclassed model
"""

from __future__ import annotations

import json
import sys
from math import prod
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
import tf_keras

KERASES = {"keras3": keras, "keras2": tf_keras}


def functional(k: Any) -> Any:
    """Default names that collide with numbers, a shared layer, a nested model, frozen weights."""
    layers = k.layers
    inner = k.Sequential([k.Input((8,)), layers.Dense(4), layers.Dense(4)], name="inner")
    image = k.Input((12, 12, 3))
    x = layers.Conv2D(8, 3)(image)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(layers.Conv2D(8, 3)(x))
    twice = layers.Conv2D(8, 3, padding="same")
    x = layers.Add()([twice(twice(x)), x])
    x = layers.Flatten()(layers.GlobalAveragePooling2D()(x))
    x = inner(layers.Dropout(0.5)(x))
    model = k.Model(image, layers.Dense(3)(layers.Dense(5)(x)), name="net")
    model.layers[1].trainable = False
    return model


def sequential(k: Any) -> Any:
    layers = k.layers
    return k.Sequential([
        k.Input((20, 8)), layers.Conv1D(6, 3), layers.LSTM(4, return_sequences=True),
        layers.LSTM(4), layers.Dense(3), layers.Softmax(),
    ])  # fmt: skip


def subclassed(k: Any) -> Any:
    layers = k.layers

    class Block(layers.Layer):  # type: ignore[misc, name-defined]
        def __init__(self, **more: Any) -> None:
            super().__init__(**more)
            self.narrow, self.wide = layers.Dense(4), layers.Dense(8)

        def call(self, x: Any) -> Any:
            return x + self.wide(self.narrow(x))

    class Own(k.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.block = layers.Dense(8), Block()
            self.head = layers.Dense(2, name="head")

        def call(self, x: Any) -> Any:
            return self.head(self.block(self.first(x)))

    model = Own()
    model(tf.zeros((1, 8)))
    return model


MODELS = (functional, sequential, subclassed)


def built(build: Any, k: Any) -> Any:
    """The model, with names as in a new process."""
    k.backend.clear_session()
    return build(k)


def truth(model: Any) -> list[dict[str, Any]]:
    """What Keras says of the layers of a model."""
    return [
        {
            "name": layer.name,
            "type": type(layer).__name__,
            "shape": shape(layer),
            "trainable": elements(layer.trainable_weights),
            "non_trainable": elements(layer.non_trainable_weights),
            "inner": truth(layer) if hasattr(layer, "layers") else [],
        }
        for layer in model.layers
    ]


def shape(layer: Any) -> list[int] | None:
    """The shape of a layer's first output, -1 for an open dimension; None where it has none."""
    nodes = layer._inbound_nodes  # `output` has no answer for a shared layer
    if not nodes:
        return None
    outputs = nodes[0].output_tensors if isinstance(layer, keras.Layer) else nodes[0].outputs
    (output, *_) = tf.nest.flatten(outputs)
    return [-1 if size is None else size for size in output.shape]


def elements(weights: list[Any]) -> int:
    return sum(prod(weight.shape) for weight in weights if "seed" not in weight.name)


def main(folder: str) -> None:
    said = {}
    for version, k in KERASES.items():
        for build in MODELS:
            model = built(build, k)
            name = f"{version}_{build.__name__}"
            path = str(Path(folder, name))
            said[name] = truth(model)
            if k is tf_keras:
                model.save(f"{path}.saved", save_format="tf")
                model.export(f"{path}.export")
                tf.saved_model.save(model, f"{path}.plain")
            else:
                given = [tf.TensorSpec((None, 8))] if build is subclassed else None
                model.export(f"{path}.export", verbose=False, input_signature=given)
                tf.saved_model.save(model, f"{path}.saved")
            if build is not subclassed:
                model.save(f"{path}.keras")
    Path(folder, "truth.json").write_text(json.dumps(said), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
