"""Reports beside those of the C++ original."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ours

if TYPE_CHECKING:
    from oracle import Oracle
    from random_cases import Case


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
