"""Differential: random models, runs and options, ours against the C++ original, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ours
from random_cases import Case, make_case, shrink

if TYPE_CHECKING:
    from oracle import Oracle

CASES = 2_000
BATCH = 100


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


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
def test_random_cases_agree(oracle: Oracle, view: str, first: int) -> None:
    for seed in range(first, first + BATCH):
        case = make_case(seed, view)
        if differences(oracle, case):
            small = shrink(case, lambda candidate: bool(differences(oracle, candidate)))
            pytest.fail("\n".join([f"seed {seed}:", small.paste(), *differences(oracle, small)]))
