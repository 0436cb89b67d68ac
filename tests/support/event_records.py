"""Event files by hand: records with their checksums, and Events."""

from __future__ import annotations

import numpy as np

from hostile_parts import number, part
from tfprof.wire.crc32c import crc32c, masked

# wall_time, a double
WHEN = b"\x09" + bytes(8)


def checksum(data: bytes) -> bytes:
    return masked(crc32c(np.frombuffer(data, np.uint8))).to_bytes(4, "little")


def record(event: bytes) -> bytes:
    length = len(event).to_bytes(8, "little")
    return length + checksum(length) + event + checksum(event)


VERSION = record(WHEN + part(3, b"brain.Event:2"))


def event_file(*events: bytes) -> bytes:
    """An event file; each event begins with a time."""
    return VERSION + b"".join(record(WHEN + event) for event in events)


def stored(plugin: bytes, tag: bytes, value: bytes) -> bytes:
    """An Event with a summary that a plugin stored."""
    tensor = number(1, 7) + part(8, value)
    metadata = part(1, part(1, plugin))
    return part(5, part(1, part(1, tag), part(8, tensor), part(9, metadata)))


def tagged(tag: bytes, run: bytes, step: int = 0) -> bytes:
    """An Event with a run."""
    return number(2, step) + part(8, part(1, tag), part(2, run))


def scalar(step: int, tag: bytes = b"loss") -> bytes:
    """An Event with a scalar of TensorFlow 1."""
    return number(2, step) + part(5, part(1, part(1, tag), b"\x15" + bytes(4)))


def ends(data: bytes) -> list[int]:
    """Where the records end."""
    found, at = [], 0
    while at < len(data):
        at += int.from_bytes(data[at : at + 8], "little") + 16
        found.append(at)
    return found
