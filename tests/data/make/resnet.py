"""Makes the bundled sample: trains examples/resnet_model.py for a while and traces two steps.

    python tests/data/make/resnet.py [OUT_DIR]      (needs tensorflow; takes a minute or two)

    graph.pbtxt.gz                  the graph, with the static shape of every output
    run_meta_0.gz, run_meta_1.gz    what two training steps cost, fully traced
    tfprof_log.gz                   float operations, trainable variables and code traces
    model.ckpt.index, .data-…       every variable after the last step

Seeds are fixed: on one machine and TensorFlow version all but the two traces come out the same to
the byte. Elsewhere expect other last digits. Times are only worth keeping from an idle machine.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import tensorflow.compat.v1 as tf
from google.protobuf import text_format

from source_text import with_source_text

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "examples"))

import resnet_model  # noqa: E402  only found once its folder is on the path

SAMPLE = ROOT / "src" / "tfprof" / "sample"
SEED = 32
WARM_UP_STEPS = 40
TRACED_STEPS = 2


def main() -> None:
    """Build, train, trace, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir", nargs="?", type=Path, default=SAMPLE, metavar="OUT_DIR")
    out_dir: Path = parser.parse_args().out_dir
    out_dir.mkdir(parents=True, exist_ok=True)

    tf.disable_v2_behavior()  # reference variables, static graph
    with tf.Graph().as_default() as graph, tf.Session(config=_as_written()) as session:
        tf.set_random_seed(SEED)
        model = resnet_model.build()
        saver = tf.train.Saver(write_version=tf.train.SaverDef.V2)
        session.run(tf.global_variables_initializer())

        # One batch ahead: the queue keeps as many examples to shuffle as it hands out.
        session.run(model.fill_queue)
        for step in range(WARM_UP_STEPS):
            print(f"step {step}: cost {_train(session, model):.3f}", file=sys.stderr)
        for step in range(TRACED_STEPS):
            run_meta = tf.RunMetadata()
            _train(session, model, run_meta)
            _write_gzip(out_dir / f"run_meta_{step}.gz", _steps_only(run_meta))

        _write_checkpoint(saver, session, out_dir)
        _write_gzip(out_dir / "tfprof_log.gz", _op_log(graph))
        graph_text = text_format.MessageToString(graph.as_graph_def(add_shapes=True))
        _write_gzip(out_dir / "graph.pbtxt.gz", graph_text.encode())


def _as_written() -> Any:
    """A session that runs the graph as it is written: no node merged, folded, fused or renamed.

    So a trace entry bears the name of a graph node, as it did when the tutorials were written.
    """
    config = tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2)
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


def _train(session: Any, model: resnet_model.Model, run_meta: Any = None) -> float:
    """One training step, on examples already waiting, so that no step waits for its input."""
    session.run(model.fill_queue)
    level = tf.RunOptions.NO_TRACE if run_meta is None else tf.RunOptions.FULL_TRACE
    options = tf.RunOptions(trace_level=level)
    _, cost = session.run([model.train, model.cost], options=options, run_metadata=run_meta)
    return float(cost)


def _steps_only(run_meta: Any) -> bytes:
    """The step statistics alone; graphs a TensorFlow version may add are large, and never read."""
    kept = tf.RunMetadata(step_stats=run_meta.step_stats)
    return bytes(kept.SerializeToString(deterministic=True))


def _op_log(graph: Any) -> bytes:
    """The op log TensorFlow writes for the graph, without the paths of this machine."""
    with tempfile.TemporaryDirectory() as log_dir:
        tf.profiler.write_op_log(graph, log_dir)
        log = tf.profiler.OpLogProto.FromString(Path(log_dir, "tfprof_log").read_bytes())
    for file_id in {trace.file_id for entry in log.log_entries for trace in entry.code_def.traces}:
        log.id_to_string[file_id] = _relative(Path(log.id_to_string[file_id]))
    return bytes(with_source_text(log).SerializeToString(deterministic=True))


def _relative(file: Path) -> str:
    """The file as seen from where it is installed; a file from anywhere else is refused."""
    # Installed packages first: they may live in an environment inside the project's own folder.
    for home in (Path(sysconfig.get_path("platlib")), ROOT):
        if file.is_relative_to(home):
            return file.relative_to(home).as_posix()
    message = f"code trace of a file outside the project and TensorFlow: {file}"
    raise ValueError(message)


def _write_checkpoint(saver: Any, session: Any, out_dir: Path) -> None:
    saver.save(session, str(out_dir / "model.ckpt"), write_meta_graph=False, write_state=False)


def _write_gzip(path: Path, content: bytes) -> None:
    """Compressed without a time stamp, so that equal content makes equal files."""
    path.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))


if __name__ == "__main__":
    main()
