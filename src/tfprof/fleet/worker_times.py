"""WorkerTimes: the time of each worker in each step, in all and by operation type.

    micros[0]    steps →           micros[1]    from the start of a step to its end, if known
    workers ↓    10   11   12      micros[2]    the most expensive type
                 11   -1   12      …

-1 where the fleet has no such step of the worker. Only the most expensive types are kept, as many
as a page has room for: the first reading finds them, the second adds up their times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.columns.unique import sum_by
from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.columns.strings import I64, Bool
    from tfprof.fleet.dataset import Batch, Dataset

ALL, SPAN = "all operations", "start to end"
MOST_NUMBERS: Final = 2_000_000  # times on a page
_LEAST_TYPES: Final = 8  # however many worker steps there are


@dataclass(frozen=True, eq=False)
class WorkerTimes:
    """Microseconds by kind, worker and step."""

    workers: tuple[str, ...]
    steps: tuple[int, ...]
    kinds: tuple[str, ...]  # ALL, SPAN if known, and operation types, the most expensive first
    micros: I64
    left_out: int = 0  # operation types

    @property
    def first_type(self) -> int:
        """The first kind that is an operation type."""
        return 1 + (SPAN in self.kinds[1:2])

    @property
    def recorded(self) -> Bool:
        """Which workers have which steps."""
        recorded: Bool = self.micros[0] >= 0
        return recorded


def worker_steps(
    dataset: Dataset, columns: Sequence[str], keep: Callable[[str], bool] | None
) -> tuple[Any, tuple[str, ...], I64, I64, I64]:
    """(the table of worker steps, its workers, its steps, and the place of each row in both)."""
    table = dataset.steps(["worker", "step", *columns], keep)
    names, number = table["worker"].to_pylist(), np.asarray(table["step"], np.int64)
    known = {*names}
    workers = tuple(worker for worker in dataset.workers if worker in known)
    place = {worker: at for at, worker in enumerate(workers)}
    row, steps = np.array([place[name] for name in names], np.int64), np.unique(number)
    return table, workers, steps, row, np.searchsorted(steps, number)


def worker_times(dataset: Dataset, keep: Callable[[str], bool] | None = None) -> WorkerTimes:
    """The times of the workers that *keep* accepts."""
    table, workers, steps, row, column = worker_steps(dataset, ["micros", "span_us"], keep)
    cell = row * steps.size + column
    whole = np.full((2, len(workers) * steps.size), -1, np.int64)
    whole[:, cell] = [np.asarray(table[name], np.int64) for name in ("micros", "span_us")]
    whole = whole if whole[1].max(initial=0) > 0 else whole[:1]
    cells = whole.shape[1]

    totals = _totals(dataset, keep)
    ranked = sorted(totals, key=lambda name: (-totals[name], name))
    types = ranked[: max(_LEAST_TYPES, MOST_NUMBERS // max(cells, 1) - len(whole))]
    micros = np.zeros((len(types), cells), np.int64)
    place = {worker: at for at, worker in enumerate(workers)}
    number = {step: at for at, step in enumerate(steps.tolist())}
    kinds = {name: at for at, name in enumerate(types)}
    for batch in dataset.scan(["worker", "step", "op", "micros"], keep):
        kind, values = _kinds(batch, kinds), batch.numbers("micros")
        for worker, step, rows in batch.samples():
            here = kind[rows]
            at = place[worker] * steps.size + number[step]
            micros[:, at] = sum_by(here, values[rows], len(types) + 1)[:-1]
    every = np.concatenate([whole, np.where(whole[0] < 0, -1, micros)])
    every = every.reshape(len(every), len(workers), steps.size)
    names = (ALL, SPAN)[: len(whole)]
    left_out = len(ranked) - len(types)
    return WorkerTimes(workers, tuple(steps.tolist()), (*names, *types), every, left_out)


def _totals(dataset: Dataset, keep: Callable[[str], bool] | None) -> dict[str, int]:
    """The time of each operation type that took any."""
    totals: dict[str, int] = {}
    for batch in dataset.scan(["worker", "step", "op", "micros"], keep):
        codes, names = batch.strings("op")
        sums = sum_by(codes, batch.numbers("micros"), len(names)).tolist()
        for name, micros in zip(names.texts(), sums, strict=True):
            if micros:
                totals[name] = totals.get(name, 0) + micros
    return totals


def _kinds(batch: Batch, kinds: dict[str, int]) -> I64:
    """The number of each row's type among *kinds*; their count for any other."""
    codes, names = batch.strings("op")
    numbers = np.array([kinds.get(name, len(kinds)) for name in names.texts()], np.int64)
    return numbers[codes]
