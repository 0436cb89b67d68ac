"""Source: a name and bytes. It has a kind, and damage in it becomes a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tfprof.errors import InputError
from tfprof.read import sniff
from tfprof.wire.decode import WireError, buffer_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8

T = TypeVar("T")


class Source:
    """The content of a file, and the name that messages use for it.

    These bytes are in memory, and so a pickle holds them. A subclass whose bytes can be read again
    leaves them out and overrides `_read`.
    """

    def __init__(self, name: str, data: U8) -> None:
        self.name = name
        self._data: U8 | None = data

    @property
    def data(self) -> U8:
        """The content; read again after unpickling. Raises InputError where that fails."""
        if self._data is None:
            self._data = self._read()
        return self._data

    def _read(self) -> U8:
        raise NotImplementedError

    def check(self) -> None:
        """Raise InputError if `data` maps a file that was written to since."""

    def let_go(self) -> None:
        """Free the memory of a mapped file until its bytes are needed again."""


def kind_of(source: Source, expected: str, *accepted: sniff.Kind) -> sniff.Kind | None:
    """The kind of *source*, None where it shows none; an error where it is plainly another."""
    if not source.data.size:
        raise InputError(f"{source.name} is empty; expected {expected}")
    kind = sniff.kind_of(buffer_view(source.data))
    if kind is not None and kind not in accepted:
        raise InputError(f"{source.name} is {kind.title}; expected {expected}")
    return kind


def read_as(source: Source, expected: str, columns: Callable[[U8], T]) -> T:
    """Call *columns* with the bytes; raises InputError where they are damaged."""
    try:
        return columns(source.data)
    except WireError as problem:
        raise InputError(
            f"{source.name} is damaged or cut off, or not {expected}: {problem}"
        ) from None
