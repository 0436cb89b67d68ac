"""Convolutions and pooling: windows that move over an image.

A convolution takes a multiply-add per output element and weight that it sees.

    filter [height, width, depth, channels]     2 · |output| · height · width · depth

The depth is that of a group. A tap that falls on padding counts like any other; strides and
dilations show in the output only; the layout of the image does not matter. A gradient repeats the
products of the forward pass, so it is counted from the incoming gradient:

    forward      2 · |output|          · height · width · depth
    to an input  2 · |output gradient| · height · width · depth
    to a filter  2 · |output gradient| · height · width · depth
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.ops import shared_rules as shared
from tfprof.ops.activation import fused
from tfprof.ops.op import Op, size
from tfprof.ops.shape import OPEN, MaybeShape, Shape, either, merged, need, plus, require, times
from tfprof.ops.table import float_ops, shape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LAYOUT: Final = "data_format filter_format"

PLAIN: Final = """
Conv2D _Mkl{,Native}Conv{2D,3D} _Mkl{,Native}PadWithConv2D __MklDummyPadWithConv2D
"""
FUSED: Final = """
_FusedConv{2D,3D} _Mkl{,Native}FusedConv2D _MklNativeFusedConv3D _Mkl{,Native}PadWithFusedConv2D
__MklDummyPadWithFusedConv2D _FusedQuantizedConv2D
"""
WITH_BIAS: Final = "_Mkl{,Native}Conv2DWithBias __MklDummyConv2DWithBias"
QUANTIZED: Final = """
{,_Mkl}QuantizedConv2D{,AndRelu,AndReluAndRequantize,AndRequantize,PerChannel}
{,_Mkl}QuantizedConv2DWithBias{,AndRelu,AndReluAndRequantize,AndRequantize}
{,_Mkl}QuantizedConv2DWithBias{SignedSumAndReluAndRequantize,SumAndRelu,SumAndReluAndRequantize}
"""
DEPTHWISE: Final = "_Mkl{,Native}DepthwiseConv2dNative"
FUSED_DEPTHWISE: Final = """
_FusedDepthwiseConv2dNative _Mkl{,Native}FusedDepthwiseConv2dNative _FusedQuantizedDepthwiseConv2D
"""
QUANTIZED_DEPTHWISE: Final = """
QuantizedDepthwiseConv2D{,WithBias,WithBiasAndRelu,WithBiasAndReluAndRequantize}
"""
MKL_QUANTIZED_DEPTHWISE: Final = """
_MklQuantizedDepthwiseConv2D{,WithBias,WithBiasAndRelu,WithBiasAndReluAndRequantize}
"""


# --- TensorFlow's own numbers ---


@float_ops("Conv2D", contraction=True, wraps=True, tensorflow=True)
def conv_2d(op: Op) -> int:
    """A multiply-add per weight that an output element sees; the depth is that of a group."""
    op.input(0)
    height, width, depth = op.input(1)[:3]
    return 2 * size(op.output()) * height * width * depth


@float_ops("Conv3D DepthwiseConv2dNative", contraction=True, wraps=True, tensorflow=True)
@float_ops("Dilation2D", wraps=True, tensorflow=True)
def conv_of_a_channel(op: Op) -> int:
    """As in two dimensions; of a depthwise convolution, an output element sees one channel."""
    op.input(0)
    return 2 * size(op.output()) * size(op.input(1)[: 4 if op.type == "Conv3D" else 2])


@float_ops(
    "Conv2DBackprop{Input,Filter}", attributes="data_format strides", contraction=True,
    tensorflow=True,
)  # fmt: skip
def gradient_of_tensorflow(op: Op) -> float:
    """The forward pass's count, computed from the image size by true (not integer) division."""
    to_input = op.type == "Conv2DBackpropInput"
    image, weights = (op.output(), op.input(1)) if to_input else (op.input(0), op.output())
    require(op.attr("data_format") == "NHWC")
    _, down, right, _ = shared.integers(op, "strides")
    share = image[-1] * down * right
    # The original fails without channels; there is no work.
    return 2 * size(image) * size(weights) / share if share else 0


# --- ours ---


def _weights_seen(op: Op, weights: Shape) -> int:
    """How many weights an output element sees: all of its group, or those of one channel."""
    output_first = "OIHW" in str(op.attr("filter_format"))
    if "Depthwise" in op.type:
        require(not output_first)
        return size(weights[:-2])
    output_first |= op.attr("data_format") == "NCHW_VECT_C"
    return size(weights[1:] if output_first else weights[:-1])


