"""Source → columns: the `read` functions of FORMATS, each (source, signature) -> columns.

Only a SavedModel and a MetaGraphDef have signatures. What few files need is imported when one of
them comes: a small graph is read in less time than that takes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.read import graph_def, op_log, run_metadata
from tfprof.read.from_text import in_wire, read_wire
from tfprof.read.run_details import details
from tfprof.read.source import decode
from tfprof.tables.formats import GRAPH, OP_LOG, PROFILE, RUN
from tfprof.wire.decode import BYTES, WireError, scan, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8, Strings
    from tfprof.model import Profile
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns
    from tfprof.read.debug_info import Stacks
    from tfprof.read.source import Source
    from tfprof.read.xplane import TraceColumns


def read_graph_def(source: Source, signature: str | None = None) -> GraphColumns:
    """The nodes of a GraphDef."""
    _check_no_signature(source, signature)
    return _graph(source, graph_def.columns)


def read_graph_text(source: Source, signature: str | None = None) -> GraphColumns:
    """The nodes of a GraphDef in text format."""
    from tfprof.read import text  # noqa: PLC0415

    _check_no_signature(source, signature)
    return replace(text.graph_columns(source), file=source.name)


def read_meta_graph(source: Source, signature: str | None = None) -> GraphColumns:
    """The nodes of a MetaGraphDef, binary or text, or those that a signature needs."""
    if source.format is not None and source.format.message:
        _check_no_signature(source, signature)
    return _graph(source, lambda data: _meta_graph(data, signature))


def read_saved_model(source: Source, signature: str | None = None) -> GraphColumns:
    """The nodes that the signatures of a SavedModel need, or one of them."""
    from tfprof.read import saved_model  # noqa: PLC0415

    return _graph(source, lambda data: saved_model.columns(data, signature))


def read_keras(source: Source, _: str | None = None) -> Profile:
    """The layers and weights of a Keras archive."""
    from tfprof.read import keras_archive  # noqa: PLC0415

    return keras_archive.read_keras(source)


def read_run(source: Source, _: str | None = None) -> RunColumns | None:
    """The executions of a RunMetadata; None where it has no step stats."""
    wire = in_wire(source, RUN)
    columns = decode(wire, RUN, run_metadata.columns)
    if columns is None:
        return None
    # The details may be damaged where the rest is not.
    return replace(columns, details=partial(decode, wire, RUN, details))


def read_trace(source: Source, _: str | None = None) -> TraceColumns:
    """The executions of a trace."""
    from tfprof.read import xplane  # noqa: PLC0415

    return xplane.read_trace(source)


def read_op_log(source: Source, _: str | None = None) -> OpLogColumns:
    """The entries of an op log."""
    return read_wire(source, OP_LOG, op_log.columns)


def read_debug_info(source: Source, _: str | None = None) -> Stacks:
    """The call stacks of a GraphDebugInfo."""
    from tfprof.read import debug_info  # noqa: PLC0415

    return debug_info.read_stacks(source)


def read_checkpoint(checkpoint: Checkpoint, _: str | None = None) -> Strings:
    """The names of the tensors of a checkpoint."""
    return checkpoint.names()


def read_profile(source: Source, _: str | None = None) -> Profile:
    """The profile that a ProfileProto holds."""
    from tfprof.read.saved import profile  # noqa: PLC0415

    return read_wire(source, PROFILE, lambda _: profile(source))


def read_converted(source: Source, _: str | None = None) -> Profile:
    """The profile that a converted profile holds."""
    from tfprof.read import columnar  # noqa: PLC0415

    return columnar.profile(source)


def _graph(source: Source, columns: Callable[[U8], GraphColumns]) -> GraphColumns:
    """What *columns* reads of the wire bytes; the attributes are left where they stand."""
    wire = in_wire(source, GRAPH)
    graph = decode(wire, GRAPH, columns)
    assert graph.attributes is not None, "every reader of a graph can give its attributes"
    return replace(graph, attributes=graph.attributes.within(wire), file=wire.name)


def _check_no_signature(source: Source, signature: str | None) -> None:
    if signature is not None:
        raise UsageError(f"{source.name} has no signatures; --signature={signature} needs one")


def _meta_graph(data: U8, signature: str | None) -> GraphColumns:
    if signature is not None:
        from tfprof.read import saved_model  # noqa: PLC0415

        return saved_model.of_meta_graph(data, signature)
    from tfprof.read.variable_collections import trainable  # noqa: PLC0415

    graphs = scan(data, *whole(data), {2: BYTES})[2]
    if not graphs.start.size:
        raise WireError(0, "no graph in it")
    graph = data[int(graphs.start[-1]) : int(graphs.end[-1])]
    return replace(graph_def.columns(graph), trainable=trainable(data))
