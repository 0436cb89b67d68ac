"""WorkerTimes: the time of each worker in each step, in all and by operation type.

    micros[0]    steps →           micros[1]    the most expensive type
    workers ↓    10   11   12      …
                 11   -1   12      micros[k]    the k-th

-1 where the fleet has no such step of the worker. Only the most expensive types are kept, as many
as a page has room for: the first reading finds them, the second adds up their times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.unique import sum_by
from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import I64, Bool
    from tfprof.fleet.dataset import Batch, Dataset

MOST_NUMBERS: Final = 2_000_000  # times on a page
_LEAST_TYPES: Final = 8  # however many worker steps there are


@dataclass(frozen=True, eq=False)
class WorkerTimes:
    """Microseconds by kind, worker and step; kind 0 is all operations, the others are types."""

    workers: tuple[str, ...]
    steps: tuple[int, ...]
    types: tuple[str, ...]  # the most expensive first
    micros: I64
    left_out: int = 0  # operation types

    @property
    def recorded(self) -> Bool:
        """Which workers have which steps."""
        recorded: Bool = self.micros[0] >= 0
        return recorded


def worker_times(dataset: Dataset, keep: Callable[[str], bool] | None = None) -> WorkerTimes:
    """The times of the workers that *keep* accepts."""
    table = dataset.steps(["worker", "step", "micros"], keep)
    names = table["worker"].to_pylist()
    known = {*names}
    workers = tuple(worker for worker in dataset.workers if worker in known)
    step_of = np.asarray(table["step"], np.int64)
    steps = np.unique(step_of)
    place = {worker: at for at, worker in enumerate(workers)}
    cell = np.array([place[name] for name in names], np.int64) * steps.size
    cell += np.searchsorted(steps, step_of)
    whole = np.full(len(workers) * steps.size, -1, np.int64)
    whole[cell] = np.asarray(table["micros"], np.int64)

    totals = _totals(dataset, keep)
    ranked = sorted(totals, key=lambda name: (-totals[name], name))
    types = tuple(ranked[: max(_LEAST_TYPES, MOST_NUMBERS // max(whole.size, 1) - 1)])
    micros = np.zeros((len(types), whole.size), np.int64)
    number = {step: at for at, step in enumerate(steps.tolist())}
    kinds = {name: at for at, name in enumerate(types)}
    for batch in dataset.scan(["worker", "step", "op", "micros"], keep):
        kind, values = _kinds(batch, kinds), batch.numbers("micros")
        for worker, step, rows in batch.samples():
            here = kind[rows]
            at = place[worker] * steps.size + number[step]
            micros[:, at] = sum_by(here, values[rows], len(types) + 1)[:-1]
    micros = np.concatenate([whole[None], np.where(whole < 0, -1, micros)])
    shape = (len(types) + 1, len(workers), steps.size)
    left_out = len(ranked) - len(types)
    return WorkerTimes(workers, tuple(steps.tolist()), types, micros.reshape(shape), left_out)


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
