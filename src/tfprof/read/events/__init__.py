"""Reads event files of TensorBoard: the graph, the runs and the layers that they hold.

    graph       the last GraphDef or MetaGraphDef; without one, the largest function of the last
                trace_export; else the model that Keras stored
    steps       the runs, numbered by the steps of their events; a note lists their tags
    layers      of the model that Keras stored

The files of one folder are read as one file: a program that starts again writes a new one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.errors import InputError
from tfprof.foundation.units import first_few, plural
from tfprof.read.events.parts import (
    FUNCTIONS,
    GRAPH,
    META_GRAPH,
    MODEL,
    RUN,
    Contents,
    Part,
    contents,
    damaged,
)
from tfprof.read.read_files import read_graph_def, read_meta_graph, read_run
from tfprof.read.source import Source
from tfprof.wire.decode import BYTES, WireError, scan, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.columns.keras_layer import KerasLayer
    from tfprof.columns.strings import I64
    from tfprof.model import Profile
    from tfprof.read.columns import GraphColumns, RunColumns

_MOST_TAGS = 8


class EventFiles(Source):
    """The event files of one folder as one source, oldest first."""

    def __init__(self, files: Sequence[tuple[Source, Contents]]) -> None:
        last, _ = files[-1]
        super().__init__(last.name, last.data)
        held = [each for _, each in files]
        parts = [part for each in held for part in each.parts]
        cut_off = tuple(name for each in held for name in each.cut_off)
        self.contents = Contents(parts, sum(each.records for each in held), cut_off)


class Run(NamedTuple):
    """A run in an event file; its columns are None where it has no step stats."""

    step: int
    columns: RunColumns | None
    part: Part


class EventColumns(NamedTuple):
    """What event files hold."""

    records: int
    graph: GraphColumns | None
    model: Profile | None  # what Keras stored; it is the graph where there is no other
    runs: list[Run]
    notes: list[str]

    @property
    def layers(self) -> tuple[KerasLayer, ...]:
        """The layers of the model."""
        return self.model.layers if self.model else ()


def read_events(source: Source, *, functions: bool = True) -> EventColumns:
    """The graph, the runs and the layers of event files; raises InputError."""
    columns = read_parts(source, functions=functions)
    if columns.graph or columns.model or columns.runs:
        return columns
    raise InputError(
        f"{source.name} is an event file without a graph, Keras model or run "
        f"({plural(columns.records, 'record')})"
    )


def read_parts(source: Source, *, functions: bool = True) -> EventColumns:
    """As `read_events`; there may be nothing."""
    held = source.contents if isinstance(source, EventFiles) else contents(source)
    notes = [
        f"{name} ends inside a record, which is ignored; the file may still be growing"
        for name in held.cut_off
    ]
    of_kind: dict[str, list[Part]] = {GRAPH: [], FUNCTIONS: [], MODEL: [], RUN: []}
    for each in held.parts:
        of_kind[GRAPH if each.kind == META_GRAPH else each.kind].append(each)
    part = _last_graph(of_kind[GRAPH], notes)
    if part is None and of_kind[FUNCTIONS]:
        part = _largest_function(of_kind[FUNCTIONS][-1], notes)
    model = None
    if of_kind[MODEL]:
        of_kind[MODEL][-1].check_event()
        try:
            model = _model(of_kind[MODEL][-1])
        except InputError as problem:
            if part is None and not of_kind[RUN]:
                raise
            notes.append(f"{problem}, and is ignored")
    graph = None
    if part is not None:
        part.check_event()
        read = read_meta_graph if part.kind == META_GRAPH else read_graph_def
        graph = read(part, functions=functions)
    runs = _runs([*of_kind[RUN], *of_kind[FUNCTIONS]], notes)
    return EventColumns(held.records, graph, model, runs, notes)


def _last_graph(graphs: list[Part], notes: list[str]) -> Part | None:
    """The last graph; of the same graph, the MetaGraphDef, which has its collections."""
    if len(graphs) <= 1:
        return graphs[0] if graphs else None
    last, names = graphs[-1], _name_lengths(graphs[-1])
    same = [graph for graph in graphs if np.array_equal(_name_lengths(graph), names)]
    if len(same) < len(graphs):
        others = plural(len(graphs) - len(same), "earlier one")
        notes.append(f"{last.name} holds several graphs: the last is read, {others} ignored")
    return next((graph for graph in reversed(same) if graph.kind == META_GRAPH), last)


def _name_lengths(part: Part) -> I64:
    """The lengths of the names of a graph's nodes, which differ between graphs."""
    try:
        data, (start, end) = part.data, whole(part.data)
        if part.kind == META_GRAPH:
            graph = scan(data, start, end, {2: BYTES})[2]
            start, end = graph.start[-1:], graph.end[-1:]
        node = scan(data, start, end, {1: BYTES})[1]
        return scan(data, node.start, node.end, {1: BYTES})[1].last(node.start.size)
    except WireError as problem:
        raise damaged(part.file, problem) from None


def _largest_function(part: Part, notes: list[str]) -> Part | None:
    """The graph of the function of a trace_export that has the most bytes; None without any."""
    # Beside the function that a user traces, every operation that ran eagerly is a function.
    try:
        ran = scan(part.data, *whole(part.data), {4: BYTES})[4]
        graph = scan(part.data, ran.start, ran.end, {2: BYTES})[2]
    except WireError as problem:
        raise damaged(part.file, problem) from None
    if not graph.start.size:
        return None
    row, others = int(graph.value.argmax()), graph.start.size - 1
    ignored = f", {plural(others, 'smaller one')} ignored" if others else ""
    tag = part.tag.decode("utf-8", "replace")
    notes.append(f"{part.name}: the largest function in the trace {tag!r} is read{ignored}")
    return part.inside(GRAPH, int(graph.start[row]), int(graph.end[row]))


def _model(part: Part) -> Profile:
    """The model whose configuration Keras stored."""
    from tfprof.read.keras.archive import profile_of  # noqa: PLC0415 - few files need it
    from tfprof.read.keras.model import Model  # noqa: PLC0415

    try:
        config = json.loads(part.data.tobytes())
        model = Model(None)
        model.read(config)
        return profile_of(config, model, part.name, "an event file has no weights")
    except (ArithmeticError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{part.name}: the model that Keras stored in it is damaged") from None


def _runs(parts: list[Part], notes: list[str]) -> list[Run]:
    """The runs by their steps, or by their order if some have the same step."""
    read: list[tuple[Part, RunColumns | None]] = []
    for part in parts:
        part.check_event()
        run = part if part.kind == RUN else part.inside(RUN, 0, part.data.size)
        columns = read_run(run) if run.data.size else None
        # A trace_export mostly has no step stats.
        if columns is not None or part.kind == RUN:
            read.append((run, columns))
    steps = [part.step for part, _ in read]
    if len(set(steps)) < len(steps) or min(steps, default=0) < 0:
        steps = list(range(len(steps)))
    runs = [Run(step, columns, part) for step, (part, columns) in zip(steps, read, strict=True)]
    if runs:
        tags = [f"{run.step} is {run.part.tag.decode('utf-8', 'replace')!r}" for run in runs]
        notes.append(f"steps by the tags of their runs: {first_few(tags, _MOST_TAGS)}")
    return runs
