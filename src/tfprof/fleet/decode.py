"""decode(): the files of a task in, the two Parquet files of its part out.

    Task ──► files, one at a time ──► steps ──► rows ──reduce──► Decoded: Parquet bytes, entry

A pure function that pickles: the same files give the same bytes on every engine. A file that cannot
be used is a row of `skipped` in the entry, never the end.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.errors import InputError, UnreadableError
from tfprof.fleet.listing import Skip
from tfprof.fleet.parts import Samples, reduce
from tfprof.fleet.read_runs import (
    NoStepsError,
    OtherGraphError,
    RunFile,
    read_run_file,
)
from tfprof.fleet.schema import NODES, graph_files, plain, table_of
from tfprof.fleet.step_rows import step_rows
from tfprof.fleet.storage import is_url
from tfprof.fleet.tasks import inputs, is_event_file, joined
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.units import plural, shape
from tfprof.tables.formats import GRAPH, PROFILE, RUN, TRACE
from tfprof.tables.limits import raised_limits
from tfprof.writers.columnar import columnar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.fleet.parts import Decoded
    from tfprof.fleet.step_rows import StepRows
    from tfprof.fleet.tasks import FileToRead, Task

_MOST_NOTES: Final = 4  # of a task
_NO_GRAPH: Final = (
    "no graph is near, so names of nodes are all that is known of the trace; "
    f"--{GRAPH.name} names one"
)
_KINDS: Final = {OtherGraphError: "other graph", UnreadableError: "unreadable"}


def decode(task: Task) -> Decoded:
    """The part that the files of *task* become."""
    part = _Part(task)
    with raised_limits(**dict(task.limits)):
        for files in inputs(task.files):
            part.add(files)
    return part.reduced()


def decode_graphs(wanted: tuple[Task, Sequence[str]]) -> dict[str, tuple[bytes, bytes]]:
    """The files of these graphs, each as the first file of the task that has it shows it."""
    task, graphs = wanted
    made: dict[str, tuple[bytes, bytes]] = {}
    with raised_limits(**dict(task.limits)):
        for files in inputs(task.files):
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


class _Part:
    """What a task becomes, as its files are added."""

    def __init__(self, task: Task) -> None:
        self._old = {(worker, step): path for worker, step, path in task.without}
        self._taken = {*self._old}
        self._samples = Samples()
        self._skipped: list[Skip] = []
        self._notes: list[str] = []

    def add(self, files: Sequence[FileToRead]) -> None:
        """Add the steps of a file, or of event files of one folder, that are not there yet."""
        file = joined(files)
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
            gone = not is_url(file.path) and not Path(file.path).exists()
            kind = "missing" if gone else _KINDS.get(type(problem), "damaged")
            self._skip(file, str(problem), kind)
            return
        except MemoryError:
            raise
        except Exception as problem:  # noqa: BLE001 - one file is not the end of the run
            self._skip(file, f"{file.path} cannot be read: {problem!r}", "damaged")
            return
        self._add_steps(files, run, steps)
        of_model = () if run.model is None else run.model.profile.notes
        texts = [note.text for note in run.profile.notes[len(of_model) :] if note.ours]
        if run.row is TRACE and not run.profile.attribute_sources:
            texts.append(_NO_GRAPH)
        self._notes += [plain(f"{file.name}: {text}") for text in texts]

    def _add_steps(
        self, files: Sequence[FileToRead], run: RunFile, steps: Sequence[tuple[int, StepRows]]
    ) -> None:
        file = joined(files)
        own = {plain(each.path) for each in files} | {each.there for each in files} - {""}
        before = {place for place, path in self._old.items() if path in own}
        if run.row is RUN and before:  # without a number in its name: not another step
            self._repeated(file, min(before)[1])
            return
        old = [number for number, _ in steps if (file.worker, number) in before]
        for number, rows in steps:
            if number in old:  # the file has grown
                continue
            if (file.worker, number) in self._taken:
                self._repeated(file, number)
                continue
            self._taken.add((file.worker, number))
            self._samples.add(file, number, run, rows)
        if len(old) == len(steps) and not is_event_file(file):
            self._repeated(file, old[0])

    def _turn(self, file: FileToRead) -> int:
        """The step of a run whose path does not say it: the number of steps before it."""
        if file.step is not None:
            return file.step
        taken = {step for worker, step in self._taken if worker == file.worker}
        return next(step for step in range(len(taken) + 1) if step not in taken)

    def _repeated(self, file: FileToRead, step: int) -> None:
        self._skip(replace(file, step=step), repeated(file, step), "repeated")

    def _skip(self, file: FileToRead, reason: str, kind: str) -> None:
        for each in (file, file.model.graph, file.model.op_log):
            if each is not None:  # messages name files as the user does
                reason = reason.replace(each.path, each.name)
        self._skipped.append(Skip(file.name, plain(reason), kind, file.worker, file.step))

    def reduced(self) -> Decoded:
        """The part."""
        notes = self._notes[:_MOST_NOTES]
        if len(self._notes) > _MOST_NOTES:
            notes.append(f"… {plural(len(self._notes) - _MOST_NOTES, 'more note')} like these")
        return reduce(self._samples, self._skipped, notes)


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
