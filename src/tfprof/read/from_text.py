"""Files in protobuf text become sources of wire bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tfprof.read.source import Source, decode, format_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8
    from tfprof.tables.formats import Input

T = TypeVar("T")


def in_wire(source: Source, row: Input) -> Source:
    """*source* in wire format: text is converted. Raises InputError."""
    message = format_for(source, row).message
    if not message:
        return source
    from tfprof.read.text import TextSource  # noqa: PLC0415 - most files are binary

    return TextSource(source, message)


def read_wire(source: Source, row: Input, columns: Callable[[U8], T]) -> T:
    """Call *columns* with the wire bytes of *source*, binary or text; raises InputError."""
    return decode(in_wire(source, row), row, columns)
