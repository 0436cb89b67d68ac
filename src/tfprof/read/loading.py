"""load(): files in, a Profile out. Each file's row of FORMATS reads it and adds it to the profile.

    graph ──► call stacks ──► op log ──► run 0 ──► run 1 ──► … ──► traces
    saved or converted profile         or this alone, which holds all of them

A Source is a name and bytes; who opened it does not matter here.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from tfprof.columns.small_pages import small_pages
from tfprof.errors import InputError, UsageError
from tfprof.foundation.progress_events import Stage, announce, listening
from tfprof.model import Profile
from tfprof.read import expansion_limits
from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns
from tfprof.read.source import Source, format_for
from tfprof.tables.formats import (
    DEBUG_INFO,
    FORMATS,
    FUNCTIONS,
    GRAPH,
    OP_LOG,
    PROFILE,
    RUN,
    SIGNATURE,
    TEXT_PARTS,
    TRACE,
    Input,
    one_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Parts = Mapping[str, Any]

_NO_PARTS: Final[Parts] = MappingProxyType({})


def load(  # noqa: PLR0913 - one parameter per input
    graph: Source | None = None,
    runs: Sequence[Source] = (),
    log: Source | None = None,
    progress: Callable[[str], None] = lambda _: None,
    saved: Source | None = None,
    *,
    traces: Sequence[Source] = (),
    debug: Source | None = None,
    **parts: Any,  # noqa: ANN401 - of GRAPH_PARTS
) -> Profile:
    """The profile that these files describe; the runs are steps 0, 1, 2 and so on.

    *debug* has the call stacks of the graph's functions. See `load_files`.
    """
    single = {PROFILE: saved, GRAPH: graph, DEBUG_INFO: debug, OP_LOG: log}
    files = {row: [source] for row, source in single.items() if source is not None}
    every = {**files, RUN: runs, TRACE: traces}
    return load_files(every, progress, **parts)


def load_files(
    files: Mapping[Input, Sequence[Source]],
    progress: Callable[[str], None] = lambda _: None,
    **parts: Any,  # noqa: ANN401 - of GRAPH_PARTS
) -> Profile:
    """The profile that these files describe, by input; runs and traces may be several.

    *progress* is called with each stage before it begins. *parts* are the *signature* and the *tag*
    of a SavedModel to read, and functions=False to read only the graph's own nodes. Raises
    InputError and UsageError.
    """
    parts = {name: value for name, value in parts.items() if value not in (None, True)}
    every = [source for sources in files.values() for source in sources]
    if files.get(PROFILE) and len(every) > 1:
        raise UsageError(f"--{PROFILE.name} is set, do not set --{GRAPH.name} or --{RUN.name}")
    if files.get(PROFILE) and FUNCTIONS.name in parts:
        raise UsageError(
            f"--{FUNCTIONS.name}=off needs the graph: a saved profile keeps what it was saved with"
        )
    done, total = 0, sum(source.data.size for source in every)
    profile, names = Profile(), []
    with listening(progress), small_pages():
        for row in sorted(files, key=lambda row: row.turn):
            # Event files come before runs and may have steps.
            first = max((step.number for step in profile.steps), default=-1) + 1
            for index, source in enumerate(files[row]):
                step, count = first + index, len(files[row])
                place = f" ({index + 1} of {count})" if count > 1 else ""
                announce(Stage(f"reading {source.name}{place}", done, total))
                chosen = parts if row is GRAPH else _of_trace(row, parts)
                profile = _added(profile, row, source, step, chosen)
                done += source.data.size
                names.append(source.name)
    expansion_limits.check(profile, ", ".join(names))
    return profile


def _of_trace(row: Input, parts: Parts) -> Parts:
    """Those of *parts* that programs in a trace have; a graph that is there says the others."""
    takes = FORMATS["trace"].parts if row is TRACE else ()
    return {name: value for name, value in parts.items() if name in takes}


def _added(
    profile: Profile, row: Input, source: Source, step: int = 0, parts: Parts = _NO_PARTS
) -> Profile:
    columns = _read(source, row, parts)
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
    columns = _read(source, GRAPH, {} if functions else {FUNCTIONS.name: False})
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


def _read(source: Source, row: Input, parts: Parts = _NO_PARTS) -> Any:  # noqa: ANN401 - the row's columns
    form = format_for(source, row)
    if SIGNATURE.name in parts and FUNCTIONS.name in parts:
        raise UsageError(f"give --{SIGNATURE.name} or --{FUNCTIONS.name}=off, not both")
    for part, what in TEXT_PARTS.items():
        if part.name in parts and part.name not in form.parts:
            takes = one_of(row.title for row in FORMATS.values() if part.name in row.parts)
            raise UsageError(
                f"{source.name} has no {what}; --{part.name}={parts[part.name]} is for {takes}"
            )
    return form.read(source, **{name: parts[name] for name in form.parts if name in parts})
