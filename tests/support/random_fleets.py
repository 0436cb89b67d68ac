"""Random fleets: one random graph, random runs of some workers, and what is known of them.

`RandomFleet.merged` is one profile whose only step holds the executions of all worker steps: what
tfprof reports of it is what a fleet reports with stat=sum.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

import tfprof
from fleet_datasets import write_dataset
from random_cases import _row_names, _types
from random_graphs import make_graph, make_names, make_op_log
from random_options import make_options
from random_runs import make_steps
from tfprof.columns.strings import Strings
from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import fields, replace
from tfprof.model import Step
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.results.fleet import Fleet


class RandomFleet:
    """A graph, the runs of each worker, and the dataset of both."""

    def __init__(self, number: int, folder: Path) -> None:
        self.rng = Random(number)  # noqa: S311 - repeatable, not secret
        self.workers: dict[str, Loaded] = {}
        # A fleet in which nothing ran has no graph, and a tiny graph looks like another file.
        while not any(s.node.size for of in self.workers.values() for s in of.profile.steps):
            with suppress(InputError):
                self.workers = self._made()
        path = write_dataset(folder, self.workers, per_part=self.rng.randrange(1, 4))
        self.fleet: Fleet = tfprof.fleet(path)

    def _made(self) -> dict[str, Loaded]:
        names = make_names(self.rng)
        self.graph = make_graph(self.rng, names)
        self.op_log = make_op_log(self.rng, names, traces=True)
        known = {node.name for node in self.graph.node}
        others = [entry for entry in self.op_log.log_entries if entry.name not in known]
        for entry in others:  # a graph does not keep what is said of nodes that other runs have
            self.op_log.log_entries.remove(entry)
        count = self.rng.randrange(1, 4)
        runs = {f"worker_{at}": self._runs(self.rng, names) for at in range(count)}
        files = self.graph.SerializeToString(), self.op_log.SerializeToString()
        self.runs = [(step, run) for of_worker in runs.values() for step, run in of_worker]
        return {
            worker: tfprof.load(files[0], [run.SerializeToString() for _, run in of], files[1])
            for worker, of in runs.items()
        }

    @staticmethod
    def _runs(rng: Random, names: list[str]) -> list[tuple[int, Any]]:
        while not (runs := make_steps(rng, names)):
            pass
        return [(step, run) for step, (_, run) in enumerate(runs)]

    def options(self, view: str) -> dict[str, Any]:
        """Random options of *view*."""
        rows = _row_names(view, self.graph, self.op_log)
        types = _types(self.graph, self.op_log, self.runs)
        made = make_options(self.rng, view, rows, types, [-1, 0, 1])
        made["output"], made["flops"] = "stdout", "log"
        return made

    @cached_property
    def samples(self) -> list[tuple[Loaded, int]]:
        """The loaded files of the worker, and the number of the step, of each sample."""
        return [(loaded, step) for loaded in self.workers.values() for step in loaded.steps]

    def merged(self, only: int | None = None) -> Loaded:
        """All samples, or those of one step, as the one step 0 of a profile."""
        union = self.fleet.union.profile
        columns: dict[str, list[Any]] = {column.name: [] for column in fields(Step)}
        for loaded in self.workers.values():
            place = union.nodes.name.find(loaded.profile.nodes.name)
            assert bool((place >= 0).all())
            for step in loaded.profile.steps:
                if only in (None, step.number):
                    for name, parts in columns.items():
                        column = getattr(step, name)
                        parts.append(place[column] if name.endswith("node") else column)
        joined: dict[str, Any] = {
            name: np.concatenate(parts)
            for name, parts in columns.items()
            if name not in {"number", "devices"}
        }
        step = Step(**{**joined, "number": 0, "devices": Strings.of([])})
        return Loaded(replace(union, steps=(step,)))
