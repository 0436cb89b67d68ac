"""Lines of scope and graph view, where a row is one graph node at most.

indent name (3x4, 12/24 params, 3/3 flops, 24B/24B, …)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.query.counted import DEFINED
from tfprof.results.node_texts import NodeTexts
from tfprof.tables.fields import FIELDS
from tfprof.writers.lines import Part, line_list, lines, part_of
from tfprof.writers.numbers import OwnAndTotal, chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.columns.strings import I64
    from tfprof.query.counted import Answer

_SCALAR = "1"


def node_lines(
    answer: Answer, fields: list[str], values: Callable[[bytes], str] | None
) -> Iterator[bytes]:
    """The lines in pieces; *values* gives the text below each row but the root, by name."""
    nodes = NodeTexts(answer.profile, answer.drawing.filler)
    numbers = {name: OwnAndTotal(answer, name) for name in fields if FIELDS[name].unit}
    defined = OwnAndTotal(answer, DEFINED)
    attributes: dict[str, Callable[[int], str | None]] = {
        "device": nodes.device,
        "op_types": nodes.op_types,
        "input_shapes": lambda node: "|".join(nodes.inputs(node)),
    }

    def part(name: str, rows: slice, node: I64) -> Part:
        if name in attributes:
            return part_of([attributes[name](number) for number in node.tolist()])
        own_and_total = numbers[name].of(rows)
        if name == "params":
            shapes = _shapes(answer, nodes, node)
            return Part(b"%s" + own_and_total.template, (shapes, *own_and_total.columns))
        if name == "occurrence":
            other = defined.of(rows)
            template = own_and_total.template + b"|" + other.template
            return Part(template, (*own_and_total.columns, *other.columns))
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
            yield lines(indent[rows], names, parts)
            continue
        none = [b""] * len(names)
        above = none if hidden is None else _hidden(hidden[rows], indent[rows])
        below = none if values is None else _below(values, names, has_root=not rows.start)
        own = line_list(indent[rows], names, parts)
        yield b"".join(text for row in zip(above, own, below, strict=True) for text in row)


def _below(values: Callable[[bytes], str], names: list[bytes], *, has_root: bool) -> list[bytes]:
    """The text below each row; the root, the first of all, has none."""
    texts = [values(name).encode("utf-8", "surrogateescape") for name in names[has_root:]]
    return [b"", *texts] if has_root else texts


def _shapes(answer: Answer, nodes: NodeTexts, node: I64) -> list[bytes]:
    """The shape of each node that has one to show, and what stands between it and the number."""
    scalar_shown = answer.query.era.scalar_shape
    return [
        b"" if not shape or (shape == _SCALAR and not scalar_shown) else shape.encode() + b", "
        for shape in map(nodes.shape, node.tolist())
    ]


def _hidden(count: I64, indent: I64) -> list[bytes]:
    """A line before each row that has hidden rows above it, with their number."""
    places = zip(count.tolist(), indent.tolist(), strict=True)
    return [
        f"{' ' * (place - 2)}...hidden {hidden}...\n".encode() if hidden else b""
        for hidden, place in places
    ]
