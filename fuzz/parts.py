"""Several files as one input: a message whose fields of number 1 are the files.

So what mutates messages mutates this one as well: it doubles files, loses them and swaps them.
"""

from __future__ import annotations

from fuzz.wire_tree import varint
from tfprof.wire.decode import WireError
from tfprof.wire.scalar import decode_varint

_TAG = b"\x0a"


def joined(parts: list[bytes]) -> bytes:
    """The input that stands for these files."""
    return b"".join(_TAG + varint(len(part)) + part for part in parts)


def parted(data: bytes) -> list[bytes]:
    """The files that an input stands for, as far as it can be read."""
    found, at, view = [], 0, memoryview(data)
    while data[at : at + 1] == _TAG:
        try:
            size, at = decode_varint(view, at + 1, len(data))
        except WireError:
            break
        found.append(data[at : at + size])
        at += size
    return found
