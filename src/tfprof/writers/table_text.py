"""A Table as text that fits a screen: rows with shares, the total, notes and caveats.

scope view
node name       own micros  total micros  share
───────────────────────────────────────────────────────
_TFProfRoot             --       3.80sec  100.0%  ██████████
  unit_1_0             0us      900.02ms   23.7%  ██▍
…

Where the screen is too narrow, headings wrap, names lose what they repeat of the row above or their
middle, and then the columns at the right are left out; a line below says which. Without a width,
everything is there.
"""

from __future__ import annotations

import textwrap
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.writers.numbers import chunks, map_unique, percent, share_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.results.table import Column, Table

_LEAST_NAME: Final = 24
_MOST_TEXT: Final = 24  # of a cell with words, on a screen
_BAR_CELLS: Final = 10
_KEPT: Final = 8  # slices of rows whose cells stay from measuring to writing
_GAP: Final = "  "
_INDENT: Final = "  "
_LINE: Final = "─"
_TOTAL: Final = "Total"
_SHARE: Final = "share"


class _Strip(NamedTuple):
    """A column of text: its heading, its cells, and when it gives way to others."""

    title: str
    right: bool
    cells: Callable[[slice], list[str]]
    total: str = ""
    rank: int = 0  # a lower rank gives way first; among equals, what stands at the right


def table_text(table: Table, width: int | None = None) -> Iterator[bytes]:
    """The lines of the table, at most *width* characters wide; None: as wide as it needs."""
    above = [line for text in table.headline for line in (*_wrapped(text, width), "")]
    below = [line for text in table.caveats for line in _wrapped(text, width)]
    for line in chain(above, below if above and not len(table) else _lines(table, width)):
        yield f"{line.rstrip()}\n".encode("utf-8", "replace")


def _lines(table: Table, width: int | None) -> Iterator[str]:
    columns, left_out = table.useful(slice(0, len(table)))
    names = _Strip(table[table.label].title, False, lambda rows: _names(table, rows), _TOTAL)  # noqa: FBT003
    columns = [column for column in columns if column.fits]
    first = next((column for column in columns if column.whole), None)
    strips = [s for column in columns for s in _strips(column, width, main=column is first)]
    slices = list(chunks(len(table), table.label_lengths))
    pieces = {strip: _pieces(strip, slices) for strip in [names, *strips]}
    widths = {strip: _cell_width(strip, pieces[strip]()) for strip in pieces}
    shown, heads, dropped = _fitted(names, strips, widths, width)
    wide = {strip: max([widths[strip], *map(len, heads[strip])]) for strip in shown}
    if width is not None:
        rest = sum(wide.values()) - wide[names] + len(_GAP) * (len(shown) - 1)
        wide[names] = min(wide[names], max(width - rest, _LEAST_NAME))
    labels = pieces[names]()
    if widths[names] > wide[names]:
        labels = map(_short_names(table, wide[names]), slices)
    template = _GAP.join(f"%{'' if strip.right else '-'}{wide[strip]}s" for strip in shown)

    def line(label: str, *cells: str) -> str:
        return template % (shortened(label, wide[names]), *cells)

    rule = _LINE * (sum(wide.values()) + len(_GAP) * (len(shown) - 1))
    if table.title:
        yield _printable(table.title)
    for level in range(-max(len(lines) for lines in heads.values()), 0):
        yield line(*(heads[s][level] if len(heads[s]) >= -level else "" for s in shown))
    yield rule
    for columns_of_rows in zip(labels, *(pieces[s]() for s in shown[1:]), strict=True):
        yield from map(template.__mod__, zip(*columns_of_rows, strict=True))
    if any(strip.total for strip in shown[1:]):
        yield rule
        yield line(*(strip.total for strip in shown))
    yield ""
    yield from map(_printable, table.details)
    if dropped:
        left_out.append(f"Left out, as the screen is narrow: {', '.join(dropped)}.")
    hidden = [str(table.hidden)] if table.hidden.rows else []
    for sentence in (*table.caveats, *left_out, *hidden):
        yield from _wrapped(sentence, width)


def _wrapped(sentence: str, width: int | None) -> list[str]:
    text = _printable(sentence)
    return [text] if width is None else textwrap.wrap(text, width)


