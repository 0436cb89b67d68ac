"""One side of the rows on event files: ours, reading the bytes, or TensorBoard's Python reader.

Each function returns its seconds and writes how many records it found, where it finds any. The
packages that a side needs are imported before it is measured.
"""

from __future__ import annotations

import time
from pathlib import Path

from worker import serve

_PIECE = 1 << 20
_GRAPH_TAG = "__run_graph__"  # what TensorBoard's reader makes of a graph


def write(path: str, scalars: int, images: int) -> float:
    """Write an event file as TensorFlow does: a small graph, then records of one kind or both."""
    import tensorflow as tf  # noqa: PLC0415 - this side alone

    start = time.perf_counter()
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        tf.nn.relu(v1.placeholder(tf.float32, [2, 3]))
    event_type = type(v1.Event())
    scalar = tf.constant(0.5).numpy()
    metadata = v1.SummaryMetadata(plugin_data={"plugin_name": "scalars"})
    value = v1.Summary.Value(
        tag="epoch_loss", tensor=tf.make_tensor_proto(scalar), metadata=metadata
    )
    picture = v1.Summary.Value(tag="picture", image={"encoded_image_string": bytes(_PIECE)})
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(event_type(wall_time=1e9, file_version="brain.Event:2").SerializeToString())
        graph_def = graph.as_graph_def().SerializeToString()
        writer.write(event_type(wall_time=1e9, graph_def=graph_def).SerializeToString())
        for kind, count in ((value, scalars), (picture, images)):
            event = event_type(wall_time=1e9, summary=v1.Summary(value=[kind]))
            for step in range(count):
                event.step = step
                writer.write(event.SerializeToString())
    return time.perf_counter() - start


def ours(path: str, out: str) -> float:
    """Load the file, as any other."""
    from tfprof.api import load  # noqa: PLC0415
    from tfprof.io.open_files import open_source  # noqa: PLC0415
    from tfprof.read.events.parts import contents  # noqa: PLC0415

    start = time.perf_counter()
    loaded = load(path)
    seconds = time.perf_counter() - start
    records = contents(open_source(path, "an event file")).records
    Path(out).write_text(f"{records} records, {len(loaded)} nodes\n")
    return seconds


def read_bytes(path: str, out: str) -> float:  # noqa: ARG001 - as the others
    """Read the file into a buffer, a megabyte at a time; the answer is not its business."""
    buffer = bytearray(_PIECE)
    start = time.perf_counter()
    with Path(path).open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.perf_counter() - start


def loader(path: str, out: str) -> float:
    """Read all events with TensorBoard's reader."""
    from tensorboard.backend.event_processing.event_file_loader import (  # noqa: PLC0415
        EventFileLoader,
    )
    from tensorboard.compat.proto.graph_pb2 import GraphDef  # noqa: PLC0415

    start = time.perf_counter()
    records, graph = 0, b""
    for event in EventFileLoader(path).Load():
        values = event.summary.value
        if values and values[0].tag == _GRAPH_TAG:  # the event before it once more
            (graph,) = values[0].tensor.string_val
        else:
            records += 1
    seconds = time.perf_counter() - start
    Path(out).write_text(f"{records} records, {len(GraphDef.FromString(graph).node)} nodes\n")
    return seconds


if __name__ == "__main__":
    serve({"write": write, "ours": ours, "read_bytes": read_bytes, "loader": loader})