@float_ops(
    "Conv", PLAIN, FUSED, WITH_BIAS, QUANTIZED, DEPTHWISE, FUSED_DEPTHWISE, QUANTIZED_DEPTHWISE,
    MKL_QUANTIZED_DEPTHWISE, attributes=f"{LAYOUT} fused_ops", contraction=True,
)  # fmt: skip
def convolution(op: Op) -> int:
    """A convolution in any number of dimensions, and what is fused into it.

    Bias, sum and Relu are a step per element each; some kernels have them in their names.
    """
    extra = sum(word in op.type for word in ("Bias", "Sum", "Relu")) * size(op.output())
    return 2 * size(op.output()) * _weights_seen(op, op.input(1)) + extra + fused(op)


@float_ops("FusedPadConv2D FusedResizeAndPadConv2D", attributes=LAYOUT, contraction=True)
def padded(op: Op) -> int:
    """A convolution whose filter is the last input; resizing before it is not counted."""
    return 2 * size(op.output()) * _weights_seen(op, op.input(op.inputs - 1))


# The gradient of an input; also the transposed convolution, which is the same.
float_ops(
    "Conv{2D,3D}BackpropInput{,V2} {,_Mkl,_MklNative}DepthwiseConv2dNativeBackpropInput",
    "_Mkl{,Native}{Conv2DBackpropInput,Conv3DBackpropInputV2}",
    attributes=LAYOUT,
    contraction=True,
)(lambda op: 2 * size(op.input(2)) * _weights_seen(op, op.input(1)))


@float_ops(
    "Conv{2D,3D}BackpropFilter{,V2} {,_Mkl,_MklNative}DepthwiseConv2dNativeBackpropFilter",
    "_Mkl{,Native}{Conv2DBackpropFilter,Conv3DBackpropFilterV2,Conv2DBackpropFilterWithBias}",
    "__MklDummyConv2DBackpropFilterWithBias", attributes=LAYOUT, contraction=True,
)  # fmt: skip
def to_filter(op: Op) -> int:
    """The gradient of a filter, and a sum for that of a bias."""
    gradient = size(op.input(2))
    return 2 * gradient * _weights_seen(op, op.output()) + ("Bias" in op.type) * gradient


# A sum and a comparison per weight to find the largest, then a sum for the gradient.
float_ops("Dilation2DBackprop{Input,Filter}")(
    lambda op: (2 * size(op.input(1)[:2]) + 1) * size(op.input(2))
)


# --- shapes ---


def _convolved(op: Op, image: Shape, weights: Shape, channels: int) -> Shape:
    """The image that a convolution with a filter of this shape gives."""
    rank, padding = len(image), str(op.attr("padding", "VALID"))
    strides, dilations = (shared.per_axis(op, name, rank) for name in ("strides", "dilations"))
    pads = op.attr("explicit_paddings") or [0] * (2 * rank)
    result = list(image)
    result[shared.channel_axis(op, rank)] = channels
    for place, axis in enumerate(shared.spatial_axes(op, rank)):
        reach = OPEN if weights[place] < 0 else (weights[place] - 1) * dilations[axis] + 1
        extra = pads[2 * axis] + pads[2 * axis + 1] if padding == "EXPLICIT" else 0
        result[axis] = shared.windows(image[axis], reach, strides[axis], padding, extra)
    return tuple(result)


@shape("Conv3D", PLAIN, FUSED, WITH_BIAS)
def convolution_shape(op: Op) -> Shape:
    """As many channels as the filter has outputs."""
    image, weights = (op.ranked(number, shared.image_rank(op)) for number in (0, 1))
    return _convolved(op, image, weights, weights[-1])


@shape("Conv")
def any_convolution_shape(op: Op) -> Shape:
    """The same for an image of any rank, which may have several batch dimensions."""
    image, weights = op.shape(0), op.shape(1)
    outer = int(op.attr("batch_dims", 1)) - 1
    rank = len(need(weights)) if image is None else len(image) - outer
    require(outer >= 0 and rank >= 3)  # noqa: PLR2004 - batch, length, channels
    image, weights = op.ranked(0, rank + outer), op.ranked(1, rank)
    return (*image[:outer], *_convolved(op, image[outer:], weights, weights[-1]))


