"""Reads the instructions of XLA programs and the graph node that each comes from.

/host:metadata ─► one kind of event per module ─► "Hlo Proto"
HloProto ─► module ─► computation* ─► instruction* ─┬─ name, opcode
                                                    └─ metadata: op type, op name

An event has the name of its instruction and the number of its program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.columns.unique import first_rows, unique_inverse
from tfprof.wire.decode import BYTES, scan

if TYPE_CHECKING:
    from tfprof.read.xplane.planes import Space

_PLANE = b"/host:metadata"


class Instructions(NamedTuple):
    """One row per instruction."""

    key: Strings  # the number of its program and its name: `7 fusion.2`
    op_name: Strings  # the node, if known
    op_type: Strings
    opcode: Strings

    def find(self, wanted: Strings) -> I64:
        """The first row with each of these keys, or -1."""
        _, first = self.key.intern()
        row = self.key.take(first).find(wanted)
        return np.append(first, -1)[row]


def keys(program: I64, name: Strings) -> Strings:
    """The keys of the instructions with these names in these programs."""
    ids, first = name.intern()
    distinct, index = unique_inverse(program)
    pair = index * max(first.size, 1) + ids
    _, rows = first_rows(pair)
    names, numbers = name.take(rows).tolist(), distinct[index[rows]].tolist()
    texts = [b"%d %b" % key for key in zip(numbers, names, strict=True)]
    return Strings.of(texts).take(unique_inverse(pair)[1])


def instructions(space: Space) -> Instructions:
    """All instructions in the trace; raises WireError."""
    stats = space.kind_stats
    rows = stats.named(b"Hlo Proto")
    planes = space.kind_plane[stats.owner[rows]]
    rows = rows[np.array([name == _PLANE for name in space.plane], np.bool_)[planes]]
    start, end = stats.text.start[rows], stats.text.start[rows] + stats.text.length[rows]
    buffer = stats.text.blob
    module = scan(buffer, start, end, {1: BYTES})[1]
    computation = scan(buffer, module.start, module.end, {3: BYTES})[3]
    instruction = scan(buffer, computation.start, computation.end, {2: BYTES})[2]
    part = scan(buffer, instruction.start, instruction.end, {1: BYTES, 2: BYTES, 7: BYTES})
    count = instruction.start.size
    at, length = part[7].last_slice(count)
    metadata = scan(buffer, at, at + length, {1: BYTES, 2: BYTES})
    proto = module.message[computation.message[instruction.message]]
    program = space.kind_id[stats.owner[rows[proto]]]
    return Instructions(
        keys(program, Strings(buffer, *part[1].last_slice(count))),
        Strings(buffer, *metadata[2].last_slice(count)),
        Strings(buffer, *metadata[1].last_slice(count)),
        Strings(buffer, *part[2].last_slice(count)),
    )
