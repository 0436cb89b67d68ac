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

from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

from tfprof.answer import answer
from tfprof.errors import OutputError, UsageError
from tfprof.files import same_file, write_whole
from tfprof.model import Note
from tfprof.read.schema import message
from tfprof.reporters.tensor_values import proto_values, value_text
from tfprof.reporters.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tfprof.answered import Answer
    from tfprof.model import Profile
    from tfprof.query import Query
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.read.checkpoint.tensors import Tensor

_HUGE_TENSOR = 100_000


@dataclass(frozen=True)
class Loaded:
    """What there is to ask: a profile, the checkpoint for its values, and what they came from."""

    profile: Profile
    checkpoint: Checkpoint | None = None
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What came of a question, for the edge to show."""

    stdout: Iterable[bytes] = ()
    notes: Sequence[Note] = ()
    written: list[str] = field(default_factory=list)


def check(command: str, query: Query) -> None:
    """Refuse an output that the command does not have, before anything is read."""
    kind = query.output.kind
    if command == "save" and kind != "file":
        raise UsageError("save needs --output=file:outfile=PATH")
    if command == "advise" and kind not in _ADVICE_KINDS:
        raise UsageError(f"advise has no output {kind} (there are: {', '.join(_ADVICE_KINDS)})")
    if command == "op" and kind == "timeline":
        raise UsageError("op view doesn't support timeline yet. Consider graph/scope/code view.")


_ADVICE_KINDS = ("stdout", "file", "proto", "none")


def deliver(loaded: Loaded, view: str, query: Query) -> Outcome:
    """Answer, and write what is to be written; raises TfprofError."""
    check(view, query)
    if query.output.kind == "timeline":
        return _timeline(loaded, view, query)
    report = answer(loaded.profile, view, query)
    notes = _notes(loaded, report)
    pieces = _FORMS[query.output.kind](loaded, report, notes)
    path = query.output.path
    if path is None:
        return Outcome(pieces, notes)
    _write(loaded, path, pieces)
    return Outcome(_said(query), notes, [path])


# --- the forms: a report, in pieces ------------------------------------------------------------
# Each is imported when it is asked for; a plain report does not pay for the others.


def _text(loaded: Loaded, report: Answer, _: Sequence[Note]) -> Iterable[bytes]:
    checkpoint = _wanted(loaded, report)
    if checkpoint is None:
        return text(report)
    return text(
        report,
        lambda name: value_text(checkpoint.tensor(name)) if checkpoint.has(name) else "",
    )


def _json(loaded: Loaded, report: Answer, notes: Sequence[Note]) -> Iterable[bytes]:
    from tfprof.reporters.json_report import json_report  # noqa: PLC0415

    return json_report(report, [*loaded.profile.notes, *notes])


def _csv(_: Loaded, report: Answer, __: Sequence[Note]) -> Iterable[bytes]:
    from tfprof.reporters.csv_report import csv_report  # noqa: PLC0415

    return csv_report(report)


def _md(_: Loaded, report: Answer, __: Sequence[Note]) -> Iterable[bytes]:
    from tfprof.reporters.md_report import md_report  # noqa: PLC0415

    return md_report(report)


def _proto(loaded: Loaded, report: Answer, _: Sequence[Note]) -> Iterable[bytes]:
    from tfprof.reporters.proto import proto  # noqa: PLC0415

    return [proto(report, _tensors(loaded, report))]


def _pprof(_: Loaded, report: Answer, __: Sequence[Note]) -> Iterable[bytes]:
    from tfprof.reporters.pprof import pprof  # noqa: PLC0415

    return pprof(report)


def _nothing(_: Loaded, __: Answer, ___: Sequence[Note]) -> Iterable[bytes]:
    return ()


_FORMS: dict[str, Callable[[Loaded, Answer, Sequence[Note]], Iterable[bytes]]] = {
    "stdout": _text,
    "file": _text,
    "json": _json,
    "csv": _csv,
    "md": _md,
    "proto": _proto,
    "pprof": _pprof,
    "none": _nothing,
}


def _said(query: Query) -> Iterable[bytes]:
    """What the original prints when such a file is written."""
    if query.output.kind != "pprof":
        return ()
    from tfprof.reporters.pprof import said  # noqa: PLC0415

    return [_encoded(said(_path(query)))]


# --- what is made besides forms of a report ----------------------------------------------------


def _timeline(loaded: Loaded, view: str, query: Query) -> Outcome:
    from tfprof.reporters.timeline import banner, file_name, timeline  # noqa: PLC0415

    if not loaded.profile.steps:
        raise UsageError("a timeline needs a run (--run_meta_path)")
    steps: list[int | None] = [query.step]
    if view == "graph" and query.step is None:
        steps = [step.number for step in loaded.profile.steps]
    outcome, said, notes = Outcome(), b"", []
    for step in steps:
        report = answer(loaded.profile, view, replace(query, step=step))
        notes += _notes(loaded, report)
        chart = timeline(report)
        path = file_name(_path(query), step)
        _write(loaded, path, chart.pieces())
        outcome.written.append(path)
        said += _encoded(chart.said + banner(path))
    return replace(outcome, stdout=[said], notes=notes)


def deliver_advice(loaded: Loaded, query: Query) -> Outcome:
    """What all checkers find, to stdout or a file."""
    from tfprof.checkers import advise  # noqa: PLC0415
    from tfprof.reporters import advice as reporter  # noqa: PLC0415

    check("advise", query)
    found = advise(loaded.profile)
    if query.output.kind == "stdout":
        return Outcome(reporter.text(found), found.notes)
    if query.output.kind == "none":
        return Outcome(notes=found.notes)
    as_text = query.output.kind == "file"
    _write(loaded, _path(query), reporter.text(found) if as_text else [reporter.proto(found)])
    return Outcome(notes=found.notes, written=[_path(query)])


def deliver_profile(loaded: Loaded, query: Query) -> Outcome:
    """The profile itself, as a file that --profile_path reads."""
    from tfprof.reporters.saved import saved  # noqa: PLC0415

    check("save", query)
    if not len(loaded.profile):
        raise UsageError("there is nothing to save: the profile has no nodes")
    _write(loaded, _path(query), saved(loaded.profile))
    return Outcome(written=[_path(query)])


def _write(loaded: Loaded, path: str, pieces: Iterable[bytes]) -> None:
    """Write a file, but never over one that the answer is made from."""
    if any(same_file(path, one) for one in loaded.inputs):
        raise OutputError(f"{path} is an input of this report and is not overwritten")
    write_whole(path, pieces)


def _encoded(said: str) -> bytes:
    return said.encode("utf-8", "surrogateescape")


def _path(query: Query) -> str:
    assert query.output.path is not None, "a query for a file names it"
    return query.output.path


def _wanted(loaded: Loaded, report: Answer) -> Checkpoint | None:
    """The checkpoint, where values of it are to be shown."""
    wanted = "tensor_value" in report.query.select and not report.view.groups
    return loaded.checkpoint if wanted else None


def _tensors(loaded: Loaded, report: Answer) -> dict[int, bytes] | None:
    """The tensor of each row that has one, as a message."""
    checkpoint = _wanted(loaded, report)
    if checkpoint is None:
        return None
    return {
        row: _tensor_proto(checkpoint.tensor(name))
        for row, name in enumerate(report.label)
        if row and checkpoint.has(name)
    }


def _tensor_proto(tensor: Tensor) -> bytes:
    made: Any = message("tensorflow.tfprof.TFProfTensorProto")(dtype=tensor.dtype)
    name, values = proto_values(tensor)
    getattr(made, name).extend(values)
    return bytes(made.SerializeToString())


def _notes(loaded: Loaded, report: Answer) -> list[Note]:
    """The report's notes, and what is missing in the checkpoint, children before parents."""
    notes = [*report.notes]
    checkpoint = _wanted(loaded, report)
    if checkpoint is None:
        return notes
    names = report.label
    for row in report.tree.post_order().tolist():
        name = names[row]
        if row == 0:
            continue
        if not checkpoint.has(name):
            shown = name.decode("utf-8", "surrogateescape")
            notes.append(Note(f"Key {shown} not found in checkpoint"))
        elif prod(checkpoint.shape(name)) > _HUGE_TENSOR:
            notes.append(Note("Showing huge tensor, the tool might halt..."))
    return notes
