"""Reductions: to make one number of n takes n - 1 steps; running ones take a step an element.

Max       |input| - |output|
Cumsum    |output|
segments  |data|              how many there are is not in the shapes, so each element counts
scatter   |updates|
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.flops.op import size
from tfprof.flops.table import rule

if TYPE_CHECKING:
    from tfprof.flops.op import Op

SCATTERS = ("Add", "Div", "Max", "Min", "Mul", "Sub")
SCATTERS_ND = ("Add", "Max", "Min", "Sub")
SEGMENTS = ("Max", "Mean", "Min", "Prod", "Sum")


@rule("Sum", "ArgMax", "ArgMin", "BiasAddGrad", "All", "Any", "Max", "Min", "Prod")
@rule("TileGrad", "MirrorPadGrad")
def reduced(op: Op) -> int:
    """One for each element that vanishes; none where the output has more."""
    return max(0, size(op.input(0)) - size(op.output()))


@rule("L2Loss")
def l2_loss(op: Op) -> int:
    """Squares, their sum and a halving; nothing for no elements."""
    return max(0, 3 * size(op.input(0)) - 1)


@rule("EuclideanNorm")
def euclidean_norm(op: Op) -> int:
    """Squares, their sums and roots."""
    return 2 * size(op.input(0))


@rule("Cumsum", "Cumprod")
def running(op: Op) -> int:
    """One for each element."""
    return size(op.output())


@rule("CumulativeLogsumexp")
def running_log_sum_exp(op: Op) -> int:
    """Maximum, difference, magnitude, negative, exponential, logarithm, sum."""
    return 7 * size(op.output())


@rule(*(f"Segment{kind}" for kind in SEGMENTS))
@rule(*(f"Segment{kind}V2" for kind in SEGMENTS if kind != "Mean"))
@rule(*(f"UnsortedSegment{kind}" for kind in SEGMENTS if kind != "Mean"))
@rule("Bincount", "DenseBincount")
@rule("CollectiveReduce", "CollectiveReduceV2", "CollectiveReduceV3", "CollectiveReduceScatterV2")
@rule("CrossReplicaSum", "NcclAllReduce", "XlaAllReduce", "XlaReduceScatter")
@rule("ResizeNearestNeighborGrad")
def each_input(op: Op) -> int:
    """One for each element of the first input."""
    return size(op.input(0))


@rule("RaggedBincount", "SparseBincount", "SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
@rule("ScatterNd", "MaxPoolGradWithArgmax")
def each_second_input(op: Op) -> int:
    """One for each element of the second input."""
    return size(op.input(1))


@rule(*(f"{form}Scatter{kind}" for form in ("", "Resource") for kind in SCATTERS))
@rule(*(f"{form}ScatterNd{kind}" for form in ("", "Resource") for kind in SCATTERS_ND))
@rule(*(f"TensorScatter{kind}" for kind in SCATTERS_ND))
@rule("ScatterNdNonAliasingAdd", "InplaceAdd", "InplaceSub")
def scattered(op: Op) -> int:
    """One for each element of the updates."""
    return size(op.input(2))


@rule("RequantizationRange", "RequantizationRangePerChannel")
def value_range(op: Op) -> int:
    """A minimum and a maximum over all elements."""
    return 2 * size(op.input(0))


@rule("HistogramFixedWidth")
def histogram(op: Op) -> int:
    """Difference, product, rounding and a sum for each element."""
    return 4 * size(op.input(0))
