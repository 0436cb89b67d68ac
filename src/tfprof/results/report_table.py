"""A report as a Table: where each row stands, and the columns that were selected.

    row  parent  depth  name          accounted  shape   own_params  total_params  …
    0    None    1      _TFProfRoot   False      None    0           24
    1    0       2      w             True       [3, 4]  12          24

Numbers are whole and have no unit; the name of a column says what it counts.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from tfprof.foundation import units
from tfprof.query.counted import DEFINED
from tfprof.results import report_metadata
from tfprof.results.node_texts import NodeTexts
from tfprof.results.table import Column, Dims, Table
from tfprof.tables.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.columns.strings import I64
    from tfprof.model import Note
    from tfprof.query.counted import Answer

SCHEMA = "tfprof.report/1"


def report_table(answer: Answer, notes: Sequence[Note] = ()) -> Table:
    """The table of *answer*; *notes* are about the profile and the report."""
    return Table(
        f"{answer.view.name} view",
        SCHEMA,
        tuple(_columns(answer)),
        len(answer),
        tree="" if answer.view.chain else "depth",
        facts=report_metadata.facts(answer),
        notes=(*notes, *report_metadata.data_notes(answer)),
        hiding=partial(report_metadata.hidden_rows, answer),
    )


def _columns(answer: Answer) -> list[Column]:
    parent, depth = answer.tree.parent, answer.tree.depth
    columns = [
        Column("row", "number", range(len(answer)), placing=True),
        Column("parent", "number", lambda rows: _parents(parent[rows]), placing=True),
        Column("depth", "number", depth, placing=True),
        Column("name", "text", answer.label, heading="node name", placing=True),
        Column("accounted", "flag", answer.accounted, placing=True),
    ]
    attributes = _group_columns(answer) if answer.view.groups else _node_columns(answer)
    for name in shown_fields(answer):
        if name in attributes:
            columns.append(attributes[name])
        elif name == "occurrence":
            if not report_metadata.lacks_occurrence(answer.view):
                columns += [*_numbers(answer, name, "runs"), *_numbers(answer, DEFINED, DEFINED)]
        elif FIELDS[name].unit:
            if name == "params" and "shape" in attributes:
                columns.append(attributes["shape"])
            columns += _numbers(answer, name, name)
    return columns


def shown_fields(answer: Answer) -> list[str]:
    """The fields with a column, in order: the selected ones and those they imply."""
    shown = {name for field in answer.query.select for name in FIELDS[field].shows}
    if not answer.query.era.splits_time:
        shown &= {*answer.query.select}
    ordered = [name for name in FIELDS if name in shown and FIELDS[name].legend]
    if answer.view.groups:
        ordered.sort(key=_group_place)
    return ordered


def _group_place(name: str) -> int:
    """In views of groups, counts stand behind measurements."""
    if FIELDS[name].unit is None or name == "occurrence":
        return 2
    return 1 if name in ("params", "float_ops") else 0


def _parents(parent: I64) -> list[int | None]:
    return [number if number >= 0 else None for number in parent.tolist()]


def _numbers(answer: Answer, metric: str, name: str) -> list[Column]:
    unit = FIELDS[metric].unit if metric in FIELDS else units.count
    return [
        Column(f"own_{name}", "number", answer.own(metric), unit, accounted=answer.accounted),
        Column(f"total_{name}", "number", answer.total(metric), unit),
    ]


def _node_columns(answer: Answer) -> dict[str, Column]:
    nodes, node = NodeTexts(answer.profile, answer.drawing.filler), answer.node

    def each(value: Callable[[int], Any]) -> Callable[[slice], list[Any]]:
        return lambda rows: [value(number) for number in node[rows].tolist()]

    return {
        "shape": Column("shape", "shape", each(lambda number: nodes.dims(number) or None)),
        "device": Column("devices", "texts", each(nodes.device_list)),
        "op_types": Column("op_types", "texts", each(nodes.type_list)),
        "input_shapes": Column(
            "input_shapes", "inputs", each(lambda number: list(map(_dims, nodes.inputs(number))))
        ),
    }


def _group_columns(answer: Answer) -> dict[str, Column]:
    nodes = NodeTexts(answer.profile, answer.drawing.filler)
    start, member = answer.members()

    def each(value: Callable[[I64], Any]) -> Callable[[slice], list[Any]]:
        return lambda rows: [
            value(member[start[row] : start[row + 1]]) for row in range(*rows.indices(len(answer)))
        ]

    columns = {
        "device": Column("devices", "texts", each(nodes.device_list_of)),
        "op_types": Column("op_types", "texts", each(nodes.type_list_of)),
    }
    if answer.view.chain:
        runs = answer.profile.values("occurrence", answer.query.step)
        micros = answer.profile.values("micros", answer.query.step)

        def groups(members: I64) -> list[dict[str, Any]]:
            return [
                {**group._asdict(), "shapes": list(map(_dims, group.shapes))}
                for group in nodes.input_groups(members, runs, micros)
            ]

        columns["input_shapes"] = Column("input_shape_groups", "groups", each(groups))
    return columns


@lru_cache(1 << 14)
def _dims(numbered: str) -> Dims:
    """The dimensions in "0:3x4"; None in "0:unknown"."""
    dims = numbered.partition(":")[2]
    return None if dims == "unknown" else [int(dim) for dim in dims.split("x")]
