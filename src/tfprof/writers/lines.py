"""Lines of a report: an indented name, and its parts in brackets.

    indent  name      (  part   ,  part  )       a part may be missing in some rows
            w         ( 12/24 params )
    ··      w/Momentum( 12/12 params , cpu:0 )

Texts come as lists with one item per row, for a few thousand rows at a time: Python joins a line
faster than NumPy copies its pieces, and equal numbers share one text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.columns.strings import I64


class Part(NamedTuple):
    """What stands in brackets for one field."""

    template: bytes  # with a %s for each column
    columns: tuple[Sequence[bytes], ...]
    shown: Sequence[bool] | None = None  # which rows have it; None: all


def lines(indent: I64, names: Sequence[bytes], parts: Sequence[Part]) -> bytes:
    """All lines, one behind the other."""
    if any(part.shown is not None for part in parts):
        return b"".join(line_list(indent, names, parts))
    columns, between = _columns(indent, names, parts)
    # What stands between two columns is the same in every line.
    pieces = [item for pair in zip(columns, between, strict=True) for item in pair if item]
    texts = [b""] * (len(pieces) * len(names))
    for place, piece in enumerate(pieces):
        column = [piece] * len(names) if isinstance(piece, bytes) else piece
        texts[place :: len(pieces)] = column
    return b"".join(texts)


def line_list(indent: I64, names: Sequence[bytes], parts: Sequence[Part]) -> list[bytes]:
    """One line per row."""
    if all(part.shown is None for part in parts):
        columns, between = _columns(indent, names, parts)
        template = b"".join(b"%s" + text for text in between)
        return [template % row for row in zip(*columns, strict=True)]
    rows = zip(*map(_part_texts, parts), strict=True)
    return [
        b"%s%s (%s)\n" % (begin, name, b", ".join([text for text in texts if text is not None]))
        for begin, name, texts in zip(_spaces(indent), names, rows, strict=True)
    ]


def _columns(
    indent: I64, names: Sequence[bytes], parts: Sequence[Part]
) -> tuple[list[Sequence[bytes]], list[bytes]]:
    """(columns, what stands behind each), where every row has all *parts*."""
    template = b"%s%s (" + b", ".join(part.template for part in parts) + b")\n"
    columns = [column for part in parts for column in part.columns]
    return [_spaces(indent), names, *columns], template.split(b"%s")[1:]


def _spaces(indent: I64) -> list[bytes]:
    counts = indent.tolist()
    spaces = {count: b" " * count for count in set(counts)}
    return [spaces[count] for count in counts]


def part_of(texts: Sequence[str | None]) -> Part:
    """A part from one text per row; None is no part at all."""
    column = [(text or "").encode("utf-8", "surrogateescape") for text in texts]
    shown = [text is not None for text in texts]
    return Part(b"%s", (column,), None if all(shown) else shown)


def _part_texts(part: Part) -> list[bytes | None]:
    """The part of each row; None where it has none."""
    texts: list[bytes | None] = [part.template % row for row in zip(*part.columns, strict=True)]
    if part.shown is None:
        return texts
    return [text if shown else None for text, shown in zip(texts, part.shown, strict=True)]
