"""SavedModels with several tag sets, as text, of TF-Hub and of tf_keras, in a process of its own.

python saved_model_forms_worker.py FOLDER   →  FOLDER/truth.json, and in FOLDER
    tags, tags_text     graphs tagged serve, serve and gpu, train: binary and text
    devices             graphs tagged serve and gpu, serve and tpu: none is plainly serve
    hub                 a module of TF-Hub for TensorFlow 1: a graph without tags, one for training
    keras2              a Sequential of tf_keras with its metadata and debug info

The truth is the number of products of matrices by folder and tags, in the graph that TensorFlow
loads. A later graph of a SavedModel has one more of them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import tensorflow as tf
import tf_keras

v1 = tf.compat.v1
FORMS = {
    "tags": (["serve"], ["serve", "gpu"], ["train"]),
    "tags_text": (["serve"], ["serve", "gpu"], ["train"]),
    "devices": (["serve", "gpu"], ["serve", "tpu"]),
    "hub": ([], ["train"]),
}
# A message ModuleDef that says: a SavedModel, third version.
HUB_MODULE = b"\x08\x03"


def graph(session: Any, depth: int) -> dict[str, Any]:
    """A layer, called so many times, in the session's graph; its signatures."""
    x = v1.placeholder(tf.float32, [None, 5], name="x")
    kernel = v1.get_variable("dense/kernel", [5, 5])
    bias = v1.get_variable("dense/bias", [5])
    y = x
    for _ in range(depth):
        y = tf.nn.relu(tf.matmul(y, kernel) + bias)
    session.run(v1.global_variables_initializer())
    return {"default": v1.saved_model.predict_signature_def({"x": x}, {"y": y})}


def write(folder: Path, tag_sets: Any) -> None:
    builder = v1.saved_model.Builder(str(folder))
    for at, tags in enumerate(tag_sets):
        with tf.Graph().as_default(), v1.Session() as session:
            signatures = graph(session, at + 1)
            if at == 0:
                builder.add_meta_graph_and_variables(session, tags, signatures)
            else:
                builder.add_meta_graph(tags, signatures)
    builder.save(as_text=folder.name.endswith("_text"))


def products(folder: Path, tags: Any) -> int:
    """In the graph that TensorFlow loads."""
    with tf.Graph().as_default() as loaded, v1.Session() as session:
        v1.saved_model.load(session, tags, str(folder))
        return sum(operation.type == "MatMul" for operation in loaded.get_operations())


def main(folder: Path) -> None:
    truth = {}
    for name, tag_sets in FORMS.items():
        write(folder / name, tag_sets)
        for tags in tag_sets:
            truth[f"{name}:{','.join(tags)}"] = products(folder / name, tags)
    (folder / "hub" / "tfhub_module.pb").write_bytes(HUB_MODULE)
    model = tf_keras.Sequential([tf_keras.Input((5,)), tf_keras.layers.Dense(7, name="seven")])
    options = tf.saved_model.SaveOptions(save_debug_info=True)
    model.save(str(folder / "keras2"), save_format="tf", options=options)
    truth["keras2"] = model.count_params()
    (folder / "truth.json").write_text(json.dumps(truth))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
