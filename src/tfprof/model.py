"""Profile: everything known about a model and its runs, in read-only columns.

    nodes    name op device shape float_ops stack      one row per graph node, in file order
    types    (node, type) pairs beyond op and device   what account_type_regexes are matched against
    edges    start source slot                         the inputs of node i: start[i]:start[i + 1]
    outputs  start shape                               the shapes of its outputs, in the same way
    steps    one Step per number: what ran and what it allocated
    regions  of_node call kind                         bodies of functions, one per call
    stacks   start frame;  frames file line function   call stacks, each stored once
    notes    what was missing, skipped or repaired

A Profile never changes. Reading another file makes another Profile, which shares the columns that
stay the same. Any number of them can be used at once, in any thread, and each can be pickled.

What is worked out later is cached with the parts it depends on; profiles that share them share it:

    structure_cache   names, types, devices, edges, regions, stacks    drawings, sorted names
    run_cache         names, steps                                     times and memory per node
    cached()          the whole profile                                float operations, answers
"""

from __future__ import annotations

from functools import cached_property, reduce
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from tfprof.columns.frozen import Frozen, packed_columns
from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import most_frequent, unique
from tfprof.foundation.caches import Cache
from tfprof.foundation.later import part
from tfprof.foundation.lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfprof.columns.keras_layer import KerasLayer

T = TypeVar("T")
# What an execution counts as, by its device: a run only where no other device recorded it.
UNTIMED, ACCELERATOR, CPU, ACCELERATOR_RUN = range(4)
_SAFE_SUM, _ONE_GRAPH = 2.0**62, 2  # _ONE_GRAPH: the empty beginning and one more


def _empty() -> I64:
    return np.empty(0, np.int64)


def _no_strings() -> Strings:
    return Strings.of([])


@dataclass(frozen=True, eq=False)
class Nodes(Frozen):
    """One row per graph node; op and device are rows of `Profile.types` (device -1: unknown)."""

    name: Strings = field(default_factory=_no_strings)
    op: I64 = field(default_factory=_empty)
    device: I64 = field(default_factory=_empty)
    float_ops: I64 = field(default_factory=_empty)
    stack: I64 = field(default_factory=_empty)
    shape: Shapes = field(default_factory=lambda: Shapes.none(0))


@dataclass(frozen=True, eq=False)
class Edges(Frozen):
    """The inputs of each node, in order: rows of nodes, or -1-k for the k-th unknown name.

    The slot is the number of the source's output; -1 for a control input.
    """

    start: I64 = field(default_factory=lambda: np.zeros(1, np.int64))
    source: I64 = field(default_factory=_empty)
    slot: I64 = field(default_factory=_empty)
    unknown: Strings = field(default_factory=_no_strings)


@dataclass(frozen=True, eq=False)
class Outputs(Frozen):
    """The shapes of each node's outputs: those of node i are shape[start[i]:start[i + 1]]."""

    start: I64 = field(default_factory=lambda: np.zeros(1, np.int64))
    shape: Shapes = field(default_factory=lambda: Shapes.none(0))


@dataclass(frozen=True, eq=False)
class Stacks(Frozen):
    """Call stacks, outermost frame first; files and functions are numbers in `text_id`."""

    start: I64 = field(default_factory=lambda: np.zeros(1, np.int64))
    file: I64 = field(default_factory=_empty)
    line: I64 = field(default_factory=_empty)
    function: I64 = field(default_factory=_empty)
    function_line: I64 = field(default_factory=_empty)
    source: I64 = field(default_factory=_empty)
    text_id: I64 = field(default_factory=_empty)
    text: Strings = field(default_factory=_no_strings)


