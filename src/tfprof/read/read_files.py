"""Source → columns → Profile: the `read` and `add` functions of FORMATS.

A `read` function takes a Source. An `add` function is (profile, columns, source, step) -> Profile;
only runs have a step. What few files need is imported when one of them comes: a small graph is read
in less time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Note, Profile, own_notes
from tfprof.read import graph_def, op_log, run_metadata
from tfprof.read.merge import with_extra_type, with_graph
from tfprof.read.merge_run import with_run
from tfprof.read.op_log import with_op_log
from tfprof.read.run_metadata import details
from tfprof.read.source import Source, decode, format_for
from tfprof.tables.formats import GRAPH, OP_LOG, PROFILE, RUN, Input
from tfprof.wire.decode import BYTES, WireError, scan, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8, Strings
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns
    from tfprof.read.debug_info import Stacks
    from tfprof.read.xplane import TraceColumns

T = TypeVar("T")


def in_wire(source: Source, row: Input) -> Source:
    """*source* in wire format: text is converted. Raises InputError."""
    message = format_for(source, row).message
    if not message:
        return source
    from tfprof.read.text import TextSource  # noqa: PLC0415 - most files are binary

    return TextSource(source, message)


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
    source: Source, signature: str | None = None, *, functions: bool = True
) -> GraphColumns:
    """The nodes that the signatures of a SavedModel need, or one of them."""
    from tfprof.read import saved_model  # noqa: PLC0415

    read = partial(saved_model.columns, signature=signature, functions=functions)
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


# --- add ---


def add_graph(profile: Profile, columns: GraphColumns, source: Source, _: int = 0) -> Profile:
    """*profile* with the nodes of a graph, and the types of its variables where they are listed."""
    grown = with_graph(profile, columns)
    source.let_go()
    if columns.trainable is None and columns.model_variables is None:
        return grown
    from tfprof.read.saved_model import MODEL, TRAINABLE  # noqa: PLC0415

    for names, kind in ((columns.trainable, TRAINABLE), (columns.model_variables, MODEL)):
        if names is not None:  # an empty list says something, too
            grown = with_extra_type(grown, names, kind)
    return grown


def add_run(profile: Profile, columns: RunColumns | None, source: Source, step: int) -> Profile:
    """*profile* with one more run; one without step stats adds only a note."""
    if columns is None:
        note = Note(f"Invalid RunMetadata for step {step}")
        return replace(profile, notes=(*profile.notes, note))
    grown = with_shape_source(with_run(profile, step, columns), source)
    source.let_go()
    return grown


def with_shape_source(profile: Profile, run: Source) -> Profile:
    """*profile*, which reads shapes that its graph leaves open from *run* when they are needed."""
    return replace(profile, shape_sources=(*profile.shape_sources, partial(_run_shapes, run)))


def _run_shapes(run: Source, profile: Profile) -> Profile:
    from tfprof.read.run_shapes import with_run_shapes  # noqa: PLC0415

    return with_run_shapes(profile, run)


def add_op_log(profile: Profile, columns: OpLogColumns, source: Source, _: int = 0) -> Profile:
    """*profile* with the data of an op log on its nodes."""
    grown = with_op_log(profile, columns)
    source.let_go()
    return grown


def add_debug_info(profile: Profile, stacks: Stacks, _: Source, __: int = 0) -> Profile:
    """*profile* with the call stacks of a GraphDebugInfo."""
    from tfprof.read.debug_info import stack_columns  # noqa: PLC0415

    return with_op_log(profile, stack_columns(profile, stacks))


def add_trace(profile: Profile, columns: TraceColumns, _: Source, __: int = 0) -> Profile:
    """*profile* with the steps of a trace."""
    from tfprof.read import xplane  # noqa: PLC0415

    return xplane.with_trace(profile, columns)


def add_notes(profile: Profile, notes: list[str], _: Source, __: int = 0) -> Profile:
    """*profile* with the notes of a capture."""
    return replace(profile, notes=(*profile.notes, *own_notes(notes)))


def add_checkpoint(profile: Profile, names: Strings, _: Checkpoint, __: int = 0) -> Profile:
    """*profile* whose nodes with values in a checkpoint have a type of their own."""
    from tfprof.read.saved_model import CHECKPOINT  # noqa: PLC0415

    return with_extra_type(profile, names, CHECKPOINT)


def take_profile(_: Profile, columns: Profile, __: Source, ___: int = 0) -> Profile:
    """The profile that a file holds: nothing was added before it."""
    return columns
