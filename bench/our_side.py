"""Ours, as the benchmark calls it: the only file that knows our Python names."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tfprof.answer import answer
from tfprof.api import load as read
from tfprof.query import Query
from tfprof.reporters.text import text
from worker import serve

_loaded: dict[str, Any] = {}


def load(graph: str, run_metas: list[str], op_log: str) -> float:
    """Load a profile and keep it; an empty op log path means none."""
    _loaded.clear()
    start = time.perf_counter()
    _loaded["profile"] = read(graph, run_metas, op_log or None).profile
    return time.perf_counter() - start


def query(view: str, options: dict[str, Any], out: str) -> float:
    """Answer into a file."""
    start = time.perf_counter()
    report = b"".join(text(answer(_loaded["profile"], view, Query.of(options))))
    Path(out).write_bytes(report)
    return time.perf_counter() - start


if __name__ == "__main__":
    serve({"load": load, "query": query})
