"""Sorted tables and snappy blocks, written plainly: the counterpart of what tfprof reads.

Small blocks and short restarts on purpose, so that a handful of entries makes a table with several
blocks, shared keys and an index that has to be searched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.read.detect import TABLE_MAGIC
from tfprof.wire.crc32c import crc32c, masked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Entry = tuple[bytes, bytes]


def varint(number: int) -> bytes:
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


def checksum(data: bytes) -> bytes:
    return masked(crc32c(np.frombuffer(data, np.uint8))).to_bytes(4, "little")


def table(
    entries: Iterable[Entry],
    pack: Callable[[bytes], bytes] | None = None,
    entries_a_block: int = 3,
    kind: int | None = None,
) -> bytes:
    """The table with these *entries*, its blocks packed with *pack* if that is given."""
    rows = sorted(entries)
    parts = [rows[at : at + entries_a_block] for at in range(0, len(rows), entries_a_block)]
    return table_of([(some[-1][0] + b"\0", block(some)) for some in parts], pack, kind)


def table_of(
    blocks: Iterable[Entry],
    pack: Callable[[bytes], bytes] | None = None,
    kind: int | None = None,
    change: Callable[[list[Entry]], list[Entry]] = lambda index: index,
) -> bytes:
    """The table with these *blocks*: a key not below the last in it, and its content, of each.

    *change* is given the entries of its index, each a key and a place, and gives those to write.
    """
    file = bytearray()

    def write(content: bytes) -> bytes:
        """Append a block; what comes back is its place."""
        packed = pack(content) if pack else content
        place = varint(len(file)) + varint(len(packed))
        written = packed + bytes([(pack is not None) if kind is None else kind])
        file.extend(written + checksum(written))
        return place

    index = [(key, write(content)) for key, content in blocks]
    places = write(block([])) + write(block(change(index), restart_every=1))
    return bytes(file) + places.ljust(40, b"\0") + TABLE_MAGIC


def block(entries: Sequence[Entry], restart_every: int = 2) -> bytes:
    """The content of one block."""
    content, restarts, before = b"", [], b""
    for number, (key, value) in enumerate(entries):
        shared = 0
        if number % restart_every == 0:
            restarts.append(len(content))
        else:
            while shared < min(len(before), len(key)) and before[shared] == key[shared]:
                shared += 1
        lengths = varint(shared) + varint(len(key) - shared) + varint(len(value))
        content += lengths + key[shared:] + value
        before = key
    restarts = restarts or [0]
    return b"".join([content, *(n.to_bytes(4, "little") for n in [*restarts, len(restarts)])])


# --- snappy --------------------------------------------------------------------------------


def literal(data: bytes) -> bytes:
    """The element that stands for *data* itself."""
    length = len(data) - 1
    if length < 60:
        return bytes([length << 2]) + data
    size = (length.bit_length() + 7) // 8
    return bytes([59 + size << 2]) + length.to_bytes(size, "little") + data


def copy(length: int, distance: int, kind: int) -> bytes:
    """The element that repeats *length* bytes from *distance* back; *kind* is 1, 2 or 3."""
    if kind == 1:
        return bytes([distance >> 8 << 5 | length - 4 << 2 | 1, distance & 0xFF])
    return bytes([length - 1 << 2 | kind]) + distance.to_bytes({2: 2, 3: 4}[kind], "little")


def snappy(data: bytes) -> bytes:
    """*data* packed: a copy wherever four bytes have been seen before."""
    elements, seen = [varint(len(data))], dict[bytes, int]()
    at = begin = 0
    while at + 4 <= len(data):
        before = seen.get(data[at : at + 4])
        seen[data[at : at + 4]] = at
        if before is None:
            at += 1
            continue
        length = 4
        while length < 64 and data[before + length : before + length + 1] == (
            data[at + length : at + length + 1] or None
        ):
            length += 1
        if begin < at:
            elements.append(literal(data[begin:at]))
        near = length < 12 and at - before < 2048
        elements.append(copy(length, at - before, 1 if near else 2 if at - before < 65536 else 3))
        at = begin = at + length
    if begin < len(data):
        elements.append(literal(data[begin:]))
    return b"".join(elements)
