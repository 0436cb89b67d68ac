"""Returned messages beside those of the C++ original."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import ours
from tf_wheel import piece
from tfprof.errors import UsageError
from tfprof.writers.proto import proto

if TYPE_CHECKING:
    from case import Case
    from oracle import Oracle

output: Final[Any] = piece("tensorflow.core.profiler.tfprof_output_pb2")

THEIRS: Final = {
    "scope": output.GraphNodeProto,
    "graph": output.GraphNodeProto,
    "op": output.MultiGraphNodeProto,
    "code": output.MultiGraphNodeProto,
}


def mine(case: Case) -> Any | None:
    """Our message, read by TensorFlow's class; None where we refuse to answer."""
    try:
        report = ours.answered(case)
    except UsageError:
        return None
    return THEIRS[case.view].FromString(proto(report))


def differences(oracle: Oracle, case: Case) -> list[str]:
    """What the two return differently; nothing where they agree."""
    oracle.load(case.graph, case.op_log, case.steps)
    expected = THEIRS[case.view].FromString(oracle.ask(case.view, case.options).result)
    got = mine(case)
    if got is None:
        return ["refused"] if expected.name else []
    return [] if got == expected else [f"{expected}\nis not\n{got}"]
