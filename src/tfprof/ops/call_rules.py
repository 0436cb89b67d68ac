"""The outputs of a call whose bodies are part of the graph: shapes, values, items.

ops/calls.py draws which data inputs an output may come from; it has what they agree on.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.model import BRANCH, CALLED, LOOP_BODY, LOOP_CONDITION
from tfprof.ops.op import Item
from tfprof.ops.shape import MaybeShape, agreed, merged

if TYPE_CHECKING:
    from tfprof.ops.calls import Call
    from tfprof.ops.graph_op import GraphOp
    from tfprof.ops.loops import Loops
    from tfprof.ops.value import Value


def _sources(call: Call, output: int) -> list[int]:
    """The data inputs that an output may be."""
    if call.kind == CALLED:
        return [output]
    if call.kind == BRANCH:
        return [first + output for first in call.first]
    return [call.first[call.kinds.index(LOOP_BODY)] + output, call.own + output]


def _shapes(_: Loops, call: Call, op: GraphOp) -> list[MaybeShape]:
    return [
        agreed(op.shape(number) for number in _sources(call, output) if number < op.inputs)
        for output in range(call.outputs)
    ]


def _values(loops: Loops, call: Call, op: GraphOp) -> list[Value | None]:
    if LOOP_CONDITION in call.kinds:
        return loops.final_values(call, op)
    return [
        _same([op.value(number) for number in _sources(call, output)])
        for output in range(call.outputs)
    ]


def _same(values: list[Value | None]) -> Value | None:
    first = values[0]
    if first is None or any(
        value is None or not np.array_equal(first, value) for value in values[1:]
    ):
        return None
    return first


def _items(_: Loops, call: Call, op: GraphOp) -> list[Item]:
    """What handles point to; a loop may add elements to a list."""
    items = []
    for output in range(call.outputs):
        sources = [op.item(number) for number in _sources(call, output) if number < op.inputs]
        lengths = {item.length for item in sources}
        filled = [item for item in sources if not item.is_new] or sources[:1]
        # Elements are alike: those that a loop adds complete the shape of an empty list.
        known = [item.shape for item in sources if item.shape is not None]
        shape = agreed(known) if call.kind == BRANCH else reduce(merged, known, None)
        items.append(
            Item(
                shape,
                lengths.pop() if len(lengths) == 1 else None,
                _same([item.value for item in filled]) if filled else None,
                all(item.is_new for item in sources),
            )
        )
    return items


CALL_RULES: Final = (_shapes, _values, _items)
