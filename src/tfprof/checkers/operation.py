"""OperationChecker: operations that have a faster form.

BatchNorm in a name, nothing fused      one kernel does what many small ones do
data_format NHWC on an accelerator      channels last is the slow layout there
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.checkers.findings import Findings
from tfprof.checkers.placement import on_accelerator
from tfprof.columns.strings import Strings
from tfprof.errors import InputError
from tfprof.wire.decode import BYTES, WireError, scan
from tfprof.wire.message import head

if TYPE_CHECKING:
    from tfprof.model import Profile

_UNFUSED: Final = "Maybe use faster FusedBatchNorm instead of BatchNorm"
_CHANNELS_LAST: Final = "Found operation using NHWC data_format on GPU. Maybe NCHW is faster."

# The original knows the first alone, and so tells every model of the last years to use it (Q16).
_FUSED: Final = Strings.of([b"FusedBatchNorm", b"FusedBatchNormV2", b"FusedBatchNormV3"])
_DATA_FORMAT: Final = Strings.of([b"data_format"])
# An AttrValue holds one of its fields: the one given last.
_LAST_KIND, _TEXT_KIND = 10, 2


def check(profile: Profile) -> Findings:
    """At most one report of each kind."""
    reports = []
    if _normalizes_batches(profile) and not _fuses(profile):
        reports.append(_UNFUSED)
    try:
        channels_last = _is_channels_last(profile)
    except WireError as problem:  # loading leaves attributes it does not need unopened
        raise InputError(
            f"{profile.graph_names}: an attribute of the graph is damaged: {problem}"
        ) from None
    if channels_last:
        reports.append(_CHANNELS_LAST)
    return Findings(tuple(reports))


def _normalizes_batches(profile: Profile) -> bool:
    """Going by names (parity Q16): those that Keras gives are spelled otherwise."""
    names = profile.nodes.name
    # All names at once first: most models have no such name, and then none need be looked at.
    return b"BatchNorm" in names.blob.tobytes() and any(b"BatchNorm" in name for name in names)


def _fuses(profile: Profile) -> bool:
    return bool(np.isin(profile.types.find(_FUSED), profile.type_pairs[1]).any())


def _is_channels_last(profile: Profile) -> bool:
    """Whether a node on an accelerator has NHWC as its data_format."""
    placed = on_accelerator(profile)
    if not placed.any():
        return False  # and the attributes, which may be many, need not be read
    node, entry = profile.attributes
    here = np.flatnonzero(placed[node])
    node, entry = node[here], entry.take(here)
    part = scan(entry.blob, entry.start, entry.start + entry.length, {1: BYTES, 2: BYTES})
    key = Strings(entry.blob, *part[1].last_slice(len(entry)))
    rows = np.flatnonzero(_DATA_FORMAT.find(key) == 0)
    # Of a key that stands twice the last counts.
    rows = rows[np.append(node[rows[1:]] != node[rows[:-1]], True)[: rows.size]]
    values = Strings(entry.blob, *part[2].last_slice(len(entry))).take(rows)
    _, first = values.intern()
    return any(_text(value) == b"NHWC" for value in values.take(first))


def _text(value: bytes) -> bytes | None:
    """The string that an AttrValue holds; None where it holds anything else."""
    held = None
    for part in head(memoryview(value), 0, len(value), most=len(value)):
        if part.number <= _LAST_KIND:
            held = part
    is_text = held is not None and (held.number, held.wire_type) == (_TEXT_KIND, BYTES)
    return value[held.start : held.end] if held is not None and is_text else None
