"""Matrix products: two operations, a product and a sum, for each output element and summed index.

    left  [..., m, k]      output [..., m, n]      2 · k · |output|
    right [..., k, n]

Either factor says what is summed over; which of its dimensions depends on how it is transposed.
The left one is asked first: of a batch of unknown size it is the one that is open, and then the
right one, which mostly is a variable, knows. A fused kernel adds what its bias and activation take
on their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tfprof.flops.activation_rules import fused
from tfprof.flops.op import UnknownShape, size
from tfprof.flops.table import rule
from tfprof.wire.message import fields
from tfprof.wire.scalar import BYTES

if TYPE_CHECKING:
    from tfprof.flops.op import Op, Shape

QUANTIZED = (
    "WithBias",
    "WithBiasAndDequantize",
    "WithBiasAndRelu",
    "WithBiasAndReluAndRequantize",
    "WithBiasAndRequantize",
)


_PLAIN = ("transpose_a", "transpose_b")
_BATCH = ("adj_x", "adj_y")


def product(op: Op, left: str, right: str) -> int:
    """A multiply-add for each output element and each index summed over.

    *left* and *right* name the attributes that say whether a factor is transposed.
    """
    try:
        factor, axis = op.input(0), -2 if op.attr(left) else -1
    except UnknownShape:
        factor, axis = op.input(1), -1 if op.attr(right) else -2
    return 2 * size(op.output()) * _matrix(factor)[axis]


@rule("MatMul", "SparseMatMul", "_MklMatMul", attributes=_PLAIN, contraction=True)
def mat_mul(op: Op) -> int:
    """The product of two matrices, whether or not they are mostly zeros."""
    return product(op, *_PLAIN)


@rule(
    "_FusedMatMul",
    "_MklFusedMatMul",
    "_MklNativeFusedMatMul",
    "_QuantizedMatMul",
    attributes=(*_PLAIN, "fused_ops"),
    contraction=True,
)
def fused_mat_mul(op: Op) -> int:
    """A product and what is fused into it."""
    return product(op, *_PLAIN) + fused(op)


@rule(
    "QuantizedMatMul",
    *(f"{kind}MatMul{suffix}" for kind in ("Quantized", "_MklQuantized") for suffix in QUANTIZED),
    attributes=_PLAIN,
    contraction=True,
)
def quantized_mat_mul(op: Op) -> int:
    """A product, then a sum where there is a bias and a maximum where there is a Relu."""
    extra = ("Bias" in op.type) + ("Relu" in op.type)
    return product(op, *_PLAIN) + extra * size(op.output())


@rule("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", attributes=_BATCH, contraction=True)
@rule("_MklBatchMatMul", "_MklBatchMatMulV2", attributes=_BATCH, contraction=True)
def batch_mat_mul(op: Op) -> int:
    """A product for each matrix of a batch; adj_x says that the left factor is transposed."""
    return product(op, *_BATCH)


@rule("_MklFusedBatchMatMulV2", attributes=(*_BATCH, "fused_ops"), contraction=True)
def fused_batch_mat_mul(op: Op) -> int:
    """Products of a batch and what is fused into them."""
    return product(op, *_BATCH) + fused(op)


@rule("UniformQuantizedDot", "UniformQuantizedDotHybrid", contraction=True)
def quantized_dot(op: Op) -> int:
    """The product of two matrices that are never transposed."""
    return 2 * size(op.output()) * _matrix(op.input(0))[-1]


@rule("TridiagonalMatMul", contraction=True)
def tridiagonal_mat_mul(op: Op) -> int:
    """Three products and two sums for each output element."""
    return 5 * size(op.output())


@rule("XlaDot", "XlaDotV2", attributes=("dimension_numbers",), contraction=True)
def xla_dot(op: Op) -> int:
    """A product whose summed dimensions are listed in a message, as field 1."""
    left = op.input(0)
    summed = numbers(op).get(1, ())
    return 2 * size(op.output()) * size(tuple(left[axis] for axis in summed))


@rule("XlaConv", "XlaConvV2", attributes=("dimension_numbers",), contraction=True)
def xla_conv(op: Op) -> int:
    """A convolution; field 4 of the message says which dimension of the filter is the output's."""
    weights = op.input(1)
    (feature,) = numbers(op).get(4, (0,))
    return 2 * size(op.output()) * size(weights[:feature] + weights[feature + 1 :])


def numbers(op: Op) -> dict[int, tuple[int, ...]]:
    """The fields of a message of small numbers: all are below 128, so a packed one is a byte."""
    data = cast("str", op.attr("dimension_numbers", "")).encode("utf-8", "surrogateescape")
    by_field: dict[int, tuple[int, ...]] = {}
    for number, wire_type, value in fields(memoryview(data)):
        values = tuple(value) if wire_type == BYTES else (value,)
        by_field[number] = by_field.get(number, ()) + values
    return by_field


def _matrix(factor: Shape) -> Shape:
    if len(factor) < 2:  # noqa: PLR2004 - a matrix has two
        raise UnknownShape
    return factor
