"""The original, as the benchmark calls it: TensorFlow's C++ profiler through its native calls.

`original_worker.py serve` is a worker; `original_worker.py cold REQUEST` writes one report and
exits, REQUEST being JSON: the files, the view, its options and the output.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from google.protobuf import text_format

from plain_tensorflow import OptionsProto, native, tf
from worker import serve

_UNSET: dict[str, Any] = {
    "step": -1,
    "account_type_regexes": (".*",),
    "start_name_regexes": (".*",),
    "show_name_regexes": (".*",),
}
_loaded: list[str] = []


def _options(options: dict[str, Any], output: str) -> bytes:
    proto = OptionsProto(**{**_UNSET, **options, "output": output})
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


def query(view: str, options: dict[str, Any], output: str) -> float:
    """Answer into a file."""
    start = time.perf_counter()
    native.Profile(view.encode(), _options(options, output))
    return time.perf_counter() - start


def parse(graph: str) -> float:
    """Read a text graph as a Python program does, with protobuf's own parser."""
    start = time.perf_counter()
    text_format.Parse(_read(graph), tf.compat.v1.GraphDef())
    return time.perf_counter() - start


def cold(files: dict[str, Any], asked: dict[str, Any]) -> None:
    """One report from files. The one-shot call reads no text (Q52), so text is loaded first."""
    if files["graph"].endswith(".pbtxt"):
        load(**files)
        query(**asked)
        return
    inputs = [_read(path) for path in (files["graph"], *files["run_metas"], files["op_log"])]
    options = _options(asked["options"], asked["output"])
    native.PrintModelAnalysis(*inputs, asked["view"].encode(), options)


if __name__ == "__main__":
    if sys.argv[1] == "cold":
        cold(**json.loads(sys.argv[2]))
    else:
        serve({"load": load, "query": query, "parse": parse})
