"""HLO text as wire bytes of an HloProto.

    text_header          HloModule …, attributes, tables of call stacks
    text_computations    computations and instructions
      text_attributes    one row per keyword
      text_shapes        shapes          text_sharding    shardings
    text_syntax          blanks, brackets, strings, numbers

The text is what `compiled.as_text()` of JAX returns, what XLA dumps, or what is written by hand,
with and without layouts, types of operands and percent signs. Values of constants are skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.errors import InputError
from tfprof.read.hlo.text_computations import Computations
from tfprof.read.hlo.text_header import module_header, stack_tables
from tfprof.read.hlo.text_shapes import encode_bytes
from tfprof.read.hlo.text_syntax import HloTextError, blanks
from tfprof.read.source import Source
from tfprof.tables.formats import FORMATS

if TYPE_CHECKING:
    from tfprof.columns.strings import U8
    from tfprof.tables.formats import Format


class HloTextSource(Source):
    """The wire bytes of a module in text, converted on first use and after unpickling."""

    def __init__(self, text: Source, _: str) -> None:
        super().__init__(text.name)
        self._text = text

    @property
    def format(self) -> Format:
        """An HloProto: that is what it is converted to."""
        return FORMATS["hlo"]

    def _read(self) -> U8:
        self._text.check()
        return np.frombuffer(to_wire(self._text.data.tobytes(), self.name), np.uint8)

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_data": None}


def to_wire(data: bytes, path: str) -> bytes:
    """The wire bytes of an HloProto; raises InputError naming *path* and the line."""
    computations = Computations(data)
    try:
        computations.begin = blanks(data, 0)
        header, at = module_header(data, computations.begin)
        frames, at = stack_tables(data, at)
        while (at := blanks(data, at)) < len(data):
            at = computations.read(at)
        return encode_bytes(1, header + frames + computations.module_fields())
    except HloTextError as problem:
        offset = computations.begin if problem.offset is None else problem.offset
        line = data.count(b"\n", 0, offset) + 1
        raise InputError(f"{path}:{line}: {problem}") from None
