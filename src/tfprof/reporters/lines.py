"""Lines of a report from columns of text: side by side, never a Python object a line.

indent  name     (  part  ,  part  )        a part is a few columns, or for some rows nothing
··      w         ( 12/24 params )
····    w/Momentum( 12/12 params , cpu:0 )
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.strings import I64, Bool, Strings

if TYPE_CHECKING:
    from collections.abc import Sequence


class Part(NamedTuple):
    """What stands in brackets for one field: columns side by side, and which rows have it."""

    columns: tuple[Strings, ...]
    shown: Bool


def lines(indent: I64, names: Strings, parts: Sequence[Part]) -> tuple[Strings, ...]:
    """The columns of a line a row: its name, and its parts in brackets."""
    rows = len(names)
    made = [_spaces(indent), names, constant(b" (", rows)]
    begun = np.zeros(rows, np.bool_)
    for part in parts:
        made.append(constant(b", ", rows, begun & part.shown))
        made += part.columns
        begun = begun | part.shown
    return (*made, constant(b")\n", rows))


def constant(text: bytes, rows: int, where: Bool | None = None) -> Strings:
    """The same *text* in each of so many *rows*, or in those that *where* names."""
    length = np.full(rows, len(text)) if where is None else np.where(where, len(text), 0)
    return Strings(np.frombuffer(text, np.uint8), np.zeros(rows, np.int64), length)


def part_of(texts: Sequence[str | None]) -> Part:
    """A part from a text a row; None is no part at all."""
    column = Strings.of((text or "").encode("utf-8", "surrogateescape") for text in texts)
    return Part((column,), np.array([text is not None for text in texts], np.bool_))


def _spaces(count: I64) -> Strings:
    blob = np.full(int(count.max(initial=0)), ord(" "), np.uint8)
    return Strings(blob, np.zeros(count.size, np.int64), count)