shape(QUANTIZED, MKL_QUANTIZED_DEPTHWISE)(shared.with_range(convolution_shape))


@shape("DepthwiseConv2dNative", DEPTHWISE, FUSED_DEPTHWISE)
def depthwise_shape(op: Op) -> Shape:
    """A depthwise convolution: channels = image channels * multiplier."""
    image, weights = op.ranked(0, 4), op.ranked(1, 4)
    depth = max(weights[-2], image[shared.channel_axis(op, 4)])  # either may be open
    return _convolved(op, image, weights, times(depth, weights[-1]))


shape(QUANTIZED_DEPTHWISE)(shared.with_unknown_range(depthwise_shape))


@shape("FusedPadConv2D FusedResizeAndPadConv2D")
def padded_shape(op: Op) -> Shape:
    """The convolution of an image that is resized (second input) and padded (second to last)."""
    image, weights = op.ranked(0, 4), op.ranked(op.inputs - 1, 4)
    if op.type == "FusedResizeAndPadConv2D":
        image = (image[0], *op.dims(1, 2), image[3])
    image = tuple(map(plus, image, shared.margins(op, op.inputs - 2, 4)))
    return _convolved(op, image, weights, weights[-1])


@shape("{,_Mkl,_MklNative}{Conv2D,DepthwiseConv2dNative}BackpropInput")
@shape("{,_Mkl,_MklNative}Conv3DBackpropInputV2")
def to_input_shape(op: Op) -> Shape:
    """The image; the first input holds its shape, or only its height and width."""
    rank, sizes = shared.image_rank(op), op.value(0)
    weights, gradient = op.ranked(1, rank), op.ranked(2, rank)
    count, image = op.shape(0) if sizes is None else sizes.shape, op.dims(0, rank)
    if count == (rank - 2,) and "Conv2DBackprop" in op.type:
        sides = dict(zip(shared.spatial_axes(op, rank), image[: rank - 2], strict=True))
        sides[shared.channel_axis(op, rank)] = weights[-2]
        image = tuple(sides.get(axis, OPEN) for axis in range(rank))
    return (either(image[0], gradient[0]), *image[1:])


shape(
    "{,_Mkl,_MklNative}{Conv2D,DepthwiseConv2dNative}BackpropFilter",
    "{,_Mkl,_MklNative}Conv3DBackpropFilterV2",
)(shared.image_listed_by(1))
# The filter, and a number per channel of the image, as TensorFlow infers it.
shape("_Mkl{,Native}Conv2DBackpropFilterWithBias __MklDummyConv2DBackpropFilterWithBias")(
    lambda op: [shared.image_listed_by(1)(op), (op.ranked(0, 4)[shared.channel_axis(op, 4)],)]
)
shape("Conv2DBackpropInputV2")(shared.like_input(0, rank=4))
shape("Conv3DBackpropInput")(shared.like_input(0, rank=5))
shape("Conv2DBackpropFilterV2")(shared.like_input(1, rank=4))
shape("Conv3DBackpropFilter")(shared.like_input(1, rank=5))
shape("Dilation2DBackpropInput")(shared.like_input(0))
shape("Dilation2DBackpropFilter")(shared.like_input(1))


@shape("Dilation2D")
def dilation_shape(op: Op) -> Shape:
    """As a convolution whose filter has the channels of the image."""
    image, weights = op.ranked(0, 4), op.ranked(1, 3)
    strides, rates, padding = (op.attr(name) for name in ("strides", "rates", "padding"))
    reach = [OPEN if side < 0 else (side - 1) * rates[n] + 1 for n, side in enumerate(weights, 1)]
    sides = [shared.windows(image[n], reach[n - 1], strides[n], padding) for n in (1, 2)]
    return (image[0], *sides, max(image[3], weights[2]))


# --- pooling: Π(ksize) steps per output element, whichever way the image is laid out ---

POOLS: Final = "{,_Mkl,_MklNative}{Avg,Max}Pool{,3D}"
QUANTIZED_POOLS: Final = "{,_Mkl}Quantized{Avg,Max}Pool _QuantizedMaxPool3D"
AVG_GRADIENTS: Final = "{,_Mkl,_MklNative}AvgPool{,3D}Grad"
MAX_GRADIENTS: Final = "{,_Mkl,_MklNative}MaxPool{,3D}Grad"


