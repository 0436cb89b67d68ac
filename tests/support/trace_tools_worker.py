"""What TensorFlow computes from traces for TensorBoard, and records of data: `python … FOLDER`.

FOLDER has one folder per trace, as plugins/profile does. `*.op_stats.pb` and `*.hlo_proto.pb` are
left beside a trace by TensorFlow itself; the other results are written here, under the names that
TensorFlow 2.2 to 2.10 gave them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tensorflow as tf
from tensorflow.python.profiler.internal import _pywrap_profiler_plugin as plugin

TOOLS = {
    "overview_page": "overview_page.pb",
    "input_pipeline_analyzer": "input_pipeline.pb",
    "framework_op_stats": "tensorflow_stats.json",
    "kernel_stats": "kernel_stats.json",
    "memory_profile": "memory_profile.json",
    "op_profile": "op_profile.json",
    "pod_viewer": "pod_viewer.json",
    "trace_viewer": "trace",
}

folder = Path(sys.argv[1])
for trace in folder.glob("*/*.xplane.pb"):
    for tool, name in TOOLS.items():
        data, worked = plugin.xspace_to_tools_data([str(trace)], tool, {})
        assert worked, data
        text = data if isinstance(data, bytes) else data.encode()
        trace.with_name(f"host.{name}").write_bytes(text)
    plugin.xspace_to_tools_data([str(trace)], "tool_names", {})
    Path(f"{trace.parent}/cache_version.txt").write_text("2.21")
example = tf.train.Example()
example.features.feature["label"].int64_list.value.append(7)
for name, kind in {"data.tfrecord": "", "data.tfrecord.gz": "GZIP"}.items():
    with tf.io.TFRecordWriter(str(folder / name), kind) as records:
        for _ in range(3):
            records.write(example.SerializeToString())
with tf.io.TFRecordWriter(str(folder / "text.tfrecord")) as records:
    records.write(b"some text")
