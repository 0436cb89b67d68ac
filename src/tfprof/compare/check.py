"""check(profile, budget) → Verdicts: each bound of a budget, and whether it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.model import Profile


class Verdict(NamedTuple):
    """A bound on one number of one row, and whether it holds."""

    table: str  # model, scope, op, layer or device
    name: str  # of the row; "": the model
    metric: str
    bound: str  # as the budget says it
    value: int | None  # None: unknown
    ok: bool
    reason: str = ""  # why it does not hold


def check(profile: Profile, budget: Mapping[str, Any]) -> tuple[Verdict, ...]:
    """Every bound of *budget*; raises TfprofError."""
    del profile, budget
    return ()
