"""load(): the one door in. It tells what each file is, reads it and merges it into a Profile.

    graph ──► op log ──► run 0 ──► run 1 ──► …      in this order, whatever the order given
    saved or converted profile                      or this alone, which holds all of them

A Source is a name and bytes; who opened it is none of this room's business. What only some files
need is imported when one of them comes: a small graph is read in less time than it takes to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.errors import UsageError
from tfprof.light_dataclasses import replace
from tfprof.model import Note, Profile
from tfprof.read import graph_def, op_log, run_metadata, shared_texts, sniff
from tfprof.read.merge import with_graph
from tfprof.read.merge_op_log import with_op_log
from tfprof.read.merge_run import with_run
from tfprof.read.source import Source, from_text, kind_of, read_as, read_run_as
from tfprof.read.wire import BYTES, WireError, scan, whole
from tfprof.stage import Stage, listening, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns
    from tfprof.strings import I64, U8, Strings

__all__ = [
    "Source",
    "add_run",
    "load",
    "read_graph",
    "read_op_log",
    "read_run",
    "read_saved",
    "with_shape_source",
]


def load(
    graph: Source | None = None,
    runs: Sequence[Source] = (),
    log: Source | None = None,
    progress: Callable[[str], None] = lambda _: None,
    saved: Source | None = None,
) -> Profile:
    """The profile that these files describe; the runs are steps 0, 1, 2 and so on.

    *progress* is told each stage before it begins, and how far all of it is. Raises InputError.
    """
    with listening(progress):
        profile = _load(graph, runs, log, saved)
    sources = [one for one in (saved, graph, log, *runs) if one is not None]
    shared_texts.check(profile, ", ".join(one.name for one in sources))
    return profile


def _load(
    graph: Source | None, runs: Sequence[Source], log: Source | None, saved: Source | None
) -> Profile:
    sources = [one for one in (saved, graph, log, *runs) if one is not None]
    stages = _Stages(sum(one.data.size for one in sources))
    if saved is not None:
        if graph is not None or runs or log is not None:
            raise UsageError("--profile_path is set, do not set --graph_path or --run_meta_path")
        stages.read(saved)
        return read_saved(saved)
    profile = Profile()
    if graph is not None:
        stages.read(graph)
        profile = _with_graph(profile, read_graph(graph))
        graph.let_go()
    if log is not None:
        stages.read(log)
        profile = with_op_log(profile, read_op_log(log))
        log.let_go()
    for step, run in enumerate(runs):
        stages.read(run, f" ({step + 1} of {len(runs)})" if len(runs) > 1 else "")
        profile = add_run(profile, step, run)
        run.let_go()
    return profile


class _Stages:
    """Tells which file is read, and how many bytes stand in those before it and in all."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0

    def read(self, source: Source, place: str = "") -> None:
        """Say that *source* is read from now on."""
        tell(Stage(f"reading {source.name}{place}", self._done, self._total))
        self._done += source.data.size


def _with_graph(profile: Profile, columns: GraphColumns) -> Profile:
    grown = with_graph(profile, columns)
    if columns.trainable is None:
        return grown
    from tfprof.read.trainable import with_trainable  # noqa: PLC0415

    return with_trainable(grown, columns.trainable)


def add_run(profile: Profile, step: int, run: Source) -> Profile:
    """*profile* with one more run; one without step stats adds only a note."""
    columns = read_run(run)
    if columns is None:
        note = Note(f"Invalid RunMetadata for step {step}")
        return replace(profile, notes=(*profile.notes, note))
    return with_shape_source(with_run(profile, step, columns), run)


def with_shape_source(profile: Profile, run: Source) -> Profile:
    """*profile*, to be told by *run*, when needed, the shapes that its graph leaves open."""

    def tell(profile: Profile) -> Profile:
        from tfprof.read.run_shapes import with_run_shapes  # noqa: PLC0415

        return with_run_shapes(profile, run)

    return replace(profile, shape_sources=(*profile.shape_sources, tell))


def read_graph(source: Source) -> GraphColumns:
    """The columns of a GraphDef or MetaGraphDef, binary or text."""
    expected = "a GraphDef or MetaGraphDef, binary or text"
    kind = kind_of(source, expected, sniff.GRAPH, sniff.META_GRAPH, *_GRAPH_TEXTS)
    if kind is sniff.GRAPH_TEXT:
        from tfprof.read import text  # noqa: PLC0415

        columns = text.graph_columns(source.data, source.name)
    elif kind in (sniff.META_GRAPH, sniff.META_GRAPH_TEXT):
        if kind is sniff.META_GRAPH_TEXT:
            source = from_text(source, "tensorflow.MetaGraphDef")
        columns = read_as(source, expected, _meta_columns)
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
    return read_run_as(source, run_metadata.columns)


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


_GRAPH_TEXTS = (sniff.GRAPH_TEXT, sniff.META_GRAPH_TEXT)


def _meta_columns(data: U8) -> GraphColumns:
    from tfprof.read.trainable import trainable  # noqa: PLC0415

    return replace(graph_def.columns(_graph_of_meta(data)), trainable=trainable(data))


def _graph_of_meta(data: U8) -> U8:
    """The GraphDef inside a MetaGraphDef."""
    graphs = scan(data, *whole(data), {2: BYTES})[2]
    if not graphs.start.size:
        raise WireError(0, "no graph in it")
    start, end = int(graphs.start[-1]), int(graphs.end[-1])
    return data[start:end]
