"""What the outputs of an expanded call are.

call      its first inputs are what the body returns      output k is input k
loop      what the body returns, the condition, its own   what is true of input k and its own k
choice    what each branch returns, one after the other   what is true of all of them
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.inference.operation import Item
from tfprof.inference.shape import agreed, merged
from tfprof.model import BRANCH, CALLED, LOOP_BODY, LOOP_CONDITION

if TYPE_CHECKING:
    from tfprof.inference.calls import Call
    from tfprof.inference.loops import Loops
    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Maybe
    from tfprof.inference.value import Value


def _sources(call: Call, output: int) -> list[int]:
    """The data inputs of which an output is one."""
    if call.kind == CALLED:
        return [output]
    if call.kind == BRANCH:
        return [first + output for first in call.first]
    return [call.first[call.kinds.index(LOOP_BODY)] + output, call.own + output]


def _shapes(_: Loops, call: Call, op: Operation) -> list[Maybe]:
    return [
        agreed(op.shape(number) for number in _sources(call, output) if number < op.inputs)
        for output in range(call.outputs)
    ]


def _values(loops: Loops, call: Call, op: Operation) -> list[Value | None]:
    if LOOP_CONDITION in call.kinds:
        return loops.final_values(call, op)
    return [
        _same([op.value(number) for number in _sources(call, output)])
        for output in range(call.outputs)
    ]


def _same(values: list[Value | None]) -> Value | None:
    first = values[0]
    if first is None or any(one is None or not np.array_equal(first, one) for one in values[1:]):
        return None
    return first


def _items(_: Loops, call: Call, op: Operation) -> list[Item]:
    """What the handles lead to; a loop may add to what it is handed."""
    items = []
    for output in range(call.outputs):
        found = [op.item(number) for number in _sources(call, output) if number < op.inputs]
        lengths = {item.length for item in found}
        filled = [item for item in found if not item.is_new] or found[:1]
        # Elements are alike: what an empty list leaves open, those that a loop adds tell.
        known = [item.shape for item in found if item.shape is not None]
        shape = agreed(known) if call.kind == BRANCH else reduce(merged, known, None)
        items.append(
            Item(
                shape,
                lengths.pop() if len(lengths) == 1 else None,
                _same([item.value for item in filled]) if filled else None,
                all(item.is_new for item in found),
            )
        )
    return items


CALL_RULES: Final = (_shapes, _values, _items)
