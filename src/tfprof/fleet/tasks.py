"""Tasks: which files are decoded together, and by which key their part of the dataset goes.

    files in natural order of worker and step ──► groups ──► one Task, one part each

The groups depend on the files alone, so every engine makes the same parts. A task pickles.
"""

from __future__ import annotations

import hashlib
from itertools import groupby
from typing import TYPE_CHECKING, Final

from tfprof import __version__
from tfprof.fleet.manifest import FORMAT
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.foundation.natural_order import natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_MOST_FILES: Final = 32  # of a task; a task's rows are in memory at once
_MOST_BYTES: Final = 256 << 20  # of its files, likewise; packed ones count more
_UNPACKED: Final = 8
_FEWEST_TASKS: Final = 64  # so that all processes have work
_KEY: Final = 16  # hexadecimal digits


@dataclass(frozen=True)
class InputPath:
    """A file to open; *name* is the path as the user wrote it, for messages and the manifest."""

    path: str
    name: str
    identity: str  # changes with the content: size, and time of the last change or ETag
    size: int = 0


@dataclass(frozen=True)
class ModelFiles:
    """The graph and the op log that belong to a run."""

    graph: InputPath | None = None
    op_log: InputPath | None = None
    aside: tuple[str, ...] = ()  # versions of the files that are read with the graph


@dataclass(frozen=True)
class FileToRead(InputPath):
    """A file with steps of a worker."""

    worker: str = ""
    step: int | None = None  # None: the file says it, or its place among the worker's files
    number: int | None = None  # the step if the file has one only, and does not say which
    is_exact: bool = False  # the user's pattern says the step, whatever the file says
    model: ModelFiles = ModelFiles()
    there: str = ""  # the path by which the dataset has steps of this file


@dataclass(frozen=True)
class Task:
    """Files that are decoded together."""

    key: str
    files: tuple[FileToRead, ...]
    limits: tuple[tuple[str, int], ...] = ()
    # (worker, step, path of the file if it is known) of what other parts have.
    without: frozenset[tuple[str, int, str]] = frozenset()


def make_tasks(files: Sequence[FileToRead], limits: Mapping[str, int]) -> list[Task]:
    """The tasks for *files*; the files of one worker and step are in one task."""
    most = min(_MOST_FILES, max(1, len(files) // _FEWEST_TASKS))
    tasks: list[Task] = []
    group: list[FileToRead] = []
    for unit in _units(files):
        both = [*group, *unit]
        if group and (len(both) > most or sum(map(_bytes, both)) > _MOST_BYTES):
            tasks.append(_task(group, limits))
            both = unit
        group = both
    return [*tasks, _task(group, limits)] if group else tasks


def _bytes(file: FileToRead) -> int:
    return file.size * (_UNPACKED if file.name.endswith(".gz") else 1)


def split(task: Task) -> list[Task]:
    """*task* as tasks of as few files as possible."""
    return [keyed(replace(task, files=tuple(unit))) for unit in _units(task.files)]


def _units(files: Iterable[FileToRead]) -> Iterator[list[FileToRead]]:
    """Files that must stay together: of one worker and step, or of a worker without steps."""
    in_order = sorted(files, key=lambda file: (natural(file.worker), file.worker))
    for _, same in groupby(in_order, key=lambda file: file.worker):
        of_worker = sorted(same, key=lambda file: (file.step or 0, natural(file.name)))
        if any(file.step is None for file in of_worker):
            yield of_worker
            continue
        for _, unit in groupby(of_worker, key=lambda file: file.step):
            yield list(unit)


def inputs(files: Iterable[FileToRead]) -> list[list[FileToRead]]:
    """Files that are read together: the event files of a folder, else each on its own."""
    together: dict[object, list[FileToRead]] = {}
    for file in files:
        folder = file.path.rpartition("/")[0]
        key = (file.worker, folder) if is_event_file(file) else file.path
        together.setdefault(key, []).append(file)
    return [*together.values()]


def joined(files: Sequence[FileToRead]) -> FileToRead:
    """Files that are read together, as one."""
    identity = "; ".join(file.identity for file in files)
    there = next((file.there for file in files if file.there), "")
    return replace(files[-1], identity=identity, there=there)


def is_event_file(file: FileToRead) -> bool:
    """Whether the name is that of an event file."""
    return ".tfevents." in file.path.rpartition("/")[2]


def _task(files: Sequence[FileToRead], limits: Mapping[str, int]) -> Task:
    return keyed(Task("", tuple(files), tuple(sorted(limits.items()))))


def keyed(task: Task) -> Task:
    """*task* with the key of its content."""
    parts: list[object] = [FORMAT, __version__, task.limits, sorted(task.without)]
    for file in task.files:
        models = (file.model.graph, file.model.op_log)
        parts += [
            file.path,
            file.model.aside,
            file.identity,
            file.worker,
            file.step,
            file.number,
            file.is_exact,
        ]
        parts += [(model.name, model.identity) if model else None for model in models]
    digest = hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape"))
    return replace(task, key=digest.hexdigest()[:_KEY])
