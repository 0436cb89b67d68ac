"""One graph for the runs of all workers: that of most steps, then what other graphs have.

    survey(dataset, workers)  ─►  UnionGraph   read once: names, types and devices, no numbers

Names that only runs have become nodes without inputs and shapes. Where workers run a node on
different devices, the parts of the name that differ are `*`: `/job:worker/task:*/cpu:0`.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import marked, unique
from tfprof.fleet.join_graphs import join_graphs
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
    main: str  # the graph whose nodes come first, as it has them; others add to them
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
    graphs = _graphs_of(dataset, takes)
    profiles = [dataset.graph(graph) for graph in graphs] or [Profile()]
    seen = _Seen(join_graphs(profiles))
    in_graphs = len(seen.profile)
    for batch in dataset.scan(["name", "op", "device"], takes):
        seen.batch(batch)
    has_shapes = any(profile.shape_sources for profile in profiles)
    notes = dict.fromkeys(note for profile in profiles for note in profile.notes)
    return UnionGraph(
        replace(
            seen.placed(),
            steps=tuple(map(_numbered, steps)),
            shape_sources=(partial(_with_shapes_of, profiles),) if has_shapes else (),
            step_shapes=(),
            notes=(*notes, *_notes(seen, len(graphs), len(profiles[0]), in_graphs)),
        ),
        seen.names,
        graphs[0] if graphs else "",
        seen.records,
    )


def _graphs_of(dataset: Dataset, takes: Callable[[str], bool]) -> list[str]:
    """The graphs that these workers ran; first that of most of their steps."""
    if len(dataset.graph_ids) <= 1:
        return dataset.graph_ids
    ran = Counter(dataset.steps(["graph"], takes)["graph"].to_pylist())
    return sorted(filter(ran.get, dataset.graph_ids), key=lambda graph: -ran[graph])


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


def _with_shapes_of(graphs: list[Profile], profile: Profile) -> Profile:
    """*profile*, which begins with the nodes of *graphs*, with the shapes that runs recorded."""
    shaped = [graph.with_run_shapes for graph in graphs]
    outputs = join_graphs(shaped).outputs
    start = np.append(
        outputs.start, np.full(len(profile) + 1 - outputs.start.size, outputs.start[-1])
    )
    new = (s.notes[len(g.notes) :] for s, g in zip(shaped, graphs, strict=True))
    notes = dict.fromkeys((*profile.notes, *chain.from_iterable(new)))
    return replace(profile, outputs=Outputs(start, outputs.shape), notes=tuple(notes))


def _notes(seen: _Seen, graphs: int, graph: int, in_graphs: int) -> Iterator[Note]:
    every = len(seen.profile)
    if graphs > 1:
        only = plural(in_graphs - graph, "node is", "nodes are")
        names = _few(seen.names, graph, in_graphs)
        yield from own_notes(
            [f"the workers ran {graphs} graphs: {only} not in the one that most steps ran{names}"]
        )
    if every > in_graphs:
        ran = plural(every - in_graphs, "node that ran is", "nodes that ran are")
        yield from own_notes([f"{ran} in no graph{_few(seen.names, in_graphs, every)}"])


def _few(names: Strings, first: int, last: int) -> str:
    texts = list(names.take(slice(first, last)).texts())
    return f": {first_few(texts, _MOST_NAMED)}" if texts else ""
