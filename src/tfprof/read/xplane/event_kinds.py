"""Classifies events by the name of their kind (XEventMetadata).

layer/MatMul:MatMul            a node ran; also `_send_x_0:_Send`, whose display name is empty
EagerLocalExecute: MatMul      an operation ran, or a function was called, outside a graph
FunctionRun                    a function was started; `id` is the number of this run
ExecutorState::Process         a thread works for the run `id`
ExecutorPropagateOutputs       a node of the run `id` is done
MemoryAllocation, MemoryDeallocation
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings

if TYPE_CHECKING:
    from tfprof.read.xplane.planes import Space

OTHER, RAN, EAGERLY, RUN, PROCESS, DONE, ALLOCATED, FREED = range(8)

_NODE = re.compile(rb"([^:]+):([A-Za-z_][\w.>]*)")
_EAGERLY = b"EagerLocalExecute: "
_BY_NAME = {
    b"FunctionRun": RUN,
    b"ExecutorState::Process": PROCESS,
    b"ExecutorPropagateOutputs": DONE,
    b"MemoryAllocation": ALLOCATED,
    b"MemoryDeallocation": FREED,
}


class Kinds(NamedTuple):
    """One row per kind of event."""

    what: I64
    name: Strings  # of the node, or of what ran eagerly
    op: Strings


def kinds(space: Space) -> Kinds:
    """The class, name and operation type of each kind of event."""
    what: list[int] = []
    names: list[bytes] = []
    ops: list[bytes] = []
    for name, display in zip(space.kind, space.kind_display, strict=True):
        event_class, node, op = _classified(name, display)
        what.append(event_class)
        names.append(node)
        ops.append(op)
    return Kinds(np.array(what, np.int64), Strings.of(names), Strings.of(ops))


def node_and_op(name: bytes) -> tuple[bytes, bytes]:
    """(node, op) of a name `node:Op`; both empty for other names."""
    match = _NODE.fullmatch(name)
    return (match[1], match[2]) if match else (b"", b"")


def _classified(name: bytes, display: bytes) -> tuple[int, bytes, bytes]:
    if name in _BY_NAME:
        return _BY_NAME[name], b"", b""
    if name.startswith(_EAGERLY):
        called = name[len(_EAGERLY) :]
        return EAGERLY, called, called
    node, op = node_and_op(name)
    if op and (display == op or (not display and op.startswith(b"_"))):
        return RAN, node, op
    return OTHER, b"", b""
