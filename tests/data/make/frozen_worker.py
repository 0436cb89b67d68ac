"""Saves a Keras 3 model with a frozen layer by tf.saved_model.save, compiled and not."""

from __future__ import annotations

import sys

import keras
import tensorflow as tf


def main(folder: str) -> None:
    for name in ("compiled", "plain"):
        first = keras.layers.Dense(4, trainable=False)
        model = keras.Sequential([keras.Input((6,)), first, keras.layers.Dense(2)])
        if name == "compiled":
            model.compile("adam", "mse")
            model.optimizer.build(model.trainable_variables)
        tf.saved_model.save(model, f"{folder}/{name}")
        trained = sum(int(tf.size(weight)) for weight in model.trainable_weights)
        print(name, model.count_params(), trained)


main(sys.argv[1])
