"""A report as a Table: where each row stands, and the columns that were selected.

    row  parent  depth  name          accounted  shape   own_params  total_params  …
    0    None    1      _TFProfRoot   False      None    0           24
    1    0       2      w             True       [3, 4]  12          24

Numbers are whole and have no unit; the name of a column says what it counts. The facts say what the
report answers: rows alone do not show whether a model has no variables or they are too deep.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.columns.strings import clean_text
from tfprof.foundation import units
from tfprof.model import Note
from tfprof.query.answer import account, only, restrictions, shown_fields, start
from tfprof.query.counted import DEFINED
from tfprof.results.input_groups import input_groups
from tfprof.results.node_texts import NodeTexts
from tfprof.results.table import Column, Dims, Hidden, Table, incomplete_column
from tfprof.tables.fields import FIELDS
from tfprof.tables.options import ANY, OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tfprof.columns.strings import I64
    from tfprof.query.counted import Answer
    from tfprof.query.query import Query
    from tfprof.results.table import Kind
    from tfprof.views import View

SCHEMA = "tfprof.report/1"
MISSES_STREAM = "Found accelerator operation but misses accelerator stream stats!"


def report_table(answer: Answer, notes: Sequence[Note] = ()) -> Table:
    """The table of *answer*; *notes* are about the profile and the report."""
    title, tree = f"{answer.view.name} view", "" if answer.view.chain else "depth"
    samples = answer.counted.samples
    return Table(
        title,
        SCHEMA,
        tuple(_columns(answer)),
        len(answer),
        tree=tree,
        facts=_facts(answer),
        notes=(*notes, *_data_notes(answer)),
        hiding=partial(_hidden_rows, answer),
        caveats=() if samples is None else (f"{samples}.",),
        sparse=True,
    )


def _columns(answer: Answer) -> list[Column]:
    parent, depth = answer.tree.parent, answer.tree.depth

    def parents(rows: slice) -> list[int | None]:
        return [None if row < 0 else row for row in parent[rows].tolist()]

    columns = [
        Column("row", "number", range(len(answer)), placing=True),
        Column("parent", "number", parents, placing=True),
        Column("depth", "number", depth, placing=True),
        Column("name", "text", answer.label, heading="node name", placing=True),
        Column("accounted", "flag", answer.accounted, placing=True),
    ]
    attributes = _group_columns(answer) if answer.view.groups else _node_columns(answer)
    for name in shown_fields(answer):
        if name in attributes:
            columns.append(attributes[name])
        elif name == "occurrence":
            if not _lacks_occurrence(answer.view):
                columns += [*_numbers(answer, name, "runs"), *_numbers(answer, DEFINED, DEFINED)]
        elif FIELDS[name].unit:
            if name == "params" and "shape" in attributes:
                columns.append(attributes["shape"])
            columns += _numbers(answer, name, name)
    if any(column.lower is not None for column in columns):
        columns.append(incomplete_column(columns))
    return columns


def _numbers(answer: Answer, metric: str, name: str) -> list[Column]:
    unit = FIELDS[metric].unit if metric in FIELDS else units.count
    own, total = answer.lower_bounds(metric)
    totals, chain = answer.total(metric), answer.view.chain
    # A share of a number that is not known in full would be a guess.
    unknown = total is not None and bool(total[0])
    samples, kind = answer.counted.samples, _kind(totals)
    adds_up = samples is None or samples.statistic.adds_up
    has_shares = adds_up and not unknown and metric not in (DEFINED, "occurrence")
    whole = totals[0].item() if has_shares else 0
    marks: dict[str, Any] = {"accounted": answer.accounted, "lower": own, "whole": whole * chain}
    return [
        Column(f"own_{name}", kind, answer.own(metric), unit, **marks),
        Column(
            f"total_{name}",
            kind,
            totals,
            unit,
            lower=total,
            whole=whole * (not chain),
            running=chain,
        ),
    ]


def _kind(numbers: I64) -> Kind:
    return "number" if numbers.dtype == np.int64 else "real"


def _node_columns(answer: Answer) -> dict[str, Column]:
    nodes, node = NodeTexts(answer.profile, answer.drawing.filler), answer.node

    def each(value: Callable[[int], Any]) -> Callable[[slice], list[Any]]:
        return lambda rows: [value(number) for number in node[rows].tolist()]

    return {
        "shape": Column("shape", "shape", each(lambda number: nodes.dims(number) or None)),
        "device": Column("devices", "texts", each(lambda number: _clean([nodes.device(number)]))),
        "op_types": Column("op_types", "texts", each(lambda number: _clean(nodes.types(number)))),
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
        "device": Column("devices", "texts", each(lambda m: _clean(nodes.known_devices_of(m)))),
        "op_types": Column("op_types", "texts", each(lambda m: _clean(nodes.types_of(m)))),
    }
    if answer.view.chain and "input_shapes" in answer.query.select:
        of_row, samples = input_groups(answer, nodes), answer.counted.samples

        def groups(rows: slice) -> list[list[dict[str, Any]]]:
            return [
                [{**g._asdict(), "shapes": list(map(_dims, g.shapes))} for g in of_row(row)]
                for row in range(*rows.indices(len(answer)))
            ]

        kind: Kind = "groups" if samples is None or samples.statistic.whole else "real_groups"
        columns["input_shapes"] = Column("input_shape_groups", kind, groups)
    return columns


def _clean(texts: Iterable[str | None]) -> list[str]:
    return [clean_text(text) for text in texts if text is not None]


@lru_cache(1 << 14)
def _dims(numbered: str) -> Dims:
    """The dimensions in "0:3x4"; None in "0:unknown"."""
    dims = numbered.partition(":")[2]
    return None if dims == "unknown" else [int(dim) for dim in dims.split("x")]


# --- what the report answers ---------------------------------------------------------------------


def _facts(answer: Answer) -> dict[str, Any]:
    """The members of the JSON document before the rows; None: there is no run, no rule counted."""
    profile, counts, samples = answer.profile, answer.flops, answer.counted.samples
    coverage = {"nodes": len(profile), "nodes_with_stats": int(profile.covered.sum())}
    uncounted = [op._asdict() for op in counts.uncounted] if counts else []
    return {
        "view": answer.view.name,
        "query": query_options(answer.query),
        "steps": [step.number for step in profile.steps],
        **({} if samples is None else {"fleet": samples.facts}),
        "coverage": coverage if profile.steps else None,
        "flops": {"operations": counts.ops, "uncounted": uncounted} if counts else None,
    }


def query_options(query: Query) -> dict[str, Any]:
    """Every option as users spell it, except the output, which does not change the rows."""

    def spelled(regexes: tuple[str, ...] | None) -> list[str]:
        return list(ANY if regexes is None else regexes)

    values: dict[str, Any] = {
        "max_depth": query.max_depth,
        "step": -1 if query.step is None else query.step,
        "order_by": query.order_by or "",
        "account_type_regexes": spelled(query.account_types),
        "start_name_regexes": spelled(query.start_names),
        "trim_name_regexes": spelled(query.trim_names),
        "show_name_regexes": spelled(query.show_names),
        "hide_name_regexes": spelled(query.hide_names),
        "account_displayed_op_only": query.displayed_only,
        "select": list(query.select),
        "era": query.era.name,
        "device_regexes": spelled(query.devices),
        "flops": query.flops,
        "dim": [f"{name}={size}" for name, size in query.dims.items()],
        "frames": query.frames,
    }
    for name in OPTIONS:
        if name.startswith("min_"):
            values[name] = query.minimum.get(name.removeprefix("min_"), 0)
    return {name: values[name] for name in OPTIONS if name in values}


def _hidden_rows(answer: Answer) -> Hidden:
    # The stages of the answer run again, and each restriction in force is counted by itself.
    view, drawing, query = answer.view, answer.drawing, answer.query
    counted = account(answer.profile, view, drawing, query, answer.counted.samples)
    tree, at = start(counted, view, query)
    hides = {
        "account_type_regexes": len(drawing.tree) - len(counted.tree),
        "start_name_regexes": len(counted.tree) - len(tree),
    }
    if query.era.totals_from_start:
        counted, at = only(counted, at)
    for option, passes in restrictions(counted, tree, at, view, query):
        hides[option] = int(np.count_nonzero(~passes[1:]))  # the root is always displayed
    reasons = {option: hides[option] for option in OPTIONS if hides.get(option)}
    return Hidden(len(drawing.tree) - len(answer), reasons)


def _lacks_occurrence(view: View) -> bool:
    """Whether a view has nothing to show for occurrence and input_shapes, as code view."""
    return view.groups and not view.chain


def _data_notes(answer: Answer) -> list[Note]:
    """What the rows cannot show of what was selected."""
    notes = [Note(MISSES_STREAM)] if answer.profile.misses_accelerator_stream else []
    absent = ("occurrence", "input_shapes") if _lacks_occurrence(answer.view) else ()
    notes += [
        Note(f"{name} N/A in {answer.view.name} view")
        for name in absent
        if name in answer.query.select
    ]
    if answer.counted.samples is not None:
        notes.append(Note(str(answer.counted.samples)))
    if "tensor_value" in answer.query.select:
        notes.append(Note("tensor_value is in the text and in proto only"))
    return notes
