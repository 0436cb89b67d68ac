"""load(): the one door in. It tells what each file is, reads it and merges it into a Profile.

    graph ──► op log ──► run 0 ──► run 1 ──► …      in this order, whatever the order given
    saved profile                                   or this alone, which holds all of them

A Source is a name and bytes; who opened it is none of this room's business.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from tfprof.errors import InputError, UsageError
from tfprof.model import Note, Profile
from tfprof.read import graph_def, op_log, run_metadata, sniff, text
from tfprof.read.merge import with_graph
from tfprof.read.merge_op_log import with_op_log
from tfprof.read.merge_run import with_run
from tfprof.read.saved import profile as saved_profile
from tfprof.read.wire import BYTES, WireError, buffer_view, scan, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns
    from tfprof.strings import I64, U8, Strings

T = TypeVar("T")


class Source(NamedTuple):
    """A file's content and the name that messages call it by."""

    name: str
    data: U8
    # Raises InputError where the file was changed under us since; data may be a map of it.
    check: Callable[[], None] = lambda: None


def load(
    graph: Source | None = None,
    runs: Sequence[Source] = (),
    log: Source | None = None,
    progress: Callable[[str], None] = lambda _: None,
    saved: Source | None = None,
) -> Profile:
    """The profile that these files describe; the runs are steps 0, 1, 2 and so on.

    *progress* is told each stage before it begins. Raises InputError.
    """
    if saved is not None:
        if graph is not None or runs or log is not None:
            raise UsageError("--profile_path is set, do not set --graph_path or --run_meta_path")
        progress(f"reading {saved.name}")
        return read_saved(saved)
    profile = Profile()
    if graph is not None:
        progress(f"reading {graph.name}")
        profile = with_graph(profile, read_graph(graph))
    if log is not None:
        progress(f"reading {log.name}")
        profile = with_op_log(profile, read_op_log(log))
    for step, run in enumerate(runs):
        progress(f"reading {run.name}")
        profile = add_run(profile, step, run)
    return profile


def add_run(profile: Profile, step: int, run: Source) -> Profile:
    """*profile* with one more run; one without step stats adds only a note."""
    columns = read_run(run)
    if columns is None:
        note = Note(f"Invalid RunMetadata for step {step}")
        return replace(profile, notes=(*profile.notes, note))
    return with_run(profile, step, columns)


def read_graph(source: Source) -> GraphColumns:
    """The columns of a GraphDef or MetaGraphDef, binary or text."""
    expected = "a GraphDef or MetaGraphDef, binary or text"
    kind = _kind(source, expected, sniff.GRAPH, sniff.META_GRAPH, *_GRAPH_TEXTS)
    if kind is sniff.GRAPH_TEXT:
        columns = text.graph_columns(source.data, source.name)
    elif kind in (sniff.META_GRAPH, sniff.META_GRAPH_TEXT):
        if kind is sniff.META_GRAPH_TEXT:
            source = _from_text(source, "tensorflow.MetaGraphDef")
        columns = _read(source, expected, lambda data: graph_def.columns(_graph_of_meta(data)))
    else:
        columns = _read(source, expected, graph_def.columns)
    read = columns.attributes
    assert read is not None, "every reader of a graph can give its attributes"

    def attributes() -> tuple[I64, Strings]:
        source.check()
        return read()

    return replace(columns, attributes=attributes)


def read_run(source: Source) -> RunColumns | None:
    """The columns of a RunMetadata; None where it has no step stats."""
    expected = "a RunMetadata"
    if _kind(source, expected, sniff.RUN, sniff.RUN_TEXT) is sniff.RUN_TEXT:
        source = _from_text(source, "tensorflow.RunMetadata")
    return _read(source, expected, run_metadata.columns)


def read_op_log(source: Source) -> OpLogColumns:
    """The columns of an OpLogProto."""
    expected = "an op log (OpLogProto)"
    if _kind(source, expected, sniff.OP_LOG, sniff.OP_LOG_TEXT) is sniff.OP_LOG_TEXT:
        source = _from_text(source, "tensorflow.tfprof.OpLogProto")
    return _read(source, expected, op_log.columns)


def read_saved(source: Source) -> Profile:
    """The profile that a ProfileProto holds."""
    expected = "a saved profile (ProfileProto)"
    _kind(source, expected, sniff.PROFILE)
    return _read(source, expected, saved_profile)


_GRAPH_TEXTS = (sniff.GRAPH_TEXT, sniff.META_GRAPH_TEXT)


def _kind(source: Source, expected: str, *accepted: sniff.Kind) -> sniff.Kind | None:
    """The kind of *source*, None where it shows none; an error where it is plainly another."""
    if not source.data.size:
        raise InputError(f"{source.name} is empty; expected {expected}")
    kind = sniff.kind_of(buffer_view(source.data))
    if kind is not None and kind not in accepted:
        raise InputError(f"{source.name} is {kind.title}; expected {expected}")
    return kind


def _from_text(source: Source, message: str) -> Source:
    wire = text.to_wire(source.data.tobytes(), message, source.name)
    return Source(source.name, np.frombuffer(wire, np.uint8))


def _read(source: Source, expected: str, columns: Callable[[U8], T]) -> T:
    try:
        return columns(source.data)
    except WireError as problem:
        raise InputError(
            f"{source.name} is damaged or cut off, or not {expected}: {problem}"
        ) from None


def _graph_of_meta(data: U8) -> U8:
    """The GraphDef inside a MetaGraphDef."""
    graphs = scan(data, *whole(data), {2: BYTES})[2]
    if not graphs.start.size:
        raise WireError(0, "no graph in it")
    start, end = int(graphs.start[-1]), int(graphs.end[-1])
    return data[start:end]
