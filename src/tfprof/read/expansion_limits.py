"""Texts and shapes that a file tells once and many rows show: how much they come to, spelled out.

    one device name of a megabyte, 3,000 stats on it       a report of 3 gigabytes
    one path of a megabyte, 20,000 lines of it             20 gigabytes of labels
    one output of rank 100,000, 2,000 that consume it      200 million dimensions

Real names are some dozens of bytes, so such a file is refused as it is read, before a view or an
output spells anything out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.errors import InputError
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64
    from tfprof.model import Profile, Stacks

_FEW_BYTES = 64 << 20
_BYTES_A_DIMENSION = 3


class _Shown(NamedTuple):
    """What rows show: the length of each text there is, and which of them each row has."""

    what: str
    length: I64
    row: I64


def check(profile: Profile, files: str) -> None:
    """Raise InputError, naming *files*, where what rows share is far too long for so many rows."""
    for what, length, row in _shown(profile):
        # Most are told to be short by the longest alone.
        if int(length.max(initial=0)) * row.size <= _FEW_BYTES:
            continue
        size = int(length[row].sum())
        if size > max(_FEW_BYTES, row.size * limit("row_bytes")):
            raise InputError(
                f"{files}: {what} of {row.size:,} rows would take {size:,} bytes; accepted are "
                f"{beyond('row_bytes')}"
            )


def _shown(profile: Profile) -> Iterator[_Shown]:
    types, nodes = profile.types.length, profile.nodes
    yield _Shown("the devices", types, nodes.device[nodes.device >= 0])
    yield _Shown("the types", types, nodes.op)
    yield _Shown("the types", types, profile.typed_as)
    for step in profile.steps:
        yield _Shown("the devices", step.devices.length, step.device)
        yield _Shown("the names in memory", nodes.name.length, step.allocation_node)
    outputs = profile.outputs
    rank = np.append(np.diff(outputs.shape.start), 0) * _BYTES_A_DIMENSION
    first_output = np.where(np.diff(outputs.start) > 0, outputs.start[:-1], rank.size - 1)
    source = profile.edges.source
    yield _Shown("the input shapes", rank, first_output[source[source >= 0]])
    yield from _frames(profile.stacks)


def _frames(stacks: Stacks) -> Iterator[_Shown]:
    if int(stacks.text.length.max(initial=0)) * stacks.file.size <= _FEW_BYTES:
        return
    order = np.argsort(stacks.text_id)
    length = np.append(stacks.text.length[order], 0)
    known = stacks.text_id[order]
    for column in (stacks.file, stacks.function, stacks.source):
        place = np.searchsorted(known, column)
        found = np.append(known, 0)[place] == column
        yield _Shown(
            "the call stacks", length, np.where(found & (place < known.size), place, known.size)
        )
