"""Models saved as HDF5 by Keras 3 and by tf_keras, with what Keras itself says of them.

python hdf5_worker.py FOLDER   →  FOLDER/truth.json, and of each model, for K of 2 and 3,
    MODEL-K.h5                 the model: layers, weights and what the optimizer keeps
    MODEL-K-bare.h5            the same without an optimizer
    MODEL-K.keras              the archive
    MODEL-K.weights.h5         its weights, by class and number
    MODEL-2-old_weights.h5     its weights in the layout that tf_keras has for other names
"""

from __future__ import annotations

import json
import sys
from math import prod
from pathlib import Path
from typing import Any, Final

import keras
import tf_keras

L: Any = None  # the layers of the Keras that builds


def images(k: Any) -> Any:
    given = k.Input((32, 30, 3), name="image")
    x = L.Conv2D(8, 3, strides=2, padding="same", name="stem")(L.ZeroPadding2D((1, 2))(given))
    x = L.BatchNormalization(name="norm")(L.DepthwiseConv2D(3, depth_multiplier=2)(x))
    x = L.SeparableConv2D(6, 3, use_bias=False)(L.LeakyReLU()(x))
    x = L.Conv2DTranspose(4, 3, strides=2, padding="valid")(L.Dropout(0.5)(x))
    x = L.AveragePooling2D(3, strides=2, padding="same")(L.MaxPooling2D()(x))
    x = L.PReLU(shared_axes=[1, 2])(L.UpSampling2D((2, 1))(L.Cropping2D(((1, 0), (1, 1)))(x)))
    x = L.Activation("relu")(L.LayerNormalization()(L.Conv2D(5, 2, dilation_rate=2)(x)))
    head = L.Dense(10, name="head", trainable=False)
    return k.Model(given, head(L.GlobalAveragePooling2D()(x)), name="net")


def series(k: Any) -> Any:
    given = k.Input((12,), name="tokens")
    x = L.Masking()(L.Embedding(50, 8)(given))
    x = L.Bidirectional(L.LSTM(5, return_sequences=True), name="both")(x)
    x = L.TimeDistributed(L.Dense(6), name="each")(L.Conv1D(7, 3, padding="causal")(x))
    x, state = L.GRU(4, return_sequences=True, return_state=True)(x)
    x = L.SimpleRNN(3)(L.MaxPooling1D(2)(x))
    x = L.Concatenate()([L.Flatten()(L.RepeatVector(2)(x)), state])
    return k.Model(given, L.Reshape((5, -1))(L.Dense(10)(x)), name="rnn")


def merged(k: Any) -> Any:
    """Attention, layers with several inputs, and an operator between tensors."""
    left, right = k.Input((6, 8), name="left"), k.Input((6, 8), name="right")
    dense = L.Dense(8, name="shared")
    x = L.MultiHeadAttention(2, 4, name="heads")(dense(left), dense(right))
    x = L.LayerNormalization()(x + left)
    x = L.Average()([L.Multiply()([x, L.Subtract()([left, right])]), right])
    x = L.Concatenate(axis=1)(
        [L.Dot(axes=2)([x, right]), L.Permute((2, 1))(L.Reshape((6, -1))(left))]
    )
    return k.Model([left, right], L.Dense(3)(L.Flatten()(x)), name="merged")


def nested(k: Any) -> Any:
    """Models in models; one is called twice, and parts of them are not trained."""
    block = [L.InputLayer((8, 8, 4)), L.Conv2D(4, 3, padding="same", name="a")]
    block = k.Sequential([*block, L.BatchNormalization(name="bn"), L.Conv2D(4, 1)], name="block")
    block.layers[0].trainable = False
    given = k.Input((8, 8, 4))
    trunk = k.Model(given, block(block(L.Conv2D(4, 3, padding="same")(given))), name="trunk")
    frozen = k.Sequential([L.InputLayer((4,)), L.Dense(4), L.BatchNormalization()], name="frozen")
    frozen.trainable = False
    image = k.Input((16, 16, 3), name="image")
    x = trunk(L.Conv2D(4, 3, strides=2, padding="same")(image))
    x = L.Dense(2)(frozen(L.GlobalMaxPooling2D()(x)))
    return k.Model(image, x, name="outer")


def sequential(k: Any) -> Any:
    layers = [L.InputLayer((20, 20, 1)), L.Conv2D(3, 5, activation="relu"), L.MaxPooling2D(2)]
    return k.Sequential([*layers, L.Flatten(), L.Dense(7), L.Dropout(0.2), L.Dense(2)], name="line")


def own(k: Any) -> Any:
    """A layer of somebody's own inside of a nested model."""

    class Gate(k.layers.Layer):  # type: ignore[misc]
        def build(self, shape: Any) -> None:
            self.gate = self.add_weight(shape=(shape[-1],), name="gate")
            self.count = self.add_weight(shape=(3,), name="seen", trainable=False)

        def call(self, x: Any) -> Any:
            return x * self.gate

    given = k.Input((4,))
    inner = k.Model(
        given, L.Dense(3)(L.BatchNormalization()(Gate(name="mine")(given))), name="inner"
    )
    outer = k.Input((4,))
    return k.Model(outer, L.Dense(2)(inner(outer)), name="outer")


MODELS: Final = (images, series, merged, nested, sequential, own)


def said(model: Any) -> dict[str, Any]:
    """What Keras says of a model."""
    layers = []
    for layer in model.layers:
        shape = getattr(layer, "output_shape", None)
        shape = shape or getattr(layer.output, "shape", None)  # None: several outputs
        sides = [-1 if one is None else one for one in shape or ()]
        shape = sides if sides and all(isinstance(one, int) for one in sides) else None
        layers.append([layer.name, type(layer).__name__, layer.count_params(), shape])
    trainable = sum(prod(weight.shape) for weight in model.trainable_weights)
    return {"parameters": model.count_params(), "trainable": trainable, "layers": layers}


def main(folder: Path) -> None:
    global L  # noqa: PLW0603
    truth = {}
    for number, k in ((2, tf_keras), (3, keras)):
        L = k.layers
        for build in MODELS:
            k.backend.clear_session()
            model, name = build(k), f"{build.__name__}-{number}"
            model.save(folder / f"{name}-bare.h5", include_optimizer=False)
            model.compile("adam", "mse")
            model.optimizer.build(model.trainable_variables)
            for end in (".h5", ".keras"):
                model.save(folder / f"{name}{end}")
            model.save_weights(folder / f"{name}.weights.h5")
            if number == 2:
                model.save_weights(folder / f"{name}-old_weights.h5")
            kept = model.optimizer.variables
            kept = sum(prod(one.shape) for one in (kept() if callable(kept) else kept))
            truth[name] = {**said(model), "optimizer": kept}
    (folder / "truth.json").write_text(json.dumps(truth), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
