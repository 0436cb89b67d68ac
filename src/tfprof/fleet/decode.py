"""decode(): the files of a task in, the two Parquet files of its part out.

    Task ──► files, one at a time ──► steps ──► rows ──► Decoded: Parquet bytes, entry

A pure function that pickles: the same files give the same bytes on every engine. A file that cannot
be used is a row of `skipped` in the entry, never the end.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import unique, unique_inverse
from tfprof.errors import InputError, UnreadableError
from tfprof.fleet.read_runs import (
    NoStepsError,
    OtherGraphError,
    RunFile,
    is_event_file,
    read_run_file,
)
from tfprof.fleet.schema import NODES, ROWS, STEPS, graph_files, part_files, plain, table_of
from tfprof.fleet.sources import Skip
from tfprof.fleet.step_rows import step_rows
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.natural_order import natural
from tfprof.foundation.units import plural, shape
from tfprof.tables.fields import METRICS
from tfprof.tables.formats import PROFILE, RUN
from tfprof.tables.limits import raised_limits
from tfprof.writers.columnar import columnar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfprof.columns.strings import I64
    from tfprof.fleet.schema import Table
    from tfprof.fleet.step_rows import StepRows
    from tfprof.fleet.tasks import FileToRead, Task
    from tfprof.model import Profile

_MOST_NOTES: Final = 4  # of a task
_KINDS: Final = {OtherGraphError: "other graph", UnreadableError: "unreadable"}


class Decoded(NamedTuple):
    """A part of the dataset, as `Writer.add_part` takes it."""

    rows: bytes
    steps: bytes
    entry: dict[str, Any]


def decode(task: Task) -> Decoded:
    """The part that the files of *task* become."""
    part = _Part(task)
    with raised_limits(**dict(task.limits)):
        for files in _inputs(task.files):
            part.add(files)
    return part.decoded()


def decode_graphs(wanted: tuple[Task, Sequence[str]]) -> dict[str, tuple[bytes, bytes]]:
    """The files of these graphs, each as the first file of the task that has it shows it."""
    task, graphs = wanted
    made: dict[str, tuple[bytes, bytes]] = {}
    with raised_limits(**dict(task.limits)):
        for files in _inputs(task.files):
            if not set(graphs) - made.keys():
                break
            try:
                run = read_run_file(files, files[-1].step or 0)
            except Exception:  # noqa: BLE001, S112 - decode() says what is wrong with it
                continue
            if run.graph in graphs and run.graph not in made:
                made[run.graph] = _graph_files(run)
    return made


def _graph_files(run: RunFile) -> tuple[bytes, bytes]:
    profile = run.profile
    notes = profile.notes if run.model is None else run.model.profile.notes
    float_ops = run.float_ops(profile.steps[0])
    bare = replace(profile, steps=(), step_shapes=(), notes=notes)
    nodes, own = profile.nodes, profile.nodes.device
    device = profile.types.take(np.maximum(own, 0)).where(own >= 0)
    shapes = [shape(nodes.shape[node]) for node in range(len(profile))]
    number, texts = device.intern()
    table = table_of(NODES, {
        "graph": (np.zeros(len(profile), np.int64), [run.graph]),
        "node": np.arange(len(profile)),
        "name": nodes.name.tolist(),
        "op": (nodes.op, profile.types),
        "device": (number, device.take(texts)),
        "params": nodes.shape.elements(),
        "float_ops": float_ops,
        "shape": shapes,
    })  # fmt: skip
    return graph_files(b"".join(columnar(bare)), table)


def _inputs(files: Sequence[FileToRead]) -> Iterator[list[FileToRead]]:
    """Files that are read together: the event files of a folder, else each on its own."""

    def together(numbered: tuple[int, FileToRead]) -> object:
        number, file = numbered
        folder = str(PurePosixPath(file.path).parent)
        return (file.worker, folder) if is_event_file(file) else number

    for _, same in groupby(enumerate(files), key=together):
        yield [file for _, file in same]


class _Words:
    """Texts of a column, each once."""

    def __init__(self) -> None:
        self._code: dict[bytes, int] = {}

    def codes(self, texts: Strings) -> I64:
        """The number of each text."""
        code = self._code
        return np.array([code.setdefault(text, len(code)) for text in texts.tolist()], np.int64)

    def strings(self) -> Strings:
        """The texts by their numbers."""
        return Strings.of(self._code)


class _Sample(NamedTuple):
    """A step of a worker in the dataset."""

    worker: str
    step: int
    graph: str
    file: FileToRead
    rows: StepRows
    words: dict[str, I64]  # the numbers of each row's device, name and operation type


class _Part:
    """Rows and steps of a task, as its files are added."""

    def __init__(self, task: Task) -> None:
        self._taken = set(task.without)
        self._words = {name: _Words() for name in ("device", "name", "op")}
        self._names: dict[Profile, I64] = {}  # the number of each node's name; -1: none yet
        self._samples: list[_Sample] = []
        self._skipped: list[Skip] = []
        self._notes: list[str] = []

    def add(self, files: Sequence[FileToRead]) -> None:
        """Add the steps of a file, or of event files of one folder, that are not there yet."""
        file = files[-1]
        if file.step is not None and (file.worker, file.step) in self._taken:
            self._repeated(file, file.step)
            return
        turn = self._turn(file)
        try:
            run = read_run_file(files, turn)
            steps = [
                (number, step_rows(run.profile, step, run.float_ops(step)))
                for number, step in zip(_numbers(file, run, turn), run.profile.steps, strict=True)
            ]
        except NoStepsError as problem:
            if not is_event_file(file):  # most event files have none
                self._skip(file, str(problem), "no steps")
            return
        except InputError as problem:
            self._skip(file, str(problem), _KINDS.get(type(problem), "damaged"))
            return
        except MemoryError:
            raise
        except Exception as problem:  # noqa: BLE001 - one file is not the end of the run
            self._skip(file, f"{file.path} cannot be read: {problem!r}", "damaged")
            return
        for number, rows in steps:
            if (file.worker, number) in self._taken:
                self._repeated(file, number)
                continue
            self._taken.add((file.worker, number))
            words = self._numbered(run, rows)
            self._samples.append(_Sample(file.worker, number, run.graph, file, rows, words))
        before = () if run.model is None else run.model.profile.notes
        of_run = run.profile.notes[len(before) :]
        self._notes += [plain(f"{file.name}: {note.text}") for note in of_run if note.ours]

    def _turn(self, file: FileToRead) -> int:
        """The step of a run whose path does not say it: the number of steps before it."""
        if file.step is not None:
            return file.step
        taken = {step for worker, step in self._taken if worker == file.worker}
        return next(step for step in range(len(taken) + 1) if step not in taken)

    def _numbered(self, run: RunFile, rows: StepRows) -> dict[str, I64]:
        nodes = run.profile.nodes
        model = run.profile if run.model is None else run.model.profile
        # Names of a graph become numbers once: most files of a task have the same graph.
        known = self._names.setdefault(model, np.full(len(model), -1, np.int64))
        name = np.append(known, np.full(len(run.profile) - known.size, -1, np.int64))
        used = unique(rows.node)
        new = used[name[used] < 0]
        name[new] = self._words["name"].codes(nodes.name.take(new))
        known[:] = name[: known.size]
        types, type_of = unique_inverse(nodes.op[rows.node])
        op = self._words["op"].codes(run.profile.types.take(types))
        device = self._words["device"].codes(rows.devices)
        return {"device": device[rows.device], "name": name[rows.node], "op": op[type_of]}

    def _repeated(self, file: FileToRead, step: int) -> None:
        self._skip(replace(file, step=step), repeated(file, step), "repeated")

    def _skip(self, file: FileToRead, reason: str, kind: str) -> None:
        for each in (file, file.model.graph, file.model.op_log):
            if each is not None:  # messages name files as the user does
                reason = reason.replace(each.path, each.name)
        self._skipped.append(Skip(file.name, plain(reason), kind, file.worker, file.step))

    def decoded(self) -> Decoded:
        """The part."""
        samples = sorted(
            self._samples, key=lambda each: (natural(each.worker), each.worker, each.step)
        )
        notes = self._notes[:_MOST_NOTES]
        if len(self._notes) > _MOST_NOTES:
            notes.append(f"… {plural(len(self._notes) - _MOST_NOTES, 'more note')} like these")
        skipped = [skip._asdict() for skip in self._skipped]
        return Decoded(*part_files(self._rows(samples), _steps(samples), skipped, notes))

    def _rows(self, samples: Sequence[_Sample]) -> Table:
        size = np.array([each.rows.node.size for each in samples], np.int64)
        sample = np.repeat(np.arange(size.size), size)
        words = {
            name: (_joined(each.words[name] for each in samples), texts.strings())
            for name, texts in self._words.items()
        }
        metrics = {name: _joined(each.rows.metrics[name] for each in samples) for name in METRICS}
        for name in ("worker", "graph"):
            texts = _Words()
            codes = texts.codes(Strings.of(getattr(each, name).encode() for each in samples))
            words[name] = codes[sample], texts.strings()
        step = np.array([each.step for each in samples], np.int64)
        return table_of(ROWS, {"step": step[sample], **words, **metrics})


def repeated(file: FileToRead, step: int) -> str:
    """The reason to skip a step that is there already."""
    return (
        f"{file.path}: step {step} of {file.worker} is there already from another file or an "
        "earlier version of this one; --paths says which part of a path is the worker"
    )


def _numbers(file: FileToRead, run: RunFile, turn: int) -> list[int]:
    """The steps of a file in the dataset."""
    own = [step.number for step in run.profile.steps]
    if run.row is RUN:
        return [turn]
    if file.is_exact and file.step is not None:
        return [file.step + number - own[0] for number in own]
    number = file.number if file.step is None else file.step
    return [number] if run.row is PROFILE and own == [0] and number is not None else own


def _joined(columns: Iterable[I64]) -> I64:
    return np.concatenate([*columns, np.empty(0, np.int64)])


def _steps(samples: Sequence[_Sample]) -> Table:
    def total(metric: str) -> list[int]:
        return [int(sample.rows.metrics[metric].sum()) for sample in samples]

    return table_of(STEPS, {
        "worker": [sample.worker for sample in samples],
        "step": [sample.step for sample in samples],
        "graph": [sample.graph for sample in samples],
        "span_us": [sample.rows.span_us for sample in samples],
        **{name: total(name) for name in STEPS if name in METRICS},
        "executions": [sample.rows.executions for sample in samples],
        "nodes": [unique(sample.rows.node).size for sample in samples],
        "source": [sample.file.name for sample in samples],
        "version": [sample.file.identity for sample in samples],
    })  # fmt: skip
