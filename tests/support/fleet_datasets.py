"""Datasets of a fleet made straight from loaded files, row by row, without `tfprof fleet`.

write_dataset(folder, {"worker_0": tfprof.load(…), …})
"""

from __future__ import annotations

from collections import defaultdict
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.fleet.schema import NODES, ROWS, STEPS, graph_files, part_files, table_of
from tfprof.fleet.writer import Writer
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import ACCELERATOR, CPU, UNTIMED
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.tables.fields import METRICS
from tfprof.writers.columnar import columnar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tfprof.model import Profile, Step
    from tfprof.results.loaded import Loaded

_MEMORY = {
    "bytes": "requested",
    "peak_bytes": "peak",
    "residual_bytes": "residual",
    "output_bytes": "output",
}


def write_dataset(folder: Path, workers: Mapping[str, Loaded], per_part: int = 3) -> str:
    """The dataset of these workers, with *per_part* worker steps in each part."""
    writer = Writer.at(str(folder))
    steps = [(name, step) for name, loaded in workers.items() for step in loaded.profile.steps]
    for first in range(0, len(steps), per_part):
        rows: dict[str, list[Any]] = {name: [] for name in ROWS}
        of_steps: dict[str, list[Any]] = {name: [] for name in STEPS}
        for worker, step in steps[first : first + per_part]:
            profile = workers[worker].profile
            graph = graph_id(profile)
            writer.add_graph(graph, *_graph_files(graph, profile))
            columns: dict[str, Any] = {"worker": worker, "step": step.number, "graph": graph}
            micros = 0
            for row in step_rows(profile, step):
                micros += row["micros"]
                for name, value in {**columns, **row}.items():
                    rows[name].append(value)
            columns["micros"] = micros
            for name, kind in STEPS.items():
                of_steps[name].append(columns.get(name, 0 if kind == "number" else "a file"))
        part = part_files(table_of(ROWS, rows), table_of(STEPS, of_steps))
        writer.add_part(f"{first:016x}", *part)
    writer.commit([], [])
    return str(folder)


def graph_id(profile: Profile) -> str:
    """The nodes of the graph alone make the number: runs name others."""
    names = profile.nodes.name.take(profile.in_graph).tolist()
    return sha256(b"\0".join(names)).hexdigest()[:16]


def step_rows(profile: Profile, step: Step) -> Iterator[dict[str, Any]]:
    """A row per device and node, counted one execution at a time."""
    sums: dict[tuple[int, bytes], dict[str, int]] = defaultdict(lambda: dict.fromkeys(METRICS, 0))
    own = [b"" if at < 0 else profile.types[at] for at in profile.nodes.device.tolist()]
    executions = (step.node, step.device, step.us, step.counts_as)
    for node, device, us, counts_as in zip(*(c.tolist() for c in executions), strict=True):
        row = sums[node, step.devices[device]]
        if counts_as == UNTIMED:
            continue
        row["micros"] += us
        row["accelerator_micros"] += us * (counts_as == ACCELERATOR)
        row["cpu_micros"] += us * (counts_as == CPU)
        row["occurrence"] += counts_as == CPU
    for metric, column in _MEMORY.items():
        amounts = getattr(step, column).tolist()
        for node, amount in zip(step.memory_node.tolist(), amounts, strict=True):
            sums[node, own[node]][metric] += amount
    float_ops = with_float_ops(profile, "all", None, step.number)[0].nodes.float_ops.tolist()
    for (node, device), row in sums.items():
        row["float_ops"] = in_64_bits(float_ops[node] * row["occurrence"])
        op = profile.types[int(profile.nodes.op[node])]
        yield {"name": profile.nodes.name[node], "op": op, "device": device, **row}


def in_64_bits(number: int) -> int:
    """What is left of *number* in a signed number of 64 bits, as in TensorFlow."""
    return (number + 2**63) % 2**64 - 2**63


def _graph_files(graph: str, profile: Profile) -> tuple[bytes, bytes]:
    count = int(profile.in_graph.sum())
    alone = replace(profile, steps=(), covered=np.zeros(len(profile), np.bool_))
    words = {"graph": graph, "op": "an op", "device": "", "name": "", "shape": ""}
    nodes = {name: [words.get(name, 0)] * count for name in NODES}
    return graph_files(b"".join(columnar(alone)), table_of(NODES, nodes))
