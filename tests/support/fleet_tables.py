"""A dataset written from the rows that a test knows, without gathering files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfprof.fleet import schema
from tfprof.fleet.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fleet_files import Truth

GRAPH: Final = "0123456789abcdef"


def store_truth(target: Path | str, truth: Truth, skipped: Sequence[dict[str, Any]] = ()) -> None:
    """The dataset of these files, one part per worker; its graph has no profile."""
    writer = Writer.at(str(target))
    nodes = list(truth.nodes.values())
    table = {
        "graph": [GRAPH] * len(nodes),
        "node": range(len(nodes)),
        "name": [node.name for node in nodes],
        "op": [node.op for node in nodes],
        "device": [
            f"/job:ps/replica:0/task:{node.server}/device:cpu:0" if node.place == "server" else ""
            for node in nodes
        ],
        "params": [node.params for node in nodes],
        "float_ops": [node.float_ops for node in nodes],
        "shape": ["x".join(map(str, node.shape)) for node in nodes],
    }
    writer.add_graph(GRAPH, *schema.graph_files(b"", schema.table_of(schema.NODES, table)))
    for number, worker in enumerate(truth.workers):
        rows, steps = (schema.table_of(*table) for table in _of_worker(truth, worker))
        writer.add_part(f"{number:016x}", *schema.part_files(rows, steps))
    writer.commit(skipped, [])


def _of_worker(truth: Truth, worker: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    rows = [row for row in truth.rows if row.worker == worker]
    columns: dict[str, Any] = {
        name: [getattr(row, name) for row in rows] for name in rows[0]._fields
    }
    nodes = [truth.nodes[row.name] for row in rows]
    columns["graph"] = [GRAPH] * len(rows)
    columns["params"] = [node.params for node in nodes]
    columns["float_ops"] = [
        node.float_ops * row.occurrence for node, row in zip(nodes, rows, strict=True)
    ]
    steps: dict[str, Any] = {name: [] for name in schema.STEPS}
    for step in truth.steps:
        of_step = [row for row in rows if row.step == step]
        values = {
            "worker": worker, "step": step, "graph": GRAPH, "span_us": truth.spans[worker, step],
            "executions": sum(row.occurrence for row in of_step),
            "nodes": len({row.name for row in of_step}), "source": f"{worker}/run_meta_{step}",
            "version": "1",
            **{
                metric: sum(getattr(row, metric) for row in of_step)
                for metric in ("micros", "accelerator_micros", "cpu_micros", "bytes", "peak_bytes")
            },
        }  # fmt: skip
        for name, value in values.items():
            steps[name].append(value)
    return [(schema.ROWS, columns), (schema.STEPS, steps)]
