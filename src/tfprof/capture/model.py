"""A model: its graph, read again whenever it has grown, and the op log of its operations.

    graph ──► nodes ──┬─► with run-time shapes ──► float operations ──┐
                      └─► call stacks, trainable variables ───────────┼─► op log ─► Profile
    the user's op log ────────────────────────────────────────────────┘

Run-time shapes stay known for later runs, and texts keep their numbers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfprof.capture.call_stacks import Texts, Traces
from tfprof.capture.coerce import LiveFunctions, LiveGraph, Run, graph_of, log_of, run_of
from tfprof.capture.op_logs import NO_LOG, count_float_ops, joined, own_log, registered, renumbered
from tfprof.errors import UsageError, nearest
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Note, Outputs, Profile
from tfprof.read import debug_info
from tfprof.read.add_files import with_shape_source
from tfprof.read.columns import GraphColumns, OpLogColumns, runs
from tfprof.read.merge import with_extra_type, with_graph
from tfprof.read.merge_run import with_run
from tfprof.read.op_log import with_op_log
from tfprof.read.run_shapes import with_run_shapes
from tfprof.read.saved_model import TRAINABLE
from tfprof.tables.options import FLOPS, Flops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.columns.strings import I64


class Reading(NamedTuple):
    """A model at one time."""

    nodes: GraphColumns | None  # those of the graph, if it was read again
    graph: Profile  # the graph alone, with run-time shapes
    log: OpLogColumns
    notes: tuple[Note, ...]


class Model:
    """A graph in any form (None: the default graph) and the user's op log."""

    def __init__(  # noqa: PLR0913 - the options of its callers
        self,
        graph: Any,
        op_log: Any,
        flops: Flops = "tensorflow",
        *,
        traces: bool = True,
        texts: Texts | None = None,
        functions: bool | None = None,
    ) -> None:
        """*functions*: whether to read the bodies of functions; None: all but a live graph's."""
        self._flops = _checked(flops)
        # parity: the original does not read the functions of a live graph.
        self._functions = bool(functions)
        source = graph_of(graph, functions=functions is not False)
        self._lines = source.lines if isinstance(source, LiveFunctions) and traces else None
        self._graph = source.columns if isinstance(source, LiveFunctions) else source
        self._has_graph = self._graph is not None
        self._live = self._graph if isinstance(self._graph, LiveGraph) else None
        listed = self._graph.trainable if isinstance(self._graph, GraphColumns) else None
        self._listed = [name.decode("utf-8", "replace") for name in listed or ()]
        self._user = log_of(op_log)
        self._texts = Texts() if texts is None else texts
        self._traces = Traces(self._texts) if traces and self._live else None
        self._shaped = Profile()

    def is_of(self, graph: Any) -> bool:  # a tf.Graph
        """Whether this model reads *graph*."""
        return self._live is not None and self._live.graph is graph

    def beside(self, graph: Any) -> Model:  # a tf.Graph
        """A model of another graph that shares the numbers of texts with this one."""
        return Model(graph, None, self._flops, texts=self._texts)

    def read(self, run: Run | None = None, *, with_users: bool = True) -> Reading:
        """The model as it is now; *with_users*: include the user's log; *run* fills in shapes."""
        nodes = self._nodes()
        if nodes is not None:
            self._shaped = with_graph(self._shaped, nodes)
            if nodes.trainable is not None and not len(nodes.trainable):
                self._shaped = with_extra_type(self._shaped, nodes.trainable, TRAINABLE)
        if run is not None and run.columns is not None and len(self._shaped):
            self._shaped = with_run_shapes(self._shaped, run.source)
        float_ops, incomplete = count_float_ops(self._shaped, self._live, self._flops)
        notes = [*self._shaped.notes]
        self._shaped = replace(self._shaped, notes=())
        if incomplete and run is None:
            notes.append(Note(f"{incomplete} ops no flops stats due to incomplete shapes."))
        log = self._log(float_ops, self._user if with_users else None)
        return Reading(nodes, self._shaped, log, tuple(notes))

    def set_program_flops(self, profile: Profile, float_ops: I64) -> None:
        """Write float operations of the user's op log and of TensorFlow's registry to a column."""
        if self._live is not None:
            node, by_program, _ = registered(self._live.graph, self._shaped)
            float_ops[profile.nodes.name.find(self._shaped.nodes.name.take(node))] = by_program
        if self._user is not None:
            node = profile.nodes.name.find(self._user.name)
            counted = (node >= 0) & (self._user.float_ops != 0)
            float_ops[node[counted]] = self._user.float_ops[counted]

    def _nodes(self) -> GraphColumns | None:
        """The nodes of the graph if it has grown, else None."""
        if not isinstance(self._graph, LiveGraph):
            nodes, self._graph = self._graph, None
            return nodes
        if not self._graph.has_grown():
            return None
        nodes = self._graph.columns(functions=self._functions)
        if self._traces is not None:
            self._traces.add(self._graph.operations()[len(self._traces) :])
        return nodes

    def _log(self, float_ops: I64, user: OpLogColumns | None) -> OpLogColumns:
        if not self._has_graph:
            return user or NO_LOG
        if user is not None:
            user = renumbered(user, self._texts)
        trainable = self._listed if self._live is None else self._live.trainable()
        lines = None
        if self._lines is not None:
            lines = renumbered(debug_info.op_log(self._shaped, self._lines), self._texts)
        own = own_log(self._shaped, float_ops, trainable, self._traces, self._texts)
        for log in (lines, user):
            own = own if log is None else joined(log, own)
        return own


