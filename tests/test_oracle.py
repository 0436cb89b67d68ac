"""Differential: random models, runs and options, ours against the C++ original, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ours
from random_cases import Case, agree, batches, make_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle import Oracle

VIEWS = ["scope", "graph", "op", "code"]


def differences(oracle: Oracle, case: Case) -> list[str]:
    """What the two say differently; nothing where they agree."""
    loaded = oracle.load(case.graph, case.op_log, case.steps)
    theirs = oracle.ask(case.view, case.options)
    mine = ours.ask(case)
    found = []
    if loaded.coverage is not None and loaded.coverage != mine.coverage:
        found.append(f"coverage: {loaded.coverage!r} is not {mine.coverage!r}")
    if loaded.stderr != mine.notes:
        found.append(f"notes of loading:\n{loaded.stderr}is not\n{mine.notes}")
    if theirs.stderr.decode() != mine.said:
        found.append(f"notes of the report:\n{theirs.stderr.decode()}is not\n{mine.said}")
    if theirs.report != mine.report:
        expected, got = (b.decode(errors="replace") for b in (theirs.report, mine.report))
        found.append(f"report:\n{expected}\nis not\n{got}")
    return found


@batches(1_200, 50, 50)
@pytest.mark.parametrize("view", VIEWS)
def test_random_cases_agree(oracle: Oracle, view: str, numbers: Sequence[int]) -> None:
    agree(numbers, lambda n: make_case(n, view), lambda case: differences(oracle, case))
