"""Models that TensorFlow Lite's converter writes, in a process of its own.

python tflite_worker.py FOLDER   →  FOLDER/truth.json, what the interpreter says of them, and
    mobile, lstm, control, many, state    SavedModels
    mobile_float, mobile_dynamic, …       the first one by how its weights are stored, as .tflite
    lstm.tflite, control.tflite, …        the others
    custom.tflite, flex.tflite            an operation that TensorFlow Lite does not have
"""

from __future__ import annotations

import json
import sys
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
import tf_keras

if TYPE_CHECKING:
    from collections.abc import Iterator

L = tf.keras.layers
OPS = tf.lite.OpsSet
RESOLVER = tf.lite.experimental.OpResolverType
PICKED = [tf.TensorSpec([2, 8]), tf.TensorSpec([], tf.bool)]
GIVEN = [
    tf.TensorSpec([2, 8, 8, 4], name="image"),
    tf.TensorSpec([1, 4, 6, 6, 3], name="film"),
    tf.TensorSpec([5], tf.int32, name="words"),
]


def mobile() -> Any:
    image = tf.keras.Input((16, 16, 3), name="image")

    def normalized(y: Any, name: str, most: float | None = 6.0) -> Any:
        y = L.BatchNormalization(name=f"{name}_norm")(y)
        return y if most is None else L.ReLU(most, name=f"{name}_relu")(y)

    def conv(y: Any, filters: int, side: int, name: str, **more: Any) -> Any:
        return L.Conv2D(filters, side, padding="same", use_bias=False, name=name, **more)(y)

    x = normalized(conv(image, 8, 3, "stem", strides=2), "stem")
    y = normalized(conv(x, 48, 1, "expand"), "expand")
    y = L.DepthwiseConv2D(3, padding="same", use_bias=False, name="depthwise")(y)
    y = normalized(conv(normalized(y, "depthwise"), 8, 1, "project"), "project", None)
    x = L.GlobalAveragePooling2D(name="pool")(L.Add(name="add")([x, y]))
    x = L.Dense(200, activation="relu", name="hidden")(x)
    return tf.keras.Model(image, L.Dense(10, activation="softmax", name="head")(x), name="net")


def lstm() -> Any:
    layers = tf_keras.layers
    both = layers.Bidirectional(layers.LSTM(6), name="both")
    return tf_keras.Sequential(
        [
            tf_keras.Input((12, 4), batch_size=2),
            layers.LSTM(5, return_sequences=True, name="first"),
            both,
            layers.Dense(2, name="head"),
        ],
        name="net",
    )


class Control(tf.Module):  # type: ignore[misc]
    """Two functions with control flow."""

    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(tf.random.stateless_normal((8, 8), (1, 2)), name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 8])])  # type: ignore[untyped-decorator]
    def loop(self, x: Any) -> Any:
        def body(i: Any, y: Any) -> Any:
            return i + 1, tf.nn.relu(y @ self.w)

        return {"y": tf.while_loop(lambda i, _: i < 5, body, (0, x))[1]}

    @tf.function(input_signature=PICKED)  # type: ignore[untyped-decorator]
    def pick(self, x: Any, small: Any) -> Any:
        def large() -> Any:
            return tf.nn.relu(tf.nn.relu(x @ self.w) @ self.w)

        return {"z": tf.cond(small, lambda: x @ self.w, large)}


class Many(tf.Module):  # type: ignore[misc]
    """One of many operations, none of which the converter fuses away."""

    def __init__(self) -> None:
        super().__init__()
        shapes = {
            "up": (3, 3, 6, 4), "cube": (2, 2, 2, 3, 5), "table": (30, 4), "mix": (2, 3, 4),
            "grouped": (3, 3, 2, 8), "slope": (1, 1, 6),
        }  # fmt: skip
        for number, (name, shape) in enumerate(shapes.items()):
            value = tf.random.stateless_normal(shape, (number, 7))
            setattr(self, name, tf.Variable(value, name=name))

    @tf.function(input_signature=GIVEN)  # type: ignore[untyped-decorator]
    def call(self, image: Any, film: Any, words: Any) -> Any:
        up = tf.nn.conv2d_transpose(image, self.up, (2, 16, 16, 6), 2)
        up = tf.nn.relu(up) - self.slope * tf.nn.relu(-up)
        grouped = tf.nn.conv2d(image, self.grouped, 2, "VALID", dilations=1)
        cube = tf.nn.conv3d(film, self.cube, (1, 1, 2, 2, 1), "SAME")
        mix = tf.matmul(tf.reshape(tf.gather(self.table, words), (1, 5, 4)), self.mix,
                        transpose_b=True)  # fmt: skip
        pooled = tf.nn.max_pool2d(image, 2, 2, "VALID") + tf.nn.avg_pool2d(image, 2, 2, "SAME")
        large = tf.image.resize(tf.concat(tf.split(pooled, 2, 3), 1), (5, 7))
        left, right = tf.unstack(tf.transpose(tf.pad(large, ((0, 0), (1, 0), (0, 2), (0, 0)))), 2)
        return {
            "up": tf.reduce_mean(up, (1, 2)),
            "cube": tf.exp(cube) / (1.0 + tf.abs(cube)),
            "grouped": tf.nn.leaky_relu(grouped, 0.3),
            "mix": tf.nn.log_softmax(mix),
            "image": tf.nn.elu(left) * tf.sigmoid(right),
            "best": tf.argmax(mix, -1),
        }


