"""OperationChecker: operations that have a faster form.

BatchNorm in a name, nothing fused      one kernel does what many small ones do
data_format NHWC on an accelerator      channels last is the slow layout there
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.checkers import Findings
from tfprof.checkers.accelerator_utilization import on_accelerator
from tfprof.columns.strings import Strings
from tfprof.ops.attributes import damaged, decode, entries
from tfprof.ops.classes import CLASSES
from tfprof.wire.decode import WireError

if TYPE_CHECKING:
    from tfprof.model import Profile

_UNFUSED: Final = "Maybe use faster FusedBatchNorm instead of BatchNorm"
_CHANNELS_LAST: Final = "Found operation using NHWC data_format on GPU. Maybe NCHW is faster."

_DATA_FORMAT: Final = Strings.of([b"data_format"])


def check(profile: Profile) -> Findings:
    """At most one report of each kind."""
    reports = []
    names = profile.nodes.name
    # parity Q16: Keras gives other names. All names at once first: most have no such part.
    if b"BatchNorm" in names.blob.tobytes() and any(b"BatchNorm" in name for name in names):
        used = profile.types.take(np.unique(profile.type_pairs[1])).texts()
        # The original only knows the first version (Q16).
        if not any(op in CLASSES["fused batch normalization"] for op in used):
            reports.append(_UNFUSED)
    if _is_channels_last(profile):
        reports.append(_CHANNELS_LAST)
    return Findings(tuple(reports))


def _is_channels_last(profile: Profile) -> bool:
    """Whether a node on an accelerator has NHWC as its data_format."""
    placed = on_accelerator(profile)
    if not placed.any():
        return False  # attributes may be many: do not read them
    for node, key, value in entries(profile, placed):
        rows = np.flatnonzero(_DATA_FORMAT.find(key) == 0)
        # The last of several attributes of a name counts.
        rows = rows[np.append(node[rows[1:]] != node[rows[:-1]], True)[: rows.size]]
        values = value.take(rows)
        _, first = values.intern()
        try:
            if any(decode(memoryview(text)) == "NHWC" for text in values.take(first)):
                return True
        except WireError as problem:
            raise damaged(profile.graph_names, problem) from None
    return False
