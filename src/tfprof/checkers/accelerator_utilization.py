"""AcceleratorUtilizationChecker: the share of its time that an accelerator is busy.

    start of the first node ├──────▓▓▓▓──▓▓▓▓▓▓▓▓──────────▓▓┤ end of the last
                                   busy / (end - start)

Each node counts as in the last step that has it, so nodes of several steps are on one time line.
Streams that run at the same time count separately, so the share may exceed 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.checkers import Findings
from tfprof.model import ACCELERATOR, ACCELERATOR_RUN, Profile

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool

_NEVER = np.iinfo(np.int64).max
_ON_IT = (ACCELERATOR, ACCELERATOR_RUN)


def check(profile: Profile, min_utilization: float) -> Findings:
    """One report per device, in byte order; low below *min_utilization*."""
    start, end, busy = _use(profile)
    reports = []
    for device in profile.types.order().tolist():
        if end[device] > start[device]:
            share = float(busy[device]) / float(end[device] - start[device])
            name = profile.types[device].decode("utf-8", "surrogateescape")
            low = "" if share >= min_utilization else "low "
            reports.append(f"device: {name} {low}utilization: {share:.2f}")
    return Findings(tuple(reports))


def _use(profile: Profile) -> tuple[I64, I64, I64]:
    """(first start, last end, busy time) of each of the profile's types that is an accelerator."""
    kinds = len(profile.types)
    first, end, busy = np.full(kinds, _NEVER), np.zeros(kinds, np.int64), np.zeros(kinds, np.int64)
    last = np.full(len(profile), -1, np.int64)
    for number, step in enumerate(profile.steps):
        last[step.node] = number
    last[~on_accelerator(profile)] = -1
    for number, step in enumerate(profile.steps):
        rows = np.flatnonzero((last[step.node] == number) & (step.start_us > 0))
        device = profile.nodes.device[step.node[rows]]
        start, us = step.start_us[rows], step.us[rows]
        np.minimum.at(first, device, start)
        np.maximum.at(end, device, start + us)
        np.add.at(busy, device, np.where(np.isin(step.counts_as[rows], _ON_IT), us, 0))
    return first, end, busy


def on_accelerator(profile: Profile) -> Bool:
    """Whether each node's own device is an accelerator, judged by its name."""
    # parity Q33: "gpu" anywhere in the name is enough, so the cpu of a job gpu_worker counts, too.
    device = profile.nodes.device
    used = np.unique(device[device >= 0])
    named_so = [b"gpu" in name for name in profile.types.take(used)]
    return np.isin(device, used[np.array(named_so, np.bool_)])
