"""Columns of numbers as columns of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof import units
from tfprof.fields import FIELDS

if TYPE_CHECKING:
    from tfprof.answered import Answer
    from tfprof.strings import I64
    from tfprof.units import Format

# Lines made at a time: enough to share work, few enough to need no memory to speak of.
CHUNK = 1 << 13


def chunks(count: int) -> list[slice]:
    """Runs of rows to make lines of together."""
    return [slice(first, first + CHUNK) for first in range(0, count, CHUNK)]


def formatted(column: I64, unit: Format) -> list[str]:
    """Each number as text; equal numbers, which are many, are formatted once."""
    numbers = column.tolist()
    known = {number: unit(number) for number in set(numbers)}
    return [known[number] for number in numbers]


class OwnAndTotal:
    """A metric as "own/total", with -- for own where a row is not accounted."""

    def __init__(self, answer: Answer, metric: str) -> None:
        field = FIELDS.get(metric)
        self._unit = (field and field.unit) or units.count
        self._suffix = field.suffix if field else ""
        self._own, self._total = answer.own(metric), answer.total(metric)
        self._accounted = answer.accounted

    def of(self, rows: slice) -> list[str]:
        """The texts of *rows*."""
        suffix = self._suffix
        total = formatted(self._total[rows], self._unit)
        own = formatted(self._own[rows], self._unit)
        accounted = self._accounted[rows].tolist()
        return [
            f"{mine}/{all_}{suffix}" if counts else f"--/{all_}{suffix}"
            for counts, mine, all_ in zip(accounted, own, total, strict=True)
        ]
