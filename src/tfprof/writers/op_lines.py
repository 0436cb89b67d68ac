"""Lines of op view, where a row is an operation type.

    MatMul                          618.97ms (63.56%, 16.51%),   3450|30
    name, 25 wide                  own (running total, own), 30 wide each

Percentages are of the root's total. With input_shapes, the lines below list the input shapes of its
nodes, how often each ran, and the time it took.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.foundation import units
from tfprof.query.counted import DEFINED, Answer
from tfprof.results.node_texts import NodeTexts
from tfprof.tables.fields import FIELDS
from tfprof.writers.numbers import map_unique

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.columns.strings import I64
    from tfprof.results.node_texts import InputGroup

_NAME_WIDTH, _METRIC_WIDTH, _OCCURRENCE_WIDTH = 25, 30, 10
_SUFFIX = {"params": " params", "float_ops": " float_ops"}


def op_lines(answer: Answer, fields: list[str]) -> Iterator[bytes]:
    """The lines; the root's only where there is no other row."""
    nodes = NodeTexts(answer.profile, answer.drawing.filler)
    every_row = range(len(answer))
    attributes: dict[str, Callable[[I64], str]] = {
        "device": lambda members: nodes.devices_of(members) or "",
        "op_types": lambda members: "|".join(nodes.types_of(members)),
    }
    columns: list[list[str]] = []
    for name in fields:
        if name in attributes:
            start, member = answer.members()
            of = attributes[name]
            columns.append([of(member[start[row] : start[row + 1]]) for row in every_row])
        elif name == "occurrence":
            columns.append(_occurrences(answer))
        elif name != "input_shapes":
            columns.append(_metric(answer, name))
    groups = None
    if "input_shapes" in fields:
        from tfprof.results.input_groups import input_groups  # noqa: PLC0415 - few ask for them

        groups = input_groups(answer, nodes)
    first = 0 if len(answer.drawing.tree) == 1 else 1
    names = answer.label.tolist()
    for row in every_row[first:]:
        parts = ", ".join(column[row] for column in columns)
        shapes = _input_shapes(groups(row)) if groups else ""
        line = f"{parts}\n{shapes}".encode("utf-8", "surrogateescape")
        yield names[row].ljust(_NAME_WIDTH) + line


def _metric(answer: Answer, name: str) -> list[str]:
    own, total = answer.own(name), answer.total(name)
    root_total = float(total[0])
    # parity Q28: a share of bytes is printed only where the row itself has some.
    has_share = (own > 0) if name.endswith("bytes") else (total > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        running = np.where(has_share, 100.0 * total / root_total, 0.0).tolist()
        alone = np.where(has_share, 100.0 * own / root_total, 0.0).tolist()
    unit = FIELDS[name].unit or units.count
    suffix = _SUFFIX.get(name, "")
    return [
        f"{text}{suffix} ({a:.2f}%, {p:.2f}%)".rjust(_METRIC_WIDTH)
        for text, a, p in zip(map_unique(unit, own.tolist()), running, alone, strict=True)
    ]


def _occurrences(answer: Answer) -> list[str]:
    runs, defined = answer.own("occurrence").tolist(), answer.own(DEFINED).tolist()
    texts = map(str, defined)
    if answer.query.era.counts_runs:
        texts = map("{}|{}".format, map(units.plain, runs), defined)
    return [text.rjust(_OCCURRENCE_WIDTH) for text in texts]


def _input_shapes(groups: list[InputGroup]) -> str:
    """The block below a line: the shapes of the inputs of its nodes."""
    if not groups:
        return ""
    lines = [
        "input_type: "
        + ",\t".join(group.shapes)
        + f"\t(run*{units.plain(group.runs)}|defined*{group.defined})"
        f"\texec_time: {units.micros(group.micros)}"
        for group in groups
    ]
    return "\n" + "\n".join(lines) + "\n\n"
