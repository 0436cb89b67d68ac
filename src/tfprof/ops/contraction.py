"""Matrix products: a product and a sum per output element and summed index.

    left  [..., m, k]      output [..., m, n]      2 · k · |output|
    right [..., k, n]

Either factor has the summed dimension; which one that is depends on how the factor is transposed.
The left factor counts, unless its shape is unknown, as with an open batch; then the right one,
which mostly is a variable. A fused kernel adds the float operations of its bias and activation.

Einsum: a multiply-add per combination of the labels that take part.

    "bhqd,bhkd->bhqk"   d is summed over:       2 · b · h · q · k · d
    "bi,bi->bi"         nothing is:             b · i, products only
    "bij->bj"           one operand:            b · i · j - b · j, sums only
    "ij,jk->k"          i is in one operand:    i · j - j to sum it first, then 2 · j · k

A label repeated in an operand picks a diagonal, which takes no arithmetic. An ellipsis stands for
as many labels as dimensions are left; these are matched from the right, and broadcast.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.ops.activation import fused
from tfprof.ops.op import Op, size
from tfprof.ops.shape import OPEN, Shape, UnknownShape, broadcast, either, merged, need, require
from tfprof.ops.shared_rules import like_input, per_output, with_range
from tfprof.ops.table import float_ops, no_shape, shape
from tfprof.wire.scalar import BYTES, fields

if TYPE_CHECKING:
    from collections.abc import Sequence

WITH_BIAS: Final = "WithBias{,AndRelu,AndReluAndRequantize,AndRequantize}"
_MATRIX: Final = 2


@float_ops("MatMul", attributes="transpose_a", contraction=True, wraps=True, tensorflow=True)
def mat_mul_of_tensorflow(op: Op) -> int:
    """A multiply-add per output element and summed index, from the left factor."""
    left = op.input(0)
    return 2 * size(op.output()) * (left[0] if op.attr("transpose_a") else left[1])


@float_ops(
    "BatchMatMul{,V2,V3}", attributes="transpose_a", contraction=True, wraps=True, tensorflow=True
)
def batch_mat_mul_of_tensorflow(op: Op) -> int:
    """As MatMul; parity Q44: asks for an attribute that is called adj_x here."""
    left = op.input(0)
    return 2 * size(op.output()) * (left[-2] if op.attr("transpose_a") else left[-1])


@float_ops(
    "{,Sparse,_Mkl,_Fused,_MklFused,_MklNativeFused,_Quantized,Quantized}MatMul",
    f"{{,_Mkl}}QuantizedMatMul{WITH_BIAS} {{,_Mkl}}QuantizedMatMulWithBiasAndDequantize",
    attributes="transpose_a transpose_b fused_ops",
    contraction=True,
)
@float_ops(
    "BatchMatMul{,V2,V3} _Mkl{BatchMatMul,BatchMatMulV2,FusedBatchMatMulV2}",
    attributes="adj_x adj_y fused_ops",
    contraction=True,
)
def mat_mul(op: Op) -> int:
    """Products of matrices, and what is fused into them; zeros of a sparse factor count.

    Bias and Relu are a step per element each; some kernels have them in their names.
    """
    left, right = ("adj_x", "adj_y") if "Batch" in op.type else ("transpose_a", "transpose_b")
    try:
        factor, axis = op.input(0), -2 if op.attr(left) else -1
    except UnknownShape:
        factor, axis = op.input(1), -1 if op.attr(right) else -2
    extra = ("Bias" in op.type) + ("Relu" in op.type)
    return (2 * _matrix(factor)[axis] + extra) * size(op.output()) + fused(op)


@shape("{,Sparse,_Fused,_Quantized}MatMul _Mkl{,Fused,NativeFused}MatMul")
@shape("{,_Mkl}QuantizedMatMulWithBiasAndDequantize")
def mat_mul_shape(op: Op) -> Shape:
    """Rows of the left factor, columns of the right one."""
    left, right = (op.shape(number) or (OPEN, OPEN) for number in (0, 1))
    require(len(left) == len(right) == _MATRIX)
    return (left[bool(op.attr("transpose_a"))], right[not op.attr("transpose_b")])


shape(f"QuantizedMatMul {{,_Mkl}}QuantizedMatMul{WITH_BIAS}")(with_range(mat_mul_shape))


@shape("BatchMatMul{,V2,V3} _MklBatchMatMul{,V2} _MklFusedBatchMatMulV2")
def batch_mat_mul_shape(op: Op) -> Shape:
    """A product per matrix of the batch; batches broadcast."""
    first, second = op.shape(0), op.shape(1)
    if op.type.endswith("MatMul"):  # nothing broadcasts: both have one rank
        first = first or (second and (OPEN,) * len(second))
        second = second or (first and (OPEN,) * len(first))
    left, right = _matrix(need(first)), _matrix(need(second))
    rows = left[-1] if op.attr("adj_x") else left[-2]
    columns = right[-2] if op.attr("adj_y") else right[-1]
    join = merged if op.type.endswith("MatMul") else broadcast
    return (*(join(left[:-2], right[:-2]) or ()), rows, columns)


# The product of two matrices that are never transposed.
float_ops("UniformQuantizedDot{,Hybrid}", contraction=True)(
    lambda op: 2 * size(op.output()) * _matrix(op.input(0))[-1]
)
# Rows of the left factor, columns of the right one.
shape("UniformQuantizedDot{,Hybrid}")(
    lambda op: tuple(_matrix(op.shape(side) or (OPEN, OPEN))[side] for side in (0, 1))
)
# Three products and two sums per output element.
float_ops("TridiagonalMatMul", contraction=True)(per_output(5))
shape("TridiagonalMatMul")(like_input(3))


@float_ops("XlaDot{,V2}", attributes="dimension_numbers", contraction=True)
def xla_dot(op: Op) -> int:
    """A product; the message lists its summed dimensions as field 1."""
    left = op.input(0)
    return 2 * size(op.output()) * size(tuple(left[axis] for axis in _numbers(op).get(1, ())))


@shape("XlaDot{,V2}")
def xla_dot_shape(op: Op) -> Shape:
    """Batch dimensions (fields 3 and 4), then what is left of both factors."""
    left, right, numbers = op.known(0), op.known(1), _numbers(op)
    batch = numbers.get(3, ())
    gone_left = {*numbers.get(1, ()), *batch}
    gone_right = {*numbers.get(2, ()), *numbers.get(4, ())}
    return (
        *(either(left[a], right[b]) for a, b in zip(batch, numbers.get(4, ()), strict=True)),
        *(dim for axis, dim in enumerate(left) if axis not in gone_left),
        *(dim for axis, dim in enumerate(right) if axis not in gone_right),
    )


@float_ops("XlaConv{,V2}", attributes="dimension_numbers", contraction=True)
def xla_conv(op: Op) -> int:
    """A convolution; field 4 of the message is the filter dimension of the output channels."""
    weights = op.input(1)
    (feature,) = _numbers(op).get(4, (0,))
    return 2 * size(op.output()) * size(weights[:feature] + weights[feature + 1 :])


no_shape("TensorFlow leaves every dimension open", "XlaConv{,V2}")


def _numbers(op: Op) -> dict[int, tuple[int, ...]]:
    """The fields of a message of small numbers: all are below 128, so a packed one is a byte."""
    text = op.attr("dimension_numbers", "")
    require(isinstance(text, str))
    by_field: dict[int, tuple[int, ...]] = {}
    for number, wire_type, value in fields(memoryview(text.encode("utf-8", "surrogateescape"))):
        values = tuple(value) if wire_type == BYTES else (value,)
        by_field[number] = by_field.get(number, ()) + values
    return by_field


def _matrix(factor: Shape) -> Shape:
    require(len(factor) >= _MATRIX)
    return factor


# --- einsum ---

NAMES: Final = "Einsum _MklEinsum XlaEinsum"
ELLIPSIS: Final = "..."


class Equation(NamedTuple):
    """The labels of each operand and of the result; `...1` is the last that an ellipsis hides."""

    operands: list[list[str]]
    result: list[str]


def parse(equation: str, ranks: Sequence[int | None]) -> Equation:
    """The labels of an equation for operands of these ranks; raises UnknownShape."""
    left, arrow, right = "".join(equation.split()).partition("->")
    terms = left.split(",")
    require(len(terms) == len(ranks))
    hidden = [_hidden(term, rank) for term, rank in zip(terms, ranks, strict=True)]
    if not arrow:
        # Without an arrow: what the ellipses hide, then the labels written once, by name.
        written = Counter(left.replace(ELLIPSIS, "").replace(",", ""))
        once = sorted(label for label, count in written.items() if count == 1)
        right = (ELLIPSIS if ELLIPSIS in left else "") + "".join(once)
    return Equation(list(map(_labels, terms, hidden)), _labels(right, max(hidden)))


def _hidden(term: str, rank: int | None) -> int:
    """How many dimensions the ellipsis of a term stands for."""
    plain = len(term.replace(ELLIPSIS, ""))
    hidden = 0 if rank is None and ELLIPSIS not in term else (rank or 0) - plain
    require(hidden == 0 or (hidden > 0 and ELLIPSIS in term))
    require(rank is not None or ELLIPSIS not in term)
    return hidden


def _labels(term: str, hidden: int) -> list[str]:
    before, dots, after = term.partition(ELLIPSIS)
    stand_ins = [f"{ELLIPSIS}{number}" for number in range(hidden, 0, -1)] if dots else []
    return [*before, *stand_ins, *after]


class Work(NamedTuple):
    """What an equation takes for operands of given shapes."""

    alone: int  # sums over what one operand has alone
    volume: int  # combinations of the labels that are left
    products: int  # for each of them
    sums: bool  # whether the products are summed


def multiply_adds(op: Op) -> int:
    """A product that is added to others; none if nothing is multiplied, or nothing summed."""
    work = _work(op)
    return work.volume if work.products and work.sums else 0


@float_ops(NAMES, attributes="equation", multiply_adds=multiply_adds)
def einsum(op: Op) -> int:
    """Sums over what one operand has alone, then products, and sums over what is left."""
    work = _work(op)
    return work.alone + (work.products + work.sums) * work.volume


def _work(op: Op) -> Work:
    text: str = op.attr("equation", "")
    terms = "".join(text.split()).partition("->")[0].split(",")
    # In columns a scalar has one dimension; a term without labels is one.
    shapes = [op.input(number) if term else () for number, term in enumerate(terms)]
    require(len(shapes) == op.inputs)
    equation = parse(text, [len(dims) for dims in shapes])
    pairs = zip(equation.operands, shapes, strict=True)
    operands = [dict(zip(labels, dims, strict=True)) for labels, dims in pairs]
    shared = Counter(label for operand in operands for label in operand)
    wanted = {*equation.result, *(label for label, count in shared.items() if count > 1)}
    alone, volume = 0, dict[str, int]()
    for operand in operands:
        needed = {label: length for label, length in operand.items() if label in wanted}
        alone += max(0, size(tuple(operand.values())) - size(tuple(needed.values())))
        for label, length in needed.items():
            if volume.get(label, 1) == 1:
                volume[label] = length
    sums = any(label not in equation.result for label in volume)
    return Work(alone, size(tuple(volume.values())), len(operands) - 1, sums)


@shape(NAMES)
def einsum_shape(op: Op) -> Shape:
    """The sizes of the labels right of the arrow."""
    shapes = op.shapes()
    equation = parse(op.attr("equation", ""), [None if s is None else len(s) for s in shapes])
    sizes: dict[str, int] = {}
    for labels, dims in zip(equation.operands, shapes, strict=True):
        for label, length in zip(labels, dims or (OPEN,) * len(labels), strict=True):
            known = sizes.get(label, length)
            if label.startswith(ELLIPSIS):
                (sizes[label],) = broadcast((known,), (length,))
            else:
                sizes[label] = max(known, length)
    return tuple(sizes[label] for label in equation.result)
