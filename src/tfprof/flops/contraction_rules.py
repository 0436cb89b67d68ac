"""Matrix products: two operations, a product and a sum, for each output element and summed index.

    left  [..., m, k]      output [..., m, n]      2 · k · |output|
    right [..., k, n]

Only the left factor says what is summed over; which of its dimensions depends on how it is
transposed. A fused kernel adds what its bias and activation take on their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tfprof.flops.activation_rules import fused
from tfprof.flops.op import UnknownShape, size
from tfprof.flops.table import rule

if TYPE_CHECKING:
    from tfprof.flops.op import Op, Shape

QUANTIZED = (
    "WithBias",
    "WithBiasAndDequantize",
    "WithBiasAndRelu",
    "WithBiasAndReluAndRequantize",
    "WithBiasAndRequantize",
)


def product(op: Op, *, transposed: str) -> int:
    """A multiply-add for each output element and each index summed over."""
    return 2 * size(op.output()) * _inner(op.input(0), transposed=bool(op.attr(transposed)))


@rule("SparseMatMul", "_MklMatMul", attributes=("transpose_a",), contraction=True)
def mat_mul(op: Op) -> int:
    """The product of two matrices, whether or not they are mostly zeros."""
    return product(op, transposed="transpose_a")


@rule(
    "_FusedMatMul",
    "_MklFusedMatMul",
    "_MklNativeFusedMatMul",
    "_QuantizedMatMul",
    attributes=("transpose_a", "fused_ops"),
    contraction=True,
)
def fused_mat_mul(op: Op) -> int:
    """A product and what is fused into it."""
    return product(op, transposed="transpose_a") + fused(op)


@rule(
    "QuantizedMatMul",
    *(f"{kind}MatMul{suffix}" for kind in ("Quantized", "_MklQuantized") for suffix in QUANTIZED),
    attributes=("transpose_a",),
    contraction=True,
)
def quantized_mat_mul(op: Op) -> int:
    """A product, then a sum where there is a bias and a maximum where there is a Relu."""
    extra = ("Bias" in op.type) + ("Relu" in op.type)
    return product(op, transposed="transpose_a") + extra * size(op.output())


@rule("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", attributes=("adj_x",), contraction=True)
@rule("_MklBatchMatMul", "_MklBatchMatMulV2", attributes=("adj_x",), contraction=True)
def batch_mat_mul(op: Op) -> int:
    """A product for each matrix of a batch; adj_x says that the left factor is transposed."""
    return product(op, transposed="adj_x")


@rule("_MklFusedBatchMatMulV2", attributes=("adj_x", "fused_ops"), contraction=True)
def fused_batch_mat_mul(op: Op) -> int:
    """Products of a batch and what is fused into them."""
    return product(op, transposed="adj_x") + fused(op)


@rule("UniformQuantizedDot", "UniformQuantizedDotHybrid", contraction=True)
def quantized_dot(op: Op) -> int:
    """The product of two matrices that are never transposed."""
    return 2 * size(op.output()) * _inner(op.input(0), transposed=False)


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
    """The fields of a message that holds nothing but small numbers, in wire format.

    A field comes on its own (a key and a number) or packed (a key, a length and the numbers); all
    of them are below 128, as axes are, so each is one character of the text.
    """
    codes = list(map(ord, cast("str", op.attr("dimension_numbers", ""))))
    found: dict[int, tuple[int, ...]] = {}
    at = 0
    while at + 1 < len(codes):
        key, value = codes[at : at + 2]
        packed = key & 7 == 2  # noqa: PLR2004 - the wire type of what has a length
        values = tuple(codes[at + 2 : at + 2 + value]) if packed else (value,)
        found[key >> 3] = found.get(key >> 3, ()) + values
        at += 2 + (value if packed else 0)
    return found


def _inner(left: Shape, *, transposed: bool) -> int:
    """The dimension of the left factor that is summed over."""
    if len(left) < 2:  # noqa: PLR2004 - a matrix has two
        raise UnknownShape
    return left[-2] if transposed else left[-1]
