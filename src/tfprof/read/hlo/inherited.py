"""Names of instructions that have none: XLA rewrites some without their metadata.

    convolution.4 ──► bitcast.9  Model/conv backward     the only consumer with a name
    fusion.3 ──► copy.1                                  else the only operand with one

They inherit the scope, the phase and the line of the program, but not the primitive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.read.hlo.modules import PARAMETER

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.read.hlo.modules import Modules

_PASSES: Final = 4


def name_rows(modules: Modules) -> I64:
    """The instruction whose name counts for each: itself, unless it has none."""
    count = len(modules.opcode)
    result = np.arange(count)
    no_heirs = modules.opcodes(PARAMETER, b"constant")
    # The name of a parameter is a path; who has none does not inherit it.
    has_name = (modules.op_name.length > 0) & ~no_heirs
    waiting = ~has_name & ~no_heirs
    if not waiting.any():
        return result
    known = modules.operand >= 0
    consumer, operand = modules.operand_of[known], modules.operand[known]
    for _ in range(_PASSES):
        heirs = _only(operand, consumer, waiting, has_name)
        heirs = np.where(heirs >= 0, heirs, _only(consumer, operand, waiting, has_name))
        rows = np.flatnonzero(heirs >= 0)
        if not rows.size:
            break
        result[rows] = result[heirs[rows]]
        waiting[rows] = False
        has_name[rows] = True
    return result


def _only(row: I64, other: I64, waiting: Bool, has_name: Bool) -> I64:
    """The only *other* end with a name of the edges of each row that is *waiting*; -1: none."""
    edge = np.flatnonzero(waiting[row] & has_name[other])
    least = np.full(waiting.size, waiting.size, np.int64)
    most = np.full(waiting.size, -1, np.int64)
    np.minimum.at(least, row[edge], other[edge])
    np.maximum.at(most, row[edge], other[edge])
    return np.where(least == most, most, -1)
