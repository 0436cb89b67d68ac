"""Our side of a differential case: the same bytes and options, answered by tfprof."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf import text_format

import tfprof
from case import GraphDef, OpLogProto, RunMetadata
from oracle import UNRESTRICTED
from profiles import ProfileFiles, content
from tfprof.errors import UsageError
from tfprof.model import Profile
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.read import Source, add_run, graph_def, op_log
from tfprof.read.merge import with_graph
from tfprof.read.op_log import with_op_log
from tfprof.tables.fields import ORDERS
from tfprof.views import VIEWS
from tfprof.writers.classic_text import text

if TYPE_CHECKING:
    from pathlib import Path

    from case import Case
    from tfprof.query.counted import Answer


@dataclass(frozen=True)
class Ours:
    """What the original shows of loading and of one report."""

    coverage: float
    notes: str
    report: bytes
    said: str  # on stderr, with the report


def load(case: Case) -> Profile:
    """The profile of a case, merged in the order the original does it."""
    profile = with_graph(Profile(), graph_def.columns(_bytes(case.graph), functions=False))
    profile = with_op_log(profile, op_log.columns(_bytes(case.op_log)))
    for number, run in case.steps:
        profile = add_run(profile, number, Source(f"run {number}", _bytes(run)))
    return profile


def ask(case: Case) -> Ours:
    """The answer to a case; what we refuse and the original answers with nothing is empty."""
    profile = load(case)
    notes = "".join(f"{note.text}\n" for note in profile.notes if not note.ours)
    try:
        report = answer(profile, case.view, Query.of(_accepted(case)))
    except UsageError as problem:
        return Ours(profile.coverage, notes, b"", _as_they_say(str(problem), case, profile))
    said = "".join(f"{note.text}\n" * note.times for note in report.notes)
    return Ours(profile.coverage, notes, with_their_doc(b"".join(text(report))), said)


def answered(case: Case, **other: Any) -> Answer:
    """The answer of every kind of output; raises UsageError."""
    return answer(load(case), case.view, Query.of({**_accepted(case), **other}))


def _as_they_say(refusal: str, case: Case, profile: Profile) -> str:
    """What the original prints where we refuse; other refusals are no part of a case."""
    if found := re.match(r"there is no step (\d+)", refusal):
        steps = "".join(f"{step.number} " for step in profile.steps)
        # The original draws the view, and says what it could not draw, before it looks at steps.
        drawn = case.view != "code" or profile.has_traces
        notes = VIEWS[case.view].draw(profile).notes if drawn else ()
        before = "".join(f"{note.text}\n" for note in notes)
        return f"{before}Options -step={found[1]} not found.\nAvailable steps: {steps}\n"
    if refusal.startswith("No code trace information"):
        return "No code trace information\n"
    raise AssertionError(refusal)


def with_their_doc(report: bytes) -> bytes:
    """Our report with the sentence that the original prints over graph view (Q23)."""
    return report.replace(VIEWS["graph"].help.encode(), VIEWS["scope"].help.encode(), 1)


@lru_cache
def files_loaded(files: ProfileFiles) -> Profile:
    """The profile that the files of a golden describe."""
    runs = [str(run) for run in files.runs]
    return tfprof.load(str(files.graph), runs, str(files.op_log)).profile


@lru_cache(maxsize=16)
def wire_of(path: Path) -> bytes:
    """The message of a file that never changes in wire format, whatever it is stored as."""
    data = content(path)
    message = _MESSAGES[path.name.split("_")[0].split(".")[0]]
    if path.suffix == ".pbtxt" or ".pbtxt." in path.name:
        parsed = text_format.Parse(data.decode(), message())
        return bytes(parsed.SerializeToString(deterministic=True))
    return data


_MESSAGES = {"graph": GraphDef, "run": RunMetadata, "op": OpLogProto, "tfprof": OpLogProto}


def _accepted(case: Case) -> dict[str, Any]:
    """The options with an order we refuse replaced by what the original takes it for (Q36)."""
    given = {"era": "original", **UNRESTRICTED, **case.options}
    orders = [order for order in ORDERS if order != "occurrence" or VIEWS[case.view].groups]
    if given["order_by"] not in (*orders, ""):
        given["order_by"] = "name"
    return given


def _bytes(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)
