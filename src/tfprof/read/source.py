"""Source: a name and bytes, and what its kind is; text becomes wire bytes, damage a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from tfprof.errors import InputError
from tfprof.read import sniff
from tfprof.wire.decode import WireError, buffer_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8

T = TypeVar("T")


class Source(NamedTuple):
    """A file's content and the name that messages call it by."""

    name: str
    data: U8
    # Raises InputError where the file was changed under us since; data may be a map of it.
    check: Callable[[], None] = lambda: None
    # To be called when most of the data will not be looked at again.
    let_go: Callable[[], None] = lambda: None


def kind_of(source: Source, expected: str, *accepted: sniff.Kind) -> sniff.Kind | None:
    """The kind of *source*, None where it shows none; an error where it is plainly another."""
    if not source.data.size:
        raise InputError(f"{source.name} is empty; expected {expected}")
    kind = sniff.kind_of(buffer_view(source.data))
    if kind is not None and kind not in accepted:
        raise InputError(f"{source.name} is {kind.title}; expected {expected}")
    return kind


def from_text(source: Source, message: str) -> Source:
    """The same in wire format."""
    from tfprof.read import text  # noqa: PLC0415 - most files are binary

    text.reject_zeros(source.data, source.name)
    wire = text.to_wire(source.data.tobytes(), message, source.name)
    return Source(source.name, np.frombuffer(wire, np.uint8))


def read_as(source: Source, expected: str, columns: Callable[[U8], T]) -> T:
    """What *columns* makes of the bytes; raises InputError."""
    try:
        return columns(source.data)
    except WireError as problem:
        raise InputError(
            f"{source.name} is damaged or cut off, or not {expected}: {problem}"
        ) from None


def read_run_as(source: Source, columns: Callable[[U8], T]) -> T:
    """What *columns* makes of a RunMetadata, binary or text."""
    expected = "a RunMetadata"
    if kind_of(source, expected, sniff.RUN, sniff.RUN_TEXT) is sniff.RUN_TEXT:
        source = from_text(source, "tensorflow.RunMetadata")
    return read_as(source, expected, columns)
