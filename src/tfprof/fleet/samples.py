"""FleetSamples: what each graph node counts in each step of each worker, read part by part.

    Dataset.scan ─► per metric and sample one vector, one number per node ─► add_up ─► statistic

A sample is one step of one worker: the rows of all its devices, added up per node. Sums and means
of rows follow from those of nodes, so these need the nodes of all samples only once. All other
statistics take the rows of each sample.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.columns.unique import sum_by
from tfprof.errors import UsageError
from tfprof.fleet.statistics import add_to_halves
from tfprof.fleet.union_graph import plain_names
from tfprof.foundation.caches import Cache
from tfprof.foundation.dotted import load_function
from tfprof.foundation.lazy_dataclasses import dataclass, field, replace
from tfprof.foundation.units import plural
from tfprof.tables.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tfprof.columns.strings import I64
    from tfprof.fleet.dataset import Batch, Dataset
    from tfprof.fleet.statistics import Gathering
    from tfprof.fleet.union_graph import UnionGraph
    from tfprof.model import Profile
    from tfprof.query.query import Query
    from tfprof.tables.statistics import Statistic

    _Values = dict[str, I64]  # of each metric, one number per node

_RULES = "float_ops"  # counted by the rules of the query, times the runs in the dataset
_RUNS = "occurrence"
_NOT_SAMPLED = ("params",)


@dataclass(frozen=True, eq=False)
class FleetSamples:
    """The samples that a query is about, and the statistic over them."""

    dataset: Dataset
    union: UnionGraph
    workers: Sequence[str]
    statistic: Statistic
    query: Query
    _others: Cache = field(default_factory=Cache, init=False, repr=False)

    @property
    def key(self) -> tuple[object, ...]:
        """What the number of a row depends on, besides its nodes."""
        query = self.query
        return self.statistic, query.step, query.flops, tuple(sorted(query.dims.items()))

    def asked(self, query: Query) -> FleetSamples:
        """The samples that another *query* is about."""
        return replace(self, query=query)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that the query needs."""
        query = self.query
        shown = [name for selected in query.select for name in FIELDS[selected].shows]
        order = [query.order_by] if query.order_by in FIELDS else []
        names = dict.fromkeys([*shown, *query.minimum, *order])
        return tuple(n for n in names if FIELDS[n].unit and n not in _NOT_SAMPLED)

    @cached_property
    def steps_of(self) -> dict[str, int]:
        """How many steps of each worker count."""
        every, step = self.dataset.manifest.steps, self.query.step
        numbers = {worker: every[worker] for worker in self.workers}
        return {w: len(n) if step is None else int(step in n) for w, n in numbers.items()}

    @property
    def count(self) -> int:
        """How many samples there are."""
        return sum(self.steps_of.values())

    @property
    def facts(self) -> Mapping[str, Any]:
        """What data formats say about the numbers."""
        return {
            "stat": self.statistic.name,
            "adds_up": self.statistic.adds_up,
            "workers": sum(map(bool, self.steps_of.values())),
            "worker_steps": self.count,
            "incomplete": self._gaps,
        }

    @cached_property
    def _gaps(self) -> list[str]:
        return self.dataset.manifest.gaps(self.workers)

    def __str__(self) -> str:
        steps, workers = plural(self.count, "worker step"), self.facts["workers"]
        sentence = f"{self.statistic.name}: each number is {self.statistic.words} over {steps}"
        sentence += f" ({plural(workers, 'worker')})"
        does_not = [] if self.statistic.adds_up else ["rows do not add up to their totals"]
        return "; ".join([sentence, *does_not, *self._gaps])

    def over(
        self, profile: Profile, metrics: tuple[str, ...], add_up: Callable[[str, I64], I64]
    ) -> dict[str, I64]:
        """For each metric, the statistic over *add_up* of the numbers of all nodes per sample."""
        make = load_function(self.statistic.gather)
        no_numbers = np.zeros(len(profile), np.int64)
        gathered = {m: make(self.statistic, add_up(m, no_numbers).size) for m in metrics}
        if self.statistic.adds_up:
            for metric in metrics:
                halves = (add_up(metric, half) for half in self._sums(profile, metric))
                gathered[metric].add(*halves, self.count)
        else:
            for sample in self._samples(profile, metrics):
                for metric in metrics:
                    gathered[metric].add(add_up(metric, sample[metric]))
        return {metric: self._result(metric, gathered[metric]) for metric in metrics}

    def _result(self, metric: str, gathered: Gathering) -> I64:
        try:
            result: I64 = gathered.result()
        except OverflowError:
            over = f"over {plural(self.count, 'worker step')} does not fit into 64 bits"
            raise UsageError(
                f"the sum of {metric} {over}: ask for another stat, or for fewer workers"
            ) from None
        return result

    def _sums(self, profile: Profile, metric: str) -> tuple[I64, I64]:
        """Halves of the sum over all samples for each node; other metrics are added up as well."""
        if metric == _RULES:
            key = "sums of float operations", *self.key
            return profile.cached(key, lambda: self._sum_of_samples(profile))
        together = tuple(m for m in self.metrics if m != _RULES)
        together = together if metric in together else (metric,)
        of_rows = "sums over samples", self.query.step, together
        return self.union.profile.cached(of_rows, lambda: self._sums_of_rows(together))[metric]

    def _sums_of_rows(self, metrics: tuple[str, ...]) -> dict[str, tuple[I64, I64]]:
        sums = {metric: _no_halves(len(self.union.profile)) for metric in metrics}
        for batch in self._scan(["name", *metrics]):
            node = self.union.find(batch)
            for metric in metrics:
                add_to_halves(*sums[metric], node, batch.numbers(metric))
        return sums

    def _sum_of_samples(self, profile: Profile) -> tuple[I64, I64]:
        halves, every = _no_halves(len(profile)), np.arange(len(profile))
        for sample in self._samples(profile, (_RULES,)):
            add_to_halves(*halves, every, sample[_RULES])
        return halves

    def _scan(self, columns: Sequence[str]) -> Iterator[Batch]:
        return self.dataset.scan(columns, self._names.__contains__, self.query.step)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.workers)

    def _samples(self, profile: Profile, metrics: tuple[str, ...]) -> Iterator[_Values]:
        """The metrics of each node in each sample; *profile* says what a run of a node counts."""
        rules, are_stored = _RULES in metrics, _RULES in metrics and self._are_stored
        stored = dict.fromkeys(m for m in metrics if are_stored or m != _RULES)
        stored |= dict.fromkeys([_RUNS] * rules)
        missing = dict(self.steps_of)
        for batch in self._scan(["name", *stored, *["graph"] * rules, *["device"] * are_stored]):
            node = self.union.find(batch)
            numbers = {metric: batch.numbers(metric) for metric in stored}
            graph, graphs = batch.strings("graph") if rules else (node, None)
            ran = batch.ran() if are_stored else None
            for worker, _, rows in batch.samples():
                missing[worker] -= 1
                sample = {
                    metric: sum_by(node[rows], column[rows], len(profile))
                    for metric, column in numbers.items()
                }
                if ran is not None:
                    # Of a node that ran in another step of this worker, what did not run is 0.
                    lacks = rows.start + np.flatnonzero(~ran[rows])
                    others = lacks[self.union.recorded(worker)[node[lacks]]]
                    sample[_RULES][node[others]] = 0
                elif graphs is not None:
                    ran_graph = graphs[int(graph[rows.start])].decode()
                    sample[_RULES] = self._float_ops(profile, worker, ran_graph, sample)
                yield sample
        # A step in which nothing ran has no rows.
        nothing = np.zeros(len(profile), np.int64)
        for worker, steps in missing.items():
            for _ in range(steps):
                sample = dict.fromkeys(stored, nothing)
                if rules:
                    sample[_RULES] = self._float_ops(profile, worker, self.union.main, sample)
                yield sample

    @property
    def _are_stored(self) -> bool:
        """Whether the dataset has the float operations that the query asks for: by all rules."""
        query = self.query
        return query.flops == "all" and not query.dims and query.era.float_op_types is None

    def _float_ops(self, profile: Profile, worker: str, graph: str, sample: _Values) -> I64:
        """The float operations of each node in a step of *worker* that ran *graph*."""
        recorded, runs = self.union.recorded(worker), sample[_RUNS]
        if graph == self.union.main:
            result = profile.float_ops_of(runs, recorded)
        else:
            other, node = self._others.cached(graph, lambda: self._other(graph))
            result = np.zeros(len(profile), np.int64)
            result[node] = other.float_ops_of(runs[node], recorded[node])
        return result

    def _other(self, graph: str) -> tuple[Profile, I64]:
        """(another graph with float operations as the query has them, its nodes in the union)."""
        profile, query = self.dataset.graph(graph), self.query
        profile = replace(profile, steps=self.union.profile.steps)
        if query.flops != "log":
            from tfprof.ops.with_float_ops import with_float_ops  # noqa: PLC0415 - as in answer

            profile, _ = with_float_ops(profile, query.flops, query.dims, query.step)
        return profile, self.union.names.find(plain_names(profile.nodes.name))


def _no_halves(count: int) -> tuple[I64, I64]:
    return np.zeros(count, np.int64), np.zeros(count, np.int64)
