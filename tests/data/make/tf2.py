"""Makes graphs with functions, as programs of TensorFlow 2 have them, and a session's run of one.

python tests/data/make/tf2.py [OUT_DIR]     (needs tensorflow; takes half a minute)

NAME.pb.gz              the graph of a traced function, with the shape of every output
module/                 a SavedModel with two signatures and where its code stands, no weights
conv/                   a Keras model as `export` saves it, without its weights
NAME_saved_model.pb.gz  others, of which only the graph is kept
session/                a graph with functions, run by a session: graph.pb, run_meta.pb
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from profile_files import DATA, binary, made_folder, write

OUT_DIR = DATA / "tf2"
v1 = tf.compat.v1
ROWS = tf.TensorSpec([8, 64], name="x")


class Module(tf.Module):  # type: ignore[misc]
    """Functions that call functions, repeat them or choose between them; one weight of 64x64."""

    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(tf.ones((64, 64)), name="w")

    @tf.function  # type: ignore[untyped-decorator]
    def product(self, x: Any) -> Any:
        return x @ self.w

    @tf.function(jit_compile=True)  # type: ignore[untyped-decorator]
    def compiled(self, x: Any) -> Any:
        return x @ self.w

    @tf.function(input_signature=[ROWS])  # type: ignore[untyped-decorator]
    def nested(self, x: Any) -> Any:
        return self.product(self.product(x))

    @tf.function(input_signature=[ROWS])  # type: ignore[untyped-decorator]
    def jitted(self, x: Any) -> Any:
        return self.compiled(self.compiled(x))

    @tf.function(input_signature=[ROWS])  # type: ignore[untyped-decorator]
    def mapped(self, x: Any) -> Any:
        return tf.map_fn(lambda row: tf.linalg.matvec(self.w, row), x)

    @tf.function(input_signature=[ROWS])  # type: ignore[untyped-decorator]
    def chosen(self, x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x @ self.w, lambda: x + 1)


def layered() -> dict[str, tuple[Any, list[int | None]]]:
    """Keras models and the shapes of their inputs."""
    layers = keras.layers
    words = keras.Input((50, 64), batch_size=1)
    image = keras.Input((16, 16, 3))
    x = layers.ReLU()(layers.BatchNormalization(name="bn")(layers.Conv2D(8, 3, name="c1")(image)))
    return {
        "lstm": (keras.Model(words, layers.LSTM(128, name="lstm")(words), name="net"), [1, 50, 64]),
        "gru": (keras.Model(words, layers.GRU(128, name="gru")(words), name="net"), [1, 50, 64]),
        "conv": (
            keras.Model(image, layers.Dense(10, name="fc")(layers.Flatten()(x)), name="net"),
            [None, 16, 16, 3],
        ),
    }


def main() -> None:
    """Write everything, without what is particular to this machine."""
    out_dir = made_folder(__doc__, OUT_DIR)
    module = Module()
    for name in ("nested", "jitted", "mapped", "chosen"):
        _write_graph(out_dir / f"{name}.pb.gz", getattr(module, name).get_concrete_function())
    signatures = {"nested": module.nested, "chosen": module.chosen}
    options = tf.saved_model.SaveOptions(save_debug_info=True)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, signatures=signatures, options=options)
        _keep(Path(folder), out_dir / "module")
    for name, (model, shape) in layered().items():
        function = tf.function(lambda x, model=model: model(x, training=False))
        traced = function.get_concrete_function(tf.TensorSpec(shape, name="x"))
        _write_graph(out_dir / f"{name}.pb.gz", traced)
        with tempfile.TemporaryDirectory() as folder:
            model.export(folder, verbose=False)
            if name == "conv":
                _keep(Path(folder), out_dir / name)
            else:
                saved = Path(folder, "saved_model.pb").read_bytes()
                write(out_dir / f"{name}_saved_model.pb.gz", saved)
    session(out_dir / "session")


def session(folder: Path) -> None:
    """A graph in which functions are inlined, kept, repeated and chosen, and one run of it."""
    folder.mkdir(exist_ok=True)
    with tf.Graph().as_default() as graph:
        v1.enable_control_flow_v2()
        x = v1.placeholder(tf.float32, [32, 64], name="x")
        w = v1.get_variable("w", [64, 64], use_resource=True)

        @tf.function  # type: ignore[untyped-decorator]
        def twice(a: Any) -> Any:
            return tf.nn.relu(tf.matmul(a, w, name="first")) @ w

        @tf.function(experimental_attributes={"_noinline": True}, autograph=False)  # type: ignore[untyped-decorator]
        def kept(a: Any) -> Any:
            return tf.matmul(a, w, name="kept_product") + 1

        y = twice(x)
        _, y = tf.while_loop(
            lambda i, _: i < 5,
            lambda i, a: (i + 1, tf.matmul(a, w, name="mm")),
            [0, y],
            name="loop",
        )
        y = tf.cond(
            tf.reduce_sum(y) > 1e9,
            lambda: tf.matmul(y, w, name="then_product"),
            lambda: y + 1,
            name="choice",
        )
        y = tf.identity(kept(y), name="out")
        initializer = v1.global_variables_initializer()
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE, output_partition_graphs=True)
        with v1.Session() as run:
            run.run(initializer)
            for _ in range(2):  # the first run also optimises
                metadata = v1.RunMetadata()
                feed = {x: np.ones((32, 64), np.float32) / 64}
                run.run(y, feed, options=options, run_metadata=metadata)
    shaped = graph.as_graph_def(add_shapes=True)
    (folder / "graph.pb").write_bytes(binary(shaped))
    (folder / "run_meta.pb").write_bytes(binary(metadata))


def _write_graph(path: Path, function: Any) -> None:
    graph = function.graph.as_graph_def(add_shapes=True)
    write(path, binary(graph))


def _keep(saved: Path, folder: Path) -> None:
    """The graph of a SavedModel, and where its code stands without the paths of this machine."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(saved / "saved_model.pb", folder)
    told = saved / "debug" / "saved_model_debug_info.pb"
    if told.exists():
        from tensorflow.core.framework import graph_debug_info_pb2  # noqa: PLC0415

        info = graph_debug_info_pb2.GraphDebugInfo.FromString(told.read_bytes())
        info.files[:] = [_relative(Path(file)) for file in info.files]
        (folder / "debug").mkdir()
        (folder / "debug" / told.name).write_bytes(binary(info))


def _relative(file: Path) -> str:
    """The path below the project, or below where packages are installed."""
    parts = file.parts
    for start in ("tests", "site-packages"):
        if start in parts:
            return str(Path("/", *parts[parts.index(start) :]))
    return file.name


if __name__ == "__main__":
    main()
