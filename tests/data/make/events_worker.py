"""Event files of TensorFlow 1, TensorFlow 2 and both Kerases, in a process of its own.

python events_worker.py FOLDER   →  FOLDER/truth.json, and folders of event files
    writer          FileWriter(graph): GraphDef and MetaGraphDef; two runs; scalars between them
    restarted       two files: the graph of `writer`, and a larger one with two runs of one step
    meta            FileWriter.add_meta_graph
    graph           tf.summary.graph of a function that calls another
    traced          tf.summary.trace_export of a function
    scalars         no graph
    keras2, keras3  the TensorBoard callback: train, validation and a trace
    plain3          the same without a trace
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tf_keras

v1 = tf.compat.v1
BATCH = 2


def small_graph(*, larger: bool) -> tuple[Any, Any]:
    """(a graph that trains a dense layer, the operation that trains it)."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [BATCH, 8], name="x")
        with v1.variable_scope("dense"):
            kernel = v1.get_variable("kernel", [8, 4])
            bias = v1.get_variable("bias", [4])
            frozen = v1.get_variable("frozen", [4], trainable=False)
        y = tf.nn.relu(tf.matmul(x, kernel) + bias + frozen, name="y")
        if larger:
            y = tf.tanh(y, name="larger")
        v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(y), name="train")
        v1.global_variables_initializer()
    return graph, graph.get_operation_by_name("train")


def traced_run(graph: Any, train: Any) -> Any:
    metadata = v1.RunMetadata()
    options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
    with v1.Session(graph=graph) as session:
        session.run("init")
        session.run(train, {"x:0": np.ones((BATCH, 8))}, options, metadata)
    return metadata


def executions(metadata: Any) -> int:
    return sum(len(device.node_stats) for device in metadata.step_stats.dev_stats)


def scalar(writer: Any, step: int) -> None:
    value = v1.Summary.Value(tag="loss", simple_value=0.5)
    writer.add_summary(v1.Summary(value=[value]), step)


def with_writer(folder: Path) -> dict[str, Any]:
    graph, train = small_graph(larger=False)
    with graph.as_default():  # the MetaGraphDef has the collections of the default graph
        writer = v1.summary.FileWriter(str(folder / "writer"), graph)
    runs = {}
    for step in (10, 20):
        scalar(writer, step)
        runs[step] = traced_run(graph, train)
        writer.add_run_metadata(runs[step], f"after {step}", step)
    writer.close()
    writer = v1.summary.FileWriter(str(folder / "meta"))
    writer.add_meta_graph(v1.train.export_meta_graph(graph=graph))
    writer.close()
    writer = v1.summary.FileWriter(str(folder / "scalars"))
    for step in range(100):
        scalar(writer, step)
    writer.close()

    writer = v1.summary.FileWriter(str(folder / "restarted"), graph, filename_suffix=".first")
    writer.close()
    other, train = small_graph(larger=True)
    writer = v1.summary.FileWriter(str(folder / "restarted"), other, filename_suffix=".second")
    for tag in ("first", "second"):
        writer.add_run_metadata(traced_run(other, train), tag)
    writer.close()
    names = {"writer": graph, "restarted": other}
    return {
        "nodes": {key: [op.name for op in each.get_operations()] for key, each in names.items()},
        "executions": {step: executions(run) for step, run in runs.items()},
    }


def with_summary(folder: Path) -> None:
    kernel = tf.Variable(tf.ones([8, 4]))

    @tf.function  # type: ignore[untyped-decorator]
    def inner(x: Any) -> Any:
        return tf.nn.relu(x @ kernel)

    @tf.function  # type: ignore[untyped-decorator]
    def outer(x: Any) -> Any:
        return inner(x) + 1.0

    x = tf.ones([BATCH, 8])
    with tf.summary.create_file_writer(str(folder / "graph")).as_default():
        tf.summary.graph(outer.get_concrete_function(x).graph)
    with tf.summary.create_file_writer(str(folder / "traced")).as_default():
        tf.summary.scalar("loss", 0.5, step=1)
        tf.summary.trace_on(graph=True)
        outer(x)
        tf.summary.trace_export("the_trace", step=1)


def with_keras(k: Any, folder: Path, trace: int | tuple[int, int]) -> dict[str, Any]:
    layers = k.layers
    model = k.Sequential(
        [
            k.Input((8, 8, 3)),
            layers.Conv2D(4, 3, activation="relu", name="conv"),
            layers.Flatten(name="flat"),
            layers.Dense(3, name="head"),
        ],
        name="net",
    )
    model.compile("sgd", "mse")
    callback = k.callbacks.TensorBoard(str(folder), profile_batch=trace)
    data = np.zeros((8, 8, 8, 3)), np.zeros((8, 3))
    model.fit(*data, BATCH, 1, 0, [callback], validation_data=data)
    return {
        "params": model.count_params(),
        "layers": [
            [layer.name, type(layer).__name__, layer.count_params()] for layer in model.layers
        ],
    }


def main(folder: Path) -> None:
    with tf.Graph().as_default():
        truth = with_writer(folder)
    with_summary(folder)
    for name, k, trace in (("keras2", tf_keras, 2), ("keras3", keras, 2), ("plain3", keras, 0)):
        truth[name] = with_keras(k, folder / name, trace)
    (folder / "truth.json").write_text(json.dumps(truth), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
