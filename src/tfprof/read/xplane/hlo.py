"""Instructions that XLA made: which node of the graph each is of.

/host:metadata ─► a kind of event each module ─► "Hlo Proto"
HloProto ─► module ─► computation* ─► instruction* ─┬─ name, opcode
                                                    └─ metadata: op type, op name

An event has the name of its instruction and the number of its program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import first_rows, places
from tfprof.wire.decode import BYTES, scan

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.read.xplane.planes import Space

_PLANE = b"/host:metadata"


class Instructions(NamedTuple):
    """A row an instruction, with the number of its program before its name: `7 fusion.2`."""

    key: Strings
    op_name: Strings  # the node, where it is known
    op_type: Strings
    opcode: Strings

    def find(self, wanted: Strings) -> I64:
        """The row of each of these keys, or -1; the first of its name counts."""
        _, first = self.key.intern()
        row = self.key.take(first).find(wanted)
        return np.append(first, -1)[row]


def keys(program: I64, name: Strings) -> Strings:
    """What the instructions of these names in these programs are found by."""
    ids, first = name.intern()
    distinct, place = places(program)
    pair = place * max(first.size, 1) + ids
    _, at = first_rows(pair)
    names, numbers = name.take(at).tolist(), distinct[place[at]].tolist()
    texts = [b"%d %b" % one for one in zip(numbers, names, strict=True)]
    return Strings.of(texts).take(places(pair)[1])


def instructions(space: Space) -> Instructions:
    """All that the trace has. Raises WireError."""
    told = space.kind_stats
    rows = told.named(b"Hlo Proto")
    planes = space.kind_plane[told.owner[rows]]
    rows = rows[np.array([name == _PLANE for name in space.plane], np.bool_)[planes]]
    start, end = told.text.start[rows], told.text.start[rows] + told.text.length[rows]
    buffer = told.text.blob
    module = scan(buffer, start, end, {1: BYTES})[1]
    computation = scan(buffer, module.start, module.end, {3: BYTES})[3]
    instruction = scan(buffer, computation.start, computation.end, {2: BYTES})[2]
    part = scan(buffer, instruction.start, instruction.end, {1: BYTES, 2: BYTES, 7: BYTES})
    count = instruction.start.size
    at, length = part[7].last_slice(count)
    metadata = scan(buffer, at, at + length, {1: BYTES, 2: BYTES})
    proto = module.message[computation.message[instruction.message]]
    program = space.kind_id[told.owner[rows[proto]]]
    return Instructions(
        keys(program, Strings(buffer, *part[1].last_slice(count))),
        Strings(buffer, *metadata[2].last_slice(count)),
        Strings(buffer, *metadata[1].last_slice(count)),
        Strings(buffer, *part[2].last_slice(count)),
    )
