"""Checkpoints, graphs and SavedModels whose variables tests/read/test_variables.py counts.

    python tests/data/make/variables.py        writes tests/data/variables/

expected.json has what TensorFlow and Keras say of each: the tensors of a checkpoint, the parameters
of a model, those of them that are trainable, and the values of all variables of a graph.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import numpy as np
import tensorflow as tf
import tf_keras

from profile_files import DATA, binary, write

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = DATA / "variables"
EXPECTED: dict[str, dict[str, Any]] = {}
v1 = tf.compat.v1


def size(variables: Any) -> int:
    """How many values variables hold."""
    return sum(int(np.prod(variable.shape)) for variable in variables)


def listed(prefix: str) -> dict[str, list[int]]:
    """The tensors of a checkpoint, as TensorFlow lists them."""
    return {name: list(shape) for name, shape in tf.train.list_variables(prefix)}


def trained(library: Any, optimizer: Any) -> Any:
    """A small model after one step."""
    layers = library.layers
    hidden = layers.Dense(4, name="first"), layers.BatchNormalization(), layers.Dropout(0.5, seed=1)
    model = library.Sequential([layers.Input((8,)), *hidden, layers.Dense(2, name="second")])
    model.compile(optimizer, "mse", metrics=["mae"])
    model.fit(np.zeros((4, 8)), np.zeros((4, 2)), verbose=0)
    return model


def object_checkpoint(name: str, model: Any, *, weights: bool = False) -> None:
    """A checkpoint of TensorFlow 2."""
    folder = FOLDER / name
    folder.mkdir()
    if weights:
        prefix = str(folder / "weights")
        model.save_weights(prefix)
    else:
        checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
        prefix = checkpoint.save(str(folder / "ckpt"))
    EXPECTED[name] = {
        "prefix": Path(prefix).name,
        "tensors": listed(prefix),
        "parameters": model.count_params(),
        "trainable": size(model.trainable_variables),
    }


def session_checkpoints() -> None:
    """Checkpoints of a session: old and new format, slots, a counter, moving averages."""
    momentum = v1.train.MomentumOptimizer(0.1, 0.9)
    for name, optimizer in {"adam": v1.train.AdamOptimizer(), "momentum": momentum}.items():
        with tf.Graph().as_default():
            x = v1.placeholder(tf.float32, [None, 8])
            step = v1.train.get_or_create_global_step()
            w = v1.get_variable("net/w", [8, 4])
            b = v1.get_variable("net/b", [4])
            v1.get_variable("embedding", [100, 8])
            with v1.variable_scope("train" if name == "adam" else ""):
                optimizer.minimize(tf.reduce_sum(x @ w + b), global_step=step)
            tf.train.ExponentialMovingAverage(0.9).apply([w])
            with v1.Session() as session:
                session.run(v1.global_variables_initializer())
                for form in ("V1", "V2"):
                    folder = FOLDER / f"{name}_{form}"
                    folder.mkdir()
                    version = getattr(v1.train.SaverDef, form)
                    saver = v1.train.Saver(write_version=version)
                    prefix = saver.save(session, str(folder / "model"), 7, write_meta_graph=False)
                    EXPECTED[folder.name] = {
                        "prefix": Path(prefix).name,
                        "tensors": listed(prefix),
                        "parameters": size(v1.trainable_variables()),
                    }


def meta_graph(build: Callable[[], None]) -> None:
    """A graph that somebody exported."""
    with tf.Graph().as_default() as graph:
        build()
        saver = v1.train.Saver()
        meta = v1.train.export_meta_graph(graph=graph, saver_def=saver.saver_def)
        every = [*v1.global_variables(), *v1.local_variables()]
        EXPECTED[f"{build.__name__}.meta.gz"] = {
            "trainable": size(v1.trainable_variables()),
            "values": size(every),
            "variables": len(every),
        }
    write(FOLDER / f"{build.__name__}.meta.gz", binary(meta))


def embedding_only() -> None:
    """An embedding for the projector: nothing computes with it."""
    v1.get_variable("embedding", [100, 8])
    v1.train.get_or_create_global_step()


def partly_used() -> None:
    """A model, and variables that it does not use."""
    x = v1.placeholder(tf.float32, [None, 8])
    v1.get_variable("embedding", [100, 8])
    v1.get_variable("statistics", [7], trainable=False)
    tf.identity(x @ v1.get_variable("w", [8, 4]), "y")


def queue() -> None:
    """An input queue with a counter of epochs, without resource variables."""
    v1.get_variable_scope().set_use_resource(False)
    names = v1.train.string_input_producer(["a", "b"], num_epochs=2)
    _, line = v1.TextLineReader().read(names)
    number = tf.reshape(v1.string_to_number(line), [1])
    batch = v1.train.shuffle_batch([number], 4, 16, 4)
    tf.identity(batch @ v1.get_variable("w", [1, 4]), "y")


def training() -> None:
    """A training step beside an embedding that it does not train."""
    x = v1.placeholder(tf.float32, [None, 8])
    step = v1.train.get_or_create_global_step()
    v1.get_variable("embedding", [100, 8])
    loss = tf.reduce_sum(x @ v1.get_variable("w", [8, 4]))
    v1.train.AdamOptimizer().minimize(loss, step)


class Module(tf.Module):  # type: ignore[misc]
    """Two functions, and a variable that none of them needs."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = tf.Variable(tf.ones([8, 4]))
        self.decoder = tf.Variable(tf.ones([4, 3]))
        self.unused = tf.Variable(tf.ones([100, 8]))

    @tf.function(input_signature=[tf.TensorSpec([None, 8])])  # type: ignore[untyped-decorator]
    def encode(self, x: Any) -> Any:
        """One of them."""
        return x @ self.encoder

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])  # type: ignore[untyped-decorator]
    def decode(self, x: Any) -> Any:
        """The other."""
        return x @ self.decoder


def saved_models() -> None:
    """SavedModels whose signatures need some of the variables, or that have no signatures."""
    module = Module()
    signatures = {"encode": module.encode, "decode": module.decode}
    for name, some in (("two_signatures", signatures), ("no_signatures", {})):
        whole = FOLDER / f"{name}_whole"
        tf.saved_model.save(module, str(whole), signatures=some)
        (FOLDER / name).mkdir()
        shutil.copy(whole / "saved_model.pb", FOLDER / name)
        shutil.rmtree(whole)
        EXPECTED[name] = {"values": size(module.variables)}


def main() -> None:
    """Write everything again."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    object_checkpoint("keras3", trained(keras, "adam"))
    object_checkpoint("tf_keras", trained(tf_keras, "adam"))
    legacy = tf_keras.optimizers.legacy
    object_checkpoint("tf_keras_legacy", trained(tf_keras, legacy.Adam()))
    object_checkpoint("tf_keras_sgd", trained(tf_keras, legacy.SGD()))
    object_checkpoint("tf_keras_weights", trained(tf_keras, "adam"), weights=True)
    session_checkpoints()
    for build in (embedding_only, partly_used, queue, training):
        meta_graph(build)
    saved_models()
    for state in FOLDER.glob("*/checkpoint"):  # as of a folder that was moved
        moved = state.read_text(encoding="utf-8").replace(str(state.parent), "/moved/away")
        state.write_text(moved, encoding="utf-8")
    text = json.dumps(EXPECTED, indent=1)
    (FOLDER / "expected.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
