"""What checksums and packing close: opened, changed inside, and closed again.

    gzip        unpacked, changed, packed
    table       its entries or its blocks are changed, and every block gets its checksum
    bundle      likewise, and every tensor gets the checksum of the values it now has
    converted   its columns are changed, and each gets its checksum
    events      its events are changed, and each record gets its checksums

Changed blindly, such a file is refused at the first checksum, and what is behind never sees it.
"""

from __future__ import annotations

import gzip
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from event_records import record
from fuzz import mutate, wire_tree
from fuzz.parts import joined, parted
from fuzz.wire_tree import Node
from table_writer import snappy, table
from tfprof.errors import InputError
from tfprof.read.checkpoint.sorted_table import SortedTable
from tfprof.read.checkpoint.tensors import STRING
from tfprof.read.columnar.coding import FORMAT, HEAD, KINDS, aligned
from tfprof.read.detect import CONVERTED_MAGIC
from tfprof.wire.crc32c import crc32c, masked
from tfprof.wire.decode import FIXED32, WireError
from tfprof.wire.scalar import decode_varint

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz.mutate import Dice
    from tfprof.columns.strings import U8

Entry = tuple[bytes, bytes]
_DTYPE, _PIECE, _OFFSET, _SIZE, _CHECKSUM = 1, 3, 4, 5, 6
_LENGTHS_CHECKSUM = 4


def gzipped(inside: Callable[[bytes, Dice], bytes]) -> Callable[[bytes, Dice], bytes]:
    """A mutator of gzip files that leaves the packing whole."""

    def change(data: bytes, dice: Dice) -> bytes:
        try:
            content = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            content = b""
        packed = gzip.compress(inside(content, dice), mtime=0)
        return dice.rng.choice((packed, packed + bytes(3), packed + data, packed[:-1]))

    return change


# --- tables and bundles ------------------------------------------------------------------------


def tables(data: bytes, dice: Dice) -> bytes:
    """Several tables as one input: one of them is changed."""
    parts = parted(data)
    if parts:
        at = dice.rng.randrange(len(parts))
        parts[at] = _table(parts[at], dice)
    return joined(parts)


def bundle(data: bytes, dice: Dice) -> bytes:
    """An index and pieces of values as one input: one is changed, and checksums mostly fit."""
    parts = parted(data) or [b""]
    at = dice.rng.choice((0, 0, 0, dice.rng.randrange(len(parts))))
    if at:
        parts[at] = mutate.blind(parts[at], dice)
    entries = _entries(parts[0])
    if not at:
        entries = _changed(entries, dice)
    if dice.rng.randrange(4):
        entries = [(key, _fitting(value, parts[1:])) for key, value in entries]
    parts[0] = table(entries, entries_a_block=100)
    return joined(parts)


def _table(data: bytes, dice: Dice) -> bytes:
    return _written(_changed(_entries(data), dice), dice)


def _entries(data: bytes) -> list[Entry]:
    """The entries of a table; none of what is no table."""
    try:
        found = SortedTable("", np.frombuffer(data, np.uint8))
        return [(key, value.tobytes()) for key, value in found]
    except InputError:
        return []


def _changed(entries: list[Entry], dice: Dice) -> list[Entry]:
    """The entries with one of them changed, lost, doubled or renamed."""
    if not entries:
        return [(b"", b"\x08\x01"), (b"a", b"\x08\x01\x12\x00")]
    made = list(entries)
    at = dice.rng.randrange(len(made))
    key, value = made[at]
    others = [value for _, value in entries]
    roll = dice.rng.randrange(8)
    if roll == 0:
        del made[at]
    elif roll == 1:
        made.append((dice.rng.choice((mutate.blind(key, dice), *mutate.NAMES)), value))
    elif roll == 2:
        made[at] = key, dice.rng.choice(others)
    else:
        made[at] = key, mutate.wire(value, mutate.Dice(dice.rng, others))
    return made


def _written(entries: list[Entry], dice: Dice) -> bytes:
    """The table of these entries; now and then packed, or with a block that is changed blindly."""
    spoils = dice.rng.randrange(6) == 0

    def plain(block: bytes) -> bytes:
        return mutate.blind(block, dice) if spoils and dice.rng.randrange(2) else block

    if dice.rng.randrange(3):
        return table(entries, plain, kind=dice.rng.choice((0, 0, 0, 0, 1, 2)))
    return table(entries, lambda block: plain(snappy(block)))


def _fitting(value: bytes, pieces: list[bytes]) -> bytes:
    """The entry of a tensor with the checksum of what is at its place."""
    tree = wire_tree.parse(value)
    if not tree or not pieces:
        return value
    said = {node.number: node.value for node in tree if isinstance(node.value, int)}
    begin, size = said.get(_OFFSET, 0), said.get(_SIZE, 0)
    piece = said.get(_PIECE, 0)
    values = np.frombuffer(b"".join(pieces[piece : piece + 1]), np.uint8)[begin : begin + size]
    if not values.size:
        return value
    counted = _counted(values) if said.get(_DTYPE) == STRING else values
    kept = [node for node in tree if node.number != _CHECKSUM]
    checksum = masked(crc32c(counted)).to_bytes(4, "little")
    return wire_tree.serialised([*kept, Node(_CHECKSUM, FIXED32, checksum)])


