"""Reads event files of TensorBoard: the graph, the runs and the layers that they hold.

    graph       the last GraphDef or MetaGraphDef; without one, the model that Keras stored; else
                the largest function of the last trace_export
    steps       the runs, numbered by the steps of their events; a note lists their tags
    layers      of the model that Keras stored

The files of one folder are read as one file: a program that starts again writes a new one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.units import plural
from tfprof.model import Profile, own_notes
from tfprof.read.events.parts import FUNCTIONS, GRAPH, META_GRAPH, MODEL, RUN, Contents, Part
from tfprof.read.events.parts import contents as contents_of
from tfprof.read.events.parts import damaged
from tfprof.read.source import Source
from tfprof.wire.decode import BYTES, WireError, scan, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.columns.keras_layer import KerasLayer
    from tfprof.columns.strings import I64, U8
    from tfprof.read.columns import GraphColumns, RunColumns

_MOST_TAGS = 8


class EventFiles(Source):
    """The event files of one folder as one source, oldest first."""

    def __init__(self, files: Sequence[Source]) -> None:
        super().__init__(files[-1].name, files[-1].data)
        self.files = files


class EventColumns(NamedTuple):
    """What event files hold."""

    graph: GraphColumns | Profile | None  # a Profile: the model that Keras stored
    runs: list[tuple[int, RunColumns | None, Part]]  # with their steps
    layers: tuple[KerasLayer, ...]
    notes: list[str]


def contents(source: Source) -> Contents:
    """The parts of all event files of *source*, in order; raises InputError."""
    read = [contents_of(file) for file in files_of(source)]
    parts = [part for file in read for part in file.parts]
    return Contents(parts, sum(file.records for file in read), any(file.cut_off for file in read))


def files_of(source: Source) -> Sequence[Source]:
    """The event files that *source* stands for."""
    return source.files if isinstance(source, EventFiles) else [source]


def read_events(source: Source, *, functions: bool = True) -> EventColumns:
    """The graph, the runs and the layers of event files; raises InputError."""
    parts, records, cut_off = contents(source)
    by_kind: dict[str, list[Part]] = {kind: [] for kind in (GRAPH, FUNCTIONS, MODEL, RUN)}
    for part in parts:
        by_kind[GRAPH if part.kind == META_GRAPH else part.kind].append(part)
    notes: list[str] = []
    if cut_off:
        notes.append(f"{source.name} ends inside a record, which is ignored: it may still be growing")
    models = by_kind[MODEL]
    config = _config(models[-1]) if models else None
    graph, layers = _graph(by_kind, config, notes, functions=functions)
    runs = [*_runs([*by_kind[RUN], *by_kind[FUNCTIONS]], notes)]
    if graph is None and not runs:
        what = f"{plural(records, 'record')}, but no graph, model or run"
        raise InputError(f"{source.name} is an event file without a graph: it has {what}")
    return EventColumns(graph, runs, layers, notes)


# --- the graph ------------------------------------------------------------------------------------


def _graph(
    by_kind: dict[str, list[Part]], config: Any, notes: list[str], *, functions: bool  # noqa: ANN401 - out of a file
) -> tuple[GraphColumns | Profile | None, tuple[KerasLayer, ...]]:
    """(the graph to use, the layers of the model)."""
    from tfprof.read.read_files import read_graph_def, read_meta_graph  # noqa: PLC0415 - a cycle

    model = _model(by_kind[MODEL][-1], config) if config is not None else None
    if by_kind[GRAPH]:
        part = _last_graph(by_kind[GRAPH], notes)
        part.check_event()
        read = read_meta_graph if part.kind == META_GRAPH else read_graph_def
        return read(part, functions=functions), model.layers if model else ()
    if model is not None:
        return model, model.layers
    if by_kind[FUNCTIONS]:
        part = by_kind[FUNCTIONS][-1]
        part.check_event()
        largest = _largest_function(part, notes)
        return largest and read_graph_def(largest, functions=functions), ()
    return None, ()


def _last_graph(graphs: list[Part], notes: list[str]) -> Part:
    """The last graph; of the same graph, the MetaGraphDef, which has its collections."""
    last = graphs[-1]
    if len(graphs) == 1:
        return last
    names = _name_lengths(last)
    same = [graph for graph in graphs if np.array_equal(_name_lengths(graph), names)]
    if len(same) < len(graphs):
        others = plural(len(graphs) - len(same), "earlier graph")
        notes.append(f"{last.name}: the last graph is read; {others} ignored")
    return next((graph for graph in reversed(same) if graph.kind == META_GRAPH), last)


def _name_lengths(part: Part) -> I64:
    """The lengths of the names of a graph's nodes: they tell graphs apart."""
    try:
        data, graph = part.data, whole(part.data)
        if part.kind == META_GRAPH:
            inside = scan(data, *graph, {2: BYTES})[2]
            graph = inside.start[-1:], inside.end[-1:]
        node = scan(data, *graph, {1: BYTES})[1]
        return scan(data, node.start, node.end, {1: BYTES})[1].last(node.start.size)
    except WireError as problem:
        raise damaged(part.file, problem) from None


