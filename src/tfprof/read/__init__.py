"""load(): the one door in. It tells what each file is, reads it and merges it into a Profile.

    graph ──► op log ──► run 0 ──► run 1 ──► … ──► traces      in this order, as it is needed
    saved or converted profile                      or this alone, which holds all of them

A Source is a name and bytes; who opened it is none of this room's business. What only some files
need is imported when one of them comes: a small graph is read in less time than it takes to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.progress_events import Stage, announce, listening
from tfprof.model import Note, Profile
from tfprof.read import expansion_limits, graph_def, op_log, run_metadata, sniff
from tfprof.read.merge import with_graph
from tfprof.read.merge_op_log import with_op_log
from tfprof.read.merge_run import with_run
from tfprof.read.source import Source, from_text, kind_of, read_as, read_run_as
from tfprof.wire.decode import BYTES, WireError, buffer_view, scan, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.columns.strings import I64, U8, Strings
    from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns

__all__ = [
    "Source",
    "add_run",
    "add_trace",
    "load",
    "read_graph",
    "read_op_log",
    "read_run",
    "read_saved",
    "with_shape_source",
]


class _Sources(NamedTuple):
    """The files that a profile is made of."""

    graph: Source | None
    runs: Sequence[Source]
    log: Source | None
    saved: Source | None
    traces: Sequence[Source]
    debug: Source | None

    def there(self) -> list[Source]:
        """Those that there are, in the order in which they are read."""
        parts = (self.saved, self.graph, self.debug, self.log, *self.runs, *self.traces)
        return [one for one in parts if one is not None]


def load(  # noqa: PLR0913 - one parameter an input
    graph: Source | None = None,
    runs: Sequence[Source] = (),
    log: Source | None = None,
    progress: Callable[[str], None] = lambda _: None,
    saved: Source | None = None,
    *,
    traces: Sequence[Source] = (),
    debug: Source | None = None,
    signature: str | None = None,
) -> Profile:
    """The profile that these files describe; the runs are steps 0, 1, 2 and so on.

    *progress* is told each stage before it begins, and how far all of it is. *debug* says where the
    functions of the graph were made, *signature* names the one of a SavedModel that is meant.
    Raises InputError.
    """
    sources = _Sources(graph, runs, log, saved, traces, debug)
    with listening(progress):
        profile = _load(sources, signature)
    expansion_limits.check(profile, ", ".join(one.name for one in sources.there()))
    return profile


def _load(sources: _Sources, signature: str | None) -> Profile:
    graph, runs, log, saved, traces, debug = sources
    stages = _Stages(sum(one.data.size for one in sources.there()))
    if saved is not None:
        if len(sources.there()) > 1:
            raise UsageError("--profile_path is set, do not set --graph_path or --run_meta_path")
        stages.read(saved)
        return read_saved(saved)
    profile = Profile()
    if graph is not None:
        stages.read(graph)
        profile = _with_graph(profile, graph, signature)
        graph.let_go()
    if debug is not None:
        from tfprof.read import debug_info  # noqa: PLC0415

        stages.read(debug)
        profile = with_op_log(profile, debug_info.op_log(profile, debug))
    if log is not None:
        stages.read(log)
        profile = with_op_log(profile, read_op_log(log))
        log.let_go()
    for step, run in enumerate(runs):
        stages.read(run, f" ({step + 1} of {len(runs)})" if len(runs) > 1 else "")
        profile = add_run(profile, step, run)
        run.let_go()
    for trace in traces:
        stages.read(trace)
        profile = add_trace(profile, trace)
    return profile


class _Stages:
    """Tells which file is read, and how many bytes stand in those before it and in all."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0

    def read(self, source: Source, place: str = "") -> None:
        """Say that *source* is read from now on."""
        announce(Stage(f"reading {source.name}{place}", self._done, self._total))
        self._done += source.data.size


def _with_graph(profile: Profile, graph: Source, signature: str | None) -> Profile:
    if graph.data.size and sniff.kind_of(buffer_view(graph.data)) is sniff.KERAS:
        from tfprof.read.keras_archive import read_keras  # noqa: PLC0415

        return read_keras(graph)
    columns = read_graph(graph, signature)
    grown = with_graph(profile, columns)
    if columns.trainable is None:
        return grown
    from tfprof.read.variable_collections import MODEL, with_listed, with_trainable  # noqa: PLC0415

    grown = with_trainable(grown, columns.trainable)
    if columns.model_variables is None:
        return grown
    return with_listed(grown, columns.model_variables, MODEL)


