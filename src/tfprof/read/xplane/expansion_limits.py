"""Limits on strings that a trace stores once and many events use.

A kind of event stores its name once, and a million events may be of that kind. Names of a few
hundred bytes are fine; a name of a megabyte is rejected before it is copied for each event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.errors import InputError
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from tfprof.columns.strings import Strings

_FEW_BYTES = 64 << 20


def bounded(texts: Strings, file: str, *others: Strings) -> Strings:
    """*texts*; raises InputError if they and the *others* have too many bytes in all."""
    size = sum(int(column.length.sum()) for column in (texts, *others))
    if size > max(_FEW_BYTES, len(texts) * limit("row_bytes")):
        raise InputError(
            f"{file}: the strings of {len(texts):,} events would take {size:,} bytes; "
            f"tfprof accepts {beyond('row_bytes')}"
        )
    return texts
