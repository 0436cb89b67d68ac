"""What a report is an answer to, as data: the question, the runs, what was hidden, the notes.

A number means little without them: a file that holds only rows cannot tell a model without
variables from one whose variables were too deep to be shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.foundation.arguments import INT64_MAX
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.query.answer import account, show, start
from tfprof.tables.options import ANY, OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.model import Note, Profile
    from tfprof.query.counted import Answer
    from tfprof.query.query import Query

_MISSES_STREAM = "Found accelerator operation but misses accelerator stream stats!"


def options(query: Query) -> dict[str, Any]:
    """Every option as users spell it, but for the output: where it went is not what it says."""

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


def coverage(profile: Profile) -> dict[str, int] | None:
    """How many nodes there are and how many the runs have stats of; None without runs."""
    if not profile.steps:
        return None
    return {"nodes": len(profile), "nodes_with_stats": int(profile.covered.sum())}


def flops(answer: Answer) -> dict[str, Any] | None:
    """How many operations there are, and which float_ops does not count; None if as logged."""
    if answer.flops is None:
        return None
    return {
        "operations": answer.flops.ops,
        "uncounted": [one._asdict() for one in answer.flops.uncounted],
    }


def truncated(answer: Answer) -> dict[str, Any]:
    """How many rows of the view are not shown, and how many each option hides.

    A row that two options hide is counted with both, so these may add up to more.
    """
    drawing, view, query = answer.drawing, answer.view, answer.query
    counted = account(answer.profile, view, drawing, query)
    tree, at = start(counted, view, query)
    hides = {
        "account_type_regexes": len(drawing.tree) - len(counted.tree),
        "start_name_regexes": len(counted.tree) - len(tree),
    }
    free = replace(
        query, max_depth=INT64_MAX, minimum={}, trim_names=(), show_names=None, hide_names=()
    )
    for option, restriction in _restrictions(query).items():
        left, _ = show(counted, tree, at, view, replace(free, **restriction))
        hides[option] = len(tree) - len(left)
    return {
        "hidden_rows": len(drawing.tree) - len(answer),
        "reasons": {option: hides[option] for option in OPTIONS if hides.get(option)},
    }


def hidden_line(hidden: dict[str, Any]) -> str:
    """What `truncated` tells, as a sentence."""
    reasons = ", ".join(f"{option} hides {n}" for option, n in hidden["reasons"].items())
    return f"{hidden['hidden_rows']} rows are not shown ({reasons})."


def notes(answer: Answer, told: Iterable[Note]) -> list[dict[str, Any]]:
    """What was *told* of the profile and the report, and what data cannot show of the report."""
    lines = [{"text": note.text, "times": note.times} for note in told]
    if answer.profile.misses_accelerator_stream:
        lines.append({"text": _MISSES_STREAM, "times": 1})
    in_code = ("occurrence", "input_shapes") if answer.view.name == "code" else ()
    lines += [
        {"text": f"{name} N/A in code view", "times": 1}
        for name in in_code
        if name in answer.query.select
    ]
    if "tensor_value" in answer.query.select:
        lines.append({"text": "tensor_value is in the text and in proto only", "times": 1})
    return lines


def _restrictions(query: Query) -> dict[str, dict[str, Any]]:
    """What each option that hides rows asks of a query by itself."""
    return {
        "max_depth": {"max_depth": query.max_depth},
        **{f"min_{metric}": {"minimum": {metric: n}} for metric, n in query.minimum.items()},
        "trim_name_regexes": {"trim_names": query.trim_names},
        "show_name_regexes": {"show_names": query.show_names},
        "hide_name_regexes": {"hide_names": query.hide_names},
    }
