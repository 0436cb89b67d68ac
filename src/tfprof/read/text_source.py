"""Files in protobuf text, as sources of wire bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tfprof.read import sniff
from tfprof.read.source import Source, kind_of, read_as

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8

T = TypeVar("T")


class TextSource(Source):
    """The wire bytes of a message in text. A pickle holds the text's source, and converts again."""

    def __init__(self, text: Source, message: str) -> None:
        self._text, self._message = text, message
        super().__init__(text.name, self._read())

    def _read(self) -> U8:
        from tfprof.read import text  # noqa: PLC0415 - most files are binary

        data, name = self._text.data, self._text.name
        text.refuse_zeros(data, name)
        return np.frombuffer(text.to_wire(data.tobytes(), self._message, name), np.uint8)

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_data": None}


def run_in_wire(source: Source) -> Source:
    """The RunMetadata in *source*, in wire format; raises InputError if it is another kind."""
    kind = kind_of(source, "a RunMetadata", sniff.RUN, sniff.RUN_TEXT)
    return TextSource(source, "tensorflow.RunMetadata") if kind is sniff.RUN_TEXT else source


def read_run_as(source: Source, columns: Callable[[U8], T]) -> T:
    """Call *columns* with the wire bytes of a RunMetadata, binary or text."""
    return read_as(run_in_wire(source), "a RunMetadata", columns)
