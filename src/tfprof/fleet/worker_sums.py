"""Times of each worker by step, and by operation type and device: what `tfprof workers` compares.

    steps/*.parquet ─► StepTimes   workers × steps
    rows/*.parquet  ─► Sums        workers × (operation type, device): medians over steps

Rows are added up one part at a time. A worker's steps become medians as soon as all of them are
read, so memory grows with workers and operation types, but not with steps or nodes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.fleet.robust import spread_of_steps
from tfprof.fleet.stragglers import Cause, Key, Sums
from tfprof.fleet.worker_times import worker_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tfprof.columns.strings import I64
    from tfprof.fleet.dataset import Batch, Dataset
    from tfprof.fleet.robust import F64

    Wanted = Callable[[str], bool]

F32 = np.ndarray[Any, np.dtype[np.float32]]
_TASK: Final = re.compile(r"/job:([^/]+)(?:/replica:\d+)?(?:/task:(\d+))?")
SERVER: Final = "ps"  # the job of parameter servers
_MOST_CAUSES: Final = 3
_LEAST_CAUSE: Final = 0.1  # of the extra time of all operations


class StepTimes(NamedTuple):
    """The time of each step of each worker."""

    workers: tuple[str, ...]  # in natural order
    steps: tuple[int, ...]
    micros: F64  # NaN: not recorded, or no time
    is_span: bool  # from the first start to the last end; else the sum of all operations
    graphs: tuple[str, ...]  # of each worker
    without_time: int  # worker steps


def step_times(dataset: Dataset, keep: Wanted | None = None) -> StepTimes:
    """The times of the workers that *keep* accepts; spans if all are known."""
    columns = ["span_us", "micros", "graph"]
    table, workers, steps, row, column = worker_steps(dataset, columns, keep)
    graph = dict(zip(row.tolist(), table["graph"].to_pylist(), strict=True))
    span, micros = (np.asarray(table[name], np.float64) for name in ("span_us", "micros"))
    is_span = bool((span[micros > 0] > 0).all())
    values = span if is_span else micros
    times = np.full((len(workers), steps.size), np.nan)
    times[row, column] = np.where(values > 0, values, np.nan)
    without = int((values <= 0).sum())
    of_worker = tuple(graph[at] for at in range(len(workers)))
    return StepTimes(workers, tuple(steps.tolist()), times, is_span, of_worker, without)


def task_of(device: str) -> tuple[str, str]:
    """(job and task, the device in it): ("worker:3", "gpu:0"); the first is "" where unknown."""
    match = _TASK.match(device)
    job, rest = (f"{match[1]}:{match[2] or 0}", device[match.end() :]) if match else ("", device)
    return job, rest.partition("/stream:")[0].removeprefix("/device:").strip("/")


class Devices:
    """Devices by the names that workers have in common."""

    def __init__(self, devices: Iterable[str]) -> None:
        self._parts = [task_of(device) for device in devices]

    def labels(self, rows: I64) -> list[str]:
        """The name of each device for a worker that ran *rows* on each.

        The job and task where a worker runs most are its own and not part of the name; those of a
        parameter server always are.
        """
        tasks: dict[str, int] = {}
        for (task, _), count in zip(self._parts, rows.tolist(), strict=True):
            if not is_server(task):
                tasks[task] = tasks.get(task, 0) + count
        own = max(tasks, key=lambda task: tasks[task], default="")
        return [local if task in {own, ""} else f"{task}/{local}" for task, local in self._parts]


def is_server(task: str) -> bool:
    """Whether a job and task, or a name of a device that begins with them, is of a server."""
    return task.startswith(f"{SERVER}:")


class Added(NamedTuple):
    """What the rows add up to."""

    sums: Sums
    step_causes: Mapping[int, tuple[Cause, ...]]  # why a slow step is slow, by its column
    mean: F64  # time per worker step by key


class _Unusual:
    """A slow step: its times by key, and what is usual for the same workers."""

    def __init__(self, workers: Sequence[int]) -> None:
        self._workers = {*workers}
        self._here = self._usual = np.zeros(0)
        self._count = 0

    def add(self, worker: int, here: F64, usual: F64) -> None:
        """The times of a *worker* by key; the longer of two arrays has more keys."""
        if not self._workers or worker in self._workers:
            self._here, self._usual = _plus(self._here, here), _plus(self._usual, usual)
            self._count += 1

    def causes(self, keys: Sequence[Key]) -> tuple[Cause, ...]:
        """What takes longer than usual, most extra time first."""
        width = max(self._here.size, self._usual.size)
        here, usual = (
            _padded(each, width) / max(self._count, 1) for each in (self._here, self._usual)
        )
        extra = here - usual
        least = max(_LEAST_CAUSE * float(np.maximum(extra, 0).sum()), 1.0)
        largest = [at for at in np.argsort(-extra, kind="stable").tolist() if extra[at] >= least]
        return tuple(Cause(keys[at], here[at], usual[at]) for at in largest[:_MOST_CAUSES])


class _Adder:
    """Adds up rows; times by key are arrays that grow with the number of keys."""

    def __init__(
        self, times: StepTimes, slow: Mapping[int, Sequence[int]], *, by_node: bool
    ) -> None:
        self._by_node = by_node
        self._keys: dict[Key, int] = {}
        self._row = {worker: at for at, worker in enumerate(times.workers)}
        self._column = {step: at for at, step in enumerate(times.steps)}
        self._unusual = {column: _Unusual(workers) for column, workers in slow.items()}
        self._waiting: dict[int, dict[int, tuple[F64, F32]]] = {}
        self._medians: dict[int, tuple[F32, F32, F32]] = {}
        self._total, self._samples = np.zeros(0), 0

    def add(self, batch: Batch, left: dict[str, int]) -> None:
        """The rows of a part; *left*: how many steps of each worker are still to come."""
        (word, words), (device, devices) = _words(batch, self._by_node), batch.strings("device")
        width = len(devices)
        micros, pair = batch.numbers("micros").astype(np.float64), word * width + device
        placed = Devices(devices.texts())
        known: dict[tuple[str, ...], I64] = {}
        for worker, step, rows in batch.samples():
            counts = np.bincount(pair[rows], minlength=len(words) * width)
            sums = np.bincount(pair[rows], micros[rows], len(counts))
            labels = tuple(placed.labels(counts.reshape(-1, width).sum(axis=0)))
            if labels not in known:
                known[labels] = np.full(len(counts), -1)
            used, key = np.flatnonzero(counts), known[labels]
            for at in used[key[used] < 0].tolist():
                op, node = words[at // width]
                name = Key(op, labels[at % width], node)
                key[at] = self._keys.setdefault(name, len(self._keys))
            by_key = np.bincount(key[used], sums[used], len(self._keys)).astype(np.float64)
            nodes = np.bincount(key[used], counts[used], len(self._keys)).astype(np.float32)
            self._total, self._samples = _plus(self._total, by_key), self._samples + 1
            self._waiting.setdefault(self._row[worker], {})[self._column[step]] = by_key, nodes
            left[worker] -= 1
            if not left[worker]:
                self._finish(self._row[worker])

    def _finish(self, worker: int) -> None:
        """All steps of a worker are read."""
        steps = self._waiting.pop(worker)
        width = max(micros.size for micros, _ in steps.values())
        micros = np.stack([_padded(each, width) for each, _ in steps.values()])
        nodes = np.stack([_padded(each, width) for _, each in steps.values()])
        usual = np.median(micros, axis=0)
        columns = usual, spread_of_steps(micros), np.median(nodes, axis=0)
        first, second, third = (each.astype(np.float32) for each in columns)
        self._medians[worker] = first, second, third
        for column in steps.keys() & self._unusual.keys():
            self._unusual[column].add(worker, steps[column][0], usual)

    def result(self) -> Added:
        """What was added."""
        for worker in list(self._waiting):
            self._finish(worker)
        keys = list(self._keys)
        shape = len(self._row), len(keys)
        columns = np.zeros((3, *shape))
        while self._medians:  # their memory goes as the columns fill
            worker, medians = self._medians.popitem()
            for column, values in zip(columns, medians, strict=True):
                column[worker, : values.size] = values
        causes = {at: unusual.causes(keys) for at, unusual in self._unusual.items()}
        mean = _padded(self._total, len(keys)) / max(self._samples, 1)
        return Added(Sums(keys, *columns), causes, mean)


def add_up(
    dataset: Dataset,
    times: StepTimes,
    slow: Mapping[int, Sequence[int]],
    *,
    by_node: bool = False,
) -> Added:
    """Times by operation type and device, and by node if asked for, of the workers of *times*.

    *slow*: the workers of each slow column; none: all.
    """
    adder = _Adder(times, slow, by_node=by_node)
    known = {*times.workers}
    left: dict[str, int] = {}
    for part in dataset.manifest.parts.values():
        for worker, steps in part["steps"]:
            left[worker] = left.get(worker, 0) + len(steps)
    columns = ["op", "device", "micros", *(["name"] if by_node else [])]
    for batch in dataset.scan(columns, known.__contains__):
        adder.add(batch, left)
    return adder.result()


def _words(batch: Batch, by_node: bool) -> tuple[I64, list[tuple[str, str]]]:  # noqa: FBT001
    """(number of each row's word, the words): (operation type, node or nothing)."""
    op, ops = batch.strings("op")
    types = list(ops.texts())
    if not by_node:
        return op, [(text, "") for text in types]
    node, nodes = batch.strings("name")
    op_of = np.zeros(len(nodes), np.int64)
    op_of[node] = op
    return node, [(types[at], name) for at, name in zip(op_of, nodes.texts(), strict=True)]


def _padded(values: Any, width: int) -> Any:  # noqa: ANN401 - an array of either type
    return np.pad(values, (0, width - values.size))


def _plus(first: F64, second: F64) -> F64:
    width = max(first.size, second.size)
    total: F64 = _padded(first, width) + _padded(second, width)
    return total
