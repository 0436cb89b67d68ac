"""Columns of numbers as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.foundation import units
from tfprof.tables.fields import FIELDS
from tfprof.writers.lines import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64
    from tfprof.foundation.units import Format
    from tfprof.model import Profile
    from tfprof.query.counted import Answer

# Lines written at a time: enough to share work, few enough to need little memory.
CHUNK = 1 << 13
# Texts of numbers that are cached: so many per node of the profile, and some in any case.
_CACHED_PER_NODE = 2
_CACHED_ANYWAY = 1 << 14
_MOST_BYTES = 1 << 20


def chunks(count: int, size: I64 | None = None) -> Iterator[slice]:
    """Slices of rows to write together; shorter where rows are long, by their *size* in bytes.

    Names a thousand scopes deep make a short list a long text.
    """
    if size is None:
        size = np.zeros(count, np.int64)
    until = np.cumsum(size)
    first = 0
    while first < count:
        most = (until[first - 1] if first else 0) + _MOST_BYTES
        last = min(first + CHUNK, int(np.searchsorted(until, most, "right")), count)
        yield slice(first, max(last, first + 1))
        first = max(last, first + 1)


def formatted(column: I64, unit: Format) -> list[str]:
    """Each number as text; equal numbers, which are many, are formatted once."""
    numbers = column.tolist()
    known = {number: unit(number) for number in set(numbers)}
    return [known[number] for number in numbers]


class Texts(dict[int, bytes]):
    """A cache of numbers as text."""

    def __init__(self, unit: Format) -> None:
        super().__init__()
        self._unit = unit

    def __missing__(self, number: int) -> bytes:
        text = self[number] = self._unit(number).encode()
        return text


def texts_of(profile: Profile, column: I64, unit: Format) -> list[bytes]:
    """Each number as text; *profile* caches the texts for the next answer."""
    known = profile.cached(("texts", unit), lambda: Texts(unit))
    if len(known) > _CACHED_ANYWAY + _CACHED_PER_NODE * len(profile):
        known.clear()
    return list(map(known.__getitem__, column.tolist()))


class OwnAndTotal:
    """A metric as "own/total", with -- for own where a row is not accounted."""

    def __init__(self, answer: Answer, metric: str) -> None:
        field = FIELDS.get(metric)
        self._profile = answer.profile
        self._unit = (field and field.unit) or units.count
        self._suffix = field.suffix if field else ""
        self._own, self._total = answer.own(metric), answer.total(metric)
        self._accounted = answer.accounted

    def of(self, rows: slice) -> Part:
        """The texts of *rows*."""
        own = texts_of(self._profile, self._own[rows], self._unit)
        for row in np.flatnonzero(~self._accounted[rows]).tolist():
            own[row] = b"--"
        total = texts_of(self._profile, self._total[rows], self._unit)
        return Part(b"%s/%s" + self._suffix.encode(), (own, total))
