"""Row: a row of a report as a named tuple.

    row.name  row.total_params  row[3]  row._asdict()

Every set of columns has its own subclass of Row, created once. Row says what type checkers know of
all of them. Rows can be pickled: the other process creates the class again.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable


class Row(tuple[Any, ...]):
    """Where a row stands, and what was selected."""

    __slots__ = ()

    if TYPE_CHECKING:
        row: int
        parent: int | None  # the row above it
        depth: int
        name: str
        accounted: bool
        _fields: tuple[str, ...]

        def _asdict(self) -> dict[str, Any]: ...

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Row: ...

        # The columns that were selected, such as total_params.
        def __getattr__(self, name: str) -> Any: ...  # noqa: ANN401

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._fields, tuple(self))


@cache
def row_class(columns: tuple[str, ...]) -> type[Row]:
    """The class of rows with these columns."""
    named = namedtuple("Row", columns)  # type: ignore[misc]  # noqa: PYI024
    return cast("type[Row]", type("Row", (Row, named), {"__slots__": (), "__doc__": Row.__doc__}))


def _unpickled(columns: tuple[str, ...], values: tuple[Any, ...]) -> Row:
    return row_class(columns)._make(values)
