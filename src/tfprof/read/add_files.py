"""Profile + columns → Profile: the `add` functions of FORMATS.

Each is (profile, columns, source, step) -> Profile; only runs have a step.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Note, Profile, own_notes
from tfprof.read.merge import with_extra_type, with_graph
from tfprof.read.merge_run import with_run
from tfprof.read.op_log import with_op_log
from tfprof.read.variable_types import with_variable_types

if TYPE_CHECKING:
    from tfprof.columns.keras_layer import KerasLayer
    from tfprof.columns.strings import Strings
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns
    from tfprof.read.debug_info import Stacks
    from tfprof.read.events import EventColumns
    from tfprof.read.hlo import HloColumns
    from tfprof.read.source import Source
    from tfprof.read.xplane import TraceColumns


def add_graph(profile: Profile, columns: GraphColumns, source: Source, _: int = 0) -> Profile:
    """*profile* with the nodes of a graph, and the types of its variables where they are listed."""
    grown = with_graph(profile, columns)
    source.let_go()
    return with_variable_types(grown, columns)


def add_hlo(profile: Profile, columns: HloColumns, source: Source, _: int = 0) -> Profile:
    """*profile* with the instructions of programs, their types and call stacks."""
    grown = add_graph(profile, columns.graph, source)
    # In a profile of its own, entry k is node k.
    is_alone = not len(profile) and len(grown) == len(columns.log.name)
    grown = with_op_log(grown, columns.log, np.arange(len(grown)) if is_alone else None)
    return replace(grown, devices=columns.devices, planned=columns.planned)


def add_run(profile: Profile, columns: RunColumns | None, source: Source, step: int) -> Profile:
    """*profile* with one more run; one without step stats adds only a note."""
    if columns is None:
        note = Note(f"Invalid RunMetadata for step {step}")
        return replace(profile, notes=(*profile.notes, note))
    grown = with_shape_source(with_run(profile, step, columns), source)
    source.let_go()
    return grown


def add_events(profile: Profile, columns: EventColumns, source: Source, _: int = 0) -> Profile:
    """*profile* with the graph of event files, and their runs as steps."""
    grown = profile if columns.model is None else columns.model
    if columns.graph is not None:
        grown = replace(add_graph(profile, columns.graph, source), layers=columns.layers)
    for step, run, part in columns.runs:
        grown = add_run(grown, run, part, step)
    return replace(grown, notes=(*grown.notes, *own_notes(columns.notes)))


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


def add_layers(profile: Profile, layers: tuple[KerasLayer, ...], _: Source, __: int = 0) -> Profile:
    """*profile* with the layers of its model."""
    return replace(profile, layers=profile.layers or layers)


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