class State(tf.Module):  # type: ignore[misc]
    """A variable that a run changes."""

    def __init__(self) -> None:
        super().__init__()
        self.sum = tf.Variable(tf.ones((3, 4)), name="sum")

    @tf.function(input_signature=[tf.TensorSpec([3, 4])])  # type: ignore[untyped-decorator]
    def call(self, x: Any) -> Any:
        return {"y": self.sum.assign_add(x) * 2.0}


def images() -> Iterator[list[Any]]:
    rng = np.random.default_rng(1)
    for _ in range(4):
        yield [rng.random((1, 16, 16, 3), np.float32)]


def stored(converter: Any, kind: str) -> bytes:
    """The model with weights of this kind."""
    if kind != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if kind.startswith("int"):
        converter.representative_dataset = images
        only = OPS.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        converter.target_spec.supported_ops = [OPS.TFLITE_BUILTINS_INT8 if kind == "int8" else only]
    if kind == "int8":
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return bytes(converter.convert())


def constants(data: bytes) -> list[dict[str, Any]]:
    """The constants of the first subgraph, by the interpreter."""
    interpreter = tf.lite.Interpreter(
        model_content=data,
        experimental_op_resolver_type=RESOLVER.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    )
    computed = {int(at) for each in interpreter._get_ops_details() for at in each["outputs"]}
    read = {int(at) for each in interpreter._get_ops_details() for at in each["inputs"]}
    given = {int(each["index"]) for each in interpreter.get_input_details()}
    return [
        {
            "name": each["name"],
            "elements": prod(each["shape"].tolist()),
            "dtype": np.dtype(each["dtype"]).name,
            "quantized": bool(each["quantization_parameters"]["scales"].size),
        }
        for each in interpreter.get_tensor_details()
        if each["index"] in read - computed - given
    ]


def main(folder: Path) -> None:
    truth: dict[str, Any] = {}

    def write(name: str, data: bytes) -> None:
        (folder / f"{name}.tflite").write_bytes(data)
        truth[name] = constants(data)

    def converter(name: str) -> Any:
        return tf.lite.TFLiteConverter.from_saved_model(str(folder / name))

    mobile().export(folder / "mobile", verbose=False)
    for kind in ("float", "dynamic", "float16", "int8", "int16"):
        write(f"mobile_{kind}", stored(converter("mobile"), kind))
    lstm().save(folder / "lstm", save_format="tf")
    write("lstm", stored(converter("lstm"), "float"))
    control = Control()
    signatures = {"loop": control.loop, "pick": control.pick}
    tf.saved_model.save(control, folder / "control", signatures)
    write("control", stored(converter("control"), "float"))
    modules: dict[str, Any] = {"many": Many(), "state": State()}
    for name, module in modules.items():
        tf.saved_model.save(module, folder / name, module.call)
        whole = converter(name)
        whole.experimental_enable_resource_variables = True
        write(name, stored(whole, "float"))
    erf = tf.function(
        lambda x: tf.math.lgamma(x) * tf.math.erf(x), input_signature=[tf.TensorSpec([3, 4])]
    )
    flex = tf.lite.TFLiteConverter.from_concrete_functions([erf.get_concrete_function()], None)
    flex.allow_custom_ops = True
    (folder / "custom.tflite").write_bytes(flex.convert())
    flex = tf.lite.TFLiteConverter.from_concrete_functions([erf.get_concrete_function()], None)
    flex.target_spec.supported_ops = [OPS.TFLITE_BUILTINS, OPS.SELECT_TF_OPS]
    (folder / "flex.tflite").write_bytes(flex.convert())
    (folder / "truth.json").write_text(json.dumps(truth))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