def _strips(column: Column, width: int | None, *, main: bool) -> Iterator[_Strip]:
    """A column, and its shares in percent; those of the *main* one also as bars."""

    def cells(rows: slice) -> list[str]:
        texts = _all_printable(column.cells(rows))
        if width is None or column.right:
            return texts
        return [shortened(text, _MOST_TEXT) for text in texts]

    def percents(rows: slice) -> list[str]:
        return map_unique(percent, column.shares(rows))

    def bars(rows: slice) -> list[str]:
        return map_unique(lambda share: share_bar(share or 0, _BAR_CELLS), column.shares(rows))

    rank = 0 if column.running or column.yields else 4 if main else 2 if column.whole else 1
    yield _Strip(column.title, column.right, cells, column.total_cell, rank)
    if column.whole:
        yield _Strip(_SHARE, True, percents, rank=rank)  # noqa: FBT003
    if main:
        yield _Strip("", False, bars, rank=3)  # noqa: FBT003


def _fitted(
    names: _Strip, strips: list[_Strip], widths: dict[_Strip, int], width: int | None
) -> tuple[list[_Strip], dict[_Strip, list[str]], list[str]]:
    """(the strips that fit, the lines of their headings, the titles of those that do not)."""
    shown = [names, *strips]
    heads = {strip: [strip.title] for strip in shown}

    def excess() -> int:
        room = [max([widths[s], *map(len, heads[s])]) for s in shown]
        room[0] = min(room[0], _LEAST_NAME)
        return sum(room) + len(_GAP) * len(shown[1:]) - (width or 0)

    if width is None:
        return shown, heads, []
    if excess() > 0:
        for strip in strips:
            most = max([widths[strip], *map(len, strip.title.split())])
            heads[strip] = textwrap.wrap(strip.title, most) or [""]
    dropped: list[str] = []
    while excess() > 0 and len(shown) > 2:  # noqa: PLR2004 - names, and one column
        at = min(range(1, len(shown)), key=lambda index: (shown[index].rank, -index))
        strip = shown.pop(at)
        del heads[strip]
        dropped.insert(0, strip.title)
    titles = dict.fromkeys(dropped)  # of several numbers, some are equal
    return shown, heads, [title for title in titles if title not in ("", _SHARE)]


def _names(table: Table, rows: slice) -> list[str]:
    names = _all_printable(table[table.label].cells(rows))
    cells = table.marks_of(rows), table.depths(rows), names
    return [mark + _INDENT * (depth - 1) + name for mark, depth, name in zip(*cells, strict=True)]


def _short_names(table: Table, width: int) -> Callable[[slice], list[str]]:
    """Names that fit, without what they repeat of the name above: a/b/c below a/b is c."""
    if not table.tree:
        return lambda rows: [shortened(name, width) for name in _names(table, rows)]
    every, above, parts = slice(0, len(table)), [""], list[str]()
    cells = table.marks_of(every), table.depths(every), table[table.label].cells(every)
    for mark, depth, name in zip(*cells, strict=True):
        del above[depth:]
        short = _printable(name.removeprefix(f"{above[-1]}/"))
        parts.append(shortened(mark + _INDENT * (depth - 1) + short, width))
        above.append(name)
    return parts.__getitem__


def _pieces(strip: _Strip, slices: list[slice]) -> Callable[[], Iterator[list[str]]]:
    """The cells, slice by slice; those of the first slices are made once."""
    kept = [strip.cells(rows) for rows in slices[:_KEPT]]
    return lambda: chain(kept, map(strip.cells, slices[_KEPT:]))


def _cell_width(strip: _Strip, pieces: Iterator[list[str]]) -> int:
    return max(map(len, chain([strip.total], chain.from_iterable(pieces))))


def shortened(name: str, width: int) -> str:
    """A name that fits: a long one loses its middle."""
    if len(name) <= width:
        return name
    tail = (width - 1) * 2 // 3
    return f"{name[: width - 1 - tail]}…{name[-tail:]}"


def _all_printable(texts: list[str]) -> list[str]:
    return texts if "".join(texts).isprintable() else list(map(_printable, texts))


def _printable(name: str) -> str:
    if name.isprintable():
        return name
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in name)
