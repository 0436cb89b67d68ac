"""The profile as a file of packed columns, which loads many times faster than others.

    Profile ──layout──► named columns ──► the fewest bytes each ──► head, index, columns

What a profile reads lazily is read now and written last. The same profile always gives the same
bytes. read/columnar/coding.py describes the format.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.model import Profile
from tfprof.read.columnar import ATTRIBUTES, LONGEST_SHARED, RUN_SHAPES, STEP_SHAPES
from tfprof.read.columnar.coding import ALIGNMENT, FORMAT, HEAD, TEXT
from tfprof.read.columnar.layout import (
    Attributes,
    RunShapes,
    ShapesOfSteps,
    run_shapes,
    step_shapes,
    to_columns,
)
from tfprof.read.detect import CONVERTED_MAGIC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from tfprof.columns.strings import I64, U8

_WIDTHS = (1, 2, 4)


def columnar(profile: Profile) -> Iterator[bytes]:
    """The file in pieces; raises InputError where an input that is read lazily is damaged."""
    return columns_file(_columns(profile))


def columns_file(columns: Iterable[tuple[str, I64 | U8]]) -> Iterator[bytes]:
    """A file of these (name, column), in pieces."""
    lines = []
    pieces = []
    for name, column in columns:
        kind, base, stored = narrow(column)
        piece = stored.tobytes()
        lines.append(f"{name} {kind} {base} {stored.size} {zlib.crc32(piece):08x}\n")
        pieces.append(piece)
    index = "".join(lines).encode("ascii")
    yield HEAD.pack(CONVERTED_MAGIC, FORMAT, zlib.crc32(index), len(index))
    yield index
    at = HEAD.size + len(index)
    for piece in pieces:
        gap = -at % ALIGNMENT
        yield bytes(gap)
        yield piece
        at += gap + len(piece)


def _columns(profile: Profile) -> Iterator[tuple[str, I64 | U8]]:
    yield from to_columns(Profile, "", profile)
    yield from to_columns(Attributes, ATTRIBUTES, attributes_of(profile))
    if profile.shape_sources:
        yield from to_columns(RunShapes, RUN_SHAPES, run_shapes(profile))
    for number in range(len(profile.step_shapes)):
        name, shapes = f"{STEP_SHAPES}.{number}", step_shapes(profile, number)
        yield from to_columns(ShapesOfSteps, name, shapes)


def attributes_of(profile: Profile) -> Attributes:
    """The attributes of all nodes; raises InputError where a graph is damaged."""
    node, entry = profile.attributes
    number, first = entry.intern()
    row = first[number]
    alone = np.flatnonzero(entry.length > LONGEST_SHARED)
    row[alone] = alone
    used, text = np.unique(row, return_inverse=True)
    return Attributes(profile.in_graph, node, text, entry.take(used))


def narrow(column: NDArray[Any]) -> tuple[str, int, NDArray[Any]]:
    """(kind, base, numbers): *column* in the fewest bytes; plain where both ways take as many."""
    # Plain numbers are differences from the least; rising ones are differences from the one before.
    if column.dtype == np.uint8:
        return TEXT, 0, column
    least, most = (int(column.min()), int(column.max())) if column.size else (0, 0)
    # A difference that overflows 64 bits is undone by a sum that overflows, too.
    rise, first = np.diff(column, prepend=column[:1]), int(column[0]) if column.size else 0
    low, high = int(rise.min(initial=0)), int(rise.max(initial=0))
    for width in _WIDTHS:
        if most - least < 1 << 8 * width:
            return f"u{width}", least, (column - least).astype(f"<u{width}")
        if low >= 0 and high < 1 << 8 * width:
            return f"+u{width}", first, rise.astype(f"<u{width}")
        if max(-1 - low, high) < 1 << 8 * width - 1:
            return f"+i{width}", first, rise.astype(f"<i{width}")
    return "i8", 0, column.astype("<i8")
