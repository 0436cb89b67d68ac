"""Files in protobuf text become sources of wire bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tfprof.read import sniff
from tfprof.read.source import Source, kind_of, read_as

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8

T = TypeVar("T")


def from_text(source: Source, message: str) -> Source:
    """The message of this name in *source*, in wire format; raises InputError."""
    from tfprof.read.text import TextSource  # noqa: PLC0415 - most files are binary

    return TextSource(source, message)


def run_in_wire(source: Source) -> Source:
    """The RunMetadata in *source*, in wire format; raises InputError if it is another kind."""
    kind = kind_of(source, "a RunMetadata", sniff.RUN, sniff.RUN_TEXT)
    return from_text(source, "tensorflow.RunMetadata") if kind is sniff.RUN_TEXT else source


def read_run_as(source: Source, columns: Callable[[U8], T]) -> T:
    """Call *columns* with the wire bytes of a RunMetadata, binary or text."""
    return read_as(run_in_wire(source), "a RunMetadata", columns)
