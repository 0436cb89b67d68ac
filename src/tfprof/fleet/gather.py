"""gather(): the files of many workers in, one dataset out.

    sources ──► files ──► tasks ──► engine: decode ──► Writer: parts, graphs, then the manifest

A worker's step that the dataset has is left alone. A file that cannot be used is skipped, with a
row in the manifest. Nothing is visible before the end; a killed run leaves the old state, and the
parts that it wrote are used again with *resume*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfprof.errors import InputError, UsageError
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.decode import decode, decode_graphs, repeated
from tfprof.fleet.engine import TIMEOUT, Engine, Failure
from tfprof.fleet.gathered import Gathered, after, merge, said
from tfprof.fleet.known_files import KnownFiles
from tfprof.fleet.listing import Skip, input_path, is_same_place
from tfprof.fleet.sessions import one_session
from tfprof.fleet.sources import find_files
from tfprof.fleet.tasks import ModelFiles, inputs, joined, keyed, make_tasks, split
from tfprof.fleet.writer import Writer
from tfprof.foundation.arguments import path
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.natural_order import natural
from tfprof.foundation.progress_events import Stage, announce, listening
from tfprof.foundation.units import first_few
from tfprof.tables.limits import LIMITS, limit

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from tfprof.fleet.parts import Decoded
    from tfprof.fleet.tasks import FileToRead, Task

    AnyPath = str | os.PathLike[str]


_MOST_NAMED: Final = 3


def gather_fleet(  # noqa: PLR0913 - one parameter per option
    sources: AnyPath | Sequence[AnyPath],
    target: AnyPath,
    *,
    paths: str = "",
    graph: AnyPath = "",
    op_log: AnyPath = "",
    resume: bool = False,
    strict: bool = False,
    processes: int | None = None,
    scheduler: str = "",
    timeout: float = TIMEOUT,
    progress: Callable[[str], None] = lambda _: None,
) -> Gathered:
    """Gather the runs of many workers into the dataset *target*, as `tfprof fleet` does.

    *sources* are folders, globs, files, URLs, or @LIST. *paths* is a pattern for the ends of their
    paths, as in "{worker}/run_meta_{step}". Raises InputError where nothing can be used.
    """
    several = sources if isinstance(sources, (list, tuple)) else [sources]
    words = [path("sources", source) for source in several]
    with Engine(processes, scheduler, timeout) as engine, listening(progress):
        return gather(
            words,
            path("target", target),
            paths=paths,
            graph=path("graph", graph),
            op_log=path("op_log", op_log),
            resume=resume,
            strict=strict,
            engine=engine,
        )


def gather(  # noqa: PLR0913 - one parameter per option
    sources: Sequence[str],
    target: str,
    *,
    paths: str = "",
    graph: str = "",
    op_log: str = "",
    resume: bool = False,
    strict: bool = False,
    engine: Engine,
) -> Gathered:
    """Gather *sources* into the dataset at *target*; progress is announced."""
    announce(Stage("looking for files"))
    for source in sources:
        if is_same_place(source, target):
            raise UsageError(f"{source} is a source: the dataset needs a folder of its own")
    given = [input_path(name) if name else None for name in (graph, op_log)]
    model = ModelFiles(given[0], given[1])
    run = _Gathering(Writer.at(target), engine, strict=strict)
    found = find_files(sources, target, paths, model, run.known)
    for skip in found.skipped:
        run.skip(skip)
    files = run.new_files(found.files)
    tasks = make_tasks(files, {n: limit(n) for n in LIMITS if limit(n) != LIMITS[n].default})
    try:
        run.decode_all(tasks, resume=resume)
        run.drop_repeated()
        run.add_graphs()
        run.check_repaired()
    except InputError:
        run.writer.discard()
        raise
    names = {file.name for file in found.files}
    tried = names | {name.rpartition("/")[0] for name in names} | {*sources}
    return run.committed(target, found.notes, tried)


class _Gathering:
    """The state of a run: which task has become which part."""

    def __init__(self, writer: Writer, engine: Engine, *, strict: bool) -> None:
        self.writer = writer
        self._engine, self._strict = engine, strict
        self._parts: list[tuple[Task, dict[str, Any]]] = []  # with their entries
        self._skipped: list[Skip] = []
        self._unchanged = self._decoded = self._reused = 0
        self._broken = sorted(map(writer.storage.path, writer.drop_broken()))
        self._there = writer.kept
        lost = writer.old.steps.keys() - self._there.steps.keys() if writer.old else set()
        self.known = KnownFiles(Dataset(writer.storage, self._there), lost)

    def skip(self, skip: Skip) -> None:
        """Leave a file out; an error if the run is strict."""
        if self._strict:
            raise InputError(skip.reason)
        self._skipped.append(skip)

    def new_files(self, files: Sequence[FileToRead]) -> list[FileToRead]:
        """The *files* whose steps the dataset does not have."""
        known, new = self.known, []
        for same in inputs(files):
            file = joined(same)
            step = file.step
            if any((each.there, file.identity) in known.versions for each in same):
                self._unchanged += len(same)
            elif step is not None and (file.there or (file.worker, step) in known.sources):
                reason = repeated(file, step).replace(file.path, file.name)
                self.skip(Skip(file.name, reason, "repeated", file.worker, step))
            else:
                new += same
        kept, others = one_session(new, known.sources_of)
        for skip in others:
            self.skip(skip)
        return kept

    # --- parts ------------------------------------------------------------------------------------

    def decode_all(self, tasks: Sequence[Task], *, resume: bool) -> None:
        """Decode all tasks, or take the parts of an earlier run that was killed."""
        waiting = []
        for task in map(self._without_old, tasks):
            entry = self.writer.has(task.key) if resume else None
            if entry is None:
                waiting.append(task)
            else:
                self._reused += len(task.files)
                self._take(task, entry)
        failed = self._decode(waiting)
        single = [part for task, _ in failed for part in split(task)]
        for task, failure in self._decode(single):
            for file in task.files:
                reason = f"{file.name}: {failure.reason}"
                self.skip(Skip(file.name, reason, failure.kind, file.worker, file.step))

    def _without_old(self, task: Task) -> Task:
        """*task* without the steps of its workers that the dataset has."""
        there = self._there.steps
        workers = {file.worker for file in task.files if file.step is None}
        pairs = {(worker, step) for worker in workers for step in there.get(worker, ())}
        without = {(*pair, self.known.sources[pair]) for pair in pairs}
        return keyed(replace(task, without=frozenset(without))) if without else task

    def _decode(self, tasks: Sequence[Task]) -> list[tuple[Task, Failure]]:
        """Decode *tasks*; those that failed."""
        failed = []
        sizes = [sum(file.size for file in task.files) for task in tasks]
        done, total = 0, sum(sizes)
        announce(Stage("gathering", 0, total))
        for count, (number, result) in enumerate(self._engine.run(decode, tasks)):
            task = tasks[number]
            if isinstance(result, Failure):
                failed.append((task, result))
            else:
                self._decoded += 1
                self._add(task, result)
            done += sizes[number]
            announce(Stage(f"gathering {task.files[-1].name} ({count + 1} of {len(tasks)} parts)",
                           done, total))  # fmt: skip
        return failed

    def _add(self, task: Task, decoded: Decoded) -> None:
        if decoded.entry["rows"]:
            self.writer.add_part(task.key, *decoded)
        self._take(task, decoded.entry)

    def _take(self, task: Task, entry: dict[str, Any]) -> None:
        for skipped in entry["skipped"] if self._strict else ():
            self.skip(Skip(**skipped))
        self._parts.append((task, entry))

    def drop_repeated(self) -> None:
        """Decode again, without them, tasks that have steps which earlier ones have, too."""
        taken = {*self.known.sources}
        again = []
        for part in sorted(self._parts, key=_place):
            task, entry = part
            steps = {(worker, step) for worker, numbers in entry["steps"] for step in numbers}
            if steps & taken:
                without = {(*pair, self.known.sources.get(pair, "")) for pair in steps & taken}
                again.append(keyed(replace(task, without=task.without | without)))
                self.writer.drop_part(task.key)
                self._parts.remove(part)
            taken |= steps
        for task, failure in self._decode(again):
            raise InputError(f"{task.files[0].name}: {failure.reason}")

    def add_graphs(self) -> None:
        """Add each graph, as the first task that has it sees it."""
        missing = self.writer.missing_graphs
        wanted = []
        for task, entry in sorted(self._parts, key=_place):
            if graphs := sorted(missing & entry["graphs"].keys()):
                wanted.append((task, graphs))
                missing -= {*graphs}
        for number, result in self._engine.run(decode_graphs, wanted):
            if isinstance(result, Failure):
                raise InputError(f"{wanted[number][0].files[0].name}: {result.reason}")
            for graph, files in result.items():
                self.writer.add_graph(graph, *files)
            task, graphs = wanted[number]
            if {*graphs} - result.keys():
                name = task.files[0].name
                raise InputError(f"{name} was removed or changed meanwhile; gather again")

    def check_repaired(self) -> None:
        """Raise InputError where a step of a broken part has no source."""
        now = self.writer.kept.steps
        for worker, steps in (
            self.writer.old.steps.items() if self._broken and self.writer.old else ()
        ):
            if lost := steps - now.get(worker, set()):
                raise InputError(
                    f"{first_few(self._broken, 1)} is missing or damaged, and no source has step "
                    f"{min(lost)} of {worker}: gather from all sources, or name a new folder"
                )

    # --- the end ----------------------------------------------------------------------------------

    def committed(self, target: str, notes: Sequence[str], tried: set[str]) -> Gathered:
        """The new state; *tried* are the files whose old reasons to skip them do not count."""
        entries = [entry for _, entry in sorted(self._parts, key=_place)]
        new = merge(self._skipped, notes, entries)
        old = self.writer.old
        if old is None and not any(entry["rows"] for entry in entries):
            reason = first_few([skip.reason for skip in new.skipped], 1) or "none has steps"
            raise InputError(f"no file could be used: {reason}")
        every = new if old is None else after(old, new, tried)
        manifest = self.writer.commit([skip._asdict() for skip in every.skipped], every.notes)
        bad = {skip.path for skip in new.skipped}
        files = sum(file.name not in bad for task, _ in self._parts for file in task.files)
        skips = tuple(new.skipped)
        again = f"made again, as missing or damaged: {first_few(self._broken, _MOST_NAMED)}"
        notes = [*new.notes, *([again] if self._broken else [])]
        lines = tuple(said(notes, skips, target))
        return Gathered(
            target, files, self._unchanged, manifest, skips, self._decoded, lines, self._reused
        )


def _place(part: tuple[Task, dict[str, Any]]) -> tuple[Any, ...]:
    task, _ = part
    first = task.files[0]
    return natural(first.worker), first.worker, first.step or 0, natural(first.name)
