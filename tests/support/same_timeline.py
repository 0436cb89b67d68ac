"""Timelines beside those of the C++ original."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import ours
from oracle import OUTFILE, OracleCrashed
from tfprof.errors import UsageError
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.writers.timeline import banner, file_name, timeline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from case import Case
    from oracle import Oracle
    from tfprof.model import Profile

TIMELINE: Final = f"timeline:outfile={OUTFILE}"


@dataclass
class Written:
    """What a command writes and prints."""

    files: dict[str, bytes] = field(default_factory=dict)
    stdout: str = ""

    def add(self, profile: Profile, view: str, options: Mapping[str, Any]) -> None:
        query = Query.of({**options, "output": "stdout"})
        line = timeline(answer(profile, view, query))
        name = file_name(OUTFILE, query.step)
        self.files[name] = b"".join(line.pieces())
        self.stdout += line.printed + banner(name)


def written(case: Case) -> Written:
    """Our timelines of a case: in graph view one a step, unless it names its step."""
    profile = ours.load(case)
    options = ours._accepted(case)
    result = Written()
    each_step = case.view == "graph" and options["step"] < 0
    steps = [one.number for one in profile.steps] if each_step else [options["step"]]
    try:
        for step in steps:
            result.add(profile, case.view, {**options, "step": step})
    except UsageError as problem:
        # The original prints what is wrong and writes nothing.
        assert str(problem).startswith(("there is no step", "No code trace"))  # noqa: PT017
    return result


def differences(oracle: Oracle, case: Case) -> list[str]:
    """What the two write or print differently; nothing where they agree."""
    oracle.load(case.graph, case.op_log, case.steps)
    mine = written(case)
    try:
        theirs = oracle.ask(case.view, case.options)
    except OracleCrashed as crash:
        # Negative times can make children wider than their parent, which it does not survive.
        assert "parent:" in str(crash)  # noqa: PT017
        return []
    found = []
    if theirs.files != mine.files:
        found.append(f"files:\n{theirs.files}\nis not\n{mine.files}")
    if theirs.stdout.decode() != mine.stdout:
        found.append(f"stdout:\n{theirs.stdout.decode()}\nis not\n{mine.stdout}")
    return found


def asking_for_a_timeline(case: Case) -> Case:
    step = max(case.options["step"], -1)  # the average has one name here
    return replace(case, options={**case.options, "step": step, "output": TIMELINE})
