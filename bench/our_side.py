"""Ours, as the benchmark calls it: the only file that knows our Python names."""

from __future__ import annotations

import time
from typing import Any

import tfprof.read.text  # noqa: F401 - the other side has its parser of text at hand, too
from tfprof.api import load as read
from tfprof.query.query import Query
from tfprof.results.result import deliver
from worker import serve

_loaded: dict[str, Any] = {}


def load(graph: str, run_metas: list[str], op_log: str) -> float:
    """Load a profile and keep it; an empty op log path means none."""
    _loaded.clear()
    start = time.perf_counter()
    _loaded["profile"] = read(graph, run_metas, op_log or None)
    return time.perf_counter() - start


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


if __name__ == "__main__":
    serve({"load": load, "convert": convert, "load_converted": load_converted, "query": query})
