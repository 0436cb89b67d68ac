"""Deliver: a question about a profile → what it makes, where it was asked to go.

    stdout     the report, and nothing else
    file       the report
    timeline   PATH_STEP, one file; graph view without a step: one for each step
    pprof      a profile for pprof
    proto      the result as GraphNodeProto or MultiGraphNodeProto
    none       nothing; the question is still answered

Reporters know nothing of files; this is where their bytes find one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tfprof.answer import answer
from tfprof.errors import UsageError
from tfprof.files import write_whole
from tfprof.model import Note
from tfprof.read.schema import message
from tfprof.reporters.tensor_values import proto_values, value_text
from tfprof.reporters.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tfprof.model import Profile
    from tfprof.query import Query
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.read.checkpoint.tensors import Tensor
    from tfprof.report import Report

_HUGE_TENSOR = 100_000


@dataclass(frozen=True)
class Loaded:
    """What there is to ask: a profile, and the checkpoint for its values."""

    profile: Profile
    checkpoint: Checkpoint | None = None


@dataclass(frozen=True)
class Outcome:
    """What came of a question, for the edge to show."""

    stdout: Iterable[bytes] = ()
    notes: Sequence[Note] = ()
    written: list[str] = field(default_factory=list)


def deliver(loaded: Loaded, view: str, query: Query) -> Outcome:
    """Answer, and write what is to be written; raises TfprofError."""
    return _KINDS[query.output.kind](loaded, view, query)


def _stdout(loaded: Loaded, view: str, query: Query) -> Outcome:
    report = answer(loaded.profile, view, query)
    return Outcome(_text(loaded, report), _notes(loaded, report))


def _none(loaded: Loaded, view: str, query: Query) -> Outcome:
    report = answer(loaded.profile, view, query)
    return Outcome(notes=_notes(loaded, report))


def _file(loaded: Loaded, view: str, query: Query) -> Outcome:
    report = answer(loaded.profile, view, query)
    path = _path(query)
    write_whole(path, _text(loaded, report))
    return Outcome(notes=_notes(loaded, report), written=[path])


def _proto(loaded: Loaded, view: str, query: Query) -> Outcome:
    from tfprof.reporters.proto import proto  # noqa: PLC0415 - only who asks for it pays for it

    report = answer(loaded.profile, view, query)
    path = _path(query)
    write_whole(path, [proto(report, _tensors(loaded, report))])
    return Outcome(notes=_notes(loaded, report), written=[path])


def _pprof(loaded: Loaded, view: str, query: Query) -> Outcome:
    from tfprof.reporters.pprof import pprof, said  # noqa: PLC0415

    report = answer(loaded.profile, view, query)
    path = _path(query)
    write_whole(path, pprof(report))
    return Outcome([said(path).encode()], _notes(loaded, report), [path])


def _timeline(loaded: Loaded, view: str, query: Query) -> Outcome:
    from tfprof.reporters.timeline import banner, file_name, timeline  # noqa: PLC0415

    steps: list[int | None] = [query.step]
    if view == "graph" and query.step is None:
        steps = [step.number for step in loaded.profile.steps]
    outcome, said, notes = Outcome(), b"", []
    for step in steps:
        report = answer(loaded.profile, view, replace(query, step=step))
        notes += _notes(loaded, report)
        chart = timeline(report)
        path = file_name(_path(query), step)
        write_whole(path, chart.pieces())
        outcome.written.append(path)
        said += (chart.said + banner(path)).encode()
    return replace(outcome, stdout=[said], notes=notes)


def deliver_advice(loaded: Loaded, query: Query) -> Outcome:
    """What all checkers find, to stdout or a file."""
    from tfprof.advise import advise  # noqa: PLC0415
    from tfprof.reporters import advice as reporter  # noqa: PLC0415

    found = advise(loaded.profile)
    if query.output.kind == "stdout":
        return Outcome(reporter.text(found), found.notes)
    if query.output.kind == "none":
        return Outcome(notes=found.notes)
    if query.output.kind not in ("file", "proto"):
        raise UsageError(
            f"advise has no output {query.output.kind} (there are: stdout, file, proto)"
        )
    as_text = query.output.kind == "file"
    write_whole(_path(query), reporter.text(found) if as_text else [reporter.proto(found)])
    return Outcome(notes=found.notes, written=[_path(query)])


def deliver_profile(loaded: Loaded, query: Query) -> Outcome:
    """The profile itself, as a file that --profile_path reads."""
    from tfprof.reporters.saved import saved  # noqa: PLC0415

    if query.output.kind != "file":
        raise UsageError("save needs --output=file:outfile=PATH")
    write_whole(_path(query), saved(loaded.profile))
    return Outcome(written=[_path(query)])


_KINDS: dict[str, Callable[[Loaded, str, Query], Outcome]] = {
    "stdout": _stdout,
    "file": _file,
    "timeline": _timeline,
    "pprof": _pprof,
    "proto": _proto,
    "none": _none,
}


def _path(query: Query) -> str:
    assert query.output.path is not None, "a query for a file names it"
    return query.output.path


def _text(loaded: Loaded, report: Report) -> Iterable[bytes]:
    checkpoint = _wanted(loaded, report)
    if checkpoint is None:
        return text(report)
    return text(
        report,
        lambda name: value_text(checkpoint.tensor(name)) if checkpoint.has(name) else "",
    )


def _wanted(loaded: Loaded, report: Report) -> Checkpoint | None:
    """The checkpoint, where values of it are to be shown."""
    wanted = "tensor_value" in report.query.select and not report.view.groups
    return loaded.checkpoint if wanted else None


def _tensors(loaded: Loaded, report: Report) -> dict[int, bytes] | None:
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


def _notes(loaded: Loaded, report: Report) -> list[Note]:
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
        elif _elements(checkpoint.shape(name)) > _HUGE_TENSOR:
            notes.append(Note("Showing huge tensor, the tool might halt..."))
    return notes


def _elements(shape: tuple[int, ...]) -> int:
    count = 1
    for dim in shape:
        count *= dim
    return count
