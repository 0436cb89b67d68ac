"""Formulas against definitions: each operation is written out with numbers that count their steps.

Where a definition leaves the order open, sums begin with their first term, except in products of
matrices and convolutions, where a multiply-add is two.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from counted_graphs import text_profile
from tallied import Number, Tally, Tensor, array, counted, largest, places
from tfprof.ops.counting import count
from tfprof.ops.shape import UnknownShape
from tfprof.ops.with_float_ops import with_float_ops

if TYPE_CHECKING:
    from tfprof.ops.shape import Shape
    from tfprof.ops.table import Which


def multiplied(left: Tensor, right: Tensor, m: int, k: int, n: int) -> Tensor:
    """A product of matrices, an output element at a time, each sum from 0."""
    result: Tensor = {}
    for row, column in places(m, n):
        result[row, column] = Number(left[0, 0].tally, 0.0)
        for inner in range(k):
            result[row, column] += left[row, inner] * right[inner, column]
    return result


# Products ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("adj_x", "adj_y"), [(False, False), (False, True), (True, False), (True, True)]
)
@pytest.mark.parametrize("op", ["BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "_MklBatchMatMul"])
def test_batched_product_with_either_side_transposed(op: str, adj_x: bool, adj_y: bool) -> None:  # noqa: FBT001
    tally, (batch, m, k, n) = Tally(), (2, 3, 4, 5)
    for _ in range(batch):
        left, right = tally.tensor(m, k), tally.tensor(k, n)
        product = multiplied(left, right, m, k, n)
        assert np.allclose(array(product, m, n), array(left, m, k) @ array(right, k, n))
    x, y = np.empty((batch, m, k)), np.empty((batch, k, n))
    inputs = [(x.swapaxes(1, 2) if adj_x else x).shape, (y.swapaxes(1, 2) if adj_y else y).shape]
    assert counted(op, inputs, [(batch, m, n)], adj_x=adj_x, adj_y=adj_y) == tally.steps == 240


@pytest.mark.parametrize(
    "op", ["MatMul", "SparseMatMul", "_MklMatMul", "QuantizedMatMul", "_FusedMatMul"]
)
@pytest.mark.parametrize("transpose_a", [False, True])
def test_product_of_matrices(op: str, transpose_a: bool) -> None:  # noqa: FBT001
    tally = Tally()
    multiplied(tally.tensor(3, 4), tally.tensor(4, 5), 3, 4, 5)
    left = (4, 3) if transpose_a else (3, 4)
    assert counted(op, [left, (4, 5)], [(3, 5)], transpose_a=transpose_a) == tally.steps


@pytest.mark.parametrize(
    ("op", "turned"),
    [("MatMul", "transpose_b"), ("BatchMatMulV2", "adj_y"), ("SparseMatMul", "transpose_b")],
)
@pytest.mark.parametrize("is_turned", [False, True])
def test_where_the_left_factor_is_open_the_right_one_says_what_is_summed_over(
    op: str, turned: str, *, is_turned: bool
) -> None:
    tally = Tally()
    multiplied(tally.tensor(3, 4), tally.tensor(4, 5), 3, 4, 5)
    right = (5, 4) if is_turned else (4, 5)
    assert counted(op, [None, right], [(3, 5)], **{turned: is_turned}) == tally.steps
    with pytest.raises(UnknownShape):
        counted(op, [None, None], [(3, 5)], **{turned: is_turned})


def test_fused_product_adds_what_is_fused() -> None:
    def of(op: str, *fused: str) -> int:
        return counted(op, [(3, 4), (4, 5)], [(3, 5)], fused_ops=[*fused])

    plain, bias, relu, sigmoids = of("MatMul"), 15, 15, 4 * 15
    assert of("_FusedMatMul", "BiasAdd", "Relu") == plain + bias + relu
    assert of("_FusedMatMul", "BiasAdd", "Sigmoid") == plain + bias + sigmoids
    assert of("QuantizedMatMulWithBiasAndRelu") == plain + bias + relu


UNKNOWN_FUNCTIONS = """
node { name: "x" op: "Placeholder" attr { key: "shape" value { shape {
    dim { size: 2 } dim { size: 3 } } } } attr { key: "_output_shapes" value { list { shape {
    dim { size: 2 } dim { size: 3 } } } } } }
node { name: "known" op: "%(op)s" input: "x" input: "x"
    attr { key: "transpose_b" value { b: true } }
    attr { key: "%(key)s" value { list { s: "%(known)s" } } }
    attr { key: "_output_shapes" value { list { shape { dim { size: 2 } dim { size: 2 } } } } } }
node { name: "unknown" op: "%(op)s" input: "x" input: "x"
    attr { key: "transpose_b" value { b: true } }
    attr { key: "%(key)s" value { list { s: "%(known)s" s: "Frobnicate" } } }
    attr { key: "_output_shapes" value { list { shape { dim { size: 2 } dim { size: 2 } } } } } }
