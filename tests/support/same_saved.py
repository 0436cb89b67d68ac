"""Saved profiles beside those of the C++ original."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ours
from case import VIEWS, Case
from oracle import OracleRaised
from saved_profiles import reread, save
from tf_wheel import piece
from tfprof.errors import UsageError
from tfprof.foundation import lazy_dataclasses as light_dataclasses
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.read import Source, add_run
from tfprof.read.detect import detect
from tfprof.tables.formats import FORMATS
from tfprof.writers.classic_text import text

if TYPE_CHECKING:
    from oracle import Oracle
    from tfprof.model import Profile

ProfileProto: Final[Any] = piece("tensorflow.core.profiler.tfprof_log_pb2").ProfileProto


def shown(profile: Profile, case: Case) -> str:
    """The text and the notes of a report, or why there is none."""
    try:
        report = answer(profile, case.view, Query.of(ours._accepted(case)))
    except UsageError as refusal:
        return str(refusal)
    notes = "".join(f"{note}\n" for note in report.notes)
    return notes + b"".join(text(report)).decode(errors="surrogateescape")


def lost_on_the_way(case: Case) -> list[str]:
    """What a profile says differently once it was saved and read again."""
    before = ours.load(case)
    data = save(before)
    after = reread(data)
    found = []
    for view in VIEWS:
        asked = replace(case, view=view)
        if shown(before, asked) != shown(after, asked):
            found.append(f"{view}:\n{shown(before, asked)}\nis not\n{shown(after, asked)}")
    if before.coverage != after.coverage:
        found.append(f"coverage: {before.coverage} is not {after.coverage}")
    if before.misses_accelerator_stream != after.misses_accelerator_stream:
        found.append("misses_accelerator_stream")
    if save(after) != data:
        found.append("saved again, it is another file")
    if len(before) and detect(memoryview(data)) is not FORMATS["profile"]:
        found.append("not told to be a saved profile")
    return found + lost_between_steps(case)


def lost_between_steps(case: Case) -> list[str]:
    """What is different where the profile is saved and read again before its last step."""
    if not case.steps:
        return []
    *_, (number, run) = case.steps
    between = reread(save(ours.load(replace(case, steps=case.steps[:-1]))))
    after = add_run(between, number, Source("run", np.frombuffer(run, np.uint8)))
    whole = ours.load(case)
    if shown(whole, case) != shown(after, case) or whole.coverage != after.coverage:
        return [f"saved between steps:\n{shown(whole, case)}\nis not\n{shown(after, case)}"]
    return []


def differences(oracle: Oracle, case: Case) -> list[str]:
    """What the original and we say differently of what either saved."""
    profile = ours.load(case)
    mine = save(profile)
    found = []
    asked = case
    if len(profile.edges.unknown):
        # Q7: our file leaves out the inputs that name no node, so the original lists fewer shapes.
        select = [name for name in case.options["select"] if name != "input_shapes"]
        asked = replace(case, options={**case.options, "select": select})
    oracle.load_profile(mine)
    theirs = oracle.ask(asked.view, asked.options).report
    if theirs != said(profile, asked):
        found.append(f"of our file:\n{theirs.decode()}\nis not\n{said(profile, asked).decode()}")
    oracle.load(case.graph, case.op_log, case.steps)
    try:
        file = oracle.save()
    except OracleRaised:
        assert len(profile.edges.unknown), "the original saves what names only nodes it has"
        return found
    if ProfileProto.FromString(file) != without_ours(mine):
        found.append(f"{ProfileProto.FromString(file)}\nis not\n{without_ours(mine)}")
    oracle.load_profile(file)
    theirs = oracle.ask(case.view, case.options).report
    if theirs != said(reread(file), case):
        found.append(f"of theirs:\n{theirs.decode()}\nis not\n{said(reread(file), case).decode()}")
    return found


def without_ours(data: bytes) -> Any:
    """A saved profile as the original reads it."""
    profile = ProfileProto.FromString(data)
    profile.DiscardUnknownFields()
    return profile


def said(profile: Profile, case: Case) -> bytes:
    """Our report as the original prints it of a saved profile: it forgets a warning (Q32)."""
    try:
        report = answer(
            light_dataclasses.replace(profile, misses_accelerator_stream=False),
            case.view,
            Query.of(ours._accepted(case)),
        )
    except UsageError:
        return b""
    return ours.with_their_doc(b"".join(text(report)))
