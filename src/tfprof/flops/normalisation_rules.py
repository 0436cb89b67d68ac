"""Normalisation: what it takes for each element of the image, and for each channel.

    apply      y = x · s + o      2 an element
               s = scale / √(v + ε)   sum, reciprocal square root (two), product      ┐ 6 a channel
               o = offset - m · s     product, difference                             ┘
    learn      m                  sums and a quotient              1 an element
               v                  differences, squares, a mean     3 an element
               running averages   two times two products and a sum 6 a channel

A reciprocal square root counts 2, as on its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tfprof.flops.op import size
from tfprof.flops.table import rule

if TYPE_CHECKING:
    from tfprof.flops.op import Op

FORWARD = ("is_training", "exponential_avg_factor")


@rule("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", attributes=FORWARD)
@rule("_MklFusedBatchNorm", "_MklFusedBatchNormV2", "_MklFusedBatchNormV3", attributes=FORWARD)
@rule("_MklNativeFusedBatchNorm", "_MklNativeFusedBatchNormV2", attributes=FORWARD)
@rule("_MklNativeFusedBatchNormV3", attributes=FORWARD)
def batch_norm(op: Op) -> int:
    """Apply, after learning the mean and the variance in training."""
    image, channels = size(op.input(0)), size(op.input(1))
    if not op.attr("is_training", default=True):
        return 2 * image + 6 * channels
    averages = 0 if op.attr("exponential_avg_factor", 1.0) == 1.0 else 6
    return (1 + 3 + 2) * image + (6 + averages) * channels


@rule(
    "_FusedBatchNormEx",
    "_MklFusedBatchNormEx",
    "_MklNativeFusedBatchNormEx",
    attributes=(*FORWARD, "num_side_inputs", "activation_mode"),
)
def batch_norm_and_more(op: Op) -> int:
    """Likewise, with another image added and an activation."""
    added = int(op.attr("num_side_inputs", 0)) + bool(op.attr("activation_mode") == "Relu")
    return batch_norm(op) + added * size(op.input(0))


@rule("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3", attributes=FORWARD[:1])
@rule("_MklFusedBatchNormGrad", "_MklFusedBatchNormGradV2", attributes=FORWARD[:1])
@rule("_MklFusedBatchNormGradV3", "_MklNativeFusedBatchNormGrad", attributes=FORWARD[:1])
@rule("_MklNativeFusedBatchNormGradV2", attributes=FORWARD[:1])
@rule("_MklNativeFusedBatchNormGradV3", attributes=FORWARD[:1])
def batch_norm_grad(op: Op) -> int:
    """The gradients of image, scale and offset.

    Offset: a sum. Scale: normalise (two), product, sum. The image: one product where mean and
    variance are given; in training two differences and two products, since they depend on it.
    """
    image, channels = size(op.input(0)), size(op.input(2))
    if op.attr("is_training", default=True):
        return (1 + 4 + 4) * image + 4 * channels
    return (1 + 4 + 1) * image + 2 * channels


@rule("_FusedBatchNormGradEx", attributes=(*FORWARD[:1], "activation_mode"))
def batch_norm_grad_and_more(op: Op) -> int:
    """Likewise, through an activation: a comparison and a product."""
    return batch_norm_grad(op) + 2 * bool(op.attr("activation_mode") == "Relu") * size(op.input(0))


@rule("BatchNormWithGlobalNormalization", attributes=("scale_after_normalization",))
@rule("QuantizedBatchNormWithGlobalNormalization", attributes=("scale_after_normalization",))
def global_norm(op: Op) -> int:
    """Apply; without a scale, a product less."""
    channels = size(op.input(3 if op.type.startswith("Quantized") else 1))
    return 2 * size(op.input(0)) + (6 if op.attr("scale_after_normalization") else 5) * channels


@rule("BatchNormWithGlobalNormalizationGrad")
def global_norm_grad(op: Op) -> int:
    """Two sums, a difference and two products for each element; nine steps for each channel."""
    return 5 * size(op.input(0)) + 9 * size(op.input(1))


@rule("QuantizedInstanceNorm", "_MklLayerNorm", "_MklFusedInstanceNorm")
def instance_norm(op: Op) -> int:
    """Learn and apply, for each element."""
    return (1 + 3 + 2) * size(op.input(0))


@rule("LRN", attributes=("depth_radius",))
def local_response(op: Op) -> int:
    """Square, 2 · radius sums, product, sum, power, quotient."""
    return (2 * _radius(op) + 5) * size(op.input(0))


@rule("LRNGrad", attributes=("depth_radius",))
def local_response_grad(op: Op) -> int:
    """The norm once more, two products and a quotient, another 2 · radius sums, and five steps."""
    return (4 * _radius(op) + 10) * size(op.input(0))


def _radius(op: Op) -> int:
    return cast("int", op.attr("depth_radius", 5))
