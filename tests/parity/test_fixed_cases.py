"""Cases that once went wrong: ours is the original's, in every form."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

import same_advice
import same_pprof
import same_proto
import same_report
import same_saved
import same_timeline
from case import Case, survivable
from fixed_cases import FIXED

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle import Oracle


def message(oracle: Oracle, case: Case) -> list[str]:
    return same_proto.differences(oracle, case)


def pprof(oracle: Oracle, case: Case) -> list[str] | None:
    if case.view != "code":
        return None
    asked = {"select": ["micros"], **case.options, **same_pprof.ASKED}
    return same_pprof.differences(oracle, replace(case, options=asked))


def timeline(oracle: Oracle, case: Case) -> list[str] | None:
    if case.view == "op":
        return None
    case = replace(case, options={"step": -1, **case.options})
    return same_timeline.differences(oracle, same_timeline.asking_for_a_timeline(case))


def saved(oracle: Oracle, case: Case) -> list[str]:
    case = replace(case, options={"select": [], **case.options})
    return [*same_saved.lost_on_the_way(case), *same_saved.differences(oracle, case)]


def advice(oracle: Oracle, case: Case) -> list[str] | None:
    case = replace(case, view="code", options={})
    return same_advice.differences(oracle, case) if survivable(case) else None


FORMS: Final[dict[str, Callable[[Oracle, Case], list[str] | None]]] = {
    "report": same_report.differences,
    "message": message,
    "pprof": pprof,
    "timeline": timeline,
    "saved": saved,
    "advice": advice,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FIXED)
def test_a_fixed_case_agrees(oracle: Oracle, name: str, form: str) -> None:
    assert not FORMS[form](oracle, FIXED[name])
