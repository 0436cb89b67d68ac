"""The kinds of events in a trace (XEventMetadata): the class of each, by its name.

layer/MatMul:MatMul            a node ran; also `_send_x_0:_Send`, whose display name is empty
EagerLocalExecute: MatMul      an operation ran, or a function was called, outside a graph
FunctionRun                    a function was started; `id` is the number of this run
ExecutorState::Process         a thread works for the run `id`
ExecutorPropagateOutputs       a node of the run `id` is done
PjitFunction(f)                JAX was called to run the program of f
MemoryAllocation, MemoryDeallocation
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings

OTHER, RAN, EAGERLY, RUN, PROCESS, DONE, ALLOCATED, FREED, CALLED = range(9)
_NODE = re.compile(rb"([^:]+):([A-Za-z_][\w.>]*)")
_EAGERLY, _CALLED = b"EagerLocalExecute: ", b"PjitFunction("
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
    name: Strings  # of the node, or of what ran eagerly or was called
    op: Strings


def event_kinds(name: Strings, display: Strings) -> Kinds:
    """The kinds of events with these names and display names."""
    rows = list(map(_classified, name, display))
    what = np.array([event_class for event_class, _, _ in rows], np.int64)
    return Kinds(what, Strings.of(name for _, name, _ in rows), Strings.of(op for *_, op in rows))


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
    if name.startswith(_CALLED):
        return CALLED, name[len(_CALLED) : -1], b""
    node, op = node_and_op(name)
    if op and (display == op or (not display and op.startswith(b"_"))):
        return RAN, node, op
    return OTHER, b"", b""