"""


@pytest.mark.parametrize(
    ("op", "key", "known", "steps"),
    [
        ("_FusedMatMul", "fused_ops", "BiasAdd", 2 * 3 * 4 + 4),
        ("_UnaryOpsComposition", "op_names", "Tanh", 4),
    ],
)
def test_a_fused_function_without_a_rule_is_reported(
    op: str, key: str, known: str, steps: int
) -> None:
    profile = text_profile(UNKNOWN_FUNCTIONS % {"op": op, "key": key, "known": known})
    counts = count(profile)
    assert counts.float_ops.tolist() == [0, steps, 0]
    assert counts.uncounted == ((op, 1, "no rule for Frobnicate"),)
    assert (counts.ops, counts.counted) == (2, 1)


def test_product_of_what_is_no_matrix_is_not_counted() -> None:
    with pytest.raises(UnknownShape):
        counted("BatchMatMulV2", [(4,), (4, 5)], [(5,)])


def test_xla_product_reads_what_is_summed_over() -> None:
    # Batch dimension 0 on both sides (fields 3 and 4), summed over 2 and 1, packed and not.
    packed = "\x0a\x01\x02\x12\x01\x01\x1a\x01\x00\x22\x01\x00"
    single = "\x08\x02\x10\x01\x18\x00\x20\x00"
    for numbers in (packed, single):
        shapes: list[Shape | None] = [(2, 3, 4), (2, 4, 5)]
        assert counted("XlaDotV2", shapes, [(2, 3, 5)], dimension_numbers=numbers) == 240


def test_xla_convolution_reads_where_the_filter_has_its_outputs() -> None:
    normal = counted("Conv2D", [(1, 8, 8, 2), (3, 3, 2, 5)], [(1, 8, 8, 5)])
    turned = counted(
        "XlaConv",
        [(1, 2, 8, 8), (5, 2, 3, 3)],
        [(1, 5, 8, 8)],
        dimension_numbers="\x18\x01\x20\x00",
    )
    assert turned == normal == 2 * (8 * 8 * 5) * (3 * 3 * 2)


# Convolutions -----------------------------------------------------------------------------


def convolved(
    image: tuple[int, int, int, int],
    weights: tuple[int, int, int, int],
    stride: int = 1,
    dilation: int = 1,
) -> tuple[int, tuple[int, int, int, int]]:
    """(steps, output shape) of a convolution with SAME padding; a tap on padding is a zero."""
    tally = Tally()
    batch, height, width, depth = image
    down, right, group_depth, channels = weights
    pixels, filters = tally.tensor(*image), tally.tensor(*weights)
    zero, groups = Number(tally, 0.0), depth // group_depth
    output = (batch, -(-height // stride), -(-width // stride), channels)
    for at, y, x, channel in places(*output):
        value = Number(tally, 0.0)
        group = channel // (channels // groups)
        for dy, dx, feature in places(down, right, group_depth):
            row, column = y * stride + (dy - 1) * dilation, x * stride + (dx - 1) * dilation
            pixel = pixels.get((at, row, column, group * group_depth + feature), zero)
            value += pixel * filters[dy, dx, feature, channel]
    return tally.steps, output


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 2), (3, 1)])
@pytest.mark.parametrize("group_depth", [4, 2])
def test_convolution_and_its_gradients(stride: int, dilation: int, group_depth: int) -> None:
    image, weights = (2, 7, 7, 4), (3, 3, group_depth, 6)
    steps, output = convolved(image, weights, stride, dilation)
    sizes: Shape = (4,)
    assert counted("Conv2D", [image, weights], [output], data_format="NHWC") == steps
    assert counted("Conv2DBackpropInput", [sizes, weights, output], [image]) == steps
    assert counted("Conv2DBackpropFilter", [image, sizes, output], [weights]) == steps
    assert counted("Conv2DBackpropInputV2", [image, weights, output], [image]) == steps
    assert counted("Conv2DBackpropFilterV2", [image, weights, output], [weights]) == steps


def test_layout_does_not_matter() -> None:
    steps, _ = convolved((2, 5, 5, 8), (3, 3, 8, 12))
    image, first, weights = (2, 8, 5, 5), (2, 12, 5, 5), (3, 3, 8, 12)
    how = {"data_format": "NCHW"}
    assert counted("Conv2D", [image, weights], [first], **how) == steps
    assert counted("Conv2DBackpropInput", [(4,), weights, first], [image], **how) == steps
    assert counted("Conv2DBackpropFilter", [image, (4,), first], [weights], **how) == steps
    vectors: list[Shape | None] = [(2, 2, 5, 5, 4), (12, 2, 3, 3, 4)]
    assert counted("Conv2D", vectors, [(2, 3, 5, 5, 4)], data_format="NCHW_VECT_C") == steps
    turned: list[Shape | None] = [(2, 8, 5, 5), (12, 8, 3, 3)]
    assert counted("_FusedConv2D", turned, [first], filter_format="OIHW") == steps


def test_fused_and_quantized_convolutions() -> None:
    image, weights = (1, 5, 5, 2), (3, 3, 2, 4)
    steps, output = convolved(image, weights)
    elements = math.prod(output)
    fused = ["BiasAdd", "Relu6"]
    assert (
        counted("_FusedConv2D", [image, weights], [output], fused_ops=fused) == steps + 3 * elements
    )
    assert counted("QuantizedConv2D", [image, weights], [output]) == steps
    for op, more in {
        "QuantizedConv2DWithBias": 1,
        "QuantizedConv2DAndRelu": 1,
        "QuantizedConv2DWithBiasSumAndRelu": 3,
        "_MklNativeConv2DWithBias": 1,
    }.items():
        assert counted(op, [image, weights], [output]) == steps + more * elements
    inputs: list[Shape | None] = [image, (4, 2), weights]
    assert counted("FusedPadConv2D", inputs, [output]) == steps


def test_depthwise_convolution_and_its_gradients() -> None:
    # Each of 4 channels on its own gives 2.
    single, (batch, height, width, channels) = convolved((2, 7, 7, 1), (3, 3, 1, 2), stride=2)
    image, weights, output = (2, 7, 7, 4), (3, 3, 4, 2), (batch, height, width, 4 * channels)
    assert counted("DepthwiseConv2dNative", [image, weights], [output]) == 4 * single
    back = "DepthwiseConv2dNativeBackprop"
    assert counted(f"{back}Input", [(4,), weights, output], [image]) == 4 * single
    assert counted(f"{back}Filter", [image, (4,), output], [weights]) == 4 * single
    fused: list[Shape | None] = [image, weights, (8,)]
    op = "_FusedDepthwiseConv2dNative"
    assert counted(op, fused, [output], fused_ops=["BiasAdd"]) == 4 * single + math.prod(output)
    assert counted(
        "QuantizedDepthwiseConv2DWithBiasAndRelu", [image, weights], [output]
    ) == 4 * single + 2 * math.prod(output)


def test_convolution_of_volumes_is_one_of_images_for_each_step_in_depth() -> None:
    flat, (batch, height, width, channels) = convolved((2, 5, 5, 3), (3, 3, 3, 4))
    volume, output = (2, 6, 5, 5, 3), (batch, 6, height, width, channels)
    weights, steps = (2, 3, 3, 3, 4), flat * 6 * 2
    assert counted("Conv3D", [volume, weights], [output]) == steps
    assert counted("Conv", [volume, weights], [output]) == steps
    for op in ("Conv3DBackpropInput", "Conv3DBackpropInputV2"):
        assert counted(op, [volume, weights, output], [volume]) == steps
    for op in ("Conv3DBackpropFilter", "Conv3DBackpropFilterV2"):
        assert counted(op, [volume, weights, output], [weights]) == steps


def test_gradient_of_a_dilation() -> None:
    tally = Tally()
    output, window = (1, 4, 4, 2), (3, 3)
    for _ in places(*output):
        best: Number | None = None
        for _ in places(*window):
            candidate = tally.number() + tally.number()
            best = largest(candidate, best if best is not None else -math.inf)
        tally.number() + tally.number()
    inputs: list[Shape | None] = [(1, 4, 4, 2), (3, 3, 2), output]
    assert counted("Dilation2DBackpropInput", inputs, [output]) == tally.steps
    assert counted("Dilation2DBackpropFilter", inputs, [(3, 3, 2)]) == tally.steps


@pytest.mark.parametrize("which", ["tensorflow", "all"])
def test_a_window_of_texts_is_no_window(which: Which) -> None:
    """A product with a text repeats the text: here as many times as there are elements."""
    profile = text_profile("""
    node { name: "x" op: "MaxPool" attr { key: "ksize" value { list { s: "abc" } } }
    attr { key: "data_format" value { s: "NHWC" } }
    attr { key: "_output_shapes" value { list { shape { dim { size: 1099511627776 } } } } } }
    """)
    assert [*count(profile, which).uncounted] == [("MaxPool", 1, "unknown shape")]


def test_an_equation_that_is_a_number_is_no_equation() -> None:
    profile = text_profile("""
    node { name: "x" op: "Placeholder" attr { key: "shape" value { shape { dim { size: 3 } } } } }
    node { name: "e" op: "Einsum" input: "x" attr { key: "equation" value { i: 3 } }
    attr { key: "_output_shapes" value { list { shape { dim { size: 3 } } } } } }
    node { name: "f" op: "Einsum" input: "x" attr { key: "equation" value { i: 3 } } }
    """)
    assert [*with_float_ops(profile, "all")[1].uncounted] == [("Einsum", 2, "unknown shape")]
