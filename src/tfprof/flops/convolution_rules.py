"""Convolutions: a multiply-add for each output element and each weight that it sees.

    filter [height, width, depth, channels]     2 · |output| · height · width · depth

The depth is that of a group. A tap that falls on padding counts like any other, strides and
dilations show in the output alone, and the layout of the image does not matter. A gradient does
the products of the way forward once more, so it is counted from the gradient that comes in:

    forward      2 · |output|          · height · width · depth
    to an input  2 · |output gradient| · height · width · depth
    to a filter  2 · |output gradient| · height · width · depth
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.flops.activation_rules import fused
from tfprof.flops.op import UnknownShape, size
from tfprof.flops.table import rule

if TYPE_CHECKING:
    from tfprof.flops.op import Op, Shape

LAYOUT = ("data_format", "filter_format")
QUANTIZED = (
    "",
    "AndRelu",
    "AndReluAndRequantize",
    "AndRequantize",
    "PerChannel",
    "WithBias",
    "WithBiasAndRelu",
    "WithBiasAndReluAndRequantize",
    "WithBiasAndRequantize",
    "WithBiasSignedSumAndReluAndRequantize",
    "WithBiasSumAndRelu",
    "WithBiasSumAndReluAndRequantize",
)
QUANTIZED_DEPTHWISE = ("", "WithBias", "WithBiasAndRelu", "WithBiasAndReluAndRequantize")


def seen(op: Op, weights: Shape) -> int:
    """How many weights an output element sees."""
    if op.attr("data_format") == "NCHW_VECT_C" or "OIHW" in str(op.attr("filter_format")):
        return size(weights[1:])  # the output's channels stand first
    return size(weights[:-1])


def _in_window(op: Op, weights: Shape) -> int:
    """How many weights of one channel an output element sees, where it sees one channel."""
    if "OIHW" in str(op.attr("filter_format")):
        raise UnknownShape
    return size(weights[:-2])


@rule("Conv", "Conv2D", attributes=LAYOUT, contraction=True)
@rule("_MklConv2D", "_MklNativeConv2D", attributes=LAYOUT, contraction=True)
@rule("_MklConv3D", "_MklNativeConv3D", attributes=LAYOUT, contraction=True)
@rule("_MklPadWithConv2D", "_MklNativePadWithConv2D", attributes=LAYOUT, contraction=True)
@rule("__MklDummyPadWithConv2D", attributes=LAYOUT, contraction=True)
def convolution(op: Op) -> int:
    """A convolution in any number of dimensions."""
    return 2 * size(op.output()) * seen(op, op.input(1))


@rule("FusedPadConv2D", "FusedResizeAndPadConv2D", attributes=LAYOUT, contraction=True)
def padded(op: Op) -> int:
    """A convolution whose filter comes last; the resizing before it is not in the shapes."""
    return 2 * size(op.output()) * seen(op, op.input(op.inputs - 1))


@rule("_FusedConv2D", "_FusedConv3D", attributes=(*LAYOUT, "fused_ops"), contraction=True)
@rule(
    "_MklFusedConv2D", "_MklNativeFusedConv2D", attributes=(*LAYOUT, "fused_ops"), contraction=True
)
@rule("_MklNativeFusedConv3D", attributes=(*LAYOUT, "fused_ops"), contraction=True)
@rule("_MklPadWithFusedConv2D", attributes=(*LAYOUT, "fused_ops"), contraction=True)
@rule("_MklNativePadWithFusedConv2D", attributes=(*LAYOUT, "fused_ops"), contraction=True)
@rule("__MklDummyPadWithFusedConv2D", attributes=(*LAYOUT, "fused_ops"), contraction=True)
@rule("_FusedQuantizedConv2D", attributes=(*LAYOUT, "fused_ops"), contraction=True)
def fused_convolution(op: Op) -> int:
    """A convolution and what is fused into it."""
    return convolution(op) + fused(op)


@rule("_MklConv2DWithBias", "_MklNativeConv2DWithBias", attributes=LAYOUT, contraction=True)
@rule("__MklDummyConv2DWithBias", attributes=LAYOUT, contraction=True)
@rule(
    *(f"{kind}Conv2D{suffix}" for kind in ("Quantized", "_MklQuantized") for suffix in QUANTIZED),
    attributes=LAYOUT,
    contraction=True,
)
def convolution_with_bias(op: Op) -> int:
    """A convolution, and a step an element for each of the bias, the sum and the Relu."""
    extra = sum(word in op.type for word in ("Bias", "Sum", "Relu"))
    return convolution(op) + extra * size(op.output())


@rule("_MklDepthwiseConv2dNative", attributes=LAYOUT, contraction=True)
@rule("_MklNativeDepthwiseConv2dNative", attributes=LAYOUT, contraction=True)
def depthwise(op: Op) -> int:
    """A convolution where an output element sees one channel."""
    return 2 * size(op.output()) * _in_window(op, op.input(1))


@rule("_FusedDepthwiseConv2dNative", attributes=(*LAYOUT, "fused_ops"), contraction=True)
@rule("_MklFusedDepthwiseConv2dNative", attributes=(*LAYOUT, "fused_ops"), contraction=True)
@rule("_MklNativeFusedDepthwiseConv2dNative", attributes=(*LAYOUT, "fused_ops"), contraction=True)
@rule("_FusedQuantizedDepthwiseConv2D", attributes=(*LAYOUT, "fused_ops"), contraction=True)
def fused_depthwise(op: Op) -> int:
    """A depthwise convolution and what is fused into it."""
    return depthwise(op) + fused(op)


@rule(
    *(
        f"{kind}DepthwiseConv2D{suffix}"
        for kind in ("Quantized", "_MklQuantized")
        for suffix in QUANTIZED_DEPTHWISE
    ),
    attributes=LAYOUT,
    contraction=True,
)
def depthwise_with_bias(op: Op) -> int:
    """A depthwise convolution, and a step an element for each of the bias and the Relu."""
    return depthwise(op) + (("Bias" in op.type) + ("Relu" in op.type)) * size(op.output())


@rule("Conv2DBackpropInput", "Conv2DBackpropInputV2", attributes=LAYOUT, contraction=True)
@rule("Conv3DBackpropInput", "Conv3DBackpropInputV2", attributes=LAYOUT, contraction=True)
@rule(
    "_MklConv2DBackpropInput", "_MklNativeConv2DBackpropInput", attributes=LAYOUT, contraction=True
)
@rule("_MklConv3DBackpropInputV2", attributes=LAYOUT, contraction=True)
@rule("_MklNativeConv3DBackpropInputV2", attributes=LAYOUT, contraction=True)
def to_input(op: Op) -> int:
    """The gradient of an input; also the transposed convolution, which is the same thing."""
    return 2 * size(op.input(2)) * seen(op, op.input(1))


@rule("Conv2DBackpropFilter", "Conv2DBackpropFilterV2", attributes=LAYOUT, contraction=True)
@rule("Conv3DBackpropFilter", "Conv3DBackpropFilterV2", attributes=LAYOUT, contraction=True)
@rule("_MklConv2DBackpropFilter", attributes=LAYOUT, contraction=True)
@rule("_MklNativeConv2DBackpropFilter", attributes=LAYOUT, contraction=True)
@rule("_MklConv3DBackpropFilterV2", attributes=LAYOUT, contraction=True)
@rule("_MklNativeConv3DBackpropFilterV2", attributes=LAYOUT, contraction=True)
def to_filter(op: Op) -> int:
    """The gradient of a filter."""
    return 2 * size(op.input(2)) * seen(op, op.output())


@rule("_MklConv2DBackpropFilterWithBias", attributes=LAYOUT, contraction=True)
@rule("_MklNativeConv2DBackpropFilterWithBias", attributes=LAYOUT, contraction=True)
@rule("__MklDummyConv2DBackpropFilterWithBias", attributes=LAYOUT, contraction=True)
def to_filter_and_bias(op: Op) -> int:
    """The gradient of a filter, and a sum for that of the bias."""
    return to_filter(op) + size(op.input(2))


@rule("DepthwiseConv2dNativeBackpropInput", attributes=LAYOUT, contraction=True)
@rule("_MklDepthwiseConv2dNativeBackpropInput", attributes=LAYOUT, contraction=True)
@rule("_MklNativeDepthwiseConv2dNativeBackpropInput", attributes=LAYOUT, contraction=True)
def depthwise_to_input(op: Op) -> int:
    """The gradient of an input, where an output element sees one channel."""
    return 2 * size(op.input(2)) * _in_window(op, op.input(1))


@rule("DepthwiseConv2dNativeBackpropFilter", attributes=LAYOUT, contraction=True)
@rule("_MklDepthwiseConv2dNativeBackpropFilter", attributes=LAYOUT, contraction=True)
@rule("_MklNativeDepthwiseConv2dNativeBackpropFilter", attributes=LAYOUT, contraction=True)
def depthwise_to_filter(op: Op) -> int:
    """The gradient of a filter, where an output element sees one channel."""
    return 2 * size(op.input(2)) * _in_window(op, op.output())


@rule("Dilation2DBackpropInput", "Dilation2DBackpropFilter")
def dilation_gradient(op: Op) -> int:
    """A sum and a comparison for each weight to find the largest, then a sum for the gradient."""
    return (2 * size(op.input(1)[:2]) + 1) * size(op.input(2))
