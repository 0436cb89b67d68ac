"""Profile: all that is known of a model and its runs, in frozen columns.

    nodes    name op device shape float_ops stack      a row a graph node, in order of appearance
    types    (node, type) pairs beyond op and device   what account_type_regexes are tried on
    edges    start source slot                         the inputs of node i: start[i]:start[i + 1]
    outputs  start shape                               the shapes of its outputs, likewise
    steps    a Step each, by number: what ran and what it allocated
    regions  of_node call kind                         the bodies of functions, one for each call
    stacks   start frame;  frames file line function   call stacks, each once
    notes    what was missing, skipped or repaired

Nothing here changes once made; reading another file makes another Profile that shares the
columns it has in common. So any number may live at once, in any thread.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, cast

import numpy as np

from tfprof.columns.packed import packed_columns
from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import unique
from tfprof.foundation.lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# What an execution on a device counts as.
UNTIMED, ACCELERATOR, CPU = 0, 1, 2
_SAFE_SUM = 2.0**62
_ONE_GRAPH = 2  # the empty beginning and one more


class Frozen:
    """Columns that cannot be written to once they are part of this."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            columns = vars(value).values() if isinstance(value, (Strings, Shapes)) else (value,)
            for column in columns:
                if isinstance(column, np.ndarray):
                    column.flags.writeable = False


def _empty() -> I64:
    return np.empty(0, np.int64)


def _no_strings() -> Strings:
    return Strings.of([])


@dataclass(frozen=True, eq=False)
class Nodes(Frozen):
    """A row a graph node; op and device are rows of the Profile's `types` (device -1: unknown)."""

    name: Strings = field(default_factory=_no_strings)
    op: I64 = field(default_factory=_empty)
    device: I64 = field(default_factory=_empty)
    float_ops: I64 = field(default_factory=_empty)
    stack: I64 = field(default_factory=_empty)
    shape: Shapes = field(default_factory=lambda: Shapes.none(0))


