"""Runs a query from a dictionary of options: prints or writes the report, returns a message.

Unknown options are ignored, as in the original, but with a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tfprof.checkers import advise
from tfprof.console.stdio import print_notes, print_report
from tfprof.errors import NoNumbersError, TfprofError, UsageError, nearest
from tfprof.foundation.arguments import Options, options_of, shown
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Note, Profile
from tfprof.query.query import Query
from tfprof.results.report import Report
from tfprof.results.result import deliver, with_loading_notes
from tfprof.tables.options import OPTIONS, Flops, effective
from tfprof.tables.outputs import OUTPUTS, check_output
from tfprof.views import VIEWS
from tfprof.views.drawing import ROOT_NAME
from tfprof.wire.schema import message
from tfprof.writers import advice as advice_reporter
from tfprof.writers.classic_text import framed

if TYPE_CHECKING:
    from tfprof.results.loaded import Loaded

Checkers = Mapping[str, Mapping[str, Any]]


class ViewQuery(NamedTuple):
    """A view, the query, and all options with their values."""

    cmd: str
    query: Query
    options: dict[str, Any]
    flops: Flops | None  # None if the options do not set it

    def counted_by(self, flops: Flops) -> ViewQuery:
        """The same query, with these rules for float operations that no op log has."""
        return self._replace(query=replace(self.query, flops=flops))


def view_query(cmd: str, options: Options) -> ViewQuery:
    """The query that *options* describe; raises UsageError before anything is read."""
    if not isinstance(cmd, str):
        raise UsageError(f"cmd takes one of {', '.join(VIEWS)}, not {shown(cmd)}")
    if cmd not in VIEWS:
        near = nearest(cmd, list(VIEWS))
        raise UsageError(f"unknown cmd: {cmd}{near} (there are: {', '.join(VIEWS)})")
    known = {}
    for name, value in options_of(options).items():
        if name in OPTIONS:
            known[name] = value
        else:
            near = nearest(str(name), list(OPTIONS))
            print_notes([Note(f"tfprof: unknown option {name!r} is ignored{near}")])
    query = Query.of(known, cmd)
    check_output(cmd, query.output, Report.offers, is_list=VIEWS[cmd].chain)
    return ViewQuery(cmd, query, effective(known, cmd), query.flops if "flops" in known else None)


def run_query(
    loaded: Loaded, asked: ViewQuery, loading: Sequence[Note] = ()
) -> Any:  # a message has no type
    """Write the report to the query's output; returns a GraphNodeProto or MultiGraphNodeProto."""
    # The notes *loading* come behind the line on what float_ops counts, if there is one.
    output = asked.query.output
    try:
        report = loaded.report(asked.cmd, asked.query)
        outcome = deliver(report, output, loaded.inputs)
    except NoNumbersError:  # parity: a line on stderr, no file, and the root alone
        selected = ",".join(asked.query.select)
        print_notes([*loading, Note(f"{output.kind} doesn't support -select={selected}")])
        return _empty_message(report, name=ROOT_NAME.decode())
    except TfprofError:
        print_notes(loading)
        raise
    print_notes(with_loading_notes(outcome, report, loading, output).notes)
    framing = OUTPUTS[output.kind].printed
    print_report(framed(asked.options, outcome.stdout) if framing else outcome.stdout)
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - loaded with the schema

    try:
        return report.proto(repaired=False)
    except DecodeError as problem:  # parity: a name that is not UTF-8
        print_notes([Note(f"Cannot parse returned proto: {problem}.")])
        return _empty_message(report)


def _empty_message(report: Report, **fields: str) -> Any:
    kind = "MultiGraphNodeProto" if report.answer.view.groups else "GraphNodeProto"
    return message(f"tensorflow.tfprof.{kind}")(**fields)


def checkers_of(value: Any) -> Checkers:  # whatever the caller has
    """The checkers to run, each with its options; raises UsageError."""
    checkers = {} if value is None else value
    takes = "takes a dictionary that has a dictionary of options for each checker"
    if not isinstance(checkers, Mapping):
        raise UsageError(f"options {takes}, not {shown(value)}")
    for name, options in checkers.items():
        if not isinstance(name, str):
            raise UsageError(f"options {takes}, not for {shown(name)}")
        if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
            raise UsageError(f"options {takes}; for {name} it has {shown(options)}")
    return checkers


def run_checkers(profile: Profile, checkers: Checkers | None) -> Any:
    """Print the advice of the checkers; returns an AdviceProto. None runs no checker."""
    advice = advise(profile, checkers_of(checkers))
    print_notes(advice.notes)
    print_report(advice_reporter.text(advice))
    advice_proto: Any = message("tensorflow.tfprof.AdviceProto")
    return advice_proto.FromString(b"".join(advice_reporter.proto(advice)))
