"""Fleet: the runs of many workers, gathered into one dataset, ready for queries.

fleet = tfprof.fleet("fleet/")
fleet.scope(stat="p90", worker="worker_[0-3]")  ─┐
fleet.graph(…)  .op(…)  .code(…)                 ├─► Report
fleet.sql("select …")                             ─► SqlReport
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tfprof.columns.matching import matches
from tfprof.columns.strings import Strings
from tfprof.errors import InputError, UsageError, check_known
from tfprof.foundation.arguments import shown
from tfprof.foundation.caches import Cache
from tfprof.foundation.lazy_dataclasses import dataclass, field, replace
from tfprof.foundation.units import plural
from tfprof.model import Note, own_notes
from tfprof.query.answer import answer
from tfprof.query.defaults import fitted_query
from tfprof.query.unmatched import no_match, no_name
from tfprof.results.loaded import Loaded
from tfprof.results.report import Report
from tfprof.tables.eras import NOW
from tfprof.tables.outputs import OUTPUTS, check_fleet_output
from tfprof.tables.statistics import DEFAULT_STAT, STATS

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from tfprof.fleet.dataset import Dataset
    from tfprof.fleet.union_graph import UnionGraph
    from tfprof.model import Profile
    from tfprof.query.query import Query
    from tfprof.results.explain_report import ExplainReport
    from tfprof.results.page_report import PageReport
    from tfprof.results.sql_report import SqlReport
    from tfprof.results.summary_report import SummaryReport
    from tfprof.results.workers_report import WorkersReport

_ROWS_OF_PAGE: Final = 300  # workers; the heat map has all


@dataclass(frozen=True, eq=False, repr=False)
class Fleet:
    """A dataset of a fleet, the workers that are asked, and the statistic of the views.

    The views take the options of `Loaded`, and besides *worker*, regexes that match whole names of
    workers, and *stat*: mean, sum, min, p50, p90, p99 or max. A row's number is that statistic over
    its numbers in each step of each worker.
    """

    dataset: Dataset
    worker: tuple[str, ...] = ()  # regexes; none: all workers
    stat: str = DEFAULT_STAT
    era: str = NOW.name
    _unions: Cache = field(default_factory=Cache, repr=False)

    def chosen(self, worker: str | Sequence[str] | None = None, stat: str | None = None) -> Fleet:
        """The same with other workers or another statistic; None leaves them as they are."""
        regexes = self.worker if worker is None else _regexes(worker)
        return replace(self, worker=regexes, stat=self.stat if stat is None else _known(stat))

    @cached_property
    def worker_names(self) -> tuple[str, ...]:
        """The names of the workers that are asked; raises UsageError where none matches."""
        every = self.dataset.workers
        if not self.worker:
            return tuple(every)
        names = Strings.of(name.encode("utf-8", "surrogateescape") for name in every)
        hit = matches(names, self.worker)
        if not hit.any():
            raise no_match([no_name(regex, names, "worker") for regex in self.worker])
        return tuple(name for name, is_hit in zip(every, hit.tolist(), strict=True) if is_hit)

    def takes(self, name: str) -> bool:
        """Whether the worker called *name* is asked."""
        return name in self._names

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.worker_names)

    @property
    def union(self) -> UnionGraph:
        """The graph of all runs of these workers; the first call reads the names of all rows."""
        from tfprof.fleet.union_graph import survey  # noqa: PLC0415 - not all questions need it

        return self._unions.cached(
            self.worker_names, lambda: survey(self.dataset, self.takes, self.steps)
        )

    @property
    def profile(self) -> Profile:
        """The graph of the fleet, without steps."""
        return self._unions.cached(
            ("graph", self.worker_names), lambda: replace(self.union.profile, steps=())
        )

    def scope(self, **options: object) -> Report:
        """The graph nodes by name scope."""
        return self.ask("scope", options)

    def graph(self, **options: object) -> Report:
        """The graph nodes below those that consume them."""
        return self.ask("graph", options)

    def op(self, **options: object) -> Report:
        """The operation types."""
        return self.ask("op", options)

    def code(self, **options: object) -> Report:
        """The lines of Python that created the graph nodes, by call stack."""
        return self.ask("code", options)

    def ask(self, view: str, options: Mapping[str, object]) -> Report:
        """The report of a view; options that are left open fit the fleet."""
        asked: dict[str, Any] = {"era": self.era, **options}
        fleet = self.chosen(asked.pop("worker", None), asked.pop("stat", None))
        return fleet.report(view, fitted_query(fleet.union.profile, asked, view))

    def report(self, view: str, query: Query) -> Report:
        """The report of a view that *query* asks for."""
        from tfprof.fleet.samples import FleetSamples  # noqa: PLC0415 - as above

        profile, statistic = self.union.profile, STATS[self.stat]
        check_fleet_output(OUTPUTS[query.output.kind], statistic)
        if "tensor_value" in query.select:
            raise UsageError(
                "a fleet has no tensor_value: name one worker's files and a checkpoint"
            )
        samples = FleetSamples(self.dataset, self.union, self.worker_names, statistic, query)
        return Report(answer(profile, view, query, samples), None, profile)

    def workers(self, rows: int = 0) -> WorkersReport:
        """How long each worker takes, who holds up the others and why.

        *rows*: how many of each list; 0: all, or as text what fits.
        """
        from tfprof.fleet.workers import workers_of  # noqa: PLC0415 - as above
        from tfprof.results.workers_report import WorkersReport  # noqa: PLC0415

        if not isinstance(rows, int) or rows < 0:
            raise UsageError(f"rows takes 0 or more, not {shown(rows)}")
        return WorkersReport(workers_of(self.dataset, self._wanted), rows)

    def sql(self, text: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> SqlReport:
        """The answer to a question in SQL, by DuckDB.

        There are the tables rows, steps, nodes, workers and skipped; *parameters* stand for ? or
        $name in the *text*.
        """
        from tfprof.fleet.sql import ask_sql  # noqa: PLC0415 - most questions need no SQL
        from tfprof.results.sql_report import SqlReport  # noqa: PLC0415

        answer = ask_sql(self.dataset, text, parameters, self._wanted)
        return SqlReport(answer, tuple(self.dataset.manifest.gaps(self.worker_names)))

    def arrow(self, name: str = "rows") -> Any:  # noqa: ANN401 - pyarrow has no types
        """A table of the fleet (rows, steps, nodes, skipped) for pyarrow, polars or DuckDB.

        It is a pyarrow.dataset.Dataset, which reads when it is scanned; `skipped` is a
        pyarrow.Table.
        """
        from tfprof.fleet.arrow_tables import arrow_table  # noqa: PLC0415 - as above

        return arrow_table(self.dataset, name, self._wanted)

    def page(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        source: bool = True,
        dims: Mapping[str, int] | None = None,
    ) -> PageReport:
        """The graph and the times of workers as a page to look at; as in `Loaded.page`."""
        from tfprof.fleet.worker_times import worker_times  # noqa: PLC0415 - few need a page
        from tfprof.results.page_report import FleetNumbers  # noqa: PLC0415

        times = worker_times(self.dataset, self._wanted)
        if not times.recorded.any():
            raise InputError("there is nothing to show: the fleet has no steps")
        profile = replace(self.profile, notes=(*self.profile.notes, *self.notes))
        report = Loaded(profile, inputs=(self.dataset.storage.root,)).page(source=source, dims=dims)
        report = replace(report, fleet=FleetNumbers(times, self.workers(_ROWS_OF_PAGE)))
        if path is not None:
            report.save(path, self.inputs)
        return report

    @property
    def _wanted(self) -> Callable[[str], bool] | None:
        return self.takes if self.worker else None

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The numbers of the steps that some of the workers have."""
        numbers = self.dataset.manifest.steps
        return tuple(sorted(set[int]().union(*(numbers[name] for name in self.worker_names))))

    def summary(self, *arguments: Any, **options: Any) -> SummaryReport:  # noqa: ANN401
        """The layers of the model, as `Loaded.summary` has them; without times."""
        return Loaded(self.profile).summary(*arguments, **options)

    def explain(self, *arguments: Any, **options: Any) -> ExplainReport:  # noqa: ANN401
        """Why nodes count what they count in one run, as `Loaded.explain` has it."""
        return Loaded(self.profile).explain(*arguments, **options)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is missing from the fleet, and what was noted when it was gathered."""
        manifest = self.dataset.manifest
        gaps = (Note(text, ours=True, caveat=True) for text in manifest.gaps(self.worker_names))
        return (*gaps, *own_notes(manifest.notes))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The files of the dataset, which no output overwrites."""
        files = ("manifest.json", *self.dataset.manifest.files)
        return tuple(map(self.dataset.storage.path, files))

    def __len__(self) -> int:
        return len(self.profile)

    def __repr__(self) -> str:
        workers = plural(len(self.dataset.workers), "worker")
        return f"<Fleet: {workers}, {plural(len(self.steps), 'step')}>"


def _known(stat: object) -> str:
    if not isinstance(stat, str):
        raise UsageError(f"stat takes one of {', '.join(STATS)}, not {shown(stat)}")
    check_known("stat has no", stat, STATS)
    return stat


def _regexes(worker: object) -> tuple[str, ...]:
    regexes = (worker,) if isinstance(worker, str) else worker
    if isinstance(regexes, (list, tuple)) and all(isinstance(regex, str) for regex in regexes):
        return tuple(filter(None, regexes))
    raise UsageError(f"worker takes a regex or a list of them, not {shown(worker)}")
