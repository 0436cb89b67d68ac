"""Columns of numbers as text, and shares as small bars of text: 0.55 in eight cells is ████▍."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.columns.strings import I64
    from tfprof.foundation.units import Format
    from tfprof.model import Profile

# Lines written at a time: enough to share work, few enough to need little memory.
CHUNK = 1 << 13
# How many texts of numbers are cached: per node of the profile, and in any case.
_CACHED_PER_NODE = 2
_CACHED_ANYWAY = 1 << 14
_MOST_BYTES = 1 << 20
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_WHOLE = 8
T = TypeVar("T")
R = TypeVar("R")


def chunks(count: int, size: I64 | None = None) -> Iterator[slice]:
    """Slices of rows to write together; shorter where rows are long, by their *size* in bytes."""
    until = np.cumsum(np.zeros(count, np.int64) if size is None else size)
    first = 0
    while first < count:
        most = (until[first - 1] if first else 0) + _MOST_BYTES
        last = min(first + CHUNK, int(np.searchsorted(until, most, "right")), count)
        yield slice(first, max(last, first + 1))
        first = max(last, first + 1)


def map_unique(function: Callable[[T], R], values: list[T]) -> list[R]:
    """list(map(function, values)), with one call for equal values, which are many."""
    known = {value: function(value) for value in set(values)}
    return [known[value] for value in values]


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


def share_bar(share: float, cells: int) -> str:
    """A bar of at most *cells* characters; a share above zero always shows something."""
    parts = round(min(max(share, 0.0), 1.0) * cells * _WHOLE)
    parts = max(parts, 1) if share > 0 else 0
    full, rest = divmod(parts, _WHOLE)
    return _EIGHTHS[-1] * full + _EIGHTHS[rest].strip()


def percent(share: float | None) -> str:
    """A share as people read it; nothing where there is none."""
    if share is None:
        return ""
    return "<0.1%" if 0 < share < 0.0005 else f"{share:.1%}"  # noqa: PLR2004 - it would be 0.0%
