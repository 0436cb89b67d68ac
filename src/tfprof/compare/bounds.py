"""Bound: what a budget says about one number, as in "<= 4.1G", ">= 99%" or "<= base + 5%".

    25_600_000        at most this many                  "<= 2GiB"        units fit the metric
    "< +5%"           less than 5 % above the recorded   "== base"        as recorded

Bounds are fractions and numbers are whole or exact, so nothing is rounded in between.
"""

from __future__ import annotations

import operator
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.errors import UsageError, nearest
from tfprof.foundation import units
from tfprof.foundation.arguments import shown
from tfprof.tables import fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FLOAT_OPS, PARAMS, OCCURRENCE = "float_ops", "params", "occurrence"
MULTIPLY_ADDS, UNCOUNTED, IN_USE = "multiply_adds", "uncounted", "bytes_in_use"


def _percent(share: float) -> str:
    return f"{100 * share:.4g}%"


# What can be bounded: the metrics of views and three more, and how people write them.
METRICS: Final[dict[str, Callable[[float], str]]] = {
    **{name: unit for name in fields.METRICS if (unit := fields.FIELDS[name].unit)},
    MULTIPLY_ADDS: units.count,
    IN_USE: units.memory,
    UNCOUNTED: _percent,
}
_POWERS: Final = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}
_DECIMAL: Final = {unit: 1000**power for unit, power in _POWERS.items()}
_BYTES: Final = {f"{unit}B": size for unit, size in _DECIMAL.items()}
_BINARY: Final = {f"{unit}iB": 1024 ** _POWERS[unit] for unit in "KMGT"}
_NO_MARKS: Final = {ord(mark): None for mark in "_,"}
_UNITS: Final[dict[Any, dict[str, Fraction]]] = {
    how: {unit: Fraction(size) for unit, size in sizes.items()}
    for how, sizes in (
        (units.count, {**_DECIMAL, "m": 1000**2, "b": 1000**3}),  # as the views write them
        (units.memory, {**_DECIMAL, **_BYTES, **_BINARY}),
        (units.micros, {"": 1, "us": 1, "µs": 1, "ms": 1000, "s": 1000**2, "sec": 1000**2}),
        (_percent, {"%": Fraction(1, 100)}),
    )
}
_RELATIONS: Final[dict[str, Callable[[Fraction, Fraction], bool]]] = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_BOUND: Final = re.compile(
    r"(?P<relation>[<>=]=?)? ?(?P<base>base)? ?(?P<sign>[+-])? ?"
    r"(?:(?P<number>(?:[0-9]{1,3}(?:,[0-9]{3}){1,9}|[0-9][0-9_]{0,30})(?:\.[0-9]{1,30})?"
    r"(?:e[+-]?[0-9]{1,2})?) ?(?P<unit>[^\s0-9]*))?"
)
_TOO_LARGE: Final = 1e30
_EXAMPLES: Final = '"<= 4.1G", ">= 10" or "<= base + 5%"'


class Bound(NamedTuple):
    """A relation between a number and a limit, which may depend on a recorded number."""

    metric: str
    relation: str
    amount: Fraction  # the limit; of a relative bound, what is added to the recorded number
    text: str  # as the budget says it
    is_relative: bool = False
    of_base: bool = False  # the amount is a share of the recorded number

    def limit(self, base: float) -> Fraction:
        """What the number is compared with; *base* is the recorded number."""
        if not self.is_relative:
            return self.amount
        return Fraction(base) * (1 + self.amount) if self.of_base else Fraction(base) + self.amount

    def holds(
        self, value: float, base: float = 0, *, is_lower: bool = False, base_is_lower: bool = False
    ) -> bool | None:
        """Whether *value* keeps to it; None where lower bounds leave that open."""
        number, limit = Fraction(value), self.limit(base)
        holds = _RELATIONS[self.relation](number, limit)
        if self.relation == "==":
            is_open = (is_lower and number <= limit) or (base_is_lower and number >= limit)
        else:
            more = self.relation in {">", ">="}
            is_open = (is_lower and holds != more) or (base_is_lower and holds == more)
        return None if is_open else holds


def written(metric: str, value: float) -> str:
    """A number of *metric*, exactly."""
    if metric == UNCOUNTED:
        return _percent(value)
    unit = METRICS[metric]
    return f"{value:,}{' us' if unit is units.micros else ' bytes' if unit is units.memory else ''}"


def bounds(metric: str, value: object) -> Iterator[Bound]:
    """The bounds that a budget sets for *metric*: a number, a text, or a list of these."""
    for one in value if isinstance(value, list) and value else [value]:
        if isinstance(one, (int, float)) and not isinstance(one, bool) and 0 <= one < _TOO_LARGE:
            yield _bound(metric, f"{int(one):,}" if one == int(one) else str(one))
        elif isinstance(one, str):
            yield _bound(metric, one)
        else:
            raise UsageError(
                f"{metric} takes a number or a text such as {_EXAMPLES}, not {shown(one)}"
            )


def _bound(metric: str, text: str) -> Bound:
    match = _BOUND.fullmatch(" ".join(text.split()))
    parts: dict[str, str] = match.groupdict("") if match else {}
    relation = parts.get("relation") or "<="
    is_relative = bool(parts.get("base") or parts.get("sign"))
    has_number = bool(parts.get("number"))
    is_whole = has_number == bool(parts["sign"]) if is_relative else has_number
    if not is_whole or relation not in _RELATIONS:
        raise UsageError(f"{metric} takes a bound such as {_EXAMPLES}, not {shown(text)}")
    number, unit = Fraction((parts["number"] or "0").translate(_NO_MARKS)), parts["unit"]
    sizes = _UNITS[METRICS[metric]]
    of_base = is_relative and unit == "%" and unit not in sizes
    if not of_base and unit not in sizes and number:
        known = [word for word in sizes if word]
        wrong = f"there is no unit {unit!r} in" if unit else "a unit is missing in"
        near = nearest(unit, known) if unit else ""
        raise UsageError(f"{wrong} {shown(text)}{near} ({metric} takes {', '.join(known)})")
    amount = number * (Fraction(1, 100) if of_base else sizes.get(unit, Fraction(1)))
    amount = -amount if parts["sign"] == "-" else amount
    full = " ".join([*([] if parts["relation"] else [relation]), *text.split()])
    return Bound(metric, relation, amount, full, is_relative, of_base)
