"""Reads the files of a task: Profile and steps, exactly as one worker's files are loaded.

    RunMetadata, trace          added to the profile of their graph and op log, each on its own
    saved, converted profile    as it is
    event files of a folder     as one, with their own graph if they have one

A process keeps the last few graphs, and the float operations that their rules count: most files of
a fleet have the same graph and ran with the same shapes.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof import read
from tfprof.columns.unique import unique
from tfprof.errors import InputError
from tfprof.fleet.graph_identity import graph_id
from tfprof.fleet.open_inputs import open_input
from tfprof.foundation.caches import RecentCache
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.io.beside import beside_graph
from tfprof.model import Profile
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.read import expansion_limits
from tfprof.read.events import EventFiles
from tfprof.read.events.parts import FUNCTIONS as FUNCTIONS_PART
from tfprof.read.events.parts import RUN as RUN_PART
from tfprof.read.events.parts import contents
from tfprof.read.run_shapes import with_run_shapes
from tfprof.read.source import format_for
from tfprof.tables.formats import (
    DEBUG_INFO,
    GRAPH,
    KERAS_METADATA,
    OP_LOG,
    PROFILE,
    RUN,
    TRACE,
    expected_formats,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.columns.strings import I64
    from tfprof.fleet.tasks import FileToRead, ModelFiles
    from tfprof.model import Step
    from tfprof.read.source import Source
    from tfprof.tables.formats import Input

_GRAPHS: Final = 4  # that a process keeps
_EXPECTED: Final = "a run, a trace or a profile with steps"
_LEAST_SHARE: Final = 0.25  # of the nodes of a run are in its graph, or it is of another one


class OtherGraphError(InputError):
    """A run whose nodes are not in its graph."""


class NoStepsError(InputError):
    """A file without steps."""


class RunFile(NamedTuple):
    """What a file holds: steps, and the profile that their nodes are in."""

    row: Input
    profile: Profile
    graph: str
    model: _Model | None  # None: the graph is in the file

    def float_ops(self, step: Step) -> I64:
        """The float operations of each node in one run, by all rules and the shapes of *step*."""
        if self.model is None or self.profile.step_shapes:
            return with_float_ops(self.profile, "all", step=step.number)[0].nodes.float_ops
        count = len(self.model.profile)
        shaped = self.profile.with_run_shapes.outputs
        columns = (shaped.start[: count + 1], shaped.shape.start, shaped.shape.dim)
        key = hashlib.sha256(b"".join(column.tobytes() for column in columns)).digest()

        def counted() -> I64:
            return with_float_ops(self.profile, "all")[0].nodes.float_ops[:count].copy()

        known = self.model.counted.cached(key, counted)
        return np.append(known, self.profile.nodes.float_ops[count:])


class _Model(NamedTuple):
    profile: Profile
    graph: str
    counted: RecentCache  # float operations by the shapes that a run had


def read_run_file(files: Sequence[FileToRead], step: int) -> RunFile:
    """What a file, or the event files of one folder, hold; a run is *step*. Raises InputError."""
    file = files[-1]
    source = open_input(file, _EXPECTED)
    form = source.format or format_for(source, RUN)
    if form.joins:
        return _events(files, source)
    if form.input is PROFILE:
        profile = read.load_files({PROFILE: [source]})
        return _with_steps(RunFile(PROFILE, profile, graph_id(profile), None), file)
    if form.input not in (RUN, TRACE):
        raise InputError(f"{file.path} is {form.title}; expected {_EXPECTED}")
    model = _model(file.model)
    if form.input is RUN:
        columns = read.read_run(source)
        profile = form.add(model.profile, columns, source, step)
        # Every run is asked for its shapes: they are read where its columns say.
        shapes = partial(with_run_shapes, source=source, run=columns)
        profile = replace(profile, shape_sources=(*model.profile.shape_sources, shapes))
    else:
        profile = read.add_trace(model.profile, source)
    expansion_limits.check(profile, file.path)
    if len(profile.attribute_sources) > len(model.profile.attribute_sources):
        # A trace of JAX holds the programs that ran.
        return _with_steps(RunFile(form.input, profile, graph_id(profile), None), file)
    run = _with_steps(RunFile(form.input, profile, model.graph, model), file)
    _check_graph(run, file)
    return run


def _events(files: Sequence[FileToRead], last: Source) -> RunFile:
    sources = [*(open_input(file, _EXPECTED) for file in files[:-1]), last]
    held = [(source, contents(source)) for source in sources]
    used = [pair for pair in held if pair[1].parts] or held[-1:]
    kinds = {part.kind for _, each in used for part in each.parts}
    if not kinds & {RUN_PART, FUNCTIONS_PART}:
        raise NoStepsError(f"{files[-1].path} has no run")
    joined = EventFiles(used) if len(used) > 1 else used[0][0]
    has_graph = kinds != {RUN_PART}
    if has_graph or files[-1].model.graph is None:
        profile = read.load_files({GRAPH: [joined]})
        return _with_steps(RunFile(GRAPH, profile, graph_id(profile), None), files[-1])
    model = _model(files[-1].model)
    added = joined.format.add(model.profile, joined.format.read(joined), joined, 0)  # type: ignore[union-attr]  # it is one of events
    return _with_steps(RunFile(GRAPH, added, model.graph, model), files[-1])


def _with_steps(run: RunFile, file: FileToRead) -> RunFile:
    if not any(step.node.size or step.memory_node.size for step in run.profile.steps):
        raise NoStepsError(f"{file.path} has no step with an execution")
    return run


def _check_graph(run: RunFile, file: FileToRead) -> None:
    """Raise OtherGraphError where a run is of another graph than the one near it."""
    if file.model.graph is None or not bool(run.profile.in_graph.any()):
        return
    ran = unique(np.concatenate([step.node for step in run.profile.steps]))
    inside = int(np.count_nonzero(run.profile.in_graph[ran]))
    if inside > _LEAST_SHARE * ran.size or (run.row is TRACE and inside):
        return
    raise OtherGraphError(
        f"{file.path} is of another graph: {inside:,} of the {ran.size:,} nodes that ran are in "
        f"{file.model.graph.path}"
    )


@lru_cache(_GRAPHS)
def _model(files: ModelFiles) -> _Model:
    """The profile of a graph and its op log; empty where there is no graph."""
    nothing = _Model(Profile(), graph_id(Profile()), RecentCache())
    if files.graph is None:
        return nothing
    graph = open_input(files.graph, expected_formats(GRAPH))
    if _has_no_graph(graph):
        return nothing
    sources: dict[Input, list[Source]] = {GRAPH: [graph]}
    for row in (DEBUG_INFO, KERAS_METADATA):
        if source := beside_graph(row, files.graph.path, graph):
            sources[row] = [source]
    if files.op_log is not None:
        sources[OP_LOG] = [open_input(files.op_log, expected_formats(OP_LOG))]
    profile = read.load_files(sources)
    if profile.steps:  # of event files
        profile = replace(profile, steps=(), shape_sources=(), step_shapes=())
    return _Model(profile, graph_id(profile), RecentCache())


def _has_no_graph(source: Source) -> bool:
    """Whether it is an event file with runs and scalars alone."""
    is_events = source.format is not None and source.format.joins
    return is_events and all(part.kind == RUN_PART for part in contents(source).parts)
