"""Devices and lines: the device of each plane, and the lines of it that count.

/host:CPU                  …/device:cpu:0
/device:GPU:0              …/device:gpu:0/stream:all      its name in a session's RunMetadata
  Stream #13(Compute)      counts
  XLA Modules, Steps, …    repeat what is on the streams, so they do not count;
                           `XLA Ops` counts if a device has no streams
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


def device_of(plane: bytes) -> bytes:
    """The device of a plane, with its name in a session's RunMetadata."""
    match = _DEVICE_NAME.fullmatch(plane)
    if match is None:
        return _TASK + b"/device:cpu:0"
    return b"%b/device:%b:%b/stream:all" % (_TASK, match[1].lower(), match[2])


def device_lines(space: Space) -> Bool:
    """Which lines of accelerators count."""
    is_device = np.array([name.startswith(_DEVICE) for name in space.plane], np.bool_)
    stream = np.array([_STREAM.fullmatch(name) is not None for name in space.line], np.bool_)
    has_stream = np.zeros(len(space.plane), np.bool_)
    has_stream[space.line_plane[stream]] = True
    only_ops = np.array([name == _ONLY_OPS for name in space.line], np.bool_)
    plane = space.line_plane
    counted: Bool = is_device[plane] & np.where(has_stream[plane], stream, only_ops)
    return counted
