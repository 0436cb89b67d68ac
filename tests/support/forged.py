"""Converted profiles by hand: taken apart and put together as docs/convert.md tells it."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

import draw
import ours
from converted import convert
from random_cases import make_case
from tfprof.read.columnar.coding import FORMAT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sized

    from tfprof.model import Profile

HEAD: Final = struct.Struct("<8sIIQ")


@dataclass
class Column:
    """A column as it stands in a file."""

    kind: str
    base: int
    stored: bytes

    @property
    def numbers(self) -> list[int]:
        stored = np.frombuffer(self.stored, f"<{self.kind.lstrip('+')}").tolist()
        if self.kind.startswith("+"):
            stored = np.cumsum(stored, dtype=np.int64).tolist()
        return [self.base + number for number in stored]


def taken_apart(data: bytes) -> dict[str, Column]:
    """The columns of a file."""
    *_, size = HEAD.unpack(data[: HEAD.size])
    at = HEAD.size + size
    found = {}
    for line in data[HEAD.size : at].decode().splitlines():
        name, kind, base, rows, _ = line.split(" ")
        at += -at % 8
        width = int(rows) * int(kind[-1])
        found[name] = Column(kind, int(base), data[at : at + width])
        at += width
    assert at == len(data)
    return found


def put_together(columns: Mapping[str, Column], version: int = FORMAT) -> bytes:
    """A file of these columns, with the checksums that it should have."""
    index = "".join(
        f"{name} {one.kind} {one.base} {len(one.stored) // int(one.kind[-1])} "
        f"{zlib.crc32(one.stored):08x}\n"
        for name, one in columns.items()
    )
    return with_index(index.encode(), [one.stored for one in columns.values()], version)


def with_index(index: bytes, stored: list[bytes], version: int = FORMAT) -> bytes:
    """A file with this index, whatever it says."""
    magic = b"\x89tfp\r\n\x1a\n"
    data = HEAD.pack(magic, version, zlib.crc32(index), len(index)) + index
    for one in stored:
        data += bytes(-len(data) % 8) + one
    return data


def wide(numbers: list[int]) -> Column:
    """A column of these numbers, eight bytes each."""
    return Column("i8", 0, np.array(numbers, "<i8").tobytes())


def is_text(name: str) -> bool:
    """Whether the column of this name holds bytes of texts, not numbers."""
    return name.endswith(".text") and name != "attributes.text"


# --- what is forged: profiles of few nodes ------------------------------------------------------


@cache
def small() -> Profile:
    """A profile of few nodes with something in every table."""
    for seed in range(1_000):
        profile = ours.load(make_case(seed, "code"))
        step = profile.steps[0] if profile.steps else None
        tables: list[Sized] = [profile.typed_node, profile.edges.unknown, profile.stacks.file]
        if step and len(profile) < 20 and all(map(len, tables)) and len(profile.attributes[0]):
            held = (step.allocation_node, step.output_row, step.memory_node)
            noted = profile.notes and profile.with_run_shapes.notes
            if profile.has_traces and all(map(len, held)) and noted:
                return profile
    pytest.fail("no such case")


@cache
def small_file() -> bytes:
    return convert(small())


@cache
def tiny() -> Profile:
    """A profile of two nodes."""
    return draw.profile("a op=A us=1 bytes=5 types=t flops=1 params=2\nb us=2 out=?x3 < a, c")


def with_number(name: str, place: int, number: int) -> bytes:
    """The small file with another *number* at one place; its checksums fit."""
    stored = taken_apart(small_file())
    numbers = stored[name].numbers
    numbers[place] = number
    return put_together({**stored, name: wide(numbers)})
