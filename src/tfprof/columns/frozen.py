"""Frozen: the base of dataclasses whose columns are read-only. packed_columns: stored in few bytes.

    step.us = [1031, 44, 9000]     stored as uint16, returned as int64
    step.start_us                  stored as the difference from the smallest value
    step.temporary = [0, 0, …]     stored as a single number
    step.node                      shared with the step before, if equal

Steps consist mostly of such columns, and there may be hundreds of steps. Each access unpacks the
column again, so a caller that needs it more than once keeps a reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import Strings
from tfprof.foundation.lazy_dataclasses import fields

if TYPE_CHECKING:
    from tfprof.columns.byte_words import I64

T = TypeVar("T")
_KINDS = (np.uint8, np.uint16, np.uint32)


class Frozen:
    """A dataclass whose columns become read-only."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            _freeze(value)

    if not TYPE_CHECKING:  # or a misspelled name would pass

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the part is
            """A part of a lazy table (foundation/later.py), read now."""
            later = vars(self).get("_later", {})
            if name not in later:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = later[name]()
            _freeze(value)
            vars(self)[name] = value
            return value


def _freeze(value: object) -> None:
    """Make a column, or those of Strings or Shapes, read-only."""
    # A copy: meanwhile, other threads add what they work out of it.
    columns = [*vars(value).values()] if isinstance(value, (Strings, Shapes)) else [value]
    for column in columns:
        if isinstance(column, np.ndarray):
            column.flags.writeable = False


def packed_columns(cls: type[T]) -> type[T]:
    """The dataclass *cls*, with its int64 columns packed."""
    for field in fields(cls):  # type: ignore[arg-type]  # a dataclass; its type does not say so
        if field.type == "I64":
            setattr(cls, field.name, _PackedField(field.name))
    return cls


class _PackedField:
    """A descriptor that stores the packed column under the field's name with a leading "_"."""

    def __init__(self, name: str) -> None:
        self._name = f"_{name}"

    def __set__(self, holder: object, column: I64) -> None:
        vars(holder)[self._name] = column if isinstance(column, _Packed) else _Packed(column)

    def __get__(self, holder: object, owner: type | None = None) -> I64:
        packed: _Packed = vars(holder)[self._name]
        return packed.column()


def packed(column: I64) -> Any:  # noqa: ANN401 - stands for the column
    """*column* packed now, as a value of a packed field: the rest of its memory is free."""
    return _Packed(column)


def take(holder: object, name: str, rows: I64) -> I64:
    """These *rows* of the column *name*, without unpacking all of it."""
    packed: _Packed = vars(holder)[f"_{name}"]
    return packed.take(rows)


def share_columns(holder: object, other: object) -> None:
    """Let *holder* share the packed columns of *other* that are equal to its own."""
    mine, theirs = vars(holder), vars(other)
    for name, packed in mine.items():
        other_packed = theirs.get(name)  # of a profile in the cache, a LaterColumn or not there
        both = isinstance(packed, _Packed) and isinstance(other_packed, _Packed)
        if both and packed.equals(other_packed):
            mine[name] = other_packed


class _Packed:
    """A column as differences from its smallest value."""

    __slots__ = ("_distance", "_size", "_smallest")

    def __init__(self, column: I64) -> None:
        self._size = column.size
        self._smallest = int(column.min()) if column.size else 0
        span = (int(column.max()) if column.size else 0) - self._smallest
        kind = next((kind for kind in _KINDS if span <= np.iinfo(kind).max), None)
        if not span:
            self._distance = None
        elif kind is None:
            self._distance = column.copy()
            self._smallest = 0
        else:
            # NumPy subtracts and converts a few rows at a time.
            self._distance = np.empty(column.size, kind)
            np.subtract(column, self._smallest, out=self._distance, casting="unsafe")

    def column(self) -> I64:
        """The whole column."""
        result = self._widened(self._distance, self._size)
        result.flags.writeable = False
        return result

    def equals(self, other: _Packed) -> bool:
        """Whether both hold the same numbers."""
        if (self._size, self._smallest) != (other._size, other._smallest):
            return False
        mine, theirs = self._distance, other._distance
        return mine is theirs or (
            mine is not None and theirs is not None and np.array_equal(mine, theirs)
        )

    def take(self, rows: I64) -> I64:
        """The values of *rows*."""
        return self._widened(
            None if self._distance is None else self._distance.take(rows), rows.size
        )

    def _widened(self, distance: Any | None, size: int) -> I64:  # noqa: ANN401 - of any width
        if distance is None:
            return np.full(size, self._smallest, np.int64)
        result: I64 = distance.astype(np.int64)
        result += self._smallest
        return result
