"""How often a loop runs, by a comparison of a counter with a number.

i < 10      Bound(i, 10, up, without 10 itself)
i = 0, 3, 6, 9       the counter (0, 3): first and step ─► 4 iterations
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from tfprof.ops.op import Op

Source = tuple[int, int]
Counter = tuple[int | None, int | None]  # first and step; None: unknown

MOST_TRIPS: Final = 2**62
# (input that is the counter, 1 if it goes up or -1 if down, 1 if it reaches the bound itself)
_SIDES: Final = {
    "Less": ((0, 1, 0), (1, -1, 0)),
    "LessEqual": ((0, 1, 1), (1, -1, 1)),
    "Greater": ((1, 1, 0), (0, -1, 0)),
    "GreaterEqual": ((1, 1, 1), (0, -1, 1)),
}
_DIRECTIONS: Final = {"LT": "Less", "LE": "LessEqual", "GT": "Greater", "GE": "GreaterEqual"}


class Bound(NamedTuple):
    """One side of a comparison, and the number that it is compared with."""

    source: Source
    number: int
    way_up: int  # these two as in _SIDES
    reaches: int


def sides(comparison: Op) -> tuple[tuple[int, int, int], ...]:
    """The sides of a comparison that may be the counter; none: it is no comparison."""
    kind = comparison.type
    if kind == "compare":
        kind = _DIRECTIONS.get(str(comparison.attr("comparison_direction")), "")
    return _SIDES.get(kind, ())


def allowed(bounds: list[Bound], counters: dict[Source, set[Counter]]) -> int | None:
    """How many iterations one comparison allows; None: it is none, or bounds nothing."""
    for source, number, way_up, reaches in bounds:
        # Several variables may start as the same tensor: any of them may be the counter.
        counts = {
            _iterations(first, number, step, way_up, reaches)
            if step and first is not None
            else None
            for first, step in counters[source]
        }
        if len(counts) == 1:
            return counts.pop()
    return None


def _iterations(first: int, bound: int, step: int, way_up: int, reaches: int) -> int | None:
    """How often a counter is within its bound; None: for ever. *way_up* is 1, or -1 downwards."""
    way, pace = (bound - first) * way_up + reaches, step * way_up
    if way <= 0:
        return 0
    return None if pace <= 0 else min(-(-way // pace), MOST_TRIPS)
