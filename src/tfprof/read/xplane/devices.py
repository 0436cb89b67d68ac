"""Devices and lines: where the events of a plane ran, and which lines tell each thing once.

/host:CPU                  …/device:cpu:0
/device:GPU:0              …/device:gpu:0/stream:all      as a run of a session calls it
  Stream #13(Compute)      counts
  XLA Modules, Steps, …    tell what the streams have once more; only where a device has no
                           streams, `XLA Ops` counts
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tfprof.columns.strings import Bool
    from tfprof.read.xplane.planes import Space

_DEVICE = b"/device:"
_TASK = b"/job:localhost/replica:0/task:0"
_DEVICE_NAME = re.compile(rb"/device:([A-Za-z_]+):(\d+).*")
_STREAM = re.compile(rb"(?i)stream\b.*")
_ONLY_OPS = b"XLA Ops"


def device(plane: bytes) -> bytes:
    """The device of a plane, as a run of a session calls it."""
    found = _DEVICE_NAME.fullmatch(plane)
    if found is None:
        return _TASK + b"/device:cpu:0"
    return b"%b/device:%b:%b/stream:all" % (_TASK, found[1].lower(), found[2])


def device_lines(read: Space) -> Bool:
    """Which lines are of an accelerator and hold what ran on it, each thing once."""
    is_device = np.array([one.startswith(_DEVICE) for one in read.plane], np.bool_)
    stream = np.array([_STREAM.fullmatch(one) is not None for one in read.line], np.bool_)
    has_stream = np.zeros(len(read.plane), np.bool_)
    has_stream[read.line_plane[stream]] = True
    only = np.array([one == _ONLY_OPS for one in read.line], np.bool_)
    kept: Bool = is_device[read.line_plane] & np.where(has_stream[read.line_plane], stream, only)
    return kept
