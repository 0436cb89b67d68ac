"""Source → columns: the `read` functions of formats that share a reader, or need a few lines more.

What few files need is imported when one of them comes: a small graph is read in less time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from tfprof.foundation.dotted import load_function
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.read import graph_def, op_log, run_metadata
from tfprof.read.run_metadata import details
from tfprof.read.source import Source, decode, format_for
from tfprof.tables.formats import GRAPH, OP_LOG, PROFILE, RUN, Input
from tfprof.wire.decode import BYTES, WireError, scan, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8, Strings
    from tfprof.model import Profile
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns

T = TypeVar("T")


def in_wire(source: Source, row: Input) -> Source:
    """*source* in wire format: text and chunks are converted. Raises InputError."""
    form = format_for(source, row)
    if not form.message:
        return source
    converted: Source = load_function(form.converter)(source, form.message)
    return converted


def read_wire(source: Source, row: Input, columns: Callable[[U8], T]) -> T:
    """Call *columns* with the wire bytes of *source*, binary or text; raises InputError."""
    return decode(in_wire(source, row), row, columns)


def read_graph_def(source: Source, *, functions: bool = True) -> GraphColumns:
    """The nodes of a GraphDef."""
    return _graph(source, partial(graph_def.columns, functions=functions))


def read_graph_text(source: Source, *, functions: bool = True) -> GraphColumns:
    """The nodes of a GraphDef in text format."""
    from tfprof.read import text  # noqa: PLC0415

    return replace(text.graph_columns(source, functions=functions), file=source.name)


def read_meta_graph(
    source: Source, signature: str | None = None, *, functions: bool = True
) -> GraphColumns:
    """The nodes of a MetaGraphDef, binary or text, or those that a signature needs."""
    return _graph(source, lambda data: _meta_graph(data, signature, functions=functions))


def read_saved_model(
    source: Source, signature: str | None = None, tag: str | None = None, *, functions: bool = True
) -> GraphColumns:
    """The nodes that the signatures of a SavedModel need, or one of them, in any form."""
    from tfprof.read import saved_model  # noqa: PLC0415

    read = partial(saved_model.columns, signature=signature, tag=tag, functions=functions)
    return _graph(source, read)


def read_run(source: Source) -> RunColumns | None:
    """The executions of a RunMetadata; None where it has no step stats."""
    wire = in_wire(source, RUN)
    columns = decode(wire, RUN, run_metadata.columns)
    if columns is None:
        return None
    # The details may be damaged where the rest is not.
    return replace(columns, details=partial(decode, wire, RUN, details))


def read_op_log(source: Source) -> OpLogColumns:
    """The entries of an op log."""
    return read_wire(source, OP_LOG, op_log.columns)


def read_checkpoint(checkpoint: Checkpoint) -> Strings:
    """The names of the tensors of a checkpoint."""
    return checkpoint.names()


def read_profile(source: Source) -> Profile:
    """The profile that a ProfileProto holds."""
    from tfprof.read.saved import profile  # noqa: PLC0415

    return read_wire(source, PROFILE, lambda _: profile(source))


def _graph(source: Source, columns: Callable[[U8], GraphColumns]) -> GraphColumns:
    """The columns of the wire bytes; the attributes stay in the file."""
    wire = in_wire(source, GRAPH)
    graph = decode(wire, GRAPH, columns)
    assert graph.attributes is not None, "every reader of a graph can give its attributes"
    return replace(graph, attributes=graph.attributes.within(wire), file=wire.name)


def _meta_graph(data: U8, signature: str | None, *, functions: bool) -> GraphColumns:
    if signature is not None:
        from tfprof.read import saved_model  # noqa: PLC0415

        return saved_model.of_meta_graph(data, signature)
    from tfprof.read.saved_model import trainable  # noqa: PLC0415

    graphs = scan(data, *whole(data), {2: BYTES})[2]
    if not graphs.start.size:
        raise WireError(0, "no graph in it")
    graph = data[int(graphs.start[-1]) : int(graphs.end[-1])]
    columns = graph_def.columns(graph, functions=functions)
    return replace(columns, trainable=trainable(data))
