"""XProf's side of the rows on traces: its own converter, in an environment of its own.

    python bench/xprof_worker.py cold TRACE

As a worker, each call returns its seconds and writes the self time of each operation type.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path

from xprof.convert import raw_to_tool_data  # type: ignore[import-not-found]

from worker import serve

_TOOL = "framework_op_stats"
# Not executions of operations: waiting, and the iterators of tf.data.
_OTHERS = frozenset({"IDLE", "Dataset", ""})


def convert(path: str) -> bytes:
    """The op view of a trace; what an earlier run left beside the trace is removed first."""
    for file in Path(path).parent.iterdir():
        if not file.name.endswith(".xplane.pb"):
            file.unlink()
    data, _ = raw_to_tool_data.xspace_to_tool_data([path], _TOOL, {})
    return bytes(data)


def op(path: str, out: str) -> float:
    """Convert a trace; then write its self times."""
    start = time.perf_counter()
    data = convert(path)
    seconds = time.perf_counter() - start
    table = json.loads(data)[0]
    columns = [column["id"] for column in table["cols"]]
    micros: Counter[str] = Counter()
    for row in table["rows"]:
        cells = dict(zip(columns, (cell.get("v") for cell in row["c"]), strict=True))
        micros[cells["type"]] += cells["total_self_time"]
    for other in _OTHERS:
        del micros[other]
    Path(out).write_text(json.dumps(micros))
    return seconds


if __name__ == "__main__":
    if sys.argv[1] == "cold":
        convert(sys.argv[2])
    else:
        serve({"op": op})
