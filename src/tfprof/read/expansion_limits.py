"""Limits on strings and shapes that a file stores once and many rows show.

    one device name of a megabyte, 3,000 stats on it       a report of 3 gigabytes
    one path of a megabyte, 20,000 lines of it             20 gigabytes of labels
    one output of rank 100,000, 2,000 that consume it      200 million dimensions

Real names have a few dozen bytes. A file like these is rejected when it is read, before a view or
an output writes anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.errors import InputError
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, Strings
    from tfprof.model import Profile, Stacks

_FEW_BYTES = 64 << 20
_BYTES_A_DIMENSION = 3


# A column of shared strings: its title, the length of each string, and the string of each row.
_Shown = tuple[str, "I64", "I64"]


def check(profile: Profile, files: str) -> None:
    """Raise InputError, naming *files*, if shared strings are too long for so many rows."""
    for title, length, row in _shown(profile):
        # In most files the longest string alone shows that all are short.
        if int(length.max(initial=0)) * row.size <= _FEW_BYTES:
            continue
        _check_size(f"{files}: {title} of {row.size:,} rows", int(length[row].sum()), row.size)


def bounded(texts: Strings, file: str, *others: Strings) -> Strings:
    """*texts*; raises InputError if they and the *others* have too many bytes in all."""
    # A trace stores the name of a kind of event once, and a million events may be of that kind.
    size = sum(int(column.length.sum()) for column in (texts, *others))
    _check_size(f"{file}: the strings of {len(texts):,} events", size, len(texts))
    return texts


def check_rows(row: I64, file: str, *columns: Strings) -> None:
    """Raise InputError if these rows of the *columns* have too many bytes in all."""
    count = np.bincount(row, minlength=len(columns[0]))
    size = sum(int((column.length * count).sum()) for column in columns)
    _check_size(f"{file}: the strings of {row.size:,} events", size, row.size)


def _check_size(title: str, size: int, rows: int) -> None:
    if size > max(_FEW_BYTES, rows * limit("row_bytes")):
        raise InputError(f"{title} would take {size:,} bytes; tfprof accepts {beyond('row_bytes')}")


def _shown(profile: Profile) -> Iterator[_Shown]:
    types, nodes = profile.types.length, profile.nodes
    yield "the devices", types, nodes.device[nodes.device >= 0]
    yield "the types", types, nodes.op
    yield "the types", types, profile.typed_as
    for step in profile.steps:
        yield "the devices", step.devices.length, step.device
        yield "the names in memory", nodes.name.length, step.allocation_node
    outputs = profile.outputs
    rank = np.append(np.diff(outputs.shape.start), 0) * _BYTES_A_DIMENSION
    first_output = np.where(np.diff(outputs.start) > 0, outputs.start[:-1], rank.size - 1)
    source = profile.edges.source
    yield "the input shapes", rank, first_output[source[source >= 0]]
    yield from _frames(profile.stacks)


def _frames(stacks: Stacks) -> Iterator[_Shown]:
    if int(stacks.text.length.max(initial=0)) * stacks.file.size <= _FEW_BYTES:
        return
    order = np.argsort(stacks.text_id)
    length = np.append(stacks.text.length[order], 0)
    known = stacks.text_id[order]
    for column in (stacks.file, stacks.function, stacks.source):
        row = np.searchsorted(known, column)
        is_known = np.append(known, 0)[row] == column
        row = np.where(is_known & (row < known.size), row, known.size)
        yield "the call stacks", length, row
