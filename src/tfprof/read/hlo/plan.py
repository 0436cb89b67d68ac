"""The memory that XLA plans for a program, on one device: its buffer assignment.

    arguments   allocations of parameters          outputs     those that hold results
    shared      both: an argument that is donated  temporary   all others
    constants   arrays in the program              (those of single threads are not counted)

XLA reserves all of them before the program runs, so their sum is what it needs at once. JAX has the
same numbers: `compiled.memory_analysis()`. A module without an assignment has no plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.memory_plan import MemoryPlan
from tfprof.columns.unique import unique
from tfprof.read.hlo.modules import Ids
from tfprof.wire.decode import BYTES, VARINT, scan

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, U8
    from tfprof.read.hlo.modules import Modules

_MOST: Final = 2.0**62
_MOST_BYTES: Final = 1 << 50  # of one buffer
# Fields of an allocation.
_SIZE, _OF_THREAD, _OF_PARAMETER, _LIVE_OUT, _MEMORY, _CONSTANT = 2, 3, 5, 7, 8, 12


def planned(buffer: U8, start: I64, end: I64) -> tuple[float, ...]:
    """The largest plan of these HloProtos; () if none has one. Raises WireError."""
    assignment = scan(buffer, start, end, {3: BYTES})[3]
    allocation = scan(buffer, assignment.start, assignment.end, {3: BYTES})[3]
    count = allocation.start.size
    if not count:
        return ()
    wanted = dict.fromkeys(
        (_SIZE, _OF_THREAD, _OF_PARAMETER, _LIVE_OUT, _MEMORY, _CONSTANT), VARINT
    )
    part = scan(buffer, allocation.start, allocation.end, wanted)
    size = np.clip(part[_SIZE].last(count).astype(np.float64), 0, _MOST / count)
    of_thread, of_parameter, is_output, elsewhere, is_constant = (
        part[field].last(count) != 0 for field in list(wanted)[1:]
    )
    # Memory of another kind, such as that of the host, is not the device's own.
    here = ~(of_thread | elsewhere)
    other = ~(of_parameter | is_output | is_constant)
    groups = (of_parameter, is_output, of_parameter & is_output, other, is_constant)
    proto = assignment.message[allocation.message]
    sums = [np.bincount(proto, size * (here & group), start.size) for group in groups]
    plans = [MemoryPlan(*plan) for plan in np.column_stack(sums)[unique(proto)].tolist()]
    return max(plans, key=lambda plan: plan.total)


def buffer_bytes(modules: Modules, start: I64, end: I64) -> I64:
    """The bytes that each instruction's own buffers have by the plans of these HloProtos.

    An instruction whose result shares the buffer of another one has none. Raises WireError.
    """
    buffer, instruction = modules.buffer, modules.instruction
    result = np.zeros(instruction.start.size, np.int64)
    assignment = scan(buffer, start, end, {3: BYTES})[3]
    logical = scan(buffer, assignment.start, assignment.end, {1: BYTES})[1]
    count = logical.start.size
    if not count:
        return result
    part = scan(buffer, logical.start, logical.end, {2: VARINT, 3: BYTES})
    begin, length = part[3].last_slice(count)
    defined = scan(buffer, begin, begin + length, {4: VARINT})[4].last(count)
    ids = scan(buffer, instruction.start, instruction.end, {35: VARINT})[35].last(result.size)
    of_module = modules.computation_module[instruction.message]
    row = Ids(of_module, ids).find(assignment.message[logical.message], defined)
    size = np.clip(part[2].last(count), 0, _MOST_BYTES)
    np.add.at(result, row[row >= 0], size[row >= 0])
    return result
