"""Makes the profile of the README's code view: one step of a model that a test builds.

    python tests/data/make/model_analyzer_test.py [OUT_DIR]     (needs tensorflow; takes seconds)

    graph.pbtxt.gz, run_meta.gz, tfprof_log.gz      as of any other profile

Files and functions have the names of the README of 2017, so that its command finds them.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from pathlib import Path
from typing import Any

import tensorflow.compat.v1 as tf
from google.protobuf import text_format

import model_analyzer_testlib as lib
from resnet import _relative
from source_text import with_source_text

ROOT = Path(__file__).resolve().parents[3]
OUT_DIR = ROOT / "tests" / "data" / "model_analyzer"


def testComplexCodeView(out_dir: Path) -> None:  # noqa: N802 - as the README calls it
    """Build, run one traced step, write."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default() as graph, tf.Session(config=config) as sess:
        x = lib.BuildFullModel()
        sess.run(tf.global_variables_initializer())
        for _ in range(5):
            sess.run(x)
        run_meta = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(x, options=options, run_metadata=run_meta)
        text = text_format.MessageToString(graph.as_graph_def(add_shapes=True))
        _write(out_dir / "graph.pbtxt.gz", text.encode())
        steps = tf.RunMetadata(step_stats=run_meta.step_stats)
        _write(out_dir / "run_meta.gz", steps.SerializeToString(deterministic=True))
        _write(out_dir / "tfprof_log.gz", _op_log(graph))


def _op_log(graph: Any) -> bytes:
    """The op log that TensorFlow writes, with our lines and without the paths of this machine."""
    with tempfile.TemporaryDirectory() as log_dir:
        tf.profiler.write_op_log(graph, log_dir)
        log = tf.profiler.OpLogProto.FromString(Path(log_dir, "tfprof_log").read_bytes())
    for file_id in {trace.file_id for entry in log.log_entries for trace in entry.code_def.traces}:
        log.id_to_string[file_id] = _relative(Path(log.id_to_string[file_id]))
    return bytes(with_source_text(log).SerializeToString(deterministic=True))


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))


def main() -> None:
    """Make the profile."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir", nargs="?", type=Path, default=OUT_DIR, metavar="OUT_DIR")
    out_dir: Path = parser.parse_args().out_dir
    out_dir.mkdir(parents=True, exist_ok=True)
    tf.disable_v2_behavior()  # reference variables, static graph
    testComplexCodeView(out_dir)


if __name__ == "__main__":
    main()
