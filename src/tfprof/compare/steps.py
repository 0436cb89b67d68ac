"""with_steps(): a profile with some of its steps alone, so that warm-up steps do not count.

2- is step 2 and all later ones, -10 all up to step 10, 3,5-7 the steps 3, 5, 6 and 7.
"""

from __future__ import annotations

import re
from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.unique import marked
from tfprof.errors import UsageError
from tfprof.foundation.arguments import shown, whole_number
from tfprof.foundation.arguments import steps as numbers_of
from tfprof.foundation.lazy_dataclasses import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.model import Profile

_NUMBER: Final = r"(\d{1,18})"
_PART: Final = re.compile(f"{_NUMBER}|{_NUMBER}?-{_NUMBER}?", re.ASCII)


def with_steps(profile: Profile, steps: str | int | Iterable[int], side: str = "") -> Profile:
    """*profile* with these steps alone; "": all. *side* is what an error calls the profile."""
    if isinstance(steps, str) and not steps.strip():
        return profile
    there = {step.number for step in profile.steps}
    wanted = _wanted(steps, there)
    if not wanted:
        recorded = f"{min(there)} to {max(there)} are" if there else "none is"
        of_side = f" of {side}" if side else ""
        raise UsageError(f"no step{of_side} is in {shown(steps)}: {recorded} recorded")
    if wanted == there:
        return profile
    kept = tuple(step for step in profile.steps if step.number in wanted)
    ran = marked(np.concatenate([step.node for step in kept]), len(profile))
    shapes = tuple(pair for pair in profile.step_shapes if not wanted.isdisjoint(pair[0]))
    return replace(profile, steps=kept, covered=profile.covered & ran, step_shapes=shapes)


def _wanted(steps: str | int | Iterable[int], there: set[int]) -> set[int]:
    if isinstance(steps, str):
        ranges = [_bounds(steps, "".join(part.split())) for part in steps.split(",")]
        return {number for number in there if any(low <= number <= high for low, high in ranges)}
    one = hasattr(steps, "__index__")
    return there.intersection([whole_number("steps", steps)] if one else numbers_of("steps", steps))


def _bounds(steps: str, part: str) -> tuple[float, float]:
    """The first and the last step of a *part* of *steps*."""
    match = _PART.fullmatch(part)
    if not match or part == "-":
        raise UsageError(f"steps takes numbers such as 2-, -10 or 3,5-7, not {shown(steps)}")
    only, first, last = match.groups()
    low, high = int(only or first or 0), int(only or last) if only or last else inf
    if low > high:
        raise UsageError(f"steps {part}: the first comes after the last")
    return (low if only or first else -inf), high
