"""What a report answers, as data: the query, the runs, what float_ops counts, hidden rows, notes.

Numbers mean little without them: rows alone do not show whether a model has no variables or they
are too deep to be displayed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.model import Note
from tfprof.query.answer import account, only, restrictions, start
from tfprof.results.table import Hidden
from tfprof.tables.options import ANY, OPTIONS

if TYPE_CHECKING:
    from tfprof.query.counted import Answer
    from tfprof.query.query import Query
    from tfprof.views import View

_MISSES_STREAM = "Found accelerator operation but misses accelerator stream stats!"


def facts(answer: Answer) -> dict[str, Any]:
    """The members of the JSON document before the rows; None: there is no run, no rule counted."""
    profile, counts = answer.profile, answer.flops
    coverage = {"nodes": len(profile), "nodes_with_stats": int(profile.covered.sum())}
    uncounted = [op._asdict() for op in counts.uncounted] if counts else []
    return {
        "view": answer.view.name,
        "query": options(answer.query),
        "steps": [step.number for step in profile.steps],
        "coverage": coverage if profile.steps else None,
        "flops": {"operations": counts.ops, "uncounted": uncounted} if counts else None,
    }


def options(query: Query) -> dict[str, Any]:
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
    }
    for name in OPTIONS:
        if name.startswith("min_"):
            values[name] = query.minimum.get(name.removeprefix("min_"), 0)
    return {name: values[name] for name in OPTIONS if name in values}


def hidden_rows(answer: Answer) -> Hidden:
    """The rows of the view that *answer* does not display, and the options that hide them.

    The stages of the answer run again, and each restriction in force is counted by itself.
    """
    view, drawing, query = answer.view, answer.drawing, answer.query
    counted = account(answer.profile, view, drawing, query)
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


def lacks_occurrence(view: View) -> bool:
    """Whether a view has nothing to show for occurrence and input_shapes, as code view."""
    return view.groups and not view.chain


def data_notes(answer: Answer) -> list[Note]:
    """What the rows cannot show of what was selected."""
    notes = [Note(_MISSES_STREAM)] if answer.profile.misses_accelerator_stream else []
    absent = ("occurrence", "input_shapes") if lacks_occurrence(answer.view) else ()
    notes += [
        Note(f"{name} N/A in {answer.view.name} view")
        for name in absent
        if name in answer.query.select
    ]
    if "tensor_value" in answer.query.select:
        notes.append(Note("tensor_value is in the text and in proto only"))
    return notes
