"""Lines of scope and graph view, where a row is one graph node at most.

indent name (3x4, 12/24 params, 3/3 flops, 24B/24B, …)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.answered import DEFINED
from tfprof.fields import FIELDS
from tfprof.reporters.node_texts import NodeTexts
from tfprof.reporters.numbers import OwnAndTotal, chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.answered import Answer


_SCALAR = "1"


def node_lines(
    answer: Answer, fields: list[str], values: Callable[[bytes], str] | None
) -> Iterator[str]:
    """The lines, in runs; *values* is what to print below each row but the root, by its name."""
    nodes = NodeTexts(answer.profile, answer.drawing.filler)
    numbers = {name: OwnAndTotal(answer, name) for name in fields if FIELDS[name].unit}
    defined = OwnAndTotal(answer, DEFINED)
    attributes: dict[str, Callable[[int], str | None]] = {
        "device": nodes.device,
        "op_types": nodes.op_types,
        "input_shapes": lambda node: "|".join(nodes.inputs(node)),
    }

    def column(name: str, rows: slice, node: list[int]) -> list[str] | list[str | None]:
        """One part a row; None is no part at all."""
        if name in attributes:
            return [attributes[name](one) for one in node]
        parts = numbers[name].of(rows)
        if name == "params":
            shapes = [_shape_shown(answer, nodes.shape(one)) for one in node]
            return [f"{s}, {part}" if s else part for s, part in zip(shapes, parts, strict=True)]
        if name == "occurrence":
            return [f"{run}|{d}" for run, d in zip(parts, defined.of(rows), strict=True)]
        return parts

    hidden = answer.hidden_above() if "num_hidden_ops" in answer.query.select else None
    label, node, indent = answer.label, answer.node, 2 * (answer.tree.depth - 1)
    if hidden is not None:
        # A row with hidden ones above it stands one step further in, and so does all below it.
        indent = indent + 2 * answer.tree.sum_above(np.minimum(hidden, 1))
    for rows in chunks(len(answer)):
        columns = [column(name, rows, node[rows].tolist()) for name in fields]
        names = label.take(rows)
        lines = joined_lines(indent[rows].tolist(), list(names.texts()), columns)
        if hidden is not None:
            places = zip(lines, hidden[rows].tolist(), indent[rows].tolist(), strict=True)
            lines = [_with_hidden(line, count, place) for line, count, place in places]
        if values is not None:
            root = 1 if rows.start == 0 else 0
            shown = [values(name) for name in names.take(slice(root, None))]
            lines[root:] = [line + value for line, value in zip(lines[root:], shown, strict=True)]
        yield "".join(lines)


def _shape_shown(answer: Answer, shape: str) -> str:
    return "" if shape == _SCALAR and not answer.query.era.scalar_shape else shape


def _with_hidden(line: str, count: int, indent: int) -> str:
    """The line, behind one that tells how many rows are hidden above it."""
    return f"{' ' * (indent - 2)}...hidden {count}...\n{line}" if count else line


def joined_lines(
    indents: list[int], names: list[str], columns: list[list[str] | list[str | None]]
) -> list[str]:
    """A line a row: its name, and its parts in brackets."""
    rows = zip(*columns, strict=True) if columns else [()] * len(names)
    lines = []
    for indent, name, row in zip(indents, names, rows, strict=True):
        parts = ", ".join([part for part in row if part is not None])
        lines.append(f"{' ' * indent}{name} ({parts})\n")
    return lines
