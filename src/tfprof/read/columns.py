"""What each kind of file holds, as columns: the hand-over from a format's reader to the merge.

    text or wire bytes ──graph_def──► GraphColumns ─┐
    wire bytes ─────run_metadata────► RunColumns   ─┼─► merge ──► Profile
    wire bytes ─────────op_log──────► OpLogColumns ─┘

The strings are slices of the file's own bytes; the merge copies what the Profile keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.model import NO_REGIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.shapes import Shapes
    from tfprof.columns.strings import I64, Strings
    from tfprof.model import Note, Regions
    from tfprof.read.attributes import NodeAttributes
    from tfprof.read.run_details import RunDetails


@dataclass(frozen=True, eq=False)
class GraphColumns:
    """A GraphDef: a row a NodeDef, in the order of the file."""

    name: Strings
    op: Strings
    input_node: I64  # the node each input belongs to; inputs of a node stand together, in order
    input_name: Strings  # as written: "^x", "x:1"
    shape_node: I64  # the nodes with an attribute `shape` that holds one; ascending, each once
    shape: Shapes
    output_node: I64  # the node of each shape listed in its attribute `_output_shapes`, in order
    output_shape: Shapes
    attributes: NodeAttributes | None = None  # read when called
    file: str = "the graph"  # as messages call it
    trainable: Strings | None = None  # the nodes of variables that a MetaGraphDef lists as such
    model_variables: Strings | None = None  # likewise those that are weights of a model
    regions: Regions = NO_REGIONS  # of the rows of this graph
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, eq=False)
class RunColumns:
    """The step stats of a RunMetadata: a row a NodeExecStats, in the order of the file."""

    device: Strings  # as written, a row a device
    stat_device: I64
    name: Strings
    start_us: I64
    end_rel_us: I64
    total_bytes: I64  # these three: sums over all allocators
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
    # Read when called: only a graph with functions needs them.
    details: Callable[[], RunDetails] | None = None


@dataclass(frozen=True, eq=False)
class OpLogColumns:
    """An OpLogProto: a row a log entry, in the order of the file."""

    name: Strings
    float_ops: I64
    type_entry: I64  # the entry each type string belongs to
    type: Strings
    stack: I64  # of each entry: a row of `stack_start`, or -1 where there is no code_def
    stack_start: I64  # the frames of stack s are frames[stack_start[s]:stack_start[s + 1]]
    frame_file: I64  # these are ids, to be looked up in string_id
    frame_line: I64
    frame_function: I64
    frame_function_line: I64
    frame_source: I64
    string_id: I64
    string: Strings
