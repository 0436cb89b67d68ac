"""STATS: the numbers that a report of a fleet can show of a row, one row per statistic.

Each is taken over the row's numbers in every worker step: one number per worker and step. `gather`
names a class of fleet/statistics.py that takes these numbers one after the other.
"""

from __future__ import annotations

from typing import Final

from tfprof.foundation.named_tuples import NamedTuple


class Statistic(NamedTuple):
    """A row of the table."""

    name: str
    words: str  # how a sentence calls it
    gather: str  # dotted path of the class that computes it
    percent: int = 0  # of a percentile
    adds_up: bool = False  # the number of a row is the sum of those of its parts
    whole: bool = False  # numbers stay integers


_PERCENTILE = "tfprof.fleet.statistics:Percentile"
# fmt: off
STATS: Final[dict[str, Statistic]] = {
    row.name: row
    for row in (
        Statistic("mean", "the mean", "tfprof.fleet.statistics:Mean", adds_up=True),
        Statistic("sum", "the sum", "tfprof.fleet.statistics:Sum", adds_up=True, whole=True),
        Statistic("min", "the minimum", "tfprof.fleet.statistics:Least", whole=True),
        Statistic("p50", "the median", _PERCENTILE, 50),
        Statistic("p90", "the 90th percentile", _PERCENTILE, 90),
        Statistic("p99", "the 99th percentile", _PERCENTILE, 99),
        Statistic("max", "the maximum", "tfprof.fleet.statistics:Most", whole=True),
    )
}
# fmt: on
DEFAULT_STAT: Final = "mean"
