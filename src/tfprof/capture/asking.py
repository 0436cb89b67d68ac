"""A question as a dictionary of options: the report goes where they say, the message comes back.

Options that do not exist are left out, as in the original, but not in silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tfprof.capture.streams import put, tell
from tfprof.checkers import advise
from tfprof.errors import UsageError, nearest
from tfprof.foundation.arguments import options_of, shown
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Note
from tfprof.query.query import Query
from tfprof.results.deliver import deliver
from tfprof.results.report import Report
from tfprof.tables.options import OPTIONS, effective
from tfprof.tables.outputs import OUTPUTS, check_output
from tfprof.views import VIEWS
from tfprof.wire.schema import message
from tfprof.writers import advice as advice_reporter
from tfprof.writers.frame import framed

if TYPE_CHECKING:
    from tfprof.foundation.arguments import Options
    from tfprof.model import Profile
    from tfprof.results.loaded import Loaded
    from tfprof.tables.options import Flops

    Checkers = Mapping[str, Mapping[str, Any]]


class Question(NamedTuple):
    """A view, what is asked of it, and the options by which it was asked, all of them."""

    cmd: str
    query: Query
    options: dict[str, Any]
    flops: Flops | None  # None where the options do not say

    def counted_by(self, flops: Flops) -> Question:
        """The same with float operations counted by these rules where an op log gives none."""
        return self._replace(query=replace(self.query, flops=flops))


def question(cmd: str, options: Options) -> Question:
    """What *options* ask of a view; raises UsageError before anything is read."""
    if not isinstance(cmd, str):
        raise UsageError(f"cmd takes one of {', '.join(VIEWS)}, not {shown(cmd)}")
    if cmd not in VIEWS:
        near = nearest(cmd, list(VIEWS))
        raise UsageError(f"unknown cmd: {cmd}{near} (there are: {', '.join(VIEWS)})")
    given = {}
    for name, value in options_of(options).items():
        if name in OPTIONS:
            given[name] = value
        else:
            near = nearest(str(name), list(OPTIONS))
            tell([Note(f"tfprof: option {name!r} is not known and ignored{near}")])
    query = Query.of(given)
    check_output(cmd, query.output, Report.offers, is_list=VIEWS[cmd].chain)
    return Question(cmd, query, effective(given), query.flops if "flops" in given else None)


def ask(loaded: Loaded, asked: Question) -> Any:  # noqa: ANN401 - a message has no type
    """The answer as a GraphNodeProto or MultiGraphNodeProto; its report goes to the output."""
    report = loaded.report(asked.cmd, asked.query)
    output = asked.query.output
    outcome = deliver(report, output, loaded.inputs)
    tell(outcome.notes)
    framing = OUTPUTS[output.kind].printed
    put(framed(asked.options, outcome.stdout) if framing else outcome.stdout)
    return _message(report)


def _message(report: Report) -> Any:  # noqa: ANN401
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - loaded with the schema

    try:
        return report.proto(repaired=False)
    except DecodeError as problem:  # parity: a name that is no text, which a message cannot hold
        tell([Note(f"Cannot parse returned proto: {problem}.")])
        groups = report.answer.view.groups
        return message(f"tensorflow.tfprof.{'Multi' if groups else ''}GraphNodeProto")()


def checkers_of(given: Any) -> Checkers:  # noqa: ANN401 - whatever a caller gives
    """The checkers that *given* names, each with its options; raises UsageError."""
    checkers = {} if given is None else given
    takes = "takes a dictionary that has a dictionary of options for each checker"
    if not isinstance(checkers, Mapping):
        raise UsageError(f"options {takes}, not {shown(given)}")
    for name, options in checkers.items():
        if not isinstance(name, str):
            raise UsageError(f"options {takes}, not for {shown(name)}")
        if not isinstance(options, Mapping) or not all(isinstance(one, str) for one in options):
            raise UsageError(f"options {takes}; for {name} it has {shown(options)}")
    return checkers


def advice(profile: Profile, checkers: Checkers | None) -> Any:  # noqa: ANN401
    """What the checkers find, as an AdviceProto; it is printed as well. None is no checker."""
    found = advise(profile, checkers_of(checkers))
    tell(found.notes)
    put(advice_reporter.text(found))
    made: Any = message("tensorflow.tfprof.AdviceProto")
    return made.FromString(b"".join(advice_reporter.proto(found)))
