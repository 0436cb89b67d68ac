"""load(): files in, a Profile out. Each file's row of FORMATS reads it and adds it to the profile.

    graph ──► call stacks ──► op log ──► run 0 ──► run 1 ──► … ──► traces
    saved or converted profile         or this alone, which holds all of them

A Source is a name and bytes; who opened it does not matter here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.errors import InputError, UsageError
from tfprof.foundation.progress_events import Stage, announce, listening
from tfprof.model import Profile
from tfprof.read import expansion_limits
from tfprof.read.add_files import with_shape_source
from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns
from tfprof.read.source import Source, format_for
from tfprof.tables.formats import (
    DEBUG_INFO,
    FUNCTIONS,
    GRAPH,
    OP_LOG,
    PROFILE,
    RUN,
    SIGNATURE,
    TRACE,
    Input,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


__all__ = [
    "Source",
    "add_run",
    "add_trace",
    "load",
    "load_files",
    "read_graph",
    "read_op_log",
    "read_run",
    "read_saved",
    "with_shape_source",
]


def load(  # noqa: PLR0913 - one parameter per input
    graph: Source | None = None,
    runs: Sequence[Source] = (),
    log: Source | None = None,
    progress: Callable[[str], None] = lambda _: None,
    saved: Source | None = None,
    *,
    traces: Sequence[Source] = (),
    debug: Source | None = None,
    signature: str | None = None,
    functions: bool = True,
) -> Profile:
    """The profile that these files describe; the runs are steps 0, 1, 2 and so on.

    *debug* has the call stacks of the graph's functions. See `load_files`.
    """
    single = {PROFILE: saved, GRAPH: graph, DEBUG_INFO: debug, OP_LOG: log}
    files = {row: [source] for row, source in single.items() if source is not None}
    every = {**files, RUN: runs, TRACE: traces}
    return load_files(every, progress, signature, functions=functions)


def load_files(
    files: Mapping[Input, Sequence[Source]],
    progress: Callable[[str], None] = lambda _: None,
    signature: str | None = None,
    *,
    functions: bool = True,
) -> Profile:
    """The profile that these files describe, by input; runs and traces may be several.

    *progress* is called with each stage before it begins. *signature* is the one of a SavedModel
    to read. Without *functions*, only the graph's own nodes are read. Raises InputError and
    UsageError.
    """
    every = [source for sources in files.values() for source in sources]
    if files.get(PROFILE) and len(every) > 1:
        raise UsageError(f"--{PROFILE.name} is set, do not set --{GRAPH.name} or --{RUN.name}")
    if files.get(PROFILE) and not functions:
        raise UsageError(
            f"--{FUNCTIONS.name}=off needs the graph: a saved profile keeps what it was saved with"
        )
    done, total = 0, sum(source.data.size for source in every)
    profile, names = Profile(), []
    with listening(progress):
        for row in sorted(files, key=lambda row: row.turn):
            for step, source in enumerate(files[row]):
                count = len(files[row])
                place = f" ({step + 1} of {count})" if count > 1 else ""
                announce(Stage(f"reading {source.name}{place}", done, total))
                profile = _added(profile, row, source, step, signature, functions=functions)
                done += source.data.size
                names.append(source.name)
    expansion_limits.check(profile, ", ".join(names))
    return profile


def _added(  # noqa: PLR0913 - as in load
    profile: Profile,
    row: Input,
    source: Source,
    step: int = 0,
    signature: str | None = None,
    *,
    functions: bool = True,
) -> Profile:
    columns = _read(source, row, signature, functions=functions)
    grown: Profile = format_for(source, row).add(profile, columns, source, step)
    return grown


def add_run(profile: Profile, step: int, run: Source) -> Profile:
    """*profile* with one more run; one without step stats adds only a note."""
    return _added(profile, RUN, run, step)


def add_trace(profile: Profile, trace: Source) -> Profile:
    """*profile* with the steps of one more trace."""
    return _added(profile, TRACE, trace)


def read_graph(source: Source, *, functions: bool = True) -> GraphColumns:
    """The columns of a graph in any format that has operations; *functions* as in `load_files`."""
    columns = _read(source, GRAPH, functions=functions)
    if not isinstance(columns, GraphColumns):
        what = format_for(source, GRAPH).title
        raise InputError(f"{source.name} is {what}, which has no operations to read")
    return columns


def read_run(source: Source) -> RunColumns | None:
    """The columns of a RunMetadata; None where it has no step stats."""
    columns: RunColumns | None = _read(source, RUN)
    return columns


def read_op_log(source: Source) -> OpLogColumns:
    """The columns of an op log."""
    columns: OpLogColumns = _read(source, OP_LOG)
    return columns


def read_saved(source: Source) -> Profile:
    """The profile that a saved or converted profile holds."""
    profile: Profile = _read(source, PROFILE)
    return profile


def _read(
    source: Source, row: Input, signature: str | None = None, *, functions: bool = True
) -> Any:  # noqa: ANN401 - the row's columns
    form = format_for(source, row)
    if signature is None or row is not GRAPH:
        skips = not functions and form.has_functions
        return form.read(source, functions=False) if skips else form.read(source)
    if not functions:
        raise UsageError(f"give --{SIGNATURE.name} or --{FUNCTIONS.name}=off, not both")
    if not form.has_signatures:
        raise UsageError(
            f"{source.name} has no signatures; --signature={signature} is for a SavedModel or a "
            ".tflite file"
        )
    return form.read(source, signature)
