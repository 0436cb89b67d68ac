"""Ours, as the benchmark calls it: the only file that knows our Python names."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import tfprof.io.open_files
import tfprof.read.add_files
import tfprof.read.columnar
import tfprof.read.hlo
import tfprof.read.loading
import tfprof.read.read_files
import tfprof.read.saved_model
import tfprof.read.text  # noqa: F401 - the other side has all of its readers at hand, too
from tfprof.api import load as read
from tfprof.query.query import Query
from tfprof.results.result import deliver
from worker import serve

_EAGER = b"_eager/"  # what ran outside functions
_loaded: dict[str, Any] = {}


def load(graph: str, run_metas: list[str], op_log: str) -> float:
    """Load a profile and keep it; an empty op log path means none."""
    _loaded.clear()
    start = time.perf_counter()
    _loaded["profile"] = read(graph, run_metas, op_log or None)
    return time.perf_counter() - start


def load_counted(graph: str, out: str) -> float:
    """Load a graph; then write how many nodes it has."""
    start = time.perf_counter()
    loaded = read(graph)
    seconds = time.perf_counter() - start
    Path(out).write_text(f"{len(loaded)} nodes\n")
    return seconds


def convert(out: str) -> float:
    """Write what is loaded as one file."""
    start = time.perf_counter()
    _loaded["profile"].convert(out)
    return time.perf_counter() - start


def load_converted(path: str) -> float:
    """Load such a file and keep it."""
    _loaded.clear()
    start = time.perf_counter()
    _loaded["profile"] = read(profile=path)
    return time.perf_counter() - start


def query(view: str, options: dict[str, Any], output: str) -> float:
    """Answer into a file, as the command and the shell do."""
    start = time.perf_counter()
    loaded, asked = _loaded["profile"], Query.of({**options, "output": output})
    deliver(loaded.report(view, asked), asked.output, loaded.inputs)
    return time.perf_counter() - start


def diff(base: dict[str, Any], new: dict[str, Any], view: str, out: str) -> float:
    """Load two profiles and print what changed; then write what their totals differ by."""
    start = time.perf_counter()
    report = _read(base).diff(_read(new), view, select=["micros"], max_depth=5)
    b"".join(report.pieces("text"))
    seconds = time.perf_counter() - start
    Path(out).write_text(f"{report.totals['micros']['difference']} us\n")
    return seconds


def totals(base: dict[str, Any], new: dict[str, Any], view: str, out: str) -> float:
    """What the totals of both profiles differ by, each from a report of its own."""
    start = time.perf_counter()
    asked = Query.of({"select": ["micros"]})
    sides = [_read(side).report(view, asked).answer.counted.total("micros") for side in (base, new)]
    Path(out).write_text(f"{sides[1][0] - sides[0][0]} us\n")
    return time.perf_counter() - start


def trace_op(path: str, out: str) -> float:
    """Load a trace and print its op view; then write the self time of each type in all steps."""
    start = time.perf_counter()
    loaded = read(trace=path)
    b"".join(loaded.report("op", Query()).pieces("text"))
    seconds = time.perf_counter() - start
    micros: Counter[str] = Counter()
    profile = loaded.profile
    took: Any = sum(profile.values("micros", step.number) for step in profile.steps)
    for name, kind, own in zip(profile.nodes.name, profile.nodes.op, took, strict=True):
        if not name.startswith(_EAGER):
            micros[profile.types[int(kind)].decode()] += int(own)
    Path(out).write_text(json.dumps(micros))
    return seconds


def _read(files: dict[str, Any]) -> Any:
    return read(files["graph"], files["run_metas"], files["op_log"])


if __name__ == "__main__":
    named = (load, load_counted, convert, load_converted, query, diff, totals, trace_op)
    serve({command.__name__: command for command in named})
