"""Source: the bytes of a file, their format, and the name that messages call the file by."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tfprof.errors import InputError
from tfprof.read import detect
from tfprof.tables.formats import FORMATS, RUN, expected_formats
from tfprof.wire.decode import WireError, buffer_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8
    from tfprof.tables.formats import Format, Input

T = TypeVar("T")


def _nothing() -> None:
    """For bytes that no file stands behind."""


class Source:
    """The content of a file; its format is detected once, when it is first needed."""

    def __init__(
        self,
        name: str,
        data: U8,
        check: Callable[[], None] = _nothing,
        let_go: Callable[[], None] = _nothing,
    ) -> None:
        self.name, self.data = name, data
        # Raises InputError where the file changed since it was opened; data may be a map of it.
        self.check = check
        # To be called when most of the data is not needed again.
        self.let_go = let_go

    @cached_property
    def format(self) -> Format | None:
        """The format by content; None where no row of FORMATS fits."""
        return detect.detect(buffer_view(self.data)) if self.data.size else None

    def __reduce__(self) -> tuple[Any, ...]:
        """As data; the format is a row of a table and detected again."""
        return Source, (self.name, self.data, self.check, self.let_go)


def format_for(source: Source, row: Input) -> Format:
    """The format to read *source* with; raises InputError where it is empty or of another input.

    The input's fallback reads a file that no format fits: it says where the file is damaged.
    """
    fallback = FORMATS.get(row.fallback)
    if fallback is not None and fallback.detect is None:
        return fallback
    if not source.data.size:
        hint = row.if_empty or f"expected {expected_formats(row)}"
        raise InputError(f"{source.name} is empty; {hint}")
    if source.format is None and fallback is not None:
        return fallback
    if source.format is None or source.format.input is not row:
        what = source.format.title if source.format else "not recognised"
        raise InputError(f"{source.name} is {what}; expected {expected_formats(row)}")
    return source.format


def read_wire(source: Source, row: Input, columns: Callable[[U8], T]) -> T:
    """What *columns* makes of the bytes in wire format; text is converted. Raises InputError."""
    data, message = source.data, format_for(source, row).message
    if message:
        from tfprof.read import text  # noqa: PLC0415 - most files are binary

        text.refuse_zeros(data, source.name)
        data = np.frombuffer(text.to_wire(data.tobytes(), message, source.name), np.uint8)
    return decode(source, data, row, columns)


def decode(source: Source, data: U8, row: Input, columns: Callable[[U8], T]) -> T:
    """What *columns* makes of *data*; an error of the wire format names *source*."""
    try:
        return columns(data)
    except WireError as problem:
        expected = expected_formats(row)
        raise InputError(
            f"{source.name} is damaged or cut off, or not {expected}: {problem}"
        ) from None


def read_run_as(source: Source, columns: Callable[[U8], T]) -> T:
    """What *columns* makes of a RunMetadata, binary or text."""
    return read_wire(source, RUN, columns)