@packed_columns
@dataclass(frozen=True, eq=False)
class Step(Frozen):
    """One step: one row per execution, and one memory row per scheduling on the node's own device.

    An execution without a start time is UNTIMED, but its node still has a record in the step.
    """

    number: int
    node: I64
    device: I64  # a row of devices
    devices: Strings  # lower case
    start_us: I64
    us: I64
    counts_as: I64
    memory_node: I64
    memory_us: I64  # end time
    requested: I64
    peak: I64
    residual: I64
    output: I64
    in_use: I64  # by the whole allocator
    on_host: Bool  # whether temporary and persistent bytes are host memory
    temporary: I64
    persistent: I64
    allocation_node: I64  # allocations of a node are in the order they happened
    allocation_us: I64
    allocation_bytes: I64
    output_row: I64  # the memory row of each output
    output_slot: I64
    output_bytes: I64
    output_pointer: I64

    def add(self, metric: str, column: I64) -> None:
        """Add a metric of this step to *column*, which has one row per node."""
        if metric in _MEMORY:
            np.add.at(column, self.memory_node, getattr(self, _MEMORY[metric]))
            return
        timed = np.isin(self.counts_as, _COUNTED[metric])
        amount = 1 if metric == "occurrence" else self.us[timed]
        np.add.at(column, self.node[timed], amount)

    def amounts(self, metric: str) -> I64:
        """The numbers that `add` adds up for a metric."""
        if metric in _MEMORY:
            column: I64 = getattr(self, _MEMORY[metric])
            return column
        return self.us if metric != "occurrence" else _empty()


_MEMORY: Final = {
    "bytes": "requested", "peak_bytes": "peak", "residual_bytes": "residual",
    "output_bytes": "output",
}  # fmt: skip
_COUNTED: Final = {
    "micros": (ACCELERATOR, CPU, ACCELERATOR_RUN), "cpu_micros": (CPU,),
    "accelerator_micros": (ACCELERATOR, ACCELERATOR_RUN), "occurrence": (CPU, ACCELERATOR_RUN),
}  # fmt: skip
_OF_GRAPH: Final = ("params", "float_ops")  # not recorded by steps
# How a node uses a region that it calls.
CALLED, LOOP_BODY, LOOP_CONDITION, BRANCH = range(4)


@dataclass(frozen=True, eq=False)
class Regions(Frozen):
    """Bodies of functions, one region per call; an outer region comes before those inside it.

    The first inputs of a calling node are what its regions return: for a loop the results of the
    body, then of the condition; for a conditional those of each branch in turn. Its own inputs
    follow. Nodes that read an argument of the function read these inputs directly.
    """

    of_node: I64 = field(default_factory=_empty)  # -1: in none; nodes beyond the end are in none
    call: I64 = field(default_factory=_empty)  # the calling node
    kind: I64 = field(default_factory=_empty)
    returns: I64 = field(default_factory=_empty)  # number of outputs
    function: Strings = field(default_factory=_no_strings)  # the function's name
    prefix: I64 = field(default_factory=_empty)  # length of the prefix of its node names

    def __len__(self) -> int:
        return int(self.call.size)

    def of_nodes(self, count: int) -> I64:
        """The region of each of *count* nodes; -1: in none."""
        return np.append(self.of_node, np.full(count - self.of_node.size, -1, np.int64))

    def runs(self, of_nodes: I64) -> I64:
        """How often each region ran, judged by its nodes; -1 where none of them has a record."""
        # If one branch of a conditional ran, the others did not, nor did anything inside them.
        ran = np.flatnonzero(self.of_node >= 0)
        # A few may be recorded more often, such as those that a rewriter evaluates beforehand.
        ran = ran[of_nodes[ran] > 0]
        most = most_frequent(self.of_node[ran], of_nodes[ran], len(self))
        taken = set(self.call[(self.kind == BRANCH) & (most > 0)].tolist())
        for region in np.flatnonzero(most < 0).tolist():
            call, outer = self.call[region], int(self.of_node[self.call[region]])
            beside = self.kind[region] == BRANCH and call in taken
            if beside or (outer >= 0 and most[outer] == 0):
                most[region] = 0
            elif self.kind[region] == CALLED:  # as often as its call, or as what that is in
                most[region] = of_nodes[call] or (most[outer] if outer >= 0 else -1)
        return most


NO_REGIONS: Final = Regions()


def _frozen(column: I64) -> I64:
    column.flags.writeable = False
    return column


@dataclass(frozen=True)
class Note:
    """Something that totals leave out or that was repaired, and how often it happened."""

    text: str
    times: int = 1
    ours: bool = False  # the original prints no such note
    caveat: bool = False  # a sentence below a summary

    def __str__(self) -> str:
        return self.text if self.times == 1 else f"{self.text} ({self.times} times)"


