"""What the programs here share: their command line, sessions, and files without this machine.

TensorFlow is given or imported when it is needed: some start processes, and need none themselves.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "tests" / "data"


def parser(doc: str | None, default: Path) -> argparse.ArgumentParser:
    """A command line with OUT_DIR; the first line of *doc* is its help."""
    made = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    made.add_argument("out_dir", nargs="?", type=Path, default=default, metavar="OUT_DIR")
    return made


def made_folder(doc: str | None, default: Path) -> Path:
    """The folder that the command line names; it exists."""
    folder: Path = parser(doc, default).parse_args().out_dir
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def make_alone(program: str, folder: Path, case: str, **environment: str) -> None:
    """Run *program* for one case: what it imports and numbers is then its own."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    command = [sys.executable, program, str(folder), "--case", case]
    subprocess.run(command, check=True, env={**os.environ, **quiet, **environment})


def as_written(tf: Any, threads: int = 0) -> Any:
    """A session that runs the graph as it is written: no node merged, folded, fused or renamed.

    So a trace entry bears the name of a graph node, as it did when the tutorials were written.
    """
    config = tf.ConfigProto(
        intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
    )
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


def binary(message: Any) -> bytes:
    """The same bytes for the same message."""
    return bytes(message.SerializeToString(deterministic=True))


def steps_only(run_meta: Any) -> bytes:
    """The step statistics alone; graphs a TensorFlow version may add are large, and never read."""
    return binary(type(run_meta)(step_stats=run_meta.step_stats))


def graph_text(graph: Any) -> bytes:
    """The graph as text, with the static shape of every output."""
    from google.protobuf import text_format  # noqa: PLC0415

    return text_format.MessageToString(graph.as_graph_def(add_shapes=True)).encode()


def op_log(tf: Any, graph: Any) -> bytes:
    """The op log TensorFlow writes for the graph, with our lines, without paths of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.write_op_log(graph, folder)
        return relative_log(tf, Path(folder, "tfprof_log").read_bytes())


def relative_log(tf: Any, content: bytes) -> bytes:
    """An op log with our lines and without the paths of this machine."""
    from source_text import with_source_text  # noqa: PLC0415 - imports TensorFlow

    log = tf.profiler.OpLogProto.FromString(content)
    for file_id in {trace.file_id for entry in log.log_entries for trace in entry.code_def.traces}:
        log.id_to_string[file_id] = _relative(Path(log.id_to_string[file_id]))
    return binary(with_source_text(log))


def _relative(file: Path) -> str:
    """The file as seen from where it is installed; a file from anywhere else is refused."""
    # Installed packages first: they may live in an environment inside the project's own folder.
    for home in (Path(sysconfig.get_path("platlib")), ROOT):
        if file.is_relative_to(home):
            return file.relative_to(home).as_posix()
    message = f"code trace of a file outside the project and TensorFlow: {file}"
    raise ValueError(message)


def write(path: Path, content: bytes) -> int:
    """Pack without a time stamp, so that equal content makes equal files; the bytes of the file."""
    return path.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))