def _counted(strings: U8) -> U8:
    """Strings as their checksum counts them, each length in four bytes; as many as fit."""
    lengths: list[int] = []
    at, view = 0, memoryview(strings.tobytes())
    with suppress(WireError):
        while at + _LENGTHS_CHECKSUM + sum(lengths) < len(view):
            length, at = decode_varint(view, at, len(view))
            lengths.append(length)
    wide = np.array(lengths, np.uint64).astype("<u4").view(np.uint8)
    return np.concatenate([wide, strings[at:]])


# --- event files -------------------------------------------------------------------------------


def events(data: bytes, dice: Dice) -> bytes:
    """An event file with a few events changed, lost or doubled; now and then changed blindly."""
    if dice.rng.randrange(8) == 0:
        return mutate.blind(data, dice)
    first, *held = _events(data) or _events(dice.another()) or [b"brain.Event:2"]
    for _ in dice.several():
        if held:
            at = dice.rng.randrange(len(held))
            changed = mutate.wire(held[at], mutate.Dice(dice.rng, held))
            held[at : at + 1] = dice.rng.choice(
                ([], [held[at]] * 2, [changed], [changed], [changed])
            )
    sealed = b"".join(map(record, [first, *held]))
    return sealed if dice.rng.randrange(4) else sealed[: dice.rng.randrange(len(sealed))]


def _events(data: bytes) -> list[bytes]:
    """The events of the records; those that are whole."""
    found, at = [], 0
    while at + 16 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 8], "little")
        if end + 4 > len(data):
            break
        found.append(data[at + 12 : end])
        at = end + 4
    return found


# --- converted profiles ------------------------------------------------------------------------


class Column(NamedTuple):
    """A column as a converted profile stores it."""

    name: bytes
    kind: str
    base: int
    stored: bytes


def converted(data: bytes, dice: Dice) -> bytes:
    """A converted profile with a few columns changed, whose checksums fit."""
    columns = _columns(data) or _columns(dice.another())
    for _ in dice.several():
        if columns:
            at = dice.rng.randrange(len(columns))
            columns[at : at + 1] = _other(columns[at], dice)
    return _closed(columns)


def _other(column: Column, dice: Dice) -> list[Column]:
    """What stands in the place of a column."""
    width = int(column.kind[-1])
    numbers = [column.stored[at : at + width] for at in range(0, len(column.stored), width)]
    roll = dice.rng.randrange(8)
    if roll == 0:
        return []
    if roll == 1:
        return [column._replace(base=dice.rng.choice((-1, 1, 2**63 - 1, -(2**63), 2**31)))]
    if roll == 2:
        kind = dice.rng.choice(KINDS)
        return [column._replace(kind=kind, stored=column.stored.ljust(-(-len(column.stored) // 8)))]
    if roll == 3:
        del numbers[dice.rng.randrange(len(numbers) + 1) :]
    elif roll == 4 and numbers:
        numbers += [dice.rng.choice(numbers)] * dice.rng.randrange(1, 4)
    elif numbers:
        edge = dice.rng.choice(mutate.NUMBERS) % (1 << 8 * width)
        small = dice.rng.randrange(4)
        made = dice.rng.choice((edge, small, small)).to_bytes(width, "little")
        numbers[dice.rng.randrange(len(numbers))] = made
    return [column._replace(stored=b"".join(numbers))]


def _columns(data: bytes) -> list[Column]:
    """The columns of a converted profile; those that can be told apart."""
    if len(data) < HEAD.size:
        return []
    size = HEAD.unpack(data[: HEAD.size])[-1]
    at, found = HEAD.size + size, []
    for line in data[HEAD.size : at].split(b"\n"):
        name, kind, base, rows, *_ = [*line.split(b" "), b"", b"", b"", b""]
        word = kind.decode("latin-1")
        if word in KINDS and rows.isdigit() and len(rows) < 7 and base.removeprefix(b"-").isdigit():
            at = aligned(at)
            end = at + int(rows) * int(word[-1])
            found.append(Column(name, word, int(base[:20]), data[at:end]))
            at = end
    return found


def _closed(columns: list[Column]) -> bytes:
    """A converted profile of these columns."""
    index = b"".join(
        b"%s %s %d %d %08x\n"
        % (
            one.name,
            one.kind.encode(),
            one.base,
            len(one.stored) // int(one.kind[-1]),
            zlib.crc32(one.stored),
        )
        for one in columns
    )
    data = HEAD.pack(CONVERTED_MAGIC, FORMAT, zlib.crc32(index), len(index)) + index
    for one in columns:
        data = data.ljust(aligned(len(data)), b"\0") + one.stored
    return data
