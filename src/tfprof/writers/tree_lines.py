"""Lines of scope, graph and code view: an indented name, and its parts in brackets.

    indent  name       ( part   , part         , part  )      a part may be missing in some rows
            w          ( 3x4, 12/24 params, 24B/24B )         scope, graph: one node at most
    ··      w/Momentum ( 3x4, 12/12 params, 12B/12B , cpu:0 )
            model.py:31:build ( 0us/22.44ms )                 code: the nodes that a line created

A part is a few columns of texts, for a few thousand rows at a time; lines are what stands beside
each other in all columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.foundation import units
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.kernels.core import CORE
from tfprof.query.counted import DEFINED, Answer
from tfprof.results.node_texts import NodeTexts
from tfprof.tables.fields import FIELDS
from tfprof.writers.number_texts import number_texts
from tfprof.writers.numbers import chunks, map_unique, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tfprof.columns.strings import I64, Bool

    _Column = Strings | list[bytes] | bytes  # one text per row, or the same in all

_SCALAR = "1"
_NOT_OF_CODE = ("occurrence", "input_shapes")
_UNCOUNTED = np.frombuffer(b"--/", np.uint8)


class _Part(NamedTuple):
    """What stands in brackets for one field."""

    columns: tuple[_Column, ...]
    shown: Bool | None = None  # which rows have it; None: all

    @classmethod
    def of(cls, texts: Sequence[str | None]) -> _Part:
        """A part from one text per row; None is no part at all."""
        column = Strings.of((text or "").encode("utf-8", "surrogateescape") for text in texts)
        return cls((column,), np.array([text is not None for text in texts], np.bool_))


def _own_and_total(
    answer: Answer, metric: str, accounted: Bool, end: bytes = b""
) -> Callable[[slice], _Part]:
    """A metric of rows as "own/total", with -- for own where a row is not *accounted*."""
    field = FIELDS.get(metric)
    unit = (field and field.unit) or units.count
    end = (field.suffix.encode() if field else b"") + end
    own, total = answer.own(metric), answer.total(metric)

    def part(rows: slice) -> _Part:
        uncounted = np.flatnonzero(~accounted[rows])
        if CORE == "NumPy":
            texts = texts_of(answer.profile, own[rows], unit)
            for row in uncounted.tolist():
                texts[row] = b"--"
            return _Part((texts, b"/", texts_of(answer.profile, total[rows], unit), end))
        first = number_texts(own[rows], unit, b"/")
        if uncounted.size:
            first.start[uncounted], first.length[uncounted] = first.blob.size, len(_UNCOUNTED)
            first = Strings(np.append(first.blob, _UNCOUNTED), first.start, first.length)
        return _Part((first, number_texts(total[rows], unit, end)))

    return part


def node_lines(
    answer: Answer, fields: list[str], values: Callable[[bytes], str] | None
) -> Iterator[bytes]:
    """The lines in pieces; *values* gives the text below each row but the root, by name."""
    nodes = NodeTexts(answer.profile, answer.drawing.filler)
    accounted = answer.accounted
    numbers = {
        name: _own_and_total(answer, name, accounted, b"|" if name == "occurrence" else b"")
        for name in fields
        if FIELDS[name].unit
    }
    defined = _own_and_total(answer, DEFINED, accounted) if "occurrence" in fields else None
    attributes: dict[str, Callable[[int], str | None]] = {
        "device": nodes.device,
        "op_types": lambda node: "|".join(nodes.types(node)),
        "input_shapes": lambda node: "|".join(nodes.inputs(node)),
    }

    def part(name: str, rows: slice, node: I64) -> _Part:
        if name in attributes:
            return _Part.of([attributes[name](number) for number in node.tolist()])
        columns = numbers[name](rows).columns
        if name == "params":
            columns = (_shapes(answer, nodes, node), *columns)
        if name == "occurrence" and defined is not None:
            columns = (*columns, *defined(rows).columns)
        return _Part(columns)

    hidden = answer.hidden_above() if "num_hidden_ops" in answer.query.select else None
    label, indent = answer.label, 2 * (answer.tree.depth - 1)
    shows_nodes = not numbers.keys() - {"params"} >= {*fields}
    node = answer.node if shows_nodes else np.full(len(answer), -1, np.int64)
    if hidden is not None:
        # Hidden rows above a row indent it and all below it by one step more.
        indent = indent + 2 * answer.tree.sum_above(np.minimum(hidden, 1))
    for rows in chunks(len(answer), label.length + indent):
        names = label.take(rows)
        parts = [part(name, rows, node[rows]) for name in fields]
        lines = _lines(indent[rows], names, parts)
        if hidden is not None:
            lines.insert(0, _hidden(hidden[rows], indent[rows]))
        if values is not None:
            below = [values(name).encode("utf-8", "surrogateescape") for name in names]
            if not rows.start:
                below[0] = b""  # the root has none
            lines.append(Strings.of(below))
        yield _joined(lines, len(names))


def _shapes(answer: Answer, nodes: NodeTexts, node: I64) -> Strings:
    """The shape of each node that has one to show, and what stands between it and the number."""
    scalar_shown = answer.query.era.scalar_shape
    return Strings.of(
        b"" if not shape or (shape == _SCALAR and not scalar_shown) else shape.encode() + b", "
        for shape in map(nodes.shape, node.tolist())
    )


def _hidden(count: I64, indent: I64) -> Strings:
    """A line before each row that has hidden rows above it, with their number."""
    return Strings.of(
        f"{' ' * (place - 2)}...hidden {hidden}...\n".encode() if hidden else b""
        for hidden, place in zip(count.tolist(), indent.tolist(), strict=True)
    )


def code_lines(answer: Answer, fields: list[str]) -> Iterator[bytes]:
    """The lines of code view, in pieces."""
    nodes = NodeTexts(answer.profile, answer.drawing.filler)
    metrics = [name for name in fields if FIELDS[name].unit and name not in _NOT_OF_CODE]
    accounted = answer.accounted
    numbers = {name: _own_and_total(answer, name, accounted) for name in metrics}
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
        names = label.take(rows)
        yield _joined(_lines(indent[rows], names, parts), len(names))


def _lines(indent: I64, names: Strings, parts: Sequence[_Part]) -> list[_Column]:
    """The columns of whole lines."""
    columns: list[_Column] = [_spaces(indent), names, b" ("]
    before = np.zeros(len(names), np.bool_)  # whether a part stands before, in each row
    for part in parts:
        shown = np.ones_like(before) if part.shown is None else part.shown
        columns += [_where(b", ", before & shown), *(_where(text, shown) for text in part.columns)]
        before |= shown
    return [*columns, b")\n"]


def _spaces(indent: I64) -> _Column:
    if CORE == "NumPy":
        return map_unique(lambda count: b" " * count, indent.tolist())
    return Strings(np.full(int(indent.max()), ord(" "), np.uint8), np.zeros_like(indent), indent)


def _where(column: _Column, shown: Bool) -> _Column:
    """The *column* in these rows; nothing in others."""
    if shown.all():
        return column
    return _strings(column, shown.size).where(shown) if shown.any() else b""


def _strings(column: _Column, count: int) -> Strings:
    if isinstance(column, Strings):
        return column
    if isinstance(column, list):
        return Strings.of(column)
    zeros = np.zeros(count, np.int64)
    return Strings(np.frombuffer(column, np.uint8), zeros, zeros + len(column))


def _joined(columns: Sequence[_Column], count: int) -> bytes:
    """The columns side by side."""
    columns = [column for column in columns if column != b""]
    if CORE != "NumPy":
        return Strings.beside([_strings(column, count) for column in columns]).blob.tobytes()
    # Python joins a line faster than NumPy copies its pieces.
    texts = [b""] * (len(columns) * count)
    for place, column in enumerate(columns):
        rows = column.tolist() if isinstance(column, Strings) else column
        texts[place :: len(columns)] = [rows] * count if isinstance(rows, bytes) else rows
    return b"".join(texts)
