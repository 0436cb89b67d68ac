"""The 46 operations that TensorFlow itself counts, with exactly its results.

A multiply-add is two operations. Products that TensorFlow takes in 64 bits wrap around; the
gradients of convolutions are true quotients, cut down to whole numbers.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from tfprof.flops import table
from tfprof.flops.op import Op, UnknownShape, size

rule = partial(table.rule, origin="tensorflow")


@rule("Reciprocal", "Square", "Log", "Neg", "AssignSub", "AssignAdd", "BiasAdd")
def one_an_input_element(op: Op) -> int:
    """One for each element of the first input."""
    return size(op.input(0))


@rule("Rsqrt")
def rsqrt(op: Op) -> int:
    """A square root and a reciprocal."""
    return 2 * size(op.input(0))


@rule("L2Loss")
def l2_loss(op: Op) -> int:
    """A square, a sum and a halving; of nothing at all it is -1."""
    return 3 * size(op.input(0)) - 1


@rule("Softmax")
def softmax(op: Op) -> int:
    """Maximum, difference, exponential, sum and quotient."""
    return 5 * size(op.input(0))


@rule("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow")
@rule("GreaterEqual", "Greater", "LessEqual", "Less", "Equal", "NotEqual")
def one_an_output_element(op: Op) -> int:
    """One for each element of the output, so inputs may be broadcast."""
    return size(op.output())


@rule("SquaredDifference")
def squared_difference(op: Op) -> int:
    """A difference and a square."""
    return 2 * size(op.output())


@rule("RsqrtGrad")
def rsqrt_grad(op: Op) -> int:
    """Three products and a halving."""
    return 4 * size(op.output())


@rule("Sum", "ArgMax", "ArgMin", "BiasAddGrad")
def one_an_element_that_vanishes(op: Op) -> int:
    """To reduce n numbers to one takes n - 1 steps."""
    return size(op.input(0)) - size(op.output())


@rule("Mean")
def mean(op: Op) -> int:
    """A sum, and a quotient for each output element, so both shapes are needed."""
    return one_an_element_that_vanishes(op) + size(op.output())


@rule("AddN")
def add_n(op: Op) -> int:
    """One a sum of two; parity Q44: control inputs count as if they were added, too."""
    listed = op.inputs + op.controls
    return size(op.input(0)) * (listed - 1) if listed else 0


@rule("AvgPool", "MaxPool", attributes=("data_format", "ksize"))
def pool(op: Op) -> int:
    """One for each element of each window."""
    return size(_nhwc(op, "ksize")) * size(op.output())


@rule("AvgPoolGrad", attributes=("data_format", "ksize"))
def avg_pool_grad(op: Op) -> int:
    """A quotient and a sum for each element of each window."""
    return 2 * size(_nhwc(op, "ksize")) * size(op.input(1))


@rule("MaxPoolGrad", attributes=("data_format", "ksize"))
def max_pool_grad(op: Op) -> int:
    """The windows once more, and a sum for each."""
    return (size(_nhwc(op, "ksize")) + 1) * size(op.input(1))


@rule("Conv2D", contraction=True, wraps=True)
def conv_2d(op: Op) -> int:
    """A multiply-add for each weight that an output element sees; so is a group's depth."""
    op.input(0)
    height, width, depth = op.input(1)[:3]
    return 2 * size(op.output()) * height * width * depth


@rule("Conv3D", contraction=True, wraps=True)
def conv_3d(op: Op) -> int:
    """As in two dimensions."""
    op.input(0)
    return 2 * size(op.output()) * size(op.input(1)[:4])


@rule("DepthwiseConv2dNative", contraction=True, wraps=True)
@rule("Dilation2D", wraps=True)
def conv_of_a_channel(op: Op) -> int:
    """An output element sees one channel."""
    op.input(0)
    return 2 * size(op.output()) * size(op.input(1)[:2])


@rule("Conv2DBackpropInput", attributes=("data_format", "strides"), contraction=True)
def conv_2d_backprop_input(op: Op) -> float:
    """As many as the way forward, taken from the size of the image."""
    _, down, right, _ = _nhwc(op, "strides")
    image = op.output()
    return _share(2 * size(image) * size(op.input(1)), image[-1] * down * right)


@rule("Conv2DBackpropFilter", attributes=("data_format", "strides"), contraction=True)
def conv_2d_backprop_filter(op: Op) -> float:
    """As many as the way forward, taken from the size of the image."""
    _, down, right, _ = _nhwc(op, "strides")
    image = op.input(0)
    return _share(2 * size(image) * size(op.output()), image[-1] * down * right)


@rule("MatMul", attributes=("transpose_a",), contraction=True, wraps=True)
def mat_mul(op: Op) -> int:
    """A multiply-add for each output element and each element of what is summed over."""
    left = op.input(0)
    return 2 * size(op.output()) * (left[0] if op.attr("transpose_a") else left[1])


@rule(
    "BatchMatMul",
    "BatchMatMulV2",
    "BatchMatMulV3",
    attributes=("transpose_a",),
    contraction=True,
    wraps=True,
)
def batch_mat_mul(op: Op) -> int:
    """As MatMul; parity Q44: asks for an attribute that is called adj_x here."""
    left = op.input(0)
    return 2 * size(op.output()) * (left[-2] if op.attr("transpose_a") else left[-1])


def _nhwc(op: Op, attribute: str) -> tuple[int, ...]:
    """What a list of four says where the channels stand last; otherwise nothing is counted."""
    if op.attr("data_format") != "NHWC":
        raise UnknownShape
    return tuple(cast("Any", op.attr(attribute)))


def _share(work: int, of: int) -> float:
    """The original fails where there are no channels; then there is no work either."""
    return work / of if of else 0
