"""Makes the profile with several devices: runs examples/seq2seq_attention.py on a cluster.

    python tests/data/make/seq2seq.py [OUT_DIR]     (needs tensorflow; takes half a minute)

    graph.pbtxt.gz      the graph, with the static shape of every output
    run_meta.gz         what one training step cost, fully traced
    tfprof_log.gz       float operations, trainable variables and code traces

The cluster ends with this process. One TensorFlow version writes the same graph and log each time.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import sysconfig
import tempfile
from pathlib import Path

import tensorflow.compat.v1 as tf

from source_text import with_source_text

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "examples"))

import seq2seq_attention  # noqa: E402  only found once its folder is on the path

OUT_DIR = ROOT / "tests" / "data" / "seq2seq"


def main() -> None:
    """Run the example, keep what it wrote without what is particular to this machine."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir", nargs="?", type=Path, default=OUT_DIR, metavar="OUT_DIR")
    out_dir: Path = parser.parse_args().out_dir
    out_dir.mkdir(parents=True, exist_ok=True)

    with tempfile.TemporaryDirectory() as name:
        seq2seq_attention.main([name])
        log_dir = Path(name)
        _write_gzip(out_dir / "graph.pbtxt.gz", (log_dir / "graph.pbtxt").read_bytes())
        _write_gzip(out_dir / "run_meta.gz", _steps_only((log_dir / "run_meta").read_bytes()))
        _write_gzip(out_dir / "tfprof_log.gz", _relative_log((log_dir / "tfprof_log").read_bytes()))


def _steps_only(content: bytes) -> bytes:
    """The step statistics alone; graphs a TensorFlow version may add are large, and never read."""
    kept = tf.RunMetadata(step_stats=tf.RunMetadata.FromString(content).step_stats)
    return bytes(kept.SerializeToString(deterministic=True))


def _relative_log(content: bytes) -> bytes:
    """The op log without the paths of this machine."""
    log = tf.profiler.OpLogProto.FromString(content)
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


def _write_gzip(path: Path, content: bytes) -> None:
    """Compressed without a time stamp, so that equal content makes equal files."""
    path.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))


if __name__ == "__main__":
    main()
