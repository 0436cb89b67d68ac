"""Numbers that matter to a report: near the edges of every unit, and anywhere between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from random import Random

EDGES: Final = (
    *(0, 1, 2, 7, 10, 99, 500, 999, 1_000, 1_001, 1_005, 1_015, 1_234, 9_995, 99_995),
    *(999_994, 999_995, 999_999, 1_000_000, 1_005_000, 1_234_567, 12_345_678, 125_000_000),
    *(999_995_000, 999_999_999, 1_000_000_000, 1_005_000_000, 2_500_000_000, 10**12, 10**15 + 5),
)


def chance(rng: Random, probability: float) -> bool:
    """True that often."""
    return rng.random() < probability


def amount(rng: Random, negative: float = 0.0) -> int:
    """A count, a time or a size; below zero as often as `negative` says."""
    if chance(rng, negative):
        return -rng.randrange(1, 5_000)
    roll = rng.random()
    if roll < 0.3:
        return rng.choice(EDGES)
    if roll < 0.7:
        return int(rng.randrange(10 ** rng.randrange(1, 4)))
    return int(rng.randrange(10 ** rng.randrange(4, 13)))
