"""Details of a RunMetadata: the operation type and the origin of what ran under each name.

    timeline_label        "[cpu 1KB 1KB] loop/body/_1/mm = MatMul(x, y)"          the real operation
    partition_graphs      node "loop/body/_1/mm" ─► original "mm" in "loop_body_3"  the real name

Only graphs with functions need them: their nodes run under names that are not in the graph.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tfprof.columns.strings import U8, Strings
from tfprof.wire.decode import BYTES, scan, whole

_OPERATION: Final = re.compile(rb" = (\w+)\(")


class RunDetails(NamedTuple):
    """The operation type of each stat, and where renamed nodes came from."""

    op: Strings  # empty if unknown
    renamed: dict[bytes, tuple[bytes, bytes]]  # by name: (original name, function)


def details(buffer: U8) -> RunDetails:
    """The details of the RunMetadata in *buffer*; raises WireError."""
    part = scan(buffer, *whole(buffer), {1: BYTES, 3: BYTES})
    device = scan(buffer, part[1].start, part[1].end, {1: BYTES})[1]
    stat = scan(buffer, device.start, device.end, {2: BYTES})[2]
    label = scan(buffer, stat.start, stat.end, {8: BYTES})[8]
    labels = Strings(buffer, *label.last_slice(stat.start.size))
    node = scan(buffer, part[3].start, part[3].end, {1: BYTES})[1]
    field = scan(buffer, node.start, node.end, {1: BYTES, 6: BYTES})
    name = Strings(buffer, *field[1].last_slice(node.start.size))
    origin = scan(buffer, field[6].start, field[6].end, {1: BYTES, 2: BYTES})
    count = field[6].start.size
    original, function = (Strings(buffer, *origin[number].last_slice(count)) for number in (1, 2))
    triples = zip(name.take(field[6].message), original, function, strict=True)
    return RunDetails(
        Strings.of(map(_operation, labels)),
        {new: (old, inside) for new, old, inside in triples if old},
    )


def _operation(label: bytes) -> bytes:
    match = _OPERATION.search(label)
    return match[1] if match else b""
