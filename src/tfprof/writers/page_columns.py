"""The container of a page's data: a head as JSON, then columns in few bytes, all of it gzip'd.

    length of the head   4 bytes, little-endian
    head                 {"meta": …, "columns": {"op": [kind, array, base, rows, offset], …}}
    columns              as in a converted profile (read/columnar/coding.py), end to end

`array` is what JavaScript makes of a column: "i" Int32Array, "f" Float64Array, "b" BigInt64Array.
Strings are front-coded: the length that a row shares with the row before, and the bytes after it.
Equal columns are stored once. An integer that JavaScript would round is {"$int": "…"}.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.writers.columnar import narrow

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INT32: Final = 2**31
_EXACT: Final = 2**53  # no larger integer is exact as a number of JavaScript
_LEVEL: Final = 6


class Container:
    """Columns by name."""

    def __init__(self) -> None:
        self._entries: dict[str, list[Any]] = {}
        self._place: dict[bytes, int] = {}
        self._size = 0

    def add(self, name: str, column: NDArray[Any]) -> None:
        """Add a column of integers, or of bytes."""
        whole = column if column.dtype == np.uint8 else column.astype(np.int64)
        kind, base, stored = narrow(whole)
        piece = stored.tobytes()
        if piece not in self._place:
            self._place[piece] = self._size
            self._size += len(piece)
        entry = [kind, _array(whole), base, int(column.size), self._place[piece]]
        self._entries[name] = entry

    def add_strings(self, name: str, rows: Strings) -> None:
        """Add a column of strings."""
        shared = rows.common_with_previous()
        rest = Strings(rows.blob, rows.start + shared, rows.length - shared).compact()
        self.add(f"{name}.shared", shared)
        self.add(f"{name}.rest", rest.length)
        self.add(f"{name}.text", rest.blob)

    def packed(self, meta: dict[str, Any]) -> bytes:
        """The container with this *meta*."""
        head = json.dumps(_exact({"meta": meta, "columns": self._entries}), separators=(",", ":"))
        encoded = head.encode("ascii")
        pieces = (len(encoded).to_bytes(4, "little"), encoded, *self._place)
        return gzip.compress(b"".join(pieces), _LEVEL, mtime=0)


def _array(column: NDArray[Any]) -> str:
    least, most = int(column.min(initial=0)), int(column.max(initial=0))
    if least >= -_INT32 and most < _INT32:
        return "i"
    return "f" if least >= -_EXACT and most <= _EXACT else "b"


def _exact(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, dict):
        return {name: _exact(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(item) for item in value]
    if isinstance(value, int) and abs(value) > _EXACT:
        return {"$int": str(value)}
    return value
