"""Our side of a differential case: the same bytes and options, answered by tfprof."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf import text_format

import tfprof
from case import GraphDef, OpLogProto, RunMetadata
from oracle import UNRESTRICTED
from profiles import ProfileFiles, content
from tfprof.answer import answer
from tfprof.errors import UsageError
from tfprof.fields import ORDERS
from tfprof.model import Profile
from tfprof.query import Query
from tfprof.read import Source, add_run, graph_def, op_log
from tfprof.read.merge import with_graph
from tfprof.read.merge_op_log import with_op_log
from tfprof.reporters.text import text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from case import Case


@dataclass(frozen=True)
class Ours:
    """What the original shows of loading and of one report."""

    coverage: float
    notes: str
    report: bytes


def load(case: Case) -> Profile:
    """The profile of a case, merged in the order the original does it."""
    profile = with_graph(Profile(), graph_def.columns(_bytes(case.graph)))
    profile = with_op_log(profile, op_log.columns(_bytes(case.op_log)))
    for number, run in case.steps:
        profile = add_run(profile, number, Source(f"run {number}", _bytes(run)))
    return profile


def ask(case: Case) -> Ours:
    """The answer to a case; what we refuse and the original answers with nothing is empty."""
    profile = load(case)
    notes = "".join(f"{note.text}\n" for note in profile.notes)
    try:
        report = b"".join(text(answer(profile, case.view, Query.of(_accepted(case.options)))))
    except UsageError as problem:
        if "there is no step" not in str(problem):
            raise
        report = b""
    return Ours(profile.coverage, notes, report)


@lru_cache
def files_loaded(files: ProfileFiles) -> Profile:
    """The profile that the files of a golden describe."""
    return tfprof.load(str(files.graph), [str(run) for run in files.runs], str(files.op_log))


def wire_of(path: Path) -> bytes:
    """A file's message in wire format, whatever it is stored as."""
    data = content(path)
    message = _MESSAGES[path.name.split("_")[0].split(".")[0]]
    if path.suffix == ".pbtxt" or ".pbtxt." in path.name:
        return text_format.Parse(data.decode(), message()).SerializeToString()
    return data


_MESSAGES = {"graph": GraphDef, "run": RunMetadata, "op": OpLogProto, "tfprof": OpLogProto}


def _accepted(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with an order we refuse replaced by what the original takes it for."""
    given = {**UNRESTRICTED, **options}
    if given["order_by"] not in (*ORDERS, "") or given["order_by"] == "occurrence":
        given["order_by"] = "name"
    return given


def _bytes(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)
