"""with_steps(): a profile with some of its steps alone, so that warm-up steps do not count.

2-      from step 2 on        3,5-7    steps 3, 5, 6 and 7
-10     up to step 10         range(3) in Python: any iterable of numbers, or one number
"""

from __future__ import annotations

import re
from math import inf
from typing import TYPE_CHECKING, Final

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
    """*profile* without all other steps; itself for "". *side* is what sentences call it."""
    if isinstance(steps, str) and not steps.strip():
        return profile
    there = [step.number for step in profile.steps]
    wanted = _wanted(steps, there)
    if not wanted:
        of_side = f" of {side}" if side else ""
        recorded = f"{min(there)} to {max(there)} are" if there else "none is"
        raise UsageError(f"no step{of_side} is in {shown(steps)}: {recorded} recorded")
    if len(wanted) == len(there):
        return profile
    kept = tuple(step for step in profile.steps if step.number in wanted)
    ran = marked(kept[0].node, len(profile))
    for step in kept[1:]:
        ran[step.node] = True
    shapes = tuple(pair for pair in profile.step_shapes if not wanted.isdisjoint(pair[0]))
    return replace(profile, steps=kept, covered=profile.covered & ran, step_shapes=shapes)


def _wanted(steps: str | int | Iterable[int], there: list[int]) -> set[int]:
    if isinstance(steps, str):
        ranges = [_bounds(steps, "".join(part.split())) for part in steps.split(",")]
        return {number for number in there if any(low <= number <= high for low, high in ranges)}
    if hasattr(steps, "__index__"):
        return {whole_number("steps", steps)}.intersection(there)
    return set(numbers_of("steps", steps)).intersection(there)


def _bounds(steps: str, part: str) -> tuple[float, float]:
    """The first and the last step of a *part* of *steps*."""
    match = _PART.fullmatch(part)
    if not match or part == "-":
        raise UsageError(f"steps takes numbers such as 2-, -10 or 3,5-7, not {shown(steps)}")
    only, first, last = (None if text is None else int(text) for text in match.groups())
    if only is not None:
        return only, only
    if first is not None and last is not None and first > last:
        raise UsageError(f"steps {part}: the first comes after the last")
    return -inf if first is None else first, inf if last is None else last
