"""Columns of numbers as columns of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof import units
from tfprof.fields import FIELDS
from tfprof.reporters.lines import Part, constant
from tfprof.strings import Strings

if TYPE_CHECKING:
    from tfprof.answered import Answer
    from tfprof.strings import I64, Bool
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


def column_of(column: I64, unit: Format, known: Bool | None = None) -> Strings:
    """Each number as text, -- where it is not *known*; equal ones are formatted once."""
    distinct, which = np.unique(column, return_inverse=True)
    texts = [unit(number) for number in distinct.tolist()]
    if known is not None:
        which = np.where(known, which, len(texts))
    return Strings.of(text.encode() for text in (*texts, "--")).take(which)


class OwnAndTotal:
    """A metric as "own/total", with -- for own where a row is not accounted."""

    def __init__(self, answer: Answer, metric: str) -> None:
        field = FIELDS.get(metric)
        self._unit = (field and field.unit) or units.count
        self._suffix = field.suffix if field else ""
        self._own, self._total = answer.own(metric), answer.total(metric)
        self._accounted = answer.accounted

    def of(self, rows: slice) -> Part:
        """The texts of *rows*."""
        own = column_of(self._own[rows], self._unit, self._accounted[rows])
        total = column_of(self._total[rows], self._unit)
        slash = constant(b"/", len(own))
        suffix = constant(self._suffix.encode(), len(own))
        return Part((own, slash, total, suffix), np.ones(len(own), np.bool_))
