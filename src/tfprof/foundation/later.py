"""Later: a value that is read when it is first used. lazy_table: an object made of such values.

    nodes._later = {"name": Later, "op": Later, …}     Frozen.__getattr__ reads one and keeps it
    step._us     = LaterColumn                         where a class packs its columns

A pickle holds the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Later:
    """The value that *read* returns, which is called once."""

    __slots__ = ("_read", "_values")

    def __init__(self, read: Callable[[], Any]) -> None:
        self._read: Callable[[], Any] | None = read
        self._values: dict[str, Any] = {}

    def __call__(self) -> Any:  # noqa: ANN401 - whatever it is
        """The value."""
        if (read := self._read) is not None:
            self._values.setdefault("", read())  # all threads get the same object
            self._read = None
        return self._values[""]

    def is_value(self, other: object) -> bool:
        """Whether *other* is the value, and that was read."""
        return bool(self._values) and self._values[""] is other

    def __reduce__(self) -> tuple[Any, ...]:
        return _read_already, (self(),)


def _read_already(value: object) -> Later:
    return Later(lambda: value)


class LaterColumn:
    """Stands for a packed column."""

    def __init__(self, later: Later) -> None:
        self._later = later

    def column(self) -> Any:  # noqa: ANN401 - a NumPy column
        """The whole column."""
        column = self._later()
        column.flags.writeable = False
        return column

    def take(self, rows: Any) -> Any:  # noqa: ANN401 - likewise
        """The values of *rows*."""
        return self.column()[rows]


def lazy_table(kind: type, parts: Iterable[tuple[str, Callable[[], Any]]]) -> Any:  # noqa: ANN401
    """A table of this *kind*: (name, how to read it) of each of its *parts*."""
    table: Any = object.__new__(kind)
    later = {name: Later(read) for name, read in parts}
    for name in [name for name in later if hasattr(vars(kind).get(name), "__set__")]:
        vars(table)[f"_{name}"] = LaterColumn(later.pop(name))
    vars(table)["_later"] = later
    return table


def part(table: object, name: str) -> object:
    """The part of a *table* that is called *name*, or the Later that stands for it."""
    later: object = vars(table).get("_later", {}).get(name)
    return getattr(table, name) if later is None else later


def is_same(part: object, before: object) -> bool:
    """Whether a part is the same object as *before*, which may be a Later."""
    return part is before or (isinstance(before, Later) and before.is_value(part))
