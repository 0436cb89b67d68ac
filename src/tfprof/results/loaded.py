"""Loaded: a profile and the files it came from, ready for queries.

loaded = tfprof.load("graph.pbtxt", "run_meta")
loaded.scope(select=["params"])  ─┐
loaded.graph(…)  .op(…)           ├─► Report
loaded.code(…)                   ─┘

It never changes, so any number of threads may use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.console.stdio import print_notes
from tfprof.errors import InputError, UsageError
from tfprof.foundation.arguments import magnitude, shown, whole_number
from tfprof.foundation.arguments import path as path_of
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.foundation.units import plural
from tfprof.query.answer import answer
from tfprof.query.defaults import fitted_query
from tfprof.results.report import Report
from tfprof.results.result import ProfileFile, deliver
from tfprof.tables.command_options import check_no_fleet_options
from tfprof.tables.eras import NOW
from tfprof.tables.options import check_choices
from tfprof.tables.outputs import Output
from tfprof.views import view_named

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from tfprof.compare.budget import Budget
    from tfprof.model import Note, Profile
    from tfprof.query.query import Query
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.results.advice_report import AdviceReport
    from tfprof.results.check_report import CheckReport
    from tfprof.results.diff_report import DiffReport
    from tfprof.results.explain_report import ExplainReport
    from tfprof.results.overview_report import OverviewReport
    from tfprof.results.page_report import PageReport
    from tfprof.results.summary_diff import SummaryDiffReport
    from tfprof.results.summary_report import SummaryReport
    from tfprof.tables.options import Flops


@dataclass(frozen=True, eq=False, repr=False)
class Loaded:
    """A profile, the checkpoint with its values, and the files both came from.

    The views take the options of the command line by name, with the same defaults: time if there
    are runs, else float operations and parameters, the largest first. Rules count the float
    operations that the op log lacks: flops="tensorflow" uses TensorFlow's own, "log" none.

    >>> import tfprof
    >>> resnet = tfprof.load_sample()
    >>> by_type = resnet.op(select=["float_ops"], order_by="float_ops")
    >>> [row.name for row in by_type.rows[1:4]]
    ['Conv2D', 'Conv2DBackpropFilter', 'Conv2DBackpropInput']
    """

    profile: Profile
    checkpoint: Checkpoint | None = None
    inputs: tuple[str, ...] = ()
    era: str = NOW.name  # of the views, unless an option names another

    def scope(self, **options: object) -> Report:
        """The graph nodes by name scope."""
        return self._ask("scope", options)

    def graph(self, **options: object) -> Report:
        """The graph nodes below those that consume them."""
        return self._ask("graph", options)

    def op(self, **options: object) -> Report:
        """The operation types."""
        return self._ask("op", options)

    def code(self, **options: object) -> Report:
        """The lines of Python that created the graph nodes, by call stack."""
        return self._ask("code", options)

    def summary(  # noqa: PLR0913 - one parameter per option
        self,
        depth: int = 2,
        dims: Mapping[str, int] | None = None,
        outputs: Sequence[str] = (),
        *,
        training: bool = False,
        sort: str = "",
        rows: int = 0,
    ) -> SummaryReport:
        """The layers of the model down to *depth*: parameters, float operations, bytes, time.

        *dims* gives sizes to open dimensions, as in {"batch": 8}. *outputs* names the nodes that
        the model computes, where a graph holds more than the model. With *training*, the rows are
        the parts of one training step: forward, backward, optimizer. *sort* is a column; without
        it, rows are in the order of the model. *rows* is how many to show; 0: all.
        """
        from tfprof.results.summary_report import SummaryReport  # noqa: PLC0415
        from tfprof.summary.build_summary import summary  # noqa: PLC0415 - as in answer
        from tfprof.summary.training import training_summary  # noqa: PLC0415

        levels, most = whole_number("depth", depth, least=1), whole_number("rows", rows, least=0)
        if training:
            made = training_summary(self.profile, dims, outputs)
        else:
            made = summary(self.profile, levels, dims, outputs)
        return SummaryReport(made, self.profile.notes, sort, most)

    def overview(
        self,
        rows: int = 5,
        dims: Mapping[str, int] | None = None,
        flops: Flops = "all",
    ) -> OverviewReport:
        """One screen: totals, and the most expensive layers, operation types and lines of code.

        Each list has at most *rows* rows; *dims* as in `summary`. *flops* says who counts float
        operations, as in the views.
        """
        from tfprof.results.overview_report import Naming, OverviewReport  # noqa: PLC0415
        from tfprof.summary.overview import overview  # noqa: PLC0415 - as in answer

        most = whole_number("rows", rows, least=1)
        check_choices("flops", [flops])
        files = Naming(after=self.inputs)
        return OverviewReport(overview(self.profile, flops, dims, most), files)

    def explain(
        self,
        name: str | Sequence[str] = (),
        op: str | Sequence[str] = (),
        layer: str = "",
        *,
        dims: Mapping[str, int] | None = None,
        most: int = 20,
    ) -> ExplainReport:
        """Why nodes count what they count: rule, formula, shapes, runs and variables of each.

        *name* and *op* are regexes that match whole names and operation types, *layer* is a name
        in the summary; *dims* as in `summary`. At most *most* nodes are explained.
        """
        from tfprof.explain import explain_nodes, find_nodes  # noqa: PLC0415 - as in answer
        from tfprof.results.explain_report import ExplainReport  # noqa: PLC0415

        nodes = find_nodes(self.profile, name, op, layer)
        limit = whole_number("most", most, least=1)
        return ExplainReport(explain_nodes(self.profile, nodes, dims, most=limit))

    def ask(self, view: str, options: Mapping[str, object]) -> Report:
        """The report of a view; options that are left open fit the files, or are the era's."""
        check_no_fleet_options(options)
        asked = {"era": self.era, **options}
        return self.report(view, fitted_query(self.profile, asked, view))

    def report(self, view: str, query: Query) -> Report:
        """The report of a view that *query* asks for."""
        return Report(answer(self.profile, view, query), self.checkpoint, self.profile)

    def diff(
        self,
        new: Loaded,
        view: str = "scope",
        *,
        steps: str | int | Iterable[int] = "",
        **options: object,
    ) -> DiffReport | SummaryDiffReport:
        """What changed from this profile to *new*: the rows of a view whose numbers differ.

        *view* is one of the four, or "summary"; *options* are those of the view. *steps* are the
        steps of both sides that count, as in "2-", which leaves out the warm-up.
        """
        from tfprof.compare.diff import diff_profiles  # noqa: PLC0415 - only diffs need it
        from tfprof.compare.steps import with_steps  # noqa: PLC0415
        from tfprof.results.diff_report import DiffReport  # noqa: PLC0415

        if not isinstance(new, Loaded):
            what = "a fleet" if hasattr(new, "workers") else shown(new)
            raise UsageError(f"diff compares with what tfprof.load returns, not with {what}")
        base, other = with_steps(self.profile, steps, "base"), with_steps(new.profile, steps, "new")
        if view == "summary":
            from tfprof.results.summary_diff import summary_diff  # noqa: PLC0415 - as above

            return summary_diff(base, other, options)
        view_named(view)
        _check_options(view, options)
        return DiffReport(diff_profiles(base, other, view, {"era": self.era, **options}))

    def advice(self) -> AdviceReport:
        """What all checkers find."""
        from tfprof.checkers import advise  # noqa: PLC0415 - only `advise` needs them
        from tfprof.results.advice_report import AdviceReport  # noqa: PLC0415

        return AdviceReport(advise(self.profile))

    def check(
        self,
        budget: str | os.PathLike[str] | Mapping[str, Any] | Budget,
        steps: str = "",
        dims: Mapping[str, int] | None = None,
        *,
        record: bool = False,
    ) -> CheckReport:
        """Whether the profile keeps to a *budget*: the path of a budget.toml, or what it holds.

        *steps* picks the steps whose time and memory count, as in "2-"; *dims* as in `summary`.
        With *record*, relative bounds compare with this profile from now on.
        """
        from tfprof.compare.budget import read_budget  # noqa: PLC0415 - only `check` needs it
        from tfprof.results.check_report import check_report  # noqa: PLC0415
        from tfprof.results.overview_report import Naming  # noqa: PLC0415

        report = check_report(self.profile, read_budget(budget), steps, dims, record=record)
        return replace(report, naming=Naming(after=self.inputs))

    def counted(self, flops: Flops) -> Profile:
        """The profile, with its float operations counted by these rules."""
        if flops == "log":
            return self.profile
        from tfprof.ops.with_float_ops import with_float_ops  # noqa: PLC0415 - as in answer

        return with_float_ops(self.profile, flops)[0]

    def profile_file(
        self, form: str, flops: Flops | None = None, *, source: bool = True
    ) -> ProfileFile:
        """The profile as a file: *form* is "profile" or "converted"; an error without nodes.

        Without *flops*, rules count the float operations only where no op log can: in functions.
        Without *source*, it has no source text and no absolute path of a source file.
        """
        by_rule = form == "profile" and len(self.profile.regions)
        profile = self.counted(flops or ("all" if by_rule else "log"))
        if not len(profile):
            raise UsageError("there is nothing to write: the profile has no nodes")
        return _file(profile, form, source=source)

    def page(  # noqa: PLR0913 - one parameter per option
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        source: bool = True,
        dims: Mapping[str, int] | None = None,
        peak_flops: float | str | None = None,
        peak_bandwidth: float | str | None = None,
        base: Loaded | None = None,
    ) -> PageReport:
        """The profile as a page to look at: a notebook shows it, *path* is a file to write it to.

        *dims* as in `summary`, *source* as in `save`. *peak_flops* is what the machine can do in a
        second and *peak_bandwidth* the bytes that its memory moves, both as in "312T". With
        *base*, the page also shows what changed since that profile.
        """
        from tfprof.results.overview_report import Naming  # noqa: PLC0415 - few need one
        from tfprof.results.page_report import PageReport, file_name  # noqa: PLC0415

        _check_source(source=source)
        numbers = {"flops": peak_flops, "bandwidth": peak_bandwidth}
        peaks = {n: magnitude(f"peak_{n}", peak) for n, peak in numbers.items() if peak is not None}
        if not len(self):
            why = "the files have no graph nodes; add a graph or a run"
            raise InputError(f"there is nothing to show: {why}")
        if base is not None and not (isinstance(base, Loaded) and len(base)):
            raise InputError("there is nothing to compare with: base has no graph nodes")
        names = [side.inputs if side else () for side in (self, base)]
        after, base_names = names if source else [tuple(map(file_name, side)) for side in names]
        report = PageReport(self, dims or {}, peaks, source=source, naming=Naming(after=after))
        report = replace(report, base=base, base_names=base_names)
        if path is not None:
            report.save(path)
        return report

    def save(self, path: str | os.PathLike[str], *, source: bool = True) -> None:
        """Write the profile as one file, which `load(profile=path)` and the original read.

        Without *source*, it has no source text and no absolute path of a source file. Files that
        the profile was read from are never overwritten.
        """
        self._write("profile", path, source=source)

    def convert(self, path: str | os.PathLike[str], *, source: bool = True) -> None:
        """Write the profile as one file, which `load(profile=path)` reads many times faster.

        It gives the same answers, except for the values in a checkpoint; *source* as in `save`.
        Files that the profile was read from are never overwritten.
        """
        self._write("converted", path, source=source)

    def _write(self, form: str, path: str | os.PathLike[str], *, source: bool) -> None:
        file = replace(_file(self.profile, form, source=source), source_off="source=False")
        outcome = deliver(file, Output("file", path_of("path", path)), self.inputs)
        print_notes(outcome.notes)

    @property
    def steps(self) -> tuple[int, ...]:
        """The numbers of the steps that have stats."""
        return tuple(step.number for step in self.profile.steps)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was missing, skipped or repaired when it was read."""
        return self.profile.notes

    def __len__(self) -> int:
        return len(self.profile)

    def __repr__(self) -> str:
        return f"<Loaded: {plural(len(self), 'graph node')}, {plural(len(self.steps), 'step')}>"

    def _ask(self, view: str, options: dict[str, object]) -> Report:
        _check_options(view, options)
        return self.ask(view, options)


def _check_options(view: str, options: Mapping[str, object]) -> None:
    """Reject what the views of Python do not take."""
    check_no_fleet_options(options)
    if "output" in options or "dump_to_file" in options:
        raise UsageError("a view takes no output option in Python: use print(report)")
    if "frames" in options:  # all other options are those of every view
        from tfprof.tables.command_checks import check_takes  # noqa: PLC0415 - rarely needed
        from tfprof.tables.commands import COMMANDS  # noqa: PLC0415

        check_takes(COMMANDS[view], ["frames"])


def _check_source(*, source: object) -> None:
    """Reject the "off" of the command line, which would be true."""
    if not isinstance(source, bool):
        raise UsageError(f"source takes True or False, not {source!r}")


def _file(profile: Profile, form: str, *, source: bool) -> ProfileFile:
    _check_source(source=source)
    if not source:
        from tfprof.read.without_source import without_source  # noqa: PLC0415 - few need it

        profile = without_source(profile)
    return ProfileFile(profile, (form,))
