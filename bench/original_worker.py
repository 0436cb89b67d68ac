"""The original, as the benchmark calls it: TensorFlow's C++ profiler through its native calls.

`original_worker.py serve` is a worker; `original_worker.py cold GRAPH RUN_META OP_LOG OUT` writes
the one-shot report and exits.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.profiler.tfprof_options_pb2 import OptionsProto
from tensorflow.python.util import _pywrap_tfprof as native

from queries import COLD
from worker import serve

_UNSET: dict[str, Any] = {
    "step": -1,
    "account_type_regexes": (".*",),
    "start_name_regexes": (".*",),
    "show_name_regexes": (".*",),
}
_loaded: list[str] = []


def _options(options: dict[str, Any], out: str) -> bytes:
    proto = OptionsProto(**{**_UNSET, **options, "output": f"file:outfile={out}"})
    return bytes(proto.SerializeToString())


def _read(path: str) -> bytes:
    return Path(path).read_bytes() if path else b""


def _forget() -> None:
    if _loaded:
        native.DeleteProfiler()
        _loaded.clear()


def load(graph: str, run_metas: list[str], op_log: str) -> float:
    """Load a profile and keep it. The graph may be text: the native parser tries both."""
    _forget()
    start = time.perf_counter()
    if not native.NewProfiler(_read(graph), _read(op_log)):
        message = f"cannot load {graph}"
        raise ValueError(message)
    for step, path in enumerate(run_metas):
        native.AddStep(step, b"", _read(path), b"")
    seconds = time.perf_counter() - start
    _loaded.append(graph)
    return seconds


def query(view: str, options: dict[str, Any], out: str) -> float:
    """Answer into a file."""
    start = time.perf_counter()
    native.Profile(view.encode(), _options(options, out))
    return time.perf_counter() - start


def parse(graph: str) -> float:
    """Read a text graph as a Python program does, with protobuf's own parser."""
    start = time.perf_counter()
    text_format.Parse(_read(graph), tf.compat.v1.GraphDef())
    return time.perf_counter() - start


def cold(graph: str, run_meta: str, op_log: str, out: str) -> None:
    """One report from three files."""
    inputs = [_read(path) for path in (graph, run_meta, op_log)]
    native.PrintModelAnalysis(*inputs, b"scope", _options(dict(COLD), out))


if __name__ == "__main__":
    if sys.argv[1] == "cold":
        cold(*sys.argv[2:])
    else:
        serve({"load": load, "query": query, "parse": parse})
