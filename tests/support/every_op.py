"""One operation of every type that has a float-operation rule, built by TensorFlow."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import paths
from tfprof.ops.table import OPS, rules

if TYPE_CHECKING:
    from forked import Forked

WORKER: Final = paths.SUPPORT / "every_op_worker.py"
# The shape functions of the first two read beyond the inputs they are given, and may crash; the
# third wants a handle of integers.
NOT_BUILT: Final = {"_FusedQuantizedConv2D", "_FusedQuantizedDepthwiseConv2D", "ResourceCountUpTo"}


class Wheel(NamedTuple):
    ops: list[str]  # all that are registered
    bound: bytes  # a graph of those with a rule, with shapes


def ruled() -> set[str]:
    """TensorFlow's types with a rule: opcodes of HLO, which declares its shapes, are others."""
    return {op for op in rules("all") if not OPS[op].declares_shapes}


@cache
def wheel(tensorflow: Forked) -> Wheel:
    """What TensorFlow builds; once per test process."""
    names = "\n".join(sorted(ruled() - NOT_BUILT))
    listed, _, graph = tensorflow.script(WORKER, stdin=names.encode()).partition(b"\n")
    return Wheel(listed.decode().split(), graph)
