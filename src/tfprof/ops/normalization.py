"""Normalization: steps per element of the image, and per channel.

    apply      y = x · s + o      2 per element
               s = scale / √(v + ε)   sum, reciprocal square root (two), product  ┐ 6 per channel
               o = offset - m · s     product, difference                         ┘
    learn      m                  sums and a quotient              1 per element
               v                  differences, squares, a mean     3 per element
               running averages   two times two products and a sum 6 per channel

A reciprocal square root counts 2, as on its own.
"""

from __future__ import annotations

from functools import reduce
from typing import Final

from tfprof.ops.op import Op, size
from tfprof.ops.shape import OPEN, MaybeShape, Shape, either, merged
from tfprof.ops.shared_rules import channel_axis, like_input, per_input, with_range
from tfprof.ops.table import float_ops, shape

BATCH_NORMS: Final = "{,_Mkl,_MklNative}FusedBatchNorm{,V2,V3}"
EXTENDED: Final = "_FusedBatchNormEx _Mkl{,Native}FusedBatchNormEx"
GRADIENTS: Final = "{,_Mkl,_MklNative}FusedBatchNormGrad{,V2,V3}"


@float_ops(
    BATCH_NORMS, EXTENDED,
    attributes="is_training exponential_avg_factor num_side_inputs activation_mode",
)  # fmt: skip
def batch_norm(op: Op) -> int:
    """Normalize (in training, also compute mean and variance), add side inputs, activate."""
    image, channels = size(op.input(0)), size(op.input(1))
    extra = int(op.attr("num_side_inputs", 0)) + bool(op.attr("activation_mode") == "Relu")
    if not op.attr("is_training", default=True):
        return (2 + extra) * image + 6 * channels
    averages = 0 if op.attr("exponential_avg_factor", 1.0) == 1.0 else 6
    return (1 + 3 + 2 + extra) * image + (6 + averages) * channels


@shape(BATCH_NORMS, EXTENDED)
def batch_norm_shapes(op: Op) -> list[MaybeShape]:
    """Image, mean, variance, and both once more for the gradient; V3 has scratch memory, too."""
    image, channels = _image(op, 1)
    scratch: list[MaybeShape] = [None] if op.type.endswith(("V3", "Ex")) else []
    return [image, *[channels] * 4, *scratch]


@float_ops(GRADIENTS, "_FusedBatchNormGradEx", attributes="is_training activation_mode")
def batch_norm_grad(op: Op) -> int:
    """The gradients of image, scale and offset, through a Relu: a comparison and a product.

    Offset: a sum. Scale: normalize (two), product, sum. The image: one product where mean and
    variance are inputs; in training two differences and two products, since they depend on it.
    """
    image, channels = size(op.input(0)), size(op.input(2))
    extra = 2 * bool(op.attr("activation_mode") == "Relu")
    if op.attr("is_training", default=True):
        return (1 + 4 + 4 + extra) * image + 4 * channels
    return (1 + 4 + 1 + extra) * image + 2 * channels


@shape(GRADIENTS, "_FusedBatchNormGradEx")
def batch_norm_grad_shapes(op: Op) -> list[MaybeShape]:
    """The gradients of image, scale and offset; the last two are empty."""
    image, channels = _image(op, 2)
    return [merged(image, op.shape(1)), channels, channels, (0,), (0,)]


def _image(op: Op, scale: int) -> tuple[MaybeShape, MaybeShape]:
    """The image and the shape of what there is per channel; each completes the other."""
    any_image = (OPEN,) * len(str(op.attr("data_format", "NHWC")))
    image = op.shape(0) or any_image
    axis = channel_axis(op, len(image))
    channels = merged(op.shape(scale), (image[axis],)) or (OPEN,)
    return merged(image, (*image[:axis], channels[0], *image[axis + 1 :])), channels


@float_ops("{,Quantized}BatchNormWithGlobalNormalization", attributes="scale_after_normalization")
def global_norm(op: Op) -> int:
    """Apply; without a scale, one product less."""
    channels = size(op.input(3 if op.type.startswith("Quantized") else 1))
    return 2 * size(op.input(0)) + (6 if op.attr("scale_after_normalization") else 5) * channels


# Two sums, a difference and two products per element; nine steps per channel.
float_ops("BatchNormWithGlobalNormalizationGrad")(
    lambda op: 5 * size(op.input(0)) + 9 * size(op.input(1))
)


@shape("BatchNormWithGlobalNormalizationGrad")
def global_norm_grad_shapes(op: Op) -> list[MaybeShape]:
    """The gradients of image, mean, variance, offset and scale."""
    image, channels = _image(op, 1)
    return [merged(image, op.shape(4)), *[channels] * 4]


# Learn and apply, per element.
float_ops("QuantizedInstanceNorm _Mkl{LayerNorm,FusedInstanceNorm}")(per_input(0, steps=1 + 3 + 2))
shape("_MklLayerNorm _MklFusedInstanceNorm")(like_input(0))
shape("LRN")(like_input(0, rank=4))
shape("LRNGrad")(like_input(0, 1, 2, rank=4))


@shape("BatchNormWithGlobalNormalization")
def global_norm_shape(op: Op) -> Shape:
    """The image, with as many channels as there are means, variances, offsets and scales."""
    image = op.ranked(0, 4)
    vectors = range(3, 13, 3) if op.type.startswith("Quantized") else range(1, 5)
    return (*image[:3], reduce(either, (op.ranked(n, 1)[0] for n in vectors), image[3]))


shape("QuantizedBatchNormWithGlobalNormalization")(with_range(global_norm_shape))
# Square, 2 · radius sums, product, sum, power, quotient.
float_ops("LRN", attributes="depth_radius")(
    lambda op: (2 * op.attr("depth_radius", 5) + 5) * size(op.input(0))
)
# The norm once more, two products and a quotient, another 2 · radius sums, and five steps.
float_ops("LRNGrad", attributes="depth_radius")(
    lambda op: (4 * op.attr("depth_radius", 5) + 10) * size(op.input(0))
)


@shape("BiasAdd BiasAddV1")
def biased(op: Op) -> MaybeShape:
    """The input, with as many channels as there are biases."""
    tensor, bias = op.known(0), op.shape(1)
    axis = channel_axis(op, len(tensor))
    return merged(tensor, (*tensor[:axis], *(bias or (OPEN,)), *tensor[axis + 1 :]))
