"""The balance of parameter servers: what each holds, and what to move where.

    skew = bytes of the largest server / mean bytes per server        1 is even

Moves are greedy: from the largest server to the smallest, the variable that leaves the larger of
both smallest, until the skew is 1.05 or no move helps. Slots of optimizers (w/Adam) move with their
variable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.fleet.worker_sums import is_server, task_of
from tfprof.foundation.natural_order import natural
from tfprof.ops.dtypes import FLOAT
from tfprof.ops.output_dtypes import output_dtypes, weight_bytes
from tfprof.summary.parameters import variable_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfprof.fleet.dataset import Dataset
    from tfprof.fleet.worker_sums import StepTimes

EVEN: Final = 1.05
SKEWED: Final = 1.2
_MOST_MOVES: Final = 20
_LEAST_GAIN: Final = 0.01  # of the mean; a move that gains less is not worth it


class Variable(NamedTuple):
    """A variable on a parameter server."""

    name: str
    server: str  # "ps:0"
    bytes: int
    params: int


class Server(NamedTuple):
    """A parameter server."""

    name: str
    variables: int
    bytes: int
    params: int
    micros: float = 0.0  # of its operations, per step of a worker


class Move(NamedTuple):
    """A variable, with what belongs to it, that another server should hold."""

    variable: str
    bytes: int
    slots: int  # of optimizers, which move with it
    source: str
    target: str


class Balance(NamedTuple):
    """All parameter servers, the largest first."""

    servers: tuple[Server, ...] = ()
    skew: float = 1.0
    moves: tuple[Move, ...] = ()
    skew_after: float = 1.0
    too_large: Variable | None = None  # larger than the mean of all servers: no move evens it out

    @property
    def is_skewed(self) -> bool:
        """Whether one server holds much more than the mean."""
        return self.skew >= SKEWED


def balance(
    variables: Iterable[Variable], servers: Iterable[str], micros: dict[str, float] | None = None
) -> Balance:
    """The balance of *servers*, which may hold nothing, and the moves that even it out."""
    held: dict[str, list[Variable]] = {server: [] for server in sorted(servers, key=natural)}
    for variable in variables:
        held.setdefault(variable.server, []).append(variable)
    times = micros or {}
    rows = [
        Server(
            name, len(own), sum(v.bytes for v in own), sum(v.params for v in own),
            times.get(name, 0.0),
        )
        for name, own in held.items()
    ]  # fmt: skip
    rows.sort(key=lambda row: -row.bytes)
    loads = {row.name: row.bytes for row in rows}
    mean = sum(loads.values()) / max(len(loads), 1)
    if not mean:
        return Balance(tuple(rows))
    skew = max(loads.values()) / mean
    if skew < SKEWED:
        return Balance(tuple(rows), skew, (), skew)
    moves = tuple(_moves(held, loads, EVEN * mean))
    after = max(loads.values()) / mean
    largest = max((v for own in held.values() for v in own), key=lambda v: v.bytes)
    too_large = largest if largest.bytes > EVEN * mean else None
    return Balance(tuple(rows), skew, moves, after, too_large)


def _moves(held: dict[str, list[Variable]], loads: dict[str, int], most: float) -> Iterator[Move]:
    """The moves, which change *loads*, until no server holds more than *most* bytes."""
    least = max(_LEAST_GAIN * most, 1)
    units = {server: dict(_units(own)) for server, own in held.items()}
    for _ in range(_MOST_MOVES):
        source = max(loads, key=lambda server: loads[server])
        target = min(loads, key=lambda server: loads[server])
        if loads[source] <= most:
            return

        def larger(size: int, source: str = source, target: str = target) -> int:
            return max(loads[source] - size, loads[target] + size)

        sizes = {name: size for name, (size, _) in units[source].items()}
        choice = min(sizes, key=lambda name: (larger(sizes[name]), sizes[name]), default="")
        if not choice or loads[source] - larger(sizes[choice]) < least:
            return
        size, slots = units[target][choice] = units[source].pop(choice)
        loads[source] -= size
        loads[target] += size
        yield Move(choice, size, slots, source, target)


def _units(variables: Sequence[Variable]) -> Iterator[tuple[str, tuple[int, int]]]:
    """(name, (bytes, slots)) of each variable with its slots."""
    known = {variable.name: variable for variable in variables}
    units: dict[str, list[Variable]] = {}
    for name, variable in known.items():
        above = known.get(name.rpartition("/")[0])
        is_slot = above is not None and above.params == variable.params
        units.setdefault(above.name if above and is_slot else name, []).append(variable)
    for name, own in units.items():
        yield name, (sum(variable.bytes for variable in own), len(own) - 1)


def server_variables(dataset: Dataset, times: StepTimes) -> tuple[list[Variable], set[str]]:
    """(the variables of all graphs that are on servers, all servers that were seen).

    A run places a variable where it ran; else the graph says where it belongs.
    """
    found: dict[tuple[str, str], Variable] = {}
    servers: set[str] = set()
    steps = dataset.manifest.steps
    for graph in dict.fromkeys(times.graphs):
        worker = times.workers[times.graphs.index(graph)]
        ran = _placed_by_run(dataset, worker, min(steps[worker]), servers)
        for name, device, size, params in _graph_variables(dataset, graph):
            server = ran.get(name) or task_of(device.lower())[0]
            if is_server(server):
                found[name, server] = Variable(name, server, size, params)
    return list(found.values()), servers | {server for _, server in found}


def _graph_variables(dataset: Dataset, graph: str) -> Iterator[tuple[str, str, int, int]]:
    """(name, device, bytes, parameters) of each variable of a graph."""
    profile = dataset.graph(graph)
    node = np.flatnonzero(variable_nodes(profile))
    shape = profile.nodes.shape.take(node)
    elements = np.where(shape.are_whole(), shape.elements(), 0)
    dtypes = output_dtypes(profile)[node] if node.size else node
    sizes = weight_bytes(np.where(dtypes > 0, dtypes, FLOAT), elements)
    placed = profile.nodes.device[node]
    names = list(profile.nodes.name.take(node).texts())
    devices = list(profile.types.take(np.maximum(placed, 0)).texts())
    for at, name in enumerate(names):
        device = devices[at] if placed[at] >= 0 else ""
        yield name, device, int(sizes[at]), int(elements[at])


def _placed_by_run(dataset: Dataset, worker: str, step: int, servers: set[str]) -> dict[str, str]:
    """The server of each node that ran on one in this step; adds to *servers*."""
    placed: dict[str, str] = {}
    for batch in dataset.scan(["name", "device"], worker.__eq__, step):
        device, devices = batch.strings("device")
        name, names = batch.strings("name")
        for at, text in enumerate(devices.texts()):
            server = task_of(text)[0]
            if is_server(server):
                servers.add(server)
                for node in np.unique(name[device == at]).tolist():
                    placed.setdefault(names[node].decode("utf-8", "replace"), server)
    return placed