@dataclass(frozen=True, eq=False)
class Edges(Frozen):
    """The inputs of each node, in order: rows of nodes, or -1-k for the k-th unknown name.

    The slot is the number of the source's output that is meant; -1 for a control input.
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
    """Call stacks, outermost frame first; files and functions are numbers to look up."""

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
    """One step: a row an execution, and a row a scheduling on the node's own device.

    An execution without a start time is UNTIMED, but its node still counts as seen.
    """

    number: int
    node: I64
    device: I64  # a row of devices
    devices: Strings  # lower case
    start_us: I64
    us: I64
    counts_as: I64
    memory_node: I64
    memory_us: I64  # when it ended
    requested: I64
    peak: I64
    residual: I64
    output: I64
    in_use: I64  # by the whole allocator
    on_host: Bool  # whether what follows is memory of the host, not of an accelerator
    temporary: I64
    persistent: I64
    allocation_node: I64  # these are in the order they happened to a node
    allocation_us: I64
    allocation_bytes: I64
    output_row: I64  # the memory row of each output
    output_slot: I64
    output_bytes: I64
    output_pointer: I64

    def add(self, metric: str, column: I64) -> None:
        """Add a metric of this step to *column*, which has a row a node."""
        if metric in _MEMORY:
            np.add.at(column, self.memory_node, getattr(self, _MEMORY[metric]))
            return
        timed = np.isin(self.counts_as, _COUNTED[metric])
        amount = 1 if metric == "occurrence" else self.us[timed]
        np.add.at(column, self.node[timed], amount)

    def amounts(self, metric: str) -> I64:
        """What `add` adds up for a metric."""
        if metric in _MEMORY:
            column: I64 = getattr(self, _MEMORY[metric])
            return column
        return self.us if metric != "occurrence" else np.empty(0, np.int64)


_MEMORY: Final = {
    "bytes": "requested",
    "peak_bytes": "peak",
    "residual_bytes": "residual",
    "output_bytes": "output",
}
_COUNTED: Final = {
    "micros": (ACCELERATOR, CPU),
    "accelerator_micros": (ACCELERATOR,),
    "cpu_micros": (CPU,),
    "occurrence": (CPU,),
}


# What a region is to the node that calls it.
CALLED, LOOP_BODY, LOOP_CONDITION, BRANCH = range(4)


@dataclass(frozen=True, eq=False)
class Regions(Frozen):
    """Bodies of functions, each once for every node that calls it, an outer one before its inner.

    What a body returns are the first inputs of the node that calls it; of a loop those of the body,
    then the condition's; of a choice those of the first branch, then of the next. Then its own
    inputs follow, and whatever read an argument of the function reads these instead.
    """

    of_node: I64 = field(default_factory=_empty)  # -1: in none; so are all nodes behind the last
    call: I64 = field(default_factory=_empty)  # the node that calls it
    kind: I64 = field(default_factory=_empty)
    returns: I64 = field(default_factory=_empty)  # how many outputs it has

    function: Strings = field(default_factory=_no_strings)  # whose body it is
    prefix: I64 = field(default_factory=_empty)  # how long what its names begin with is

    def __len__(self) -> int:
        return int(self.call.size)

    def runs(self, of_nodes: I64) -> I64:
        """How often each ran, going by how often its nodes did; -1 where none of them tells.

        A branch beside one that ran did not, and neither did anything inside it.
        """
        inside = np.flatnonzero(self.of_node >= 0)
        most = np.full(len(self), -1, np.int64)
        np.maximum.at(most, self.of_node[inside], of_nodes[inside])
        most[most == 0] = -1
        taken = set(self.call[(self.kind == BRANCH) & (most > 0)].tolist())
        for region in np.flatnonzero(most < 0).tolist():
            outer = int(self.of_node[self.call[region]])
            beside = self.kind[region] == BRANCH and self.call[region] in taken
            if beside or (outer >= 0 and most[outer] == 0):
                most[region] = 0
        return most


NO_REGIONS: Final = Regions()


def _frozen(column: I64) -> I64:
    column.flags.writeable = False
    return column


@dataclass(frozen=True)
class Note:
    """Something a total does not count, or a repair, and how often it happened."""

    text: str
    times: int = 1
    ours: bool = False  # the original is silent about it

    def __str__(self) -> str:
        return self.text if self.times == 1 else f"{self.text} ({self.times} times)"


class AttributeSource(NamedTuple):
    """Where the attributes of some nodes can be read: (row of the file, map entry) of each."""

    node: I64  # of each row of the file; -1 for a row that became no node
    read: Callable[[], tuple[I64, Strings]]
    name: str = "the graph"  # as messages call the file


@dataclass(frozen=True, eq=False)
class Profile(Frozen):
    """See the head of this file."""

    nodes: Nodes = field(default_factory=Nodes)
    types: Strings = field(default_factory=_no_strings)
    typed_node: I64 = field(default_factory=_empty)
    typed_as: I64 = field(default_factory=_empty)
    edges: Edges = field(default_factory=Edges)
    outputs: Outputs = field(default_factory=Outputs)
    attribute_sources: tuple[AttributeSource, ...] = ()
    shape_sources: tuple[Callable[[Profile], Profile], ...] = ()
    regions: Regions = NO_REGIONS
    # How often each node runs in one run of the graph, where no step tells; empty: each once.
    times: I64 = field(default_factory=_empty)
    stacks: Stacks = field(default_factory=Stacks)
    has_traces: bool = False
    steps: tuple[Step, ...] = ()
    covered: Bool = field(default_factory=lambda: np.empty(0, np.bool_))
    misses_accelerator_stream: bool = False
    notes: tuple[Note, ...] = ()
    _kept: dict[object, object] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.nodes.name)

    def keep(self, key: object, make: Callable[[], T]) -> T:
        """What *make* returned the first time this *key* was asked for."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast("T", self._kept[key])

    @property
    def coverage(self) -> float:
        """The share of the nodes that the runs have stats of."""
        return int(self.covered.sum()) / (len(self) + 1e-10)

    @cached_property
    def by_name(self) -> I64:
        """The nodes in byte order of their names."""
        return self.nodes.name.order()

    @cached_property
    def in_graph(self) -> Bool:
        """Which nodes a graph describes; the others only a run names."""
        result = np.zeros(len(self) + 1, np.bool_)
        for source in self.attribute_sources:
            result[source.node] = True  # a row that became no node writes behind the last
        return result[:-1]

    @property
    def graph_names(self) -> str:
        """The files that the attributes are read from, as a message calls them."""
        return ", ".join(source.name for source in self.attribute_sources)

    @cached_property
    def type_pairs(self) -> tuple[I64, I64]:
        """(node, type) of every type of every node, each pair once, by node and type."""
        placed = np.flatnonzero(self.nodes.device >= 0)
        node = np.concatenate([np.arange(len(self)), placed, self.typed_node])
        kind = np.concatenate([self.nodes.op, self.nodes.device[placed], self.typed_as])
        pair = unique(node * max(len(self.types), 1) + kind)
        return pair // max(len(self.types), 1), pair % max(len(self.types), 1)

    @property
    def attributes(self) -> tuple[I64, Strings]:
        """(node, map entry in wire format) of every attribute, by node; read anew each time."""
        nodes, entries = [_empty()], [_no_strings()]
        for source in self.attribute_sources:
            row, entry = source.read()
            kept = source.node[row] >= 0
            nodes.append(source.node[row[kept]])
            entries.append(entry.take(kept))
        # Those of one graph stay where they are: tensors among them may be most of a file.
        joined = entries[-1] if len(entries) <= _ONE_GRAPH else Strings.concat(entries)
        return np.concatenate(nodes), joined

    @cached_property
    def with_run_shapes(self) -> Profile:
        """The same with the shapes of outputs that the graph leaves open and the runs tell."""
        profile = self
        for source in self.shape_sources:
            profile = source(profile)
        return profile

    def values(self, metric: str, step: int | None) -> I64:
        """A metric of every node in one step, or averaged over the steps that have the node."""
        return self.keep(("values", metric, step), lambda: _frozen(self._values(metric, step)))

    def may_be_negative(self, metric: str) -> bool:
        """Whether a sum of the metric over some nodes can be below zero, if only by overflow."""
        return self.keep(("negative", metric), lambda: self._may_be_negative(metric))

    def _may_be_negative(self, metric: str) -> bool:
        if metric in ("params", "float_ops"):
            amounts = [self.nodes.shape.elements() if metric == "params" else self.nodes.float_ops]
        else:
            amounts = [step.amounts(metric) for step in self.steps]
        runs = 1 + sum(step.node.size for step in self.steps)
        largest = sum(float(column.sum(dtype=np.float64)) for column in amounts)
        # Float operations are multiplied by the number of runs, which this bounds.
        runs = max(runs, int(self.times.max(initial=1)))
        largest *= runs if metric == "float_ops" else 1
        return largest > _SAFE_SUM or any(column.min(initial=0) < 0 for column in amounts)

    def _values(self, metric: str, step: int | None) -> I64:
        if metric == "params":
            return self.nodes.shape.elements()
        if metric == "float_ops":
            # parity Q3: a node with a record in any step counts what it ran in this one.
            runs = self.values("occurrence", step)
            return self.nodes.float_ops * np.where(self._records > 0, runs, self._untold_runs(runs))
        total = np.zeros(len(self), np.int64)
        for one in self.steps:
            if step in (None, one.number):
                one.add(metric, total)
        if step is not None:
            return total
        # parity Q25: each node is averaged over the steps it has records in. The division is
        # unsigned, so the average of a negative sum over several steps is a huge number.
        records = np.maximum(self._records, 1).astype(np.uint64)
        return (total.astype(np.uint64) // records).astype(np.int64)

    def _untold_runs(self, runs: I64) -> I64:
        """How often nodes without a record run: as often as the body they are in, if that tells."""
        times = self.times.copy() if self.times.size else np.ones(len(self), np.int64)
        if not self.steps or not len(self.regions):
            return times
        told = self.regions.runs(runs)
        inside = np.flatnonzero(self.regions.of_node >= 0)
        told = told[self.regions.of_node[inside]]
        times[inside[told >= 0]] = told[told >= 0]
        return times

    @cached_property
    def _records(self) -> I64:
        """In how many steps each node has a record."""
        count = np.zeros(len(self), np.int64)
        for one in self.steps:
            count[unique(one.node)] += 1
        return count
