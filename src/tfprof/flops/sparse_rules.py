"""Sparse tensors: what is stored counts, what is not stored does not.

indices [n, rank], values [n]      n stored elements
SparseTensorDenseMatMul            2 · n · columns
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.flops.op import size
from tfprof.flops.table import rule

if TYPE_CHECKING:
    from tfprof.flops.op import Op

SEGMENTS = ("Sum", "Mean", "SqrtN")


@rule("SparseTensorDenseMatMul", attributes=("adjoint_b",), contraction=True)
def mat_mul(op: Op) -> int:
    """A multiply-add for each stored element and each column of the dense factor."""
    rows, columns = op.input(3)
    return 2 * op.input(0)[0] * (rows if op.attr("adjoint_b") else columns)


@rule("SparseDenseCwiseAdd", "SparseDenseCwiseDiv", "SparseDenseCwiseMul", "SparseTensorDenseAdd")
@rule("SparseReduceMax", "SparseReduceMaxSparse", "SparseReduceSum", "SparseReduceSumSparse")
def each_stored(op: Op) -> int:
    """One for each stored element."""
    return size(op.input(1))


@rule("SparseSoftmax")
def softmax(op: Op) -> int:
    """Five for each stored element, as Softmax has it."""
    return 5 * size(op.input(1))


@rule("SparseAdd", "SparseSparseMaximum", "SparseSparseMinimum")
def each_of_both(op: Op) -> int:
    """One for each stored element of the two."""
    return size(op.input(1)) + size(op.input(4))


@rule(*(f"SparseSegment{kind}{form}" for kind in SEGMENTS for form in ("", "WithNumSegments")))
@rule("SparseSegmentSumGrad", "SparseSegmentSumGradV2")
def picked(op: Op) -> int:
    """One for each element of the rows that the indices pick."""
    return size(op.input(1)) * size(op.input(0)[1:])


@rule(*(f"SparseSegment{kind}Grad{form}" for kind in SEGMENTS[1:] for form in ("", "V2")))
def scaled_and_picked(op: Op) -> int:
    """A product and a sum for each element of the rows that the indices pick."""
    return 2 * picked(op)
