"""The contents of each kind of file as columns: what a format's reader passes to the merge.

    text or wire bytes ──graph_def──► GraphColumns ─┐
    wire bytes ─────run_metadata────► RunColumns   ─┼─► merge ──► Profile
    wire bytes ─────────op_log──────► OpLogColumns ─┘

The strings are slices of the file's bytes; the merge copies those that the Profile needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.strings import I64, U8, Strings
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.model import NO_REGIONS, Note, Regions
from tfprof.read.source import Source
from tfprof.wire.decode import BYTES, scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.keras_layer import KerasLayer
    from tfprof.columns.shapes import Shapes
    from tfprof.wire.decode import Field

NODE_DEF_ATTRIBUTES = 5  # the number of the field


class RunDetails(NamedTuple):
    """The operation type of each stat, and where renamed nodes came from."""

    op: Strings  # empty if unknown
    renamed: dict[bytes, tuple[bytes, bytes]]  # by name: (original name, function)


class NodeAttributes(Protocol):
    """Attributes to be read later; a map entry is in wire format."""

    def __call__(self) -> tuple[I64, Strings]:
        """(row, map entry) of each attribute, by row."""

    def within(self, source: Source) -> NodeAttributes:
        """The same, read from *source*, which contains their bytes."""


@dataclass(frozen=True, eq=False)
class StoredAttributes(Frozen):
    """Attributes in a file, one row each: its row of the graph, and where its map entry is."""

    source: Source
    owner: I64
    start: I64
    length: I64

    @classmethod
    def of(cls, buffer: U8, entry: Field) -> StoredAttributes:
        """The map entries of this field in *buffer*."""
        return cls(Source("the graph", buffer), entry.message, entry.start, entry.value)

    def __call__(self) -> tuple[I64, Strings]:
        """(row, map entry) of each attribute, by row."""
        self.source.check()
        return self.owner, Strings(self.source.data, self.start, self.length)

    def within(self, source: Source) -> StoredAttributes:
        """The same, read from *source*, which contains their bytes."""
        return replace(self, source=source, start=_moved(self.start, self.source, source))


def _moved(start: I64, inner: Source, outer: Source) -> I64:
    """The places *start* of *inner* in *outer*, which contains its bytes."""
    offset = _address(inner.data) - _address(outer.data) if start.size else 0
    assert 0 <= offset <= outer.data.size
    return start + offset if offset else start


@dataclass(frozen=True, eq=False)
class NodeDefAttributes(Frozen):
    """The attributes of the NodeDefs in a file, one row per node: they are found when asked for."""

    source: Source
    start: I64
    length: I64

    def __call__(self) -> tuple[I64, Strings]:
        """(row, map entry) of each attribute, by row."""
        self.source.check()
        data, end = self.source.data, self.start + self.length
        entry = scan(data, self.start, end, {NODE_DEF_ATTRIBUTES: BYTES})[NODE_DEF_ATTRIBUTES]
        return entry.message, entry.strings(data)

    def within(self, source: Source) -> NodeDefAttributes:
        """The same, read from *source*, which contains their bytes."""
        return replace(self, source=source, start=_moved(self.start, self.source, source))


def _address(data: U8) -> int:
    address: int = data.__array_interface__["data"][0]
    return address


def runs(start: I64, length: I64) -> tuple[I64, I64]:
    """(run, number) of all numbers of the runs start, start + 1, … of these lengths."""
    owner = np.repeat(np.arange(start.size), length)
    before = np.cumsum(length) - length
    return owner, np.arange(owner.size) + np.repeat(start - before, length)


def members(start: I64, owners: I64) -> I64:
    """The rows of the lists of *owners*; list i is start[i]:start[i + 1]."""
    return runs(start[owners], np.diff(start)[owners])[1]


@dataclass(frozen=True, eq=False)
class GraphColumns:
    """A GraphDef: one row per NodeDef, in file order."""

    name: Strings
    op: Strings
    input_node: I64  # the node of each input; the inputs of a node are adjacent, in order
    input_name: Strings  # as written: "^x", "x:1"; with a source, the name alone
    shape_node: I64  # the nodes whose attribute `shape` holds a shape; ascending, each once
    shape: Shapes
    output_node: I64  # the node of each shape listed in its attribute `_output_shapes`, in order
    output_shape: Shapes
    attributes: NodeAttributes | None = None  # read on demand
    file: str = "the graph"  # its name in messages
    trainable: Strings | None = None  # the nodes listed as trainable variables; None: no list
    model_variables: Strings | None = None  # the nodes it lists as weights of a model
    regions: Regions = NO_REGIONS  # of the rows of this graph
    layers: tuple[KerasLayer, ...] = ()
    notes: tuple[Note, ...] = ()
    source: tuple[I64, I64] | None = None  # (row, output) of each input, where names do not say it


@dataclass(frozen=True, eq=False)
class RunColumns:
    """The step stats of a RunMetadata: one row per NodeExecStats, in file order."""

    device: Strings  # as written, one row per device
    stat_device: I64
    name: Strings
    start_us: I64
    end_rel_us: I64
    total_bytes: I64  # these three are sums over all allocators
    peak_bytes: I64
    live_bytes: I64
    gpu_allocators: I64  # how many allocators had GPU in their name
    bytes_in_use: I64  # the most that one of those had in use
    temp_bytes: I64
    persistent_bytes: I64
    allocation_stat: I64  # the stat of each allocation record of a GPU allocator, in order
    allocation_us: I64
    allocation_bytes: I64
    output_stat: I64  # the stat of each output that was allocated, in order
    output_slot: I64
    output_bytes: I64
    output_pointer: I64
    output: Field  # the NodeOutput messages of the stats
    # Reads, on demand, what only graphs with functions need.
    details: Callable[[], RunDetails] | None = None


@dataclass(frozen=True, eq=False)
class OpLogColumns:
    """An OpLogProto: one row per log entry, in file order."""

    name: Strings
    float_ops: I64
    type_entry: I64  # the entry each type string belongs to
    type: Strings
    stack: I64  # of each entry: a row of `stack_start`, or -1 if it has no code_def
    stack_start: I64  # the frames of stack s are frames[stack_start[s]:stack_start[s + 1]]
    frame_file: I64  # a value of string_id, like the function and the source
    frame_line: I64
    frame_function: I64
    frame_function_line: I64
    frame_source: I64
    string_id: I64
    string: Strings
