"""One operation of every type that has a float-operation rule, built by TensorFlow."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tfprof.ops.table import rules

WORKER: Final = Path(__file__).with_name("every_op_worker.py")
# The shape functions of the first two read beyond the inputs they are given, and may crash; the
# third wants a handle of integers.
NOT_BUILT: Final = {
    "_FusedQuantizedConv2D",
    "_FusedQuantizedDepthwiseConv2D",
    "ResourceCountUpTo",
}


class Wheel(NamedTuple):
    ops: list[str]  # all that are registered
    bound: bytes  # a graph of those with a rule, with shapes
    bound_variants: bytes
    opened: bytes  # the same; inputs have open dimensions
    opened_variants: bytes


@cache
def wheel() -> Wheel:
    """What TensorFlow builds, in a process of its own; once per test process."""
    ran = subprocess.run(
        [sys.executable, str(WORKER)],
        input="\n".join(sorted(set(rules("all")) - NOT_BUILT)).encode(),
        capture_output=True,
        check=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"},
    )
    listed, _, rest = ran.stdout.partition(b"\n")
    graphs = []
    for _ in range(4):
        length, _, rest = rest.partition(b"\n")
        graphs.append(rest[: int(length)])
        rest = rest[int(length) :]
    return Wheel(listed.decode().split(), *graphs)
