"""The files of a fleet: what each SOURCE stands for, and which graph belongs to which run.

    SOURCE           folder, file, glob, URL of any of these, or @LIST: a file with one per line
    ──► files        with worker and step by their paths (path_pattern.py)
    ──► graphs       and op logs: of the same folder, or of the nearest one above inside the SOURCE;
                     then those given; then those of the folder above the SOURCE

What a file is, its content says. Of files whose names differ in numbers only, one is opened: all of
`run_meta_0 … run_meta_19` of a thousand workers are runs if the first that can be read is one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.errors import InputError
from tfprof.fleet.known_files import KnownFiles
from tfprof.fleet.listing import Listed, Skip, beside, listed, version_of
from tfprof.fleet.open_inputs import open_input
from tfprof.fleet.path_pattern import TRACE_NAME, PathPattern, default_place, session_of
from tfprof.fleet.schema import plain
from tfprof.fleet.tasks import FileToRead, InputPath, ModelFiles
from tfprof.fleet.worker_names import Nameless, named
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.natural_order import natural
from tfprof.foundation.units import first_few, plural
from tfprof.io.event_folders import TRAIN
from tfprof.tables.formats import (
    DEBUG_INFO,
    GRAPH,
    KERAS_METADATA,
    OP_LOG,
    RUN,
    expected_inputs,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfprof.tables.formats import Format, Input

_RUNS: Final = "RunMetadata, traces, profiles with steps or event files with runs"
_TRIES: Final = 4  # files of one kind that are opened to learn what they are
_MOST_NAMED: Final = 3
_LAST_STEP: Final = (1 << 63) - 1  # a step is an int64
# Names that TensorFlow and its users give to runs: such a file is one even if it is damaged.
_RUN_NAMES: Final = ("run_meta", ".xplane.pb", ".tfevents.", ".tfprof")


class Found(NamedTuple):
    """The files to decode, in natural order; what is missing; notes."""

    files: list[FileToRead]
    skipped: list[Skip]
    notes: list[str]


def find_files(
    sources: Sequence[str],
    target: str,
    paths: str = "",
    model: ModelFiles | None = None,
    known: KnownFiles | None = None,
) -> Found:
    """The files that *sources* stand for, without those of the dataset *target*.

    *model* is for runs that have no graph or op log near them, *known* are the files that the
    dataset has. Raises InputError where no source exists or no file is a run.
    """
    pattern, known = PathPattern(paths) if paths else None, known or KnownFiles()
    found, skipped = _listed(sources, target)
    files = sorted(found.values(), key=lambda file: natural(file.input.name))
    formats = _formats(files)
    sessions = [session_of(file.input.path) for file in files if not file.is_beside]
    one_log = len({session[0] for session in sessions if session}) == 1
    runs = []
    for file in files:
        run = _run(file, formats[_kind(file)], pattern, known, one_log=one_log)
        if run is None:
            continue
        step = max(run.step or 0, run.number or 0)
        if step > _LAST_STEP:
            reason = f"{run.name}: step {step} is above {_LAST_STEP}"
            skipped.append(Skip(run.name, reason, "damaged", run.worker))
        else:
            runs.append(run)
    if not runs:
        place = f" with a path like {paths}" if paths else ""
        reason = f"no file{place} is a run in {first_few(list(sources), _MOST_NAMED)}"
        raise InputError(skipped[0].reason if skipped else f"{reason}; expected {_RUNS}")
    if pattern is None or not pattern.has_worker:
        owners = [Nameless.of(found[run.path], run.worker) for run in runs]
        name = named(((o, r.there, r.step) for o, r in zip(owners, runs, strict=True)), known)
        for number, owner in enumerate(owners):
            runs[number] = replace(runs[number], worker=name[owner])
    notes: list[str] = []
    models = [_Models(row, files, formats, notes) for row in (GRAPH, OP_LOG)]
    given = model or ModelFiles()
    aside, shared = lru_cache(None)(_aside), lru_cache(None)(ModelFiles)
    for number, run in enumerate(runs):
        file = found[run.path]
        graph, op_log = (
            each.nearest(file) or of_all or each.above(file)
            for each, of_all in zip(models, (given.graph, given.op_log), strict=True)
        )
        runs[number] = replace(run, model=shared(graph, op_log, aside(graph) if graph else ()))
    names = {run.name for run in runs}
    others = [
        file.input.name
        for file in files
        if not (file.is_beside or file.input.name in names or formats[_kind(file)])
    ]
    if others:
        what = plural(len(others), "other file is", "other files are")
        notes.append(f"{what} none that tfprof reads: {first_few(others, _MOST_NAMED)}")
    without = [
        run.name
        for run in runs
        if run.model.graph is None
        and (form := formats[_kind(found[run.path])]) is not None
        and form.input is RUN  # a trace may hold what ran: decode() knows
    ]
    if without:
        what = plural(len(without), "run has", "runs have")
        notes.append(
            f"{what} no graph near, so names of nodes are all that is known of "
            f"{'it' if len(without) == 1 else 'them'}: "
            f"{first_few(without, _MOST_NAMED)}; --{GRAPH.name} names one"
        )
    return Found(runs, skipped, notes)


def _listed(sources: Sequence[str], target: str) -> tuple[dict[str, Listed], list[Skip]]:
    """(the files of *sources* by path, what cannot be read)."""
    found: dict[str, Listed] = {}
    skipped = []
    for file in chain.from_iterable(listed(source, target) for source in sources):
        if isinstance(file, Skip):
            skipped.append(file)
            continue
        known = found.setdefault(file.input.path, file)
        if len(file.root) < len(known.root):  # a SOURCE inside another one
            found[file.input.path] = file
    for file in beside([*found.values()]):
        found.setdefault(file.input.path, file)
    return found, skipped


def _run(
    file: Listed,
    form: Format | None,
    pattern: PathPattern | None,
    known: KnownFiles,
    *,
    one_log: bool,
) -> FileToRead | None:
    """*file* as a file with steps; None where it is something else."""
    if file.is_beside or (form is not None and "run" not in form.gives):
        return None
    name = file.below[-1]
    below = file.below
    if one_log and session_of("/".join(file.below)):  # all traces are in one log folder
        below = (file.below[0], name)
    if pattern is not None:
        place = pattern.place(file.input.path, below)
        exact = place is not None and place.step is not None
    else:
        is_run = form is not None or file.is_named or any(part in name for part in _RUN_NAMES)
        place, exact = default_place(below) if is_run else None, False
    if place is None:
        return None
    given, place = file.input, place._replace(worker=plain(place.worker))
    return FileToRead(
        given.path, given.name, given.identity, given.size, *place,
        is_exact=exact, there=known.path(file),
    )  # fmt: skip


# --- what files are -------------------------------------------------------------------------------


def _kind(file: Listed) -> str:
    """The name without its numbers."""
    return re.sub(r"\d+", "#", file.below[-1])


def _formats(files: Iterable[Listed]) -> dict[str, Format | None]:
    """The format of each kind of files; None where no format fits."""
    alike: dict[str, list[Listed]] = {}
    for file in files:
        alike.setdefault(_kind(file), []).append(file)
    return {kind: _format(same) for kind, same in alike.items()}


def _format(files: Sequence[Listed]) -> Format | None:
    for file in files[:_TRIES]:
        try:
            form = open_input(file.input, expected_inputs()).format
        except InputError:
            continue
        if form is not None:
            return form
    return None


# --- which graph belongs to which run -------------------------------------------------------------


def _aside(graph: InputPath) -> tuple[str, ...]:
    """The versions of the files that are read with a SavedModel."""
    folder, _, name = graph.path.rpartition("/")
    asides = [row.beside for row in (DEBUG_INFO, KERAS_METADATA) if row.beside]
    return tuple(version_of(f"{folder}/{aside}")[0] for names, aside in asides if name in names)


class _Models:
    """The graphs or op logs among the files, by folder.

    For a trace, event files may have the graph; Keras writes those of the training beside it.
    """

    def __init__(
        self,
        row: Input,
        files: Sequence[Listed],
        formats: Mapping[str, Format | None],
        notes: list[str],
    ) -> None:
        self._of_folder: dict[str, InputPath] = {}
        self._events: dict[str, InputPath] = {}
        self._named: InputPath | None = None
        self._several, self._notes = dict[str, str](), notes
        for file in files:
            form = formats[_kind(file)]
            if form is None or form.input is not row:
                continue
            folder, _, _ = file.input.path.rpartition("/")
            if form.joins:
                self._events[folder.removesuffix(f"/{TRAIN}")] = file.input
                continue
            first = self._of_folder.setdefault(folder, file.input)
            if first is not file.input:
                several = f"{first.name} and {file.input.name} are each {row.title}"
                self._several.setdefault(folder, f"{several}: the first is used")
            if file.is_named:
                self._named = self._named or file.input

    def nearest(self, run: Listed) -> InputPath | None:
        """The one in the folder of *run*, or the nearest above inside its SOURCE."""
        folder = run.input.path
        for _ in run.below[1:]:
            folder, _, _ = folder.rpartition("/")
            model = self._in(folder)
            if model is None and TRACE_NAME in run.below[-1]:
                model = self._events.get(folder)
            if model is not None:
                return model
        return self._named

    def above(self, run: Listed) -> InputPath | None:
        """The one in the folder above the SOURCE of *run*."""
        return self._in(run.root.rpartition("/")[0])

    def _in(self, folder: str) -> InputPath | None:
        if folder in self._several:
            self._notes.append(self._several.pop(folder))
        return self._of_folder.get(folder)
