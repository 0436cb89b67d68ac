"""check(measures, budget, lock) → Verdicts: each bound of a budget, and whether it holds.

ok        the number keeps to the bound
broken    it does not, or nothing can show that it does: it is unknown, a lower bound, or compared
          with a number that was never recorded
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.compare.bounds import FLOAT_OPS, MULTIPLY_ADDS, UNCOUNTED, Bound, written
from tfprof.compare.lock import Recorded
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.compare.budget import Budget, Entry
    from tfprof.compare.lock import Lock
    from tfprof.compare.measure import Measures

_MANY: Final = 10  # times a bound; from here on a percentage says less


class Verdict(NamedTuple):
    """A bound on one number of one row, and whether it holds."""

    table: str  # model, scope, op, layer or device
    pattern: str  # as in the budget
    name: str  # of the row; "": the model
    bound: Bound
    line: int  # in the budget; 0: it is no file
    value: float | None = None  # None: unknown
    is_lower: bool = False  # the value is a lower bound
    base: float | None = None  # the recorded value, if the bound is relative to it
    reason: str = ""  # why it is broken
    ok: bool = True

    @property
    def title(self) -> str:
        """The row and the bound, as one line."""
        row = f"{self.table} {self.name}" if self.name else self.table
        return f"{row}: {self.bound.metric} {self.bound.text}"

    @property
    def limit(self) -> float | None:
        """What the value is compared with; None: it was never recorded."""
        if self.bound.is_relative and self.base is None:
            return None
        limit = self.bound.limit(self.base or 0)
        return int(limit) if limit.denominator == 1 else float(limit)


def check(measures: Measures, budget: Budget, lock: Lock) -> tuple[Verdict, ...]:
    """Every bound on every row; raises TfprofError."""
    return tuple(
        verdict for entry in budget.entries for verdict in _judged(measures, budget, entry, lock)
    )


def recorded(measures: Measures, budget: Budget) -> Lock:
    """The numbers that a budget bounds, as far as they are known."""
    lock: Lock = {}
    for entry in budget.entries:
        for name, value, is_lower, _ in _measured(measures, budget, entry):
            if value is not None:
                lock[entry.table, name, entry.bound.metric] = Recorded(value, is_lower)
    return lock


def _measured(
    measures: Measures, budget: Budget, entry: Entry
) -> Iterator[tuple[str, float | None, bool, str]]:
    """(name, value, whether it is a lower bound, what is missing) of each row of an entry."""
    try:
        rows = measures.find(entry.table, entry.pattern)
    except UsageError as problem:
        raise budget.problem(problem, entry.line) from None
    column = measures.column(entry.table, entry.bound.metric)
    for name, row in rows:
        yield name, column.values[row], column.lower[row], column.reason


def _judged(measures: Measures, budget: Budget, entry: Entry, lock: Lock) -> Iterator[Verdict]:
    bound = entry.bound
    covered = {other.bound.metric for other in budget.entries if other[:2] == entry[:2]}
    # A budget on what is not counted decides how incomplete a count may be.
    may_lack = UNCOUNTED in covered and bound.metric in {FLOAT_OPS, MULTIPLY_ADDS}
    for name, value, is_lower, missing in _measured(measures, budget, entry):
        verdict = Verdict(entry.table, entry.pattern, name, bound, entry.line, value, is_lower)
        if value is None:
            yield verdict._replace(ok=False, reason=f"cannot be shown: unknown, as {missing}")
            continue
        base = lock.get((entry.table, name, bound.metric)) if bound.is_relative else Recorded(0)
        if base is None:
            yield verdict._replace(ok=False, reason="nothing is recorded for it: use --record")
            continue
        if bound.is_relative:
            verdict = verdict._replace(base=base.value)
        allows = entry.allows_incomplete or (may_lack and value > 0)
        lower = {} if allows else {"is_lower": is_lower, "base_is_lower": base.is_lower}
        holds = bound.holds(value, base.value, **lower)
        reason = _reason(verdict, missing, holds=holds)
        yield verdict._replace(ok=bool(holds), reason=reason)


def _reason(verdict: Verdict, missing: str, *, holds: bool | None) -> str:
    """Why a bound is broken; "" if it holds."""
    bound, value, limit = verdict.bound, verdict.value or 0, verdict.limit or 0
    number = "at least " * verdict.is_lower + written(bound.metric, value)
    if holds:
        return ""
    if holds is None:
        what = f"{number if value else 'unknown'}, as {missing}"
        what = what if verdict.is_lower else "a lower bound was recorded"
        return f"cannot be shown: {what} (allow_incomplete = true accepts that)"
    ratio = value / limit if limit else 1
    share = f" by {100 * abs(ratio - 1):.3g}%" if ratio != 1 else ""
    share = share if ratio < _MANY else f" ({ratio:,.0f} times)"
    side = "above" if value > limit else "below" if value < limit else "at"
    base = f", recorded: {written(bound.metric, verdict.base)}" if verdict.base is not None else ""
    return f"{number} is {side} the bound{share}{base}"