# --- float operations of pools ---


def _count(types: str, tensorflow: str, steps: Callable[[Op, int], int]) -> None:
    """Count these *types*, and with TensorFlow's own numbers those that it counts in NHWC only."""

    def in_any_layout(op: Op) -> int:
        return steps(op, size(shared.integers(op, "ksize")))  # the number of elements of a window

    def in_nhwc(op: Op) -> int:
        require(op.attr("data_format") == "NHWC")
        return in_any_layout(op)

    float_ops(types, attributes="ksize")(in_any_layout)
    float_ops(tensorflow, attributes="data_format ksize", tensorflow=True)(in_nhwc)


# One per element of each window.
_count(
    f"{POOLS} {QUANTIZED_POOLS} MaxPoolWithArgmax",
    "AvgPool MaxPool",
    lambda op, window: window * size(op.output()),
)
# A quotient and a sum per element of each window.
_count(AVG_GRADIENTS, "AvgPoolGrad", lambda op, window: 2 * window * size(op.input(1)))
# The windows once more, and a sum for each.
_count(MAX_GRADIENTS, "MaxPoolGrad", lambda op, window: (window + 1) * size(op.input(1)))
# The windows once more.
_count("MaxPool{,3D}GradGrad", "", lambda op, window: window * size(op.input(1)))
float_ops("Fractional{Max,Avg}Pool")(shared.per_input(0))  # the windows cover the image once
float_ops("FractionalAvgPoolGrad")(shared.per_output(2))  # a quotient and a sum
float_ops("MaxPoolGradWithArgmax")(shared.per_input(1))  # a sum per element of the gradient
# The windows once more, and a sum for each.
float_ops("FractionalMaxPoolGrad")(lambda op: size(op.input(0)) + size(op.input(1)))


# --- shapes of pools ---


@shape(POOLS)
def pool_shape(op: Op) -> Shape:
    """Windows of the sizes that an attribute lists."""
    return _pooled(op, op.attr("ksize"), op.attr("strides"))


shape("MaxPoolWithArgmax")(lambda op: [pool_shape(op)] * 2)  # and the place of each maximum
shape("{,_Mkl}QuantizedAvgPool QuantizedMaxPool")(shared.with_range(pool_shape))
shape("_MklQuantizedMaxPool _QuantizedMaxPool3D")(shared.with_unknown_range(pool_shape))
shape(MAX_GRADIENTS, "MaxPoolGrad{V2,WithArgmax} FractionalMaxPoolGrad")(
    lambda op: op.ranked(0, shared.image_rank(op))
)
shape(AVG_GRADIENTS, "FractionalAvgPoolGrad")(shared.image_listed_by(0))
# Windows of the sizes that inputs list.
shape("MaxPoolV2")(lambda op: _pooled(op, op.numbers(1), op.numbers(2)))


@shape("MaxPoolGradGrad{,V2} MaxPool3DGradGrad")
def twice_differentiated(op: Op) -> MaybeShape:
    """The image pooled, which the second input is."""
    in_inputs, names = op.type.endswith("V2"), ("ksize", "strides")
    sizes, strides = map(op.numbers, (3, 4)) if in_inputs else map(op.attr, names)
    return merged(_pooled(op, sizes, strides), op.shape(1))


def _pooled(op: Op, sizes: Sequence[int], strides: Sequence[int]) -> Shape:
    image, padding = op.ranked(0, len(sizes)), str(op.attr("padding", "VALID"))
    require(len(sizes) == len(strides))
    pads = op.attr("explicit_paddings") if padding == "EXPLICIT" else [0] * (2 * len(image))
    margins = map(sum, zip(pads[::2], pads[1::2], strict=True))
    sides = zip(image, sizes, strides, [padding] * len(image), margins, strict=True)
    return (image[0], *(shared.windows(*side) for side in [*sides][1:]))


@shape("Fractional{Max,Avg}Pool")
def fractional_pool_shape(op: Op) -> list[MaybeShape]:
    """The image divided by a ratio, and where the rows and the columns are cut."""
    image, ratio = op.known(0), op.attr("pooling_ratio")
    pairs = zip(image, ratio, strict=True)
    pooled = tuple(OPEN if length < 0 else int(length / share) for length, share in pairs)
    return [pooled, *((OPEN if pooled[axis] < 0 else pooled[axis] + 1,) for axis in (1, 2))]
