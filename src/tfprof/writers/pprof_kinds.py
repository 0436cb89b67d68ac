"""KINDS: the numbers that a pprof file can hold — one row each."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A row of the table; the name is the metric's."""

    name: str
    unit: str
    meaning: str


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "micros",
            "microseconds",
            "Sum of accelerator execution time and cpu execution time.",
        ),
        Kind("accelerator_micros", "microseconds", "Accelerator execution time."),
        Kind("cpu_micros", "microseconds", "CPU execution time."),
        Kind("bytes", "bytes", "Sum of operation total memory requests, excluding deallocations."),
        Kind("peak_bytes", "bytes", "Sum of operation peak memory usage."),
        Kind("residual_bytes", "bytes", "Sum of operation allocated memory after finish."),
        Kind("output_bytes", "bytes", "Sum of operation output size."),
        Kind("params", "count", "Model parameters."),
        Kind("float_ops", "count", "Model float operations (Only available if defined)."),
    )
}

# The first number of every sample; it is 1.
NODES = Kind("count", "count", "Graph nodes.")
NODE_LABEL = b"graph node:"
