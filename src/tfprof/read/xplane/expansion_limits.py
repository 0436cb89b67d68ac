"""Texts that stand in a trace once and many events have: how much they come to, spelled out.

A kind of event has its name once, and a million events may be of that kind. Names of some hundred
bytes are fine; a name of a megabyte is refused before it is copied for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.errors import InputError
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from tfprof.columns.strings import Strings

_FEW_BYTES = 64 << 20


def bounded(texts: Strings, file: str, *others: Strings) -> Strings:
    """*texts*; raises InputError where they and the *others* beside them come to far too much."""
    size = sum(int(column.length.sum()) for column in (texts, *others))
    if size > max(_FEW_BYTES, len(texts) * limit("row_bytes")):
        raise InputError(
            f"{file}: the texts of {len(texts):,} events would take {size:,} bytes; accepted are "
            f"{beyond('row_bytes')}"
        )
    return texts
