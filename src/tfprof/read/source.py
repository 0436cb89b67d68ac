"""Source: the bytes of a file, their format, and the name that messages use for the file."""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tfprof.errors import InputError
from tfprof.read import detect
from tfprof.tables.formats import FORMATS, Format, Input, expected_formats
from tfprof.wire.decode import WireError, buffer_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8

T = TypeVar("T")


class Source:
    """The content of a file; its format is detected once, when it is first needed.

    These bytes are in memory, and so a pickle holds them. A subclass whose bytes can be read again
    leaves them out and overrides `_read`; it may also leave them out at first.
    """

    def __init__(self, name: str, data: U8 | None = None) -> None:
        self.name = name
        self._data = None if data is None else without_marks(data)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "format"}

    @property
    def data(self) -> U8:
        """The content; read again after unpickling. Raises InputError where that fails."""
        if self._data is None:
            self._data = self._read()
        return self._data

    @cached_property
    def format(self) -> Format | None:
        """The format by content; None where no row of FORMATS fits."""
        return detect.detect(buffer_view(self.data)) if self.data.size else None

    def _read(self) -> U8:
        raise NotImplementedError

    def check(self) -> None:
        """Raise InputError if `data` maps a file that was written to since."""

    def let_go(self) -> None:
        """Free the memory of a mapped file until its bytes are needed again."""


def without_marks(data: U8) -> U8:
    """*data* without the marks that some editors write before a text; UTF-16 becomes UTF-8.

    No format begins with such a mark. Files that were joined have one each.
    """
    text = b""
    if data[: len(BOM_UTF8)].tobytes() == BOM_UTF8:
        text = data[len(BOM_UTF8) :].tobytes()
    elif data[:2].tobytes() in (BOM_UTF16_LE, BOM_UTF16_BE):
        with suppress(UnicodeDecodeError):
            text = data.tobytes().decode("utf-16").encode()
    return np.frombuffer(text.replace(b"\n" + BOM_UTF8, b"\n"), np.uint8) if text else data


def format_for(source: Source, row: Input) -> Format:
    """The format to read *source* with; raises InputError where it is empty or of another input."""
    # The input's fallback reads a file that no format fits: it says where the file is damaged.
    fallback = FORMATS.get(row.fallback)
    if fallback is not None and fallback.detect is None:
        return fallback
    if not source.data.size:
        hint = row.if_empty or f"expected {expected_formats(row)}"
        raise InputError(f"{source.name} is empty; {hint}")
    if source.format is None:
        refuse_unsupported(source)
    if source.format is None and fallback is not None:
        return fallback
    if source.format is None or source.format.input is not row:
        what = source.format.title if source.format else "not recognised"
        raise InputError(f"{source.name} is {what}; expected {expected_formats(row)}")
    return source.format


def refuse_unsupported(source: Source, *, damaged: bool = False) -> None:
    """Raise UnsupportedError if a file without a format, or a *damaged* one, is of a known kind."""
    from tfprof.read.unsupported import unsupported  # noqa: PLC0415 - few files need it

    if problem := unsupported(source.name, source.data, damaged=damaged):
        raise problem


def decode(source: Source, row: Input, columns: Callable[[U8], T]) -> T:
    """Call *columns* with the bytes of *source*; raises InputError where they are damaged."""
    try:
        return columns(source.data)
    except WireError as problem:
        refuse_unsupported(source, damaged=True)
        expected = expected_formats(row)
        raise InputError(
            f"{source.name} is damaged or cut off, or not {expected}: {problem}"
        ) from None
