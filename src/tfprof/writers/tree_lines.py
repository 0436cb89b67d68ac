"""Lines of scope, graph and code view: an indented name, and its parts in brackets.

    indent  name       ( part   , part         , part  )      a part may be missing in some rows
            w          ( 3x4, 12/24 params, 24B/24B )         scope, graph: one node at most
    ··      w/Momentum ( 3x4, 12/12 params, 12B/12B , cpu:0 )
            model.py:31:build ( 0us/22.44ms )                 code: the nodes that a line created

Texts come as lists with one item per row, for a few thousand rows at a time: Python joins a line
faster than NumPy copies its pieces, and equal numbers share one text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.foundation import units
from tfprof.query.counted import DEFINED, Answer
from tfprof.results.node_texts import NodeTexts
from tfprof.tables.fields import FIELDS
from tfprof.writers.numbers import chunks, map_unique, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tfprof.columns.strings import I64

_SCALAR = "1"
_NOT_OF_CODE = ("occurrence", "input_shapes")


class _Part(NamedTuple):
    """What stands in brackets for one field."""

    template: bytes  # with a %s for each column
    columns: tuple[Sequence[bytes], ...]
    shown: Sequence[bool] | None = None  # which rows have it; None: all

    @classmethod
    def of(cls, texts: Sequence[str | None]) -> _Part:
        """A part from one text per row; None is no part at all."""
        column = [(text or "").encode("utf-8", "surrogateescape") for text in texts]
        shown = [text is not None for text in texts]
        return cls(b"%s", (column,), None if all(shown) else shown)

    def texts(self) -> list[bytes | None]:
        """The part of each row; None where it has none."""
        texts: list[bytes | None] = [self.template % row for row in zip(*self.columns, strict=True)]
        if self.shown is None:
            return texts
        return [text if shown else None for text, shown in zip(texts, self.shown, strict=True)]


def _own_and_total(answer: Answer, metric: str) -> Callable[[slice], _Part]:
    """A metric of rows as "own/total", with -- for own where a row is not accounted."""
    field, accounted = FIELDS.get(metric), answer.accounted
    unit = (field and field.unit) or units.count
    template = b"%s/%s" + (field.suffix.encode() if field else b"")
    own, total = answer.own(metric), answer.total(metric)

    def part(rows: slice) -> _Part:
        first = texts_of(answer.profile, own[rows], unit)
        for row in np.flatnonzero(~accounted[rows]).tolist():
            first[row] = b"--"
        return _Part(template, (first, texts_of(answer.profile, total[rows], unit)))

    return part


def node_lines(
    answer: Answer, fields: list[str], values: Callable[[bytes], str] | None
) -> Iterator[bytes]:
    """The lines in pieces; *values* gives the text below each row but the root, by name."""
    nodes = NodeTexts(answer.profile, answer.drawing.filler)
    numbers = {name: _own_and_total(answer, name) for name in fields if FIELDS[name].unit}
    defined = _own_and_total(answer, DEFINED)
    attributes: dict[str, Callable[[int], str | None]] = {
        "device": nodes.device,
        "op_types": lambda node: "|".join(nodes.types(node)),
        "input_shapes": lambda node: "|".join(nodes.inputs(node)),
    }

    def part(name: str, rows: slice, node: I64) -> _Part:
        if name in attributes:
            return _Part.of([attributes[name](number) for number in node.tolist()])
        own_and_total = numbers[name](rows)
        if name == "params":
            shapes = _shapes(answer, nodes, node)
            return _Part(b"%s" + own_and_total.template, (shapes, *own_and_total.columns))
        if name == "occurrence":
            other = defined(rows)
            template = own_and_total.template + b"|" + other.template
            return _Part(template, (*own_and_total.columns, *other.columns))
        return own_and_total

    hidden = answer.hidden_above() if "num_hidden_ops" in answer.query.select else None
    label, node, indent = answer.label, answer.node, 2 * (answer.tree.depth - 1)
    if hidden is not None:
        # Hidden rows above a row indent it and all below it by one step more.
        indent = indent + 2 * answer.tree.sum_above(np.minimum(hidden, 1))
    for rows in chunks(len(answer), label.length + indent):
        names = label.take(rows).tolist()
        parts = [part(name, rows, node[rows]) for name in fields]
        if hidden is None and values is None:
            yield _joined_lines(indent[rows], names, parts)
            continue
        none = [b""] * len(names)
        above = none if hidden is None else _hidden(hidden[rows], indent[rows])
        below = none
        if values is not None:
            below = [values(name).encode("utf-8", "surrogateescape") for name in names]
            if not rows.start:
                below[0] = b""  # the root has none
        own = _lines(indent[rows], names, parts)
        yield b"".join(text for row in zip(above, own, below, strict=True) for text in row)


def _shapes(answer: Answer, nodes: NodeTexts, node: I64) -> list[bytes]:
    """The shape of each node that has one to show, and what stands between it and the number."""
    scalar_shown = answer.query.era.scalar_shape
    return [
        b"" if not shape or (shape == _SCALAR and not scalar_shown) else shape.encode() + b", "
        for shape in map(nodes.shape, node.tolist())
    ]


def _hidden(count: I64, indent: I64) -> list[bytes]:
    """A line before each row that has hidden rows above it, with their number."""
    return [
        f"{' ' * (place - 2)}...hidden {hidden}...\n".encode() if hidden else b""
        for hidden, place in zip(count.tolist(), indent.tolist(), strict=True)
    ]


def code_lines(answer: Answer, fields: list[str]) -> Iterator[bytes]:
    """The lines of code view, in pieces."""
    nodes = NodeTexts(answer.profile, answer.drawing.filler)
    metrics = [name for name in fields if FIELDS[name].unit and name not in _NOT_OF_CODE]
    numbers = {name: _own_and_total(answer, name) for name in metrics}
    attributes: dict[str, Callable[[I64], str | None]] = {
        "device": nodes.devices_of,
        "op_types": lambda members: "|".join(nodes.types_of(members)),
    }
    none = np.empty(0, np.int64)
    start, member = answer.members() if attributes.keys() & {*fields} else (none, none)
    # Most rows of deep stacks hold no nodes.
    of_none = {name: of(none) for name, of in attributes.items()}

    def attribute(name: str, row: int) -> str | None:
        first, last = start[row], start[row + 1]
        return attributes[name](member[first:last]) if first < last else of_none[name]

    def part(name: str, rows: slice) -> _Part:
        here = range(*rows.indices(len(answer)))
        if name in _NOT_OF_CODE:
            return _Part.of([f"{name} N/A in {answer.view.name} view"] * len(here))
        if name in attributes:
            return _Part.of([attribute(name, row) for row in here])
        return numbers[name](rows)

    label, indent = answer.label, 2 * (answer.tree.depth - 1)
    for rows in chunks(len(answer), label.length + indent):
        parts = [part(name, rows) for name in fields]
        yield _joined_lines(indent[rows], label.take(rows).tolist(), parts)


def _joined_lines(indent: I64, names: Sequence[bytes], parts: Sequence[_Part]) -> bytes:
    if any(part.shown is not None for part in parts):
        return b"".join(_lines(indent, names, parts))
    columns, between = _columns(indent, names, parts)
    # What stands between two columns is the same in every line.
    pieces = [item for pair in zip(columns, between, strict=True) for item in pair if item]
    texts = [b""] * (len(pieces) * len(names))
    for place, piece in enumerate(pieces):
        column = [piece] * len(names) if isinstance(piece, bytes) else piece
        texts[place :: len(pieces)] = column
    return b"".join(texts)


def _lines(indent: I64, names: Sequence[bytes], parts: Sequence[_Part]) -> list[bytes]:
    if all(part.shown is None for part in parts):
        columns, between = _columns(indent, names, parts)
        template = b"".join(b"%s" + text for text in between)
        return [template % row for row in zip(*columns, strict=True)]
    rows = zip(*(part.texts() for part in parts), strict=True)
    return [
        b"%s%s (%s)\n" % (begin, name, b", ".join([text for text in texts if text is not None]))
        for begin, name, texts in zip(_spaces(indent), names, rows, strict=True)
    ]


def _columns(
    indent: I64, names: Sequence[bytes], parts: Sequence[_Part]
) -> tuple[list[Sequence[bytes]], list[bytes]]:
    """(columns, what stands behind each), where every row has all *parts*."""
    template = b"%s%s (" + b", ".join(part.template for part in parts) + b")\n"
    columns = [column for part in parts for column in part.columns]
    return [_spaces(indent), names, *columns], template.split(b"%s")[1:]


def _spaces(indent: I64) -> list[bytes]:
    return map_unique(lambda count: b" " * count, indent.tolist())
