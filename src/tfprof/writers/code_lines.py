"""Lines of code view, where a row is a line of Python and holds the nodes it created.

indent model.py:31:build (0us/22.44ms, …)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.results.node_texts import NodeTexts
from tfprof.tables.fields import FIELDS
from tfprof.writers.lines import Part, lines, part_of
from tfprof.writers.numbers import OwnAndTotal, chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.columns.strings import I64
    from tfprof.query.counted import Answer

_NOT_HERE = ("occurrence", "input_shapes")


def code_lines(answer: Answer, fields: list[str]) -> Iterator[bytes]:
    """The lines, in runs."""
    nodes = NodeTexts(answer.profile, answer.drawing.filler)
    numbers = {
        name: OwnAndTotal(answer, name)
        for name in fields
        if FIELDS[name].unit and name not in _NOT_HERE
    }
    attributes: dict[str, Callable[[I64], str | None]] = {
        "device": nodes.devices_of,
        "op_types": nodes.op_types_of,
    }
    none = np.empty(0, np.int64)
    start, member = answer.members() if attributes.keys() & {*fields} else (none, none)
    # Most rows of deep stacks hold no nodes.
    of_none = {name: of(none) for name, of in attributes.items()}

    def attribute(name: str, row: int) -> str | None:
        first, last = start[row], start[row + 1]
        return attributes[name](member[first:last]) if first < last else of_none[name]

    def part(name: str, rows: slice) -> Part:
        here = range(*rows.indices(len(answer)))
        if name in _NOT_HERE:
            return part_of([f"{name} N/A in {answer.view.name} view"] * len(here))
        if name in attributes:
            return part_of([attribute(name, row) for row in here])
        return numbers[name].of(rows)

    label, indent = answer.label, 2 * (answer.tree.depth - 1)
    for rows in chunks(len(answer), label.length + indent):
        parts = [part(name, rows) for name in fields]
        yield lines(indent[rows], label.take(rows).tolist(), parts)
