"""formulas(profile) → how the float operations of each node are counted, in a few lines each.

    2 · size(output) · input1[0]·input1[1]·input1[2]
    = 2 · 8·28·28·32 · 3·3·16
    = 57,802,752

Nodes that are the same to every rule share a text, so that a million nodes have a few thousand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.ops.classes import of_class
from tfprof.ops.counting import number_of
from tfprof.ops.inferred_shapes import with_inferred_shapes
from tfprof.ops.shape import UnknownShape
from tfprof.ops.signatures import signatures
from tfprof.ops.symbols import with_recorded_shapes
from tfprof.ops.table import rules
from tfprof.ops.written_formula import sentence_of, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.columns.strings import I64
    from tfprof.model import Profile
    from tfprof.ops.op import Op
    from tfprof.ops.shape import MaybeShape
    from tfprof.ops.table import FloatOps

_MOST: Final = 20_000  # formulas of a profile; the others are left out
_SENTENCES: Final = (
    f"Left out: the page has the formulas of {_MOST:,} different operations.",
    "The op log has the number.",
    "The graph with this node is not loaded.",
    "It calls functions; their nodes count instead.",
    "It calls a function whose body is not in the graph.",
    "It moves, stores or describes data: no arithmetic.",
    "There is no rule for this type.",
)
_LEFT_OUT, _IN_LOG, _NOT_IN_GRAPH, _CALLS, _NO_BODY, _MOVES, _NO_RULE = range(len(_SENTENCES))


def formulas(profile: Profile, dims: Mapping[str, int]) -> tuple[I64, list[str]]:
    """(the text of each node, the texts); *profile* as it was read, before rules count."""
    shaped = with_inferred_shapes(with_recorded_shapes(profile, dims), dims)
    table = rules("all")
    number = {op: at for at, op in enumerate(table)}
    of_type = np.array([number.get(op, -1) for op in profile.types.texts()], np.int64)
    of_rule = of_type[profile.nodes.op]
    text = _without_rule(profile)
    node = np.flatnonzero((of_rule >= 0) & profile.in_graph)
    distinct = signatures(shaped, node, of_rule[node], list(table.values()))
    numbers = {sentence: at for at, sentence in enumerate(_SENTENCES)}
    of_signature = np.zeros(len(distinct), np.int64)
    for row in range(min(len(distinct), _MOST)):
        of_signature[row] = numbers.setdefault(_lines(*distinct.op(row)), len(numbers))
    text[node] = of_signature[distinct.of_node]
    return text, list(numbers)


def _without_rule(profile: Profile) -> I64:
    """The sentence of each node, if no rule counts it."""
    text = np.full(len(profile), _NO_RULE, np.int64)
    text[of_class(profile, "no arithmetic")] = _MOVES
    text[of_class(profile, "function call")] = _NO_BODY
    text[profile.regions.call] = _CALLS
    text[~profile.in_graph] = _NOT_IN_GRAPH
    text[profile.nodes.float_ops != 0] = _IN_LOG
    return text


def _lines(rule: FloatOps, op: Op) -> str:
    formula = written(rule, op, op.shapes(), [_output(op, slot) for slot in range(op.outputs)])
    if formula is None:
        return sentence_of(rule, op)
    try:
        value = f"{number_of(rule, op):,}"
    except UnknownShape:
        value = "unknown"
    return "\n= ".join(dict.fromkeys(filter(None, [formula.names, formula.numbers, value])))


def _output(op: Op, slot: int) -> MaybeShape:
    try:
        return op.output(slot)
    except UnknownShape:
        return None
