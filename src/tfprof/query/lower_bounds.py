"""Which numbers of an answer are lower bounds: a node that they count lacks a number of its own.

    float_ops   a node that computes and is not counted, or runs more often than it counts
    params      a variable of unknown shape

Totals hold such a node as they hold its numbers: a row is marked if something counted in it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import Bool
    from tfprof.query.counted import Answer


def lower_bounds(answer: Answer, metric: str) -> tuple[Bool, Bool] | tuple[None, None]:
    """(own, total): whether each number of *metric* is a lower bound; None if none can be."""
    if metric not in _GAPS or (metric == "float_ops" and answer.flops is None):
        return None, None
    own, total = answer.counted.holding(metric, lambda: _GAPS[metric](answer))
    return own[answer.counted_row], total[answer.counted_row]


def _float_ops(answer: Answer) -> Bool:
    profile, counts = answer.profile, answer.flops
    assert counts is not None
    from tfprof.ops.counting import lower_bound_nodes  # noqa: PLC0415 - where rules counted

    return lower_bound_nodes(profile, counts, profile.nodes.float_ops, answer.query.step)


def _params(answer: Answer) -> Bool:
    from tfprof.ops.classes import of_class  # noqa: PLC0415 - only if selected

    profile = answer.profile
    variable = of_class(profile, "variable handle", "reference variable")
    return variable & profile.in_graph & ~profile.nodes.shape.are_whole()


_GAPS: Final[dict[str, Callable[[Answer], Bool]]] = {
    "float_ops": _float_ops,
    "params": _params,
}
