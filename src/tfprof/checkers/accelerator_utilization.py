"""AcceleratorUtilizationChecker: the share of its time that an accelerator works.

    start of the first node ├──────▓▓▓▓──▓▓▓▓▓▓▓▓──────────▓▓┤ end of the last
                                   busy / (end - start)

A node is taken as it ran in the last step that has it, so nodes of several steps stand on one
line of time. What several streams do at once counts each, so the share may exceed 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.checkers.findings import Findings
from tfprof.checkers.placement import on_accelerator
from tfprof.model import ACCELERATOR, Profile

if TYPE_CHECKING:
    from tfprof.columns.strings import I64

_NEVER = np.iinfo(np.int64).max


def check(profile: Profile, min_utilization: float) -> Findings:
    """A report a device, in byte order; below *min_utilization* it is called low."""
    use = _use(profile)
    span = use.end - use.start
    reports = []
    for device in profile.types.order().tolist():
        if span[device] <= 0:
            continue
        share = float(use.busy[device]) / float(span[device])
        name = profile.types[device].decode("utf-8", "surrogateescape")
        low = "" if share >= min_utilization else "low "
        reports.append(f"device: {name} {low}utilization: {share:.2f}")
    return Findings(tuple(reports))


class _Use(NamedTuple):
    """Of each of the profile's types, as far as it is an accelerator that ran something."""

    start: I64
    end: I64
    busy: I64


def _use(profile: Profile) -> _Use:
    kinds = len(profile.types)
    use = _Use(np.full(kinds, _NEVER), np.zeros(kinds, np.int64), np.zeros(kinds, np.int64))
    last = np.full(len(profile), -1, np.int64)
    for number, step in enumerate(profile.steps):
        last[step.node] = number
    last[~on_accelerator(profile)] = -1
    for number, step in enumerate(profile.steps):
        rows = np.flatnonzero((last[step.node] == number) & (step.start_us > 0))
        device = profile.nodes.device[step.node[rows]]
        start, us = step.start_us[rows], step.us[rows]
        np.minimum.at(use.start, device, start)
        np.maximum.at(use.end, device, start + us)
        np.add.at(use.busy, device, np.where(step.counts_as[rows] == ACCELERATOR, us, 0))
    return use