def add_run(profile: Profile, step: int, run: Source) -> Profile:
    """*profile* with one more run; one without step stats adds only a note."""
    columns = read_run(run)
    if columns is None:
        note = Note(f"Invalid RunMetadata for step {step}")
        return replace(profile, notes=(*profile.notes, note))
    return with_shape_source(with_run(profile, step, columns), run)


def add_trace(profile: Profile, trace: Source) -> Profile:
    """*profile* with the steps of a trace (XSpace) more."""
    from tfprof.read import xplane  # noqa: PLC0415

    return xplane.with_trace(profile, xplane.read_trace(trace))


def with_shape_source(profile: Profile, run: Source) -> Profile:
    """*profile*, to be told by *run*, when needed, the shapes that its graph leaves open."""

    def tell(profile: Profile) -> Profile:
        from tfprof.read.run_shapes import with_run_shapes  # noqa: PLC0415

        return with_run_shapes(profile, run)

    return replace(profile, shape_sources=(*profile.shape_sources, tell))


def read_graph(source: Source, signature: str | None = None) -> GraphColumns:
    """The columns of a GraphDef, MetaGraphDef or SavedModel, binary or text.

    *signature* names the one of several ways to run it that is meant.
    """
    expected = "a GraphDef or MetaGraphDef, binary or text, or a SavedModel"
    kind = kind_of(source, expected, *_GRAPHS)
    if signature is not None and kind not in _WITH_SIGNATURES:
        raise UsageError(f"{source.name} has no signatures, of which {signature!r} could be one")
    if kind is sniff.SAVED_MODEL:
        from tfprof.read import saved_model  # noqa: PLC0415

        columns = read_as(source, expected, lambda data: saved_model.columns(data, signature))
    elif kind is sniff.GRAPH_TEXT:
        from tfprof.read import text  # noqa: PLC0415

        columns = text.graph_columns(source.data, source.name)
    elif kind in (sniff.META_GRAPH, sniff.META_GRAPH_TEXT):
        if kind is sniff.META_GRAPH_TEXT:
            source = from_text(source, "tensorflow.MetaGraphDef")
        columns = read_as(source, expected, lambda data: _meta_columns(data, signature))
    else:
        columns = read_as(source, expected, graph_def.columns)
    read = columns.attributes
    assert read is not None, "every reader of a graph can give its attributes"

    def attributes() -> tuple[I64, Strings]:
        source.check()
        return read()

    return replace(columns, attributes=attributes, file=source.name)


def read_run(source: Source) -> RunColumns | None:
    """The columns of a RunMetadata; None where it has no step stats."""
    columns = read_run_as(source, run_metadata.columns)
    if columns is None or columns.details is None:
        return columns
    tell = columns.details
    # They are read when a graph with functions asks, and may be damaged where the rest is not.
    return replace(columns, details=lambda: read_as(source, "a RunMetadata", lambda _: tell()))


def read_op_log(source: Source) -> OpLogColumns:
    """The columns of an OpLogProto."""
    expected = "an op log (OpLogProto)"
    if kind_of(source, expected, sniff.OP_LOG, sniff.OP_LOG_TEXT) is sniff.OP_LOG_TEXT:
        source = from_text(source, "tensorflow.tfprof.OpLogProto")
    return read_as(source, expected, op_log.columns)


def read_saved(source: Source) -> Profile:
    """The profile that a ProfileProto or a converted profile holds."""
    expected = "a saved profile (ProfileProto)"
    if kind_of(source, expected, sniff.PROFILE, sniff.CONVERTED) is sniff.CONVERTED:
        from tfprof.read import columnar  # noqa: PLC0415

        return columnar.profile(source)
    from tfprof.read.saved import profile  # noqa: PLC0415

    return read_as(source, expected, lambda data: profile(data, source.name))


_WITH_SIGNATURES = (sniff.SAVED_MODEL, sniff.META_GRAPH)
_GRAPHS = (sniff.GRAPH, sniff.GRAPH_TEXT, sniff.META_GRAPH_TEXT, *_WITH_SIGNATURES)


def _meta_columns(data: U8, signature: str | None) -> GraphColumns:
    if signature is not None:
        from tfprof.read import saved_model  # noqa: PLC0415

        return saved_model.of_meta_graph(data, signature)
    from tfprof.read.variable_collections import trainable  # noqa: PLC0415

    return replace(graph_def.columns(_graph_of_meta(data)), trainable=trainable(data))


def _graph_of_meta(data: U8) -> U8:
    """The GraphDef inside a MetaGraphDef."""
    graphs = scan(data, *whole(data), {2: BYTES})[2]
    if not graphs.start.size:
        raise WireError(0, "no graph in it")
    start, end = int(graphs.start[-1]), int(graphs.end[-1])
    return data[start:end]
