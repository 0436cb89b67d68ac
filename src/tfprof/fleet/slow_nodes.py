"""The nodes that make a straggler slow: its operations one by one, beside those of a few peers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.unique import sum_by
from tfprof.fleet.worker_sums import Devices

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfprof.fleet.dataset import Batch, Dataset
    from tfprof.fleet.stragglers import Cause, Key

_MOST_NODES: Final = 2
_LEAST_SHARE: Final = 0.25  # of the extra time of the operation
_LEAST_FACTOR: Final = 1.2

Times = dict[tuple[str, "Key"], dict[str, float]]


def node_times(dataset: Dataset, wanted: Mapping[str, Iterable[Key]]) -> Times:
    """The mean time per step of each node of these workers, of the keys *wanted* of each."""
    totals: Times = {(worker, key): {} for worker, keys in wanted.items() for key in keys}
    steps = dict.fromkeys(wanted, 0)
    for batch in dataset.scan(["name", "op", "device", "micros"], wanted.__contains__):
        _add(batch, wanted, totals, steps)
    return {
        (worker, key): {name: micros / steps[worker] for name, micros in nodes.items()}
        for (worker, key), nodes in totals.items()
    }


def _add(
    batch: Batch, wanted: Mapping[str, Iterable[Key]], totals: Times, steps: dict[str, int]
) -> None:
    (op, ops), (device, devices) = batch.strings("op"), batch.strings("device")
    (name, names), micros = batch.strings("name"), batch.numbers("micros")
    op_number = {text: at for at, text in enumerate(ops.texts())}
    placed = Devices(devices.texts())
    for worker, _, rows in batch.samples():
        steps[worker] += 1
        labels = placed.labels(np.bincount(device[rows], minlength=len(devices)))
        for key in wanted[worker]:
            on_device = np.array([label == key.device for label in labels])
            mine = on_device[device[rows]] & (op[rows] == op_number.get(key.op, -1))
            sums = sum_by(name[rows][mine], micros[rows][mine], len(names))
            total = totals[worker, key]
            for at in np.flatnonzero(sums).tolist():
                text = names[at].decode("utf-8", "replace")
                total[text] = total.get(text, 0.0) + int(sums[at])


def with_nodes(cause: Cause, own: Mapping[str, float], peers: list[Mapping[str, float]]) -> Cause:
    """*cause* with the nodes that take most of its extra time, if a few do."""
    usual = {node: float(np.median([peer.get(node, 0.0) for peer in peers])) for node in own}
    extra = {node: micros - usual[node] for node, micros in own.items()}
    least = _LEAST_SHARE * cause.extra
    nodes = sorted((node for node in own if extra[node] >= least), key=lambda node: -extra[node])
    nodes = [node for node in nodes if own[node] >= _LEAST_FACTOR * usual[node]]
    found = tuple((node, own[node], usual[node]) for node in nodes[:_MOST_NODES])
    return cause._replace(nodes=found if len(own) > 1 else ())