def _largest_function(part: Part, notes: list[str]) -> Part | None:
    """The function of a trace_export with the most bytes, as a graph; others run in it or aside."""
    try:
        ran = scan(part.data, *whole(part.data), {4: BYTES})[4]
        graph = scan(part.data, ran.start, ran.end, {2: BYTES})[2]
    except WireError as problem:
        raise damaged(part.file, problem) from None
    if not graph.start.size:
        return None
    row = int(graph.value.argmax())
    tag, others = part.tag.decode("utf-8", "replace"), graph.start.size - 1
    ignored = f"; {plural(others, 'smaller one')} ignored" if others else ""
    notes.append(f"{part.name}: the graph is the largest function of the trace {tag!r}{ignored}")
    return part.inside(GRAPH, int(graph.start[row]), int(graph.end[row]))


# --- the model that Keras stored ------------------------------------------------------------------


def _config(part: Part) -> Any:  # noqa: ANN401 - JSON
    part.check_event()
    try:
        return json.loads(part.data.tobytes())
    except (ValueError, RecursionError):
        raise InputError(f"{part.name}: the model that Keras stored in it is no JSON") from None


def _model(part: Part, config: Any) -> Profile:  # noqa: ANN401 - JSON
    from tfprof.read.keras.archive import model_profile  # noqa: PLC0415 - few files need it

    return model_profile(config, None, part.name)


# --- runs -----------------------------------------------------------------------------------------


def _runs(
    parts: list[Part], notes: list[str]
) -> Iterator[tuple[int, RunColumns | None, Part]]:
    """The runs with step stats, in order of their steps."""
    from tfprof.read.read_files import read_run  # noqa: PLC0415 - a cycle

    read = []
    for part in parts:
        part.check_event()
        run = part if part.kind == RUN else part.inside(RUN, 0, part.data.size)
        run.tag, run.step = part.tag, part.step
        columns = read_run(run)
        if columns is not None or part.kind == RUN:
            read.append((columns, run))
    steps = [part.step for _, part in read]
    if len(set(steps)) < len(steps) or min(steps, default=0) < 0:
        steps = list(range(len(steps)))
    if read:
        named = [f"{step} {part.tag.decode('utf-8', 'replace')!r}" for step, (_, part) in zip(steps, read, strict=True)]
        more = f" and {len(named) - _MOST_TAGS:,} more" if len(named) > _MOST_TAGS else ""
        notes.append(f"{read[0][1].name}: steps by their tags: {', '.join(named[:_MOST_TAGS])}{more}")
    for step, (columns, part) in zip(steps, read, strict=True):
        yield step, columns, part
