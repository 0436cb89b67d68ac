"""One graph for the runs of all workers: that with the most rows, and what else ran.

    survey(dataset, workers)  ─►  UnionGraph   read once: names, types and devices, no numbers

Names that only other graphs or runs have become nodes without inputs and shapes. Where workers run
a node on different devices, the parts of the name that differ are `*`: `/job:worker/task:*/cpu:0`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import marked, unique
from tfprof.fleet.schema import plain
from tfprof.foundation.lazy_dataclasses import dataclass, fields, replace
from tfprof.foundation.units import first_few, plural
from tfprof.model import Note, Outputs, Profile, Step, own_notes
from tfprof.read.merge import with_bare_nodes, with_types
from tfprof.read.merge_run import CANONICAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tfprof.columns.strings import I64, Bool
    from tfprof.fleet.dataset import Batch, Dataset

_PARTS: Final = re.compile(rb"([/:])")
_ANY: Final = b"*"
_MOST_NAMED: Final = 3


@dataclass(frozen=True, eq=False)
class UnionGraph:
    """The graph of all runs, and which of its nodes each worker ran."""

    profile: Profile  # with an empty step for each number
    names: Strings  # of the nodes, as the dataset writes them
    main: str  # the graph that gives the nodes their inputs, shapes and stacks
    records: dict[str, bytes]  # of each worker, one bit per node

    def recorded(self, worker: str) -> Bool:
        """Which nodes have a record in some step of *worker*."""
        return _unpacked(self.records.get(worker, b""), len(self.profile))

    def find(self, batch: Batch) -> I64:
        """The node of each row."""
        code, names = batch.strings("name")
        return self.names.find(names)[code]


def survey(dataset: Dataset, takes: Callable[[str], bool], steps: Iterable[int]) -> UnionGraph:
    """The graph of the workers that *takes* accepts, whose steps have these numbers."""
    main, *others = [*dataset.graph_ids, ""]
    graph = dataset.graph(main) if main else Profile()
    seen = _Seen(graph)
    for other in filter(None, others):
        profile = dataset.graph(other)
        seen.nodes(plain_names(profile.nodes.name), profile.types.take(profile.nodes.op))
    in_graphs = len(seen.profile)
    for batch in dataset.scan(["name", "op", "device"], takes):
        seen.batch(batch)
    return UnionGraph(
        replace(
            seen.placed(),
            steps=tuple(map(_numbered, steps)),
            shape_sources=(partial(_with_shapes_of, graph),) if graph.shape_sources else (),
            step_shapes=(),
            notes=(*graph.notes, *_notes(seen, others[:-1], len(graph), in_graphs)),
        ),
        seen.names,
        main,
        seen.records,
    )


class _Seen:
    """The nodes so far, their devices, and the records of each worker."""

    def __init__(self, graph: Profile) -> None:
        self.profile, self.names = graph, plain_names(graph.nodes.name)
        self.records: dict[str, bytes] = {}
        self._sets: dict[bytes, bytes] = {}  # equal ones are kept once
        self._device = np.full(len(graph), -1, np.int64)
        self._devices: list[bytes] = []

    def nodes(self, names: Strings, ops: Strings) -> None:
        """Add the nodes whose names are new."""
        new = np.flatnonzero(self.names.find(names) < 0)
        if new.size:
            added = names.take(new)
            self.profile = with_bare_nodes(self.profile, added, ops.take(new))
            self.names = Strings.concat([self.names, added])
            self._device = np.append(self._device, np.full(new.size, -1, np.int64))

    def batch(self, batch: Batch) -> None:
        """Add what the rows of a batch say."""
        (name, names), (op, ops), (device, devices) = map(batch.strings, ("name", "op", "device"))
        used = unique(name)
        op_of = np.zeros(len(names), np.int64)
        op_of[name] = op
        self.nodes(names.take(used), ops.take(op_of[used]))
        node = self.names.find(names)[name]
        ran = batch.ran()
        for worker, _, rows in batch.samples():
            self._record(worker, node[rows][ran[rows]])
        on_device = marked(node * len(devices) + device, len(self.names) * len(devices))
        on_device = on_device.reshape(-1, len(devices))
        for column in np.flatnonzero(devices.which(CANONICAL.fullmatch)).tolist():
            self._place(np.flatnonzero(on_device[:, column]), devices[column])

    def _record(self, worker: str, nodes: I64) -> None:
        known = _unpacked(self.records.get(worker, b""), len(self.names))
        packed = np.packbits(known | marked(nodes, len(self.names))).tobytes()
        self.records[worker] = self._sets.setdefault(packed, packed)

    def _place(self, nodes: I64, device: bytes) -> None:
        for known in unique(self._device[nodes]).tolist():
            merged = device if known < 0 else _merged(self._devices[known], device)
            if merged not in self._devices:
                self._devices.append(merged)
            here = nodes[self._device[nodes] == known]
            self._device[here] = self._devices.index(merged)

    def placed(self) -> Profile:
        """The profile, each node on its device."""
        types, kind = with_types(self.profile.types, Strings.of(self._devices))
        device = np.append(kind, -1)[self._device]
        ran = np.zeros(len(self.profile), np.bool_)
        for packed in set(self.records.values()):
            ran |= _unpacked(packed, ran.size)
        nodes = replace(self.profile.nodes, device=device)
        return replace(self.profile, types=types, nodes=nodes, covered=ran)


def _unpacked(bits: bytes, count: int) -> Bool:
    result = np.zeros(count, np.bool_)
    known = np.unpackbits(np.frombuffer(bits, np.uint8))[:count]
    result[: known.size] = known
    return result


def _merged(first: bytes, second: bytes) -> bytes:
    """A device name with * for the parts in which these differ."""
    parts, others = _PARTS.split(first), _PARTS.split(second)
    if len(parts) != len(others):
        return _ANY
    return b"".join(a if a == b else _ANY for a, b in zip(parts, others, strict=True))


def plain_names(names: Strings) -> Strings:
    """Names as the dataset writes them: all of them UTF-8."""
    if not bool((names.blob >= 0x80).any()):  # noqa: PLR2004 - beyond ASCII
        return names
    return Strings.of(plain(name).encode() for name in names)


def _numbered(number: int) -> Step:
    """A step of that number without executions."""
    columns: dict[str, Any] = {column.name: np.empty(0, np.int64) for column in fields(Step)}
    columns["on_host"] = np.empty(0, np.bool_)
    return Step(**{**columns, "number": number, "devices": Strings.of([])})


def _with_shapes_of(graph: Profile, profile: Profile) -> Profile:
    """*profile*, which begins with the nodes of *graph*, with the shapes that its runs recorded."""
    shaped = graph.with_run_shapes
    start = shaped.outputs.start
    outputs = Outputs(
        np.append(start, np.full(len(profile) - len(graph), start[-1])), shaped.outputs.shape
    )
    notes = shaped.notes[len(graph.notes) :]
    return replace(profile, outputs=outputs, notes=(*profile.notes, *notes))


def _notes(seen: _Seen, others: list[str], graph: int, in_graphs: int) -> Iterator[Note]:
    every = len(seen.profile)
    if others:
        only = plural(in_graphs - graph, "node is", "nodes are")
        names = _few(seen.names, graph, in_graphs)
        yield from own_notes(
            [f"the workers ran {len(others) + 1} graphs: {only} only in smaller ones{names}"]
        )
    if every > in_graphs:
        ran = plural(every - in_graphs, "node that ran is", "nodes that ran are")
        yield from own_notes([f"{ran} in no graph{_few(seen.names, in_graphs, every)}"])


def _few(names: Strings, first: int, last: int) -> str:
    texts = list(names.take(slice(first, last)).texts())
    return f": {first_few(texts, _MOST_NAMED)}" if texts else ""
