"""The arguments of an XLA program that may be its weights, where none is known to be one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.ops.classes import with_type

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.model import Profile

_ARGUMENT: Final = b"parameter"  # the opcode


def possible_weights(profile: Profile) -> I64:
    """The arguments that are arrays, but no state of an optimizer; none if weights are known."""
    none: I64 = np.empty(0, np.int64)
    opcode = int(profile.types.find(Strings.of([_ARGUMENT]))[0]) if len(profile.types) else -1
    if opcode < 0:
        return none
    # Few profiles are of a program.
    from tfprof.read.hlo.weights import OPTIMIZER_STATE  # noqa: PLC0415
    from tfprof.read.saved_model import MODEL  # noqa: PLC0415

    if with_type(profile, MODEL).any():
        return none
    node = np.flatnonzero((profile.nodes.op == opcode) & ~with_type(profile, OPTIMIZER_STATE))
    first, end = profile.outputs.start[node], profile.outputs.start[node + 1]
    node, first = node[first < end], first[first < end]
    arrays: I64 = node[profile.outputs.shape.take(first).elements() != 1]
    return arrays