def own_notes(texts: Iterable[str]) -> tuple[Note, ...]:
    """Notes that the original does not print."""
    return tuple(Note(text, ours=True) for text in texts)


@dataclass(frozen=True, eq=False)
class AttributeSource(Frozen):
    """Where the attributes of some nodes are; `read` is an object that pickles, no closure."""

    node: I64  # the node of each row of the file; -1 for a row that is not a node
    read: Callable[[], tuple[I64, Strings]]  # (row of the file, map entry) of each
    name: str = "the graph"  # the file's name in messages


@dataclass(frozen=True, eq=False)
class Profile(Frozen):
    """Everything known about a model and its runs; see the top of this file."""

    nodes: Nodes = field(default_factory=Nodes)
    types: Strings = field(default_factory=_no_strings)
    typed_node: I64 = field(default_factory=_empty)
    typed_as: I64 = field(default_factory=_empty)
    edges: Edges = field(default_factory=Edges)
    outputs: Outputs = field(default_factory=Outputs)
    attribute_sources: tuple[AttributeSource, ...] = ()
    shape_sources: tuple[Callable[[Profile], Profile], ...] = ()
    # (numbers of steps, the profile with their shapes), if not all steps ran with the same shapes.
    step_shapes: tuple[tuple[tuple[int, ...], Callable[[Profile], Profile]], ...] = ()
    regions: Regions = NO_REGIONS
    # How often each node runs in one run of the graph, unless steps record it; empty: once.
    times: I64 = field(default_factory=_empty)
    stacks: Stacks = field(default_factory=Stacks)
    has_traces: bool = False
    steps: tuple[Step, ...] = ()
    covered: Bool = field(default_factory=lambda: np.empty(0, np.bool_))
    misses_accelerator_stream: bool = False
    notes: tuple[Note, ...] = ()
    layers: tuple[KerasLayer, ...] = ()  # where a file records them
    devices: tuple[float, ...] = ()  # (how many run the program, if all of them count)
    planned: tuple[float, ...] = ()  # bytes that a compiler plans with, a MemoryPlan
    peaks: tuple[float, ...] = ()  # float operations and bytes per second of a device; 0: unknown
    structure_cache: Cache = field(default_factory=Cache, repr=False)
    run_cache: Cache = field(default_factory=Cache, repr=False)
    _cache: Cache = field(default_factory=Cache, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        nodes, typed = self.nodes, (self.types, self.typed_node, self.typed_as)
        columns = (*(part(nodes, name) for name in ("name", "op", "device", "stack")), *typed)
        drawn = (*columns, self.edges, self.regions, self.stacks, self.has_traces)
        vars(self)["structure_cache"] = self.structure_cache.of(drawn)
        vars(self)["run_cache"] = self.run_cache.of((columns[0], self.steps))

    def __len__(self) -> int:
        return len(self.nodes.name)

    def cached(self, key: object, make: Callable[[], T]) -> T:
        """The value of *key* for this profile; *make* makes it the first time."""
        return self._cache.cached(key, make)

    @property
    def coverage(self) -> float:
        """The share of nodes with stats in some run."""
        return int(self.covered.sum()) / (len(self) + 1e-10)

    @property
    def by_name(self) -> I64:
        """The nodes in byte order of their names."""
        return self.structure_cache.cached("by name", lambda: _frozen(self.nodes.name.order()))

    @cached_property
    def in_graph(self) -> Bool:
        """Which nodes are in a graph file; the others appear in runs only."""
        result = np.zeros(len(self) + 1, np.bool_)
        for source in self.attribute_sources:
            result[source.node] = True  # a row that is not a node has -1: the spare last entry
        result.flags.writeable = False
        return result[:-1]

    @property
    def graph_names(self) -> str:
        """The files that the attributes are read from, for messages."""
        return ", ".join(source.name for source in self.attribute_sources)

    @property
    def type_pairs(self) -> tuple[I64, I64]:
        """(node, type) of every type of every node, each pair once, by node and type."""
        return self.structure_cache.cached("type pairs", self._type_pairs)

    def _type_pairs(self) -> tuple[I64, I64]:
        placed, types = np.flatnonzero(self.nodes.device >= 0), max(len(self.types), 1)
        node = np.concatenate([np.arange(len(self)), placed, self.typed_node])
        kind = np.concatenate([self.nodes.op, self.nodes.device[placed], self.typed_as])
        pair = divmod(unique(node * types + kind), types)
        return _frozen(pair[0]), _frozen(pair[1])

    @property
    def attributes(self) -> tuple[I64, Strings]:
        """(node, map entry in wire format) of every attribute, by node and key; read each time."""
        from tfprof.wire.maps import by_text  # noqa: PLC0415 - few questions need them

        nodes, entries = [_empty()], [_no_strings()]
        for source in self.attribute_sources:
            row, entry = source.read()
            is_node = source.node[row] >= 0
            nodes.append(source.node[row[is_node]])
            entries.append(entry.take(is_node))
        # Those of a single graph are not copied: tensors among them may be most of a file.
        joined = entries[-1] if len(entries) <= _ONE_GRAPH else Strings.concat(entries)
        rows = by_text(node := np.concatenate(nodes), joined)
        return node[rows], joined.take(rows)

    @cached_property
    def with_run_shapes(self) -> Profile:
        """The same with output shapes that only the runs recorded."""
        return reduce(lambda profile, shaped: shaped(profile), self.shape_sources, self)

    def values(self, metric: str, step: int | None) -> I64:
        """A metric of every node in one step, or averaged over the steps that have the node."""
        cache = self._cache if metric in _OF_GRAPH else self.run_cache
        return cache.cached((metric, step), lambda: _frozen(self._values(metric, step)))

    def may_be_negative(self, metric: str, times: int = 1) -> bool:
        """Whether a sum that counts nodes at most *times* times can be negative, as by overflow."""
        largest = self.cached(("largest", metric), lambda: self._largest_sum(metric))
        return largest * times > _SAFE_SUM

    def _largest_sum(self, metric: str) -> float:  # infinite if some node is negative
        if metric in _OF_GRAPH:
            amounts = [self.nodes.shape.elements() if metric == "params" else self.nodes.float_ops]
        else:
            amounts = [step.amounts(metric) for step in self.steps]
        largest = sum(float(column.sum(dtype=np.float64)) for column in amounts)
        # Float operations are multiplied by a node's number of runs, which is at most this.
        runs = max(1 + sum(step.node.size for step in self.steps), int(self.times.max(initial=1)))
        largest *= runs if metric == "float_ops" else 1
        return np.inf if any(column.min(initial=0) < 0 for column in amounts) else largest

    def _values(self, metric: str, step: int | None) -> I64:
        if metric == "params":
            return self.nodes.shape.elements()
        if metric == "float_ops":
            # parity Q3: a node with a record in any step counts what it ran in this one.
            return self.float_ops_of(self.values("occurrence", step), self.records)
        total = np.zeros(len(self), np.int64)
        for recorded in self.steps:
            if step in (None, recorded.number):
                recorded.add(metric, total)
        if step is not None:
            return total
        # parity Q25: each node is averaged over the steps it has records in. The division is
        # unsigned, so the average of a negative sum over several steps is a huge number.
        records = np.maximum(self.records, 1).astype(np.uint64)
        return (total.astype(np.uint64) // records).astype(np.int64)

    def float_ops_of(self, runs: I64, recorded: I64 | Bool) -> I64:
        """The float operations of each node in a step where the *recorded* ones ran so often."""
        times = self.times if self.times.size else np.ones(len(self), np.int64)
        if self.steps and len(self.regions):  # others run as often as their region, if it is known
            of_region = np.append(self.regions.runs(runs), -1)[self.regions.of_nodes(len(self))]
            times = np.where(of_region >= 0, of_region, times)
        return self.nodes.float_ops * np.where(recorded, runs, times)

    @property
    def records(self) -> I64:
        """In how many steps each node has a record."""
        return self.run_cache.cached("records", self._count_records)

    def _count_records(self) -> I64:
        count = np.zeros(len(self), np.int64)
        for step in self.steps:
            count[unique(step.node)] += 1
        return _frozen(count)
