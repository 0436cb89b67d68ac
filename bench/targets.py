"""What every piece of work may take: the ratios to the original that we mean to stay under.

A row of the table is looked up by its name and size. Rows without a target are measured for what
they show: the first answer, which draws, and small warm questions, where both take milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from diff import DIFFS
from event_files import AS_BYTES, AS_EVENTS
from fleet import FILES, FULL, NODES, PER_WORKER, QUESTIONS, TWO_PROCESSES, Fleets
from page import ALWAYS_LIMITED, FILE, FILTERED
from programs import NAME as PROGRAM
from queries import VIEWS
from rows import Size
from trace_rows import OP, OP_LEVEL_3

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rows import Row


class Target(NamedTuple):
    """The largest ratio of wall time and of peak memory; None is no target."""

    time: float | None = None
    memory: float | None = None


def _times(**ratios: float) -> Mapping[str, Target]:
    """Targets of time alone, by size: `at_10k=0.15` is 10k."""
    return {size.removeprefix("at_"): Target(ratio) for size, ratio in ratios.items()}


def _every(ratio: float) -> Mapping[str, Target]:
    return _times(at_10k=ratio, at_100k=ratio, at_1M=ratio)


def _fleets(aim: Target, *sizes: Fleets) -> Mapping[str, Target]:
    """A target of fleets of these sizes."""
    pairs = [(workers, of.steps) for of in sizes for workers in of.workers]
    return {Size(NODES, workers * steps).label: aim for workers, steps in pairs}


_COLD: Mapping[str, Target] = {
    "1k": Target(0.040, 0.055),
    "10k": Target(0.045, 0.07),
    "100k": Target(0.045, 0.11),
    "1M": Target(0.040, 0.12),
}
# With regexes, and from a text, which is parsed.
_COLD_MORE: Mapping[str, Target] = {
    "1k": Target(0.05, 0.07),
    "10k": Target(0.06, 0.09),
    "100k": Target(0.07, 0.18),
    "1M": Target(0.07, 0.20),
}
_AGAIN = _times(at_1k=0.040, at_10k=0.03, at_100k=0.01, at_1M=0.006)
_FLAME = _times(at_10k=0.3, at_100k=0.15)
_PRINTED = _times(at_1k=0.03, at_10k=0.02, at_100k=0.02, at_1M=0.02)
_OTHER_LAYOUT = _times(at_1k=0.2, at_10k=0.15, at_100k=0.15, at_1M=0.15)

TARGETS: Mapping[str, Mapping[str, Target]] = {
    **{f"cold {view}": _COLD for view in VIEWS},
    **{f"cold {view}, regexes": _COLD_MORE for view in VIEWS},
    "cold scope, text graph": _COLD_MORE,
    **{f"again {view}": _AGAIN for view in VIEWS},
    "load": _times(at_10k=0.08, at_100k=0.05, at_1M=0.04),
    "load, converted": _times(at_10k=0.015, at_100k=0.01, at_1M=0.01),  # a tenth of the load
    PROGRAM: _times(at_100k=1.5),
    "scope: everything": _every(0.20),
    "graph: everything": _every(0.20),
    "op: everything": _times(at_10k=0.02, at_100k=0.01),
    "code: everything": _times(at_10k=0.04, at_100k=0.03),
    "scope: depth 5": _every(0.08),
    "graph: depth 5": _every(0.08),
    "op: depth 5": _every(0.08),
    "code: depth 5": _every(0.08),
    "scope: min_micros 1000": _every(0.08),
    "graph: min_micros 1000": _every(0.08),
    "op: min_micros 1000": _every(0.08),
    "code: min_micros 1000": _every(0.08),
    "scope: regexes": _every(0.03),
    "graph: regexes": _every(0.03),
    "op: regexes": _every(0.03),
    "code: regexes": _every(0.03),
    "graph: timeline": _times(at_10k=0.10, at_100k=0.02),
    "scope: timeline": _FLAME,
    "code: timeline": _FLAME,
    "code: pprof": _times(at_10k=0.20, at_100k=0.15),
    "text as printed / text_format": _PRINTED,
    "text one line / text_format": _OTHER_LAYOUT,
    "load, many steps": {"10k × 100": Target(0.025, 0.06)},
    AS_BYTES: {"1k": Target(2.0)},  # half the speed of reading the file
    AS_EVENTS: {"1M": Target(1.0)},
    **{row: _times(at_50k=0.6, at_500k=0.5, at_5M=0.5) for row in (OP, OP_LEVEL_3)},
    # Linear in workers, constant memory of the reducer and of questions. Small fleets pay for the
    # start of two processes, and do not fill the buffers of a percentile.
    PER_WORKER: _fleets(Target(1.15, 1.15), Fleets(), FULL),
    TWO_PROCESSES: _fleets(Target(0.6), FULL),
    FILES: {Size(NODES, of.files).label: Target(memory=0.05) for of in (Fleets(), FULL)},
    **{name: _fleets(Target(memory=1.25), FULL) for name in QUESTIONS},
    FILE: {"100k": Target(memory=1.5)},
    **{name: _times(at_100k=3.0) for name in DIFFS},  # two of the three are the two loads
    **{name: _times(at_100k=1.0, at_1M=1.0) for name in ALWAYS_LIMITED},
    **{name: _times(at_100k=1.0) for name in FILTERED},
}


def target(row: Row) -> Target:
    """The target of a row, which may have none."""
    return TARGETS.get(row.name, {}).get(row.size.label, Target())
