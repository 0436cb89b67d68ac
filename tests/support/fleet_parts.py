"""Small datasets of a fleet, written part by part: every number is in the test that asks for it.

rows_and_steps("w1", {0: [5, 7], 1: [6, 8]})    nodes a and b take 5 and 7 us in step 0, …
add(writer, "1" * 16, "w1", {0: [5, 7]})        these as a part of the graph GRAPH
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof import read
from tfprof.fleet import schema
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.writer import Writer
from tfprof.tables.fields import METRICS
from tfprof.wire.schema import message
from tfprof.writers.columnar import columnar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    Times = Mapping[int, Sequence[int]]  # by step, microseconds of each node

GRAPH: Final = "00000000000000aa"
OTHER_GRAPH: Final = "00000000000000bb"
NODES: Final = ("a", "b")
DEVICE: Final = "/job:worker/task:0/device:cpu:0"
SKIPPED: Final = {
    "path": "w9/run_meta_0", "worker": "w9", "step": 0, "reason": "it ends early",
    "kind": "damaged",
}  # fmt: skip


@cache
def graph_files(graph: str = GRAPH) -> tuple[bytes, bytes]:
    """A graph of two variables without a device."""
    graph_def: Any = message("tensorflow.GraphDef")()
    for name in NODES:
        graph_def.node.add(name=name, op="VariableV2")
    source = read.Source("graph", np.frombuffer(graph_def.SerializeToString(), np.uint8))
    nodes = {
        "graph": [graph] * 2, "node": [0, 1], "name": NODES, "op": ["VariableV2"] * 2,
        "device": ["", ""], "params": [0, 0], "float_ops": [0, 0], "shape": ["", ""],
    }  # fmt: skip
    profile = b"".join(columnar(read.load(source)))
    return schema.graph_files(profile, schema.table_of(schema.NODES, nodes))


def rows_and_steps(worker: str, times: Times, graph: str = GRAPH) -> tuple[Any, Any]:
    """The tables of a worker; what takes time runs once, and there is no memory."""
    steps = [step for step, micros in times.items() for _ in micros]
    micros = [each for of_step in times.values() for each in of_step]
    names = [NODES[node] for of_step in times.values() for node in range(len(of_step))]
    count = len(steps)
    rows = {
        "worker": [worker] * count, "step": steps, "device": [DEVICE] * count, "name": names,
        "op": ["VariableV2"] * count, "graph": [graph] * count,
        **{metric: [0] * count for metric in METRICS},
        "micros": micros, "cpu_micros": micros, "occurrence": [1] * count,
    }  # fmt: skip
    sums = [sum(of_step) for of_step in times.values()]
    of_steps = {
        **{name: [0] * len(times) for name in schema.STEPS},
        "worker": [worker] * len(times), "step": list(times), "graph": [graph] * len(times),
        "span_us": sums, "micros": sums, "cpu_micros": sums,
        "source": [f"{worker}/run_meta_{step}" for step in times],
        "version": ["100 bytes"] * len(times),
    }  # fmt: skip
    return schema.table_of(schema.ROWS, rows), schema.table_of(schema.STEPS, of_steps)


def part(worker: str, times: Times, graph: str = GRAPH) -> tuple[bytes, bytes, dict[str, Any]]:
    """The files and the entry of a part."""
    return schema.part_files(*rows_and_steps(worker, times, graph))


def add(writer: Writer, key: str, worker: str, times: Times, graph: str = GRAPH) -> None:
    """Add a part and its graph."""
    writer.add_graph(graph, *graph_files(graph))
    writer.add_part(key, *part(worker, times, graph))


def store(folder: Path | str, **times: Times) -> Dataset:
    """The dataset of these workers, one part each."""
    writer = Writer.at(str(folder))
    for number, worker in enumerate(times, 1):
        add(writer, f"{number:016x}", worker, times[worker])
    writer.commit([], [])
    return Dataset.open(str(folder))


def micros_of(dataset: Dataset, **wanted: Any) -> dict[tuple[str, int], list[int]]:
    """The microseconds of each worker and step, in the order of the scan."""
    return dict(_micros(dataset, **wanted))


def _micros(dataset: Dataset, **wanted: Any) -> Iterator[tuple[tuple[str, int], list[int]]]:
    for batch in dataset.scan(["name", "micros"], **wanted):
        micros: np.ndarray[Any, Any] = batch.numbers("micros")
        for worker, step, rows in batch.samples():
            yield (worker, step), micros[rows].tolist()
