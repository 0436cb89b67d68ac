"""Deliver: a question about a profile → what it makes, where it was asked to go.

    stdout     the report, and nothing else
    file       the report
    json       the report as data; csv and md likewise: a file, or stdout where none is named
    timeline   PATH_STEP, one file; graph view without a step: one for each step
    pprof      a profile for pprof
    proto      the result as GraphNodeProto or MultiGraphNodeProto
    none       nothing; the question is still answered

Reporters know nothing of files; this is where their bytes find one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.console.outcome import Outcome
from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.io.files import write_apart
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfprof.model import Note
    from tfprof.query.query import Query
    from tfprof.results.loaded import Loaded
    from tfprof.results.report import Report


def check(view: str, query: Query) -> None:
    """Reject an output that the view does not have, before anything is read."""
    if query.output.kind == "timeline" and (why := VIEWS[view].no_timeline):
        raise UsageError(why)


def deliver(
    loaded: Loaded,
    view: str,
    query: Query,
    answered: Report | None = None,
) -> Outcome:
    """Answer, and write what is to be written; raises TfprofError.

    *answered* is the report of this very question, where there is one already.
    """
    check(view, query)
    if query.output.kind == "timeline":
        return _timeline(loaded, view, query, answered)
    report = answered or loaded.report(view, query)
    kind = query.output.kind
    if kind == "none":
        return Outcome((), report.told)
    pieces = report.pieces(_form(kind))
    path = query.output.path
    if path is None:
        return Outcome(pieces, report.told)
    _write(loaded, path, pieces)
    return Outcome(_said(query), report.told, [path])


def _form(kind: str) -> str:
    """The form that an output of this *kind* takes."""
    return "text" if kind in ("stdout", "file") else kind


def _said(query: Query) -> Iterable[bytes]:
    """What the original prints when such a file is written."""
    if query.output.kind != "pprof":
        return ()
    from tfprof.writers.pprof import said  # noqa: PLC0415

    return [_encoded(said(_path(query)))]


def _timeline(loaded: Loaded, view: str, query: Query, answered: Report | None) -> Outcome:
    from tfprof.writers.timeline import banner, file_name, timeline  # noqa: PLC0415

    if not loaded.profile.steps:
        raise UsageError("a timeline needs a run: give a RunMetadata (--run_meta_path)")
    steps: list[int | None] = [query.step]
    if view == "graph" and query.step is None:
        steps = [step.number for step in loaded.profile.steps]
    outcome, said = Outcome(), b""
    notes: list[Note] = []
    for step in steps:
        known = answered if step == query.step else None
        report = known or loaded.report(view, replace(query, step=step))
        notes += report.told
        chart = timeline(report.answer)
        path = file_name(_path(query), step)
        _write(loaded, path, chart.pieces())
        outcome.written.append(path)
        said += _encoded(chart.said + banner(path))
    return replace(outcome, stdout=[said], notes=notes)


def deliver_advice(loaded: Loaded, query: Query) -> Outcome:
    """What all checkers find, to stdout or a file."""
    from tfprof.checkers import advise  # noqa: PLC0415
    from tfprof.writers import advice as reporter  # noqa: PLC0415

    found = advise(loaded.profile)
    if query.output.kind == "stdout":
        return Outcome(reporter.text(found), found.notes)
    if query.output.kind == "none":
        return Outcome(notes=found.notes)
    as_text = query.output.kind == "file"
    _write(loaded, _path(query), reporter.text(found) if as_text else [reporter.proto(found)])
    return Outcome(notes=found.notes, written=[_path(query)])


def deliver_summary(loaded: Loaded, query: Query, asked: Mapping[str, Any]) -> Outcome:
    """The layers of the model, to stdout or a file; *asked* are the options of summary alone."""
    report = loaded.summary(dims=query.dims, **asked)
    if query.output.kind == "none":
        return Outcome()
    pieces = report.pieces(_form(query.output.kind))
    if query.output.path is None:
        return Outcome(pieces)
    _write(loaded, query.output.path, pieces)
    return Outcome(written=[query.output.path])


def deliver_profile(loaded: Loaded, query: Query) -> Outcome:
    """The profile itself, as a file that --profile_path reads."""
    from tfprof.writers.saved import saved  # noqa: PLC0415

    profile = loaded.counted(query.flops)
    if not len(profile):
        raise UsageError("there is nothing to save: the profile has no nodes")
    _write(loaded, _path(query), saved(profile))
    return Outcome(written=[_path(query)])


def deliver_converted(loaded: Loaded, query: Query) -> Outcome:
    """The profile itself, as a file that is read many times faster than those it came from."""
    if not len(loaded.profile):
        raise UsageError("there is nothing to convert: the profile has no nodes")
    loaded.convert(_path(query))
    return Outcome(written=[_path(query)])


def _write(loaded: Loaded, path: str, pieces: Iterable[bytes]) -> None:
    """Write a file, but never over one that the answer is made from."""
    write_apart(path, pieces, loaded.inputs)


def _encoded(said: str) -> bytes:
    return said.encode("utf-8", "surrogateescape")


def _path(query: Query) -> str:
    assert query.output.path is not None, "a query for a file names it"
    return query.output.path