def profile_of(
    graph: Any,
    run_meta: Any,
    op_log: Any = None,
    flops: Flops = "tensorflow",
    *,
    traces: bool = True,
) -> Profile:
    """The profile of a graph and at most one run; a RunMetadata without step stats is ignored."""
    run = run_of(run_meta)
    model = Model(graph, op_log, recorded_flops(flops), traces=traces)
    reading = model.read(run)
    profile = replace(reading.graph, notes=reading.notes)
    if run is not None and run.columns is not None:
        profile = with_run(profile, 0, run.columns)
    profile = with_op_log(profile, reading.log)
    return with_program_flops(profile, [model]) if flops == "all" else profile


def with_program_flops(profile: Profile, models: Sequence[Model]) -> Profile:
    """*profile* with only the float operations that come from the program."""
    float_ops = np.zeros(len(profile), np.int64)
    for model in models:
        model.set_program_flops(profile, float_ops)
    return replace(profile, nodes=replace(profile.nodes, float_ops=float_ops))


def recorded_flops(flops: Flops) -> Flops:
    """The rules whose counts the profile itself records; a query counts by all other rules."""
    return "tensorflow" if _checked(flops) == "tensorflow" else "log"


def profile_of_steps(
    graph: Any, runs: Sequence[Any], op_log: Any, *, functions: bool = True
) -> Profile:
    """The profile of several runs, with only the float operations that come from the program."""
    model = Model(graph, op_log, "log", functions=functions)
    reading = model.read()
    profile = with_op_log(replace(reading.graph, notes=reading.notes), reading.log)
    for step, run_meta in enumerate(runs):
        run = run_of(run_meta)
        assert run is not None, "callers leave None out"
        profile = _with_run(profile, step, run)
        if run.columns is not None:
            profile = with_shape_source(profile, run.source)
    return with_program_flops(profile, [model])


def _checked(flops: Flops) -> Flops:
    if flops not in FLOPS:
        known = ", ".join(FLOPS)
        near = nearest(str(flops), list(FLOPS))
        raise UsageError(f"flops has no {flops!r}{near} (there are: {known})")
    return flops


def with_step(profile: Profile, step: int, reading: Reading, run: Run) -> Profile:
    """*profile* with one more run, and with the new nodes of the graph."""
    if reading.nodes is not None:
        known = len(profile)
        profile = _as_shaped(reading.graph, with_graph(profile, reading.nodes), known)
    profile = _with_run(replace(profile, notes=(*profile.notes, *reading.notes)), step, run)
    profile = replace(profile, shape_sources=(partial(_as_shaped, reading.graph),))
    return with_op_log(profile, reading.log)


def _with_run(profile: Profile, step: int, run: Run) -> Profile:
    """*profile* with a run as this step, or with a note if it has no step stats."""
    if run.columns is not None:
        return with_run(profile, step, run.columns)
    note = Note(f"Invalid RunMetadata for step {step}")
    return replace(profile, notes=(*profile.notes, note))


def _as_shaped(graph: Profile, profile: Profile, first: int = 0) -> Profile:
    """*profile* with the output shapes of *graph* for its nodes from *first* on."""
    name = profile.nodes.name.take(slice(first, None))
    row = np.append(np.full(first, -1, np.int64), graph.nodes.name.find(name))
    old, new = profile.outputs, graph.outputs
    at = np.where(row >= 0, len(old.shape) + new.start[row], old.start[:-1])
    count = np.where(row >= 0, new.start[row + 1] - new.start[row], np.diff(old.start))
    shape = old.shape.joined(new.shape).take(runs(at, count)[1])
    return replace(profile, outputs=Outputs(np.append(0, np.cumsum(count)), shape))
