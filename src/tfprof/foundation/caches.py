"""Thread-safe caches; pickling or copying a cache gives an empty one."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, TypeVar, cast

from tfprof.foundation.later import is_same

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_MOST_RECENT = 6


class Cache:
    """Values by key, all computed from the same objects, *parts*."""

    def __init__(self, parts: tuple[object, ...] = ()) -> None:
        self._parts = parts
        self._values: dict[object, object] = {}

    def of(self, parts: tuple[object, ...]) -> Cache:
        """The same cache if it is for these very objects, else an empty one for them."""
        same = len(parts) == len(self._parts) and all(map(is_same, parts, self._parts))
        return self if same else Cache(parts)

    def cached(self, key: object, make: Callable[[], T]) -> T:
        """The value of *key*; *make* makes it the first time. All threads get the same object."""
        if key not in self._values:
            self._values.setdefault(key, make())
        return cast("T", self._values[key])

    def items(self) -> list[tuple[object, object]]:
        """The keys and their values."""
        return list(self._values.items())

    def __reduce__(self) -> tuple[type[Cache], tuple[()]]:
        return Cache, ()


class RecentCache:
    """Small LRU cache around make()."""

    def __init__(self) -> None:
        self._values: dict[object, object] = {}  # the least recently used first
        self._changing = Lock()

    def cached(self, key: object, make: Callable[[], T]) -> T:
        """The value of *key*; *make* makes it unless it is one of the last few that were used."""
        with self._changing:
            if key in self._values:
                self._values[key] = self._values.pop(key)
                return cast("T", self._values[key])
        value = make()
        with self._changing:
            self._values[key] = value
            while len(self._values) > _MOST_RECENT:
                del self._values[next(iter(self._values))]
        return value
