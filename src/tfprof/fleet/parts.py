"""reduce(): the steps of a task as the two Parquet files of one part.

    Samples ──► one table of rows, one of steps ──► Parquet bytes, and the entry of the manifest

Texts are numbered as the steps are added: most files of a task have the same graph, whose names
become numbers once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import unique, unique_inverse
from tfprof.fleet.schema import ROWS, STEPS, part_files, table_of
from tfprof.foundation.natural_order import natural
from tfprof.tables.fields import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfprof.columns.strings import I64
    from tfprof.fleet.listing import Skip
    from tfprof.fleet.read_runs import RunFile
    from tfprof.fleet.schema import Table
    from tfprof.fleet.step_rows import StepRows
    from tfprof.fleet.tasks import FileToRead
    from tfprof.model import Profile


class Decoded(NamedTuple):
    """A part of the dataset, as `Writer.add_part` takes it."""

    rows: bytes
    steps: bytes
    entry: dict[str, Any]


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


class Samples:
    """The steps of a task."""

    def __init__(self) -> None:
        self._words = {name: _Words() for name in ("device", "name", "op")}
        self._names: dict[Profile, I64] = {}  # the number of each node's name; -1: none yet
        self._samples: list[_Sample] = []

    def add(self, file: FileToRead, step: int, run: RunFile, rows: StepRows) -> None:
        """Add the rows of a step."""
        words = self._numbered(run, rows)
        self._samples.append(_Sample(file.worker, step, run.graph, file, rows, words))

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

    def tables(self) -> tuple[Table, Table]:
        """Rows and steps, by worker and step."""
        samples = sorted(
            self._samples, key=lambda each: (natural(each.worker), each.worker, each.step)
        )
        return self._rows(samples), _steps(samples)

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


def reduce(samples: Samples, skipped: Iterable[Skip], notes: Sequence[str]) -> Decoded:
    """The part that the steps of a task are, with what was skipped and noted."""
    return Decoded(*part_files(*samples.tables(), [skip._asdict() for skip in skipped], notes))


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
        "nodes": [sample.rows.nodes for sample in samples],
        "source": [sample.file.path for sample in samples],
        "version": [sample.file.identity for sample in samples],
    })  # fmt: skip
