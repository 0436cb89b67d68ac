"""Normalisation: the image as it was, and a number for each channel of each statistic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.inference.convolution_shapes import channel_axis
from tfprof.inference.shape import OPEN, merged
from tfprof.inference.table import shape_rule

if TYPE_CHECKING:
    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Maybe


@shape_rule("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 _FusedBatchNormEx")
def batch_norm(op: Operation) -> list[Maybe]:
    """Image, mean, variance, and the same once more for the gradient."""
    image, channels = _image(op, 1)
    spare: list[Maybe] = [None] if op.type in ("FusedBatchNormV3", "_FusedBatchNormEx") else []
    return [image, *[channels] * 4, *spare]


@shape_rule("FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3")
def batch_norm_grad(op: Operation) -> list[Maybe]:
    """The gradients of image, scale and offset; the last two are there for nothing."""
    image, channels = _image(op, 2)
    return [merged(image, op.shape(1)), channels, channels, (0,), (0,)]


@shape_rule("BatchNormWithGlobalNormalization")
def global_norm(op: Operation) -> Maybe:
    """The image."""
    return op.shape(0)


def _image(op: Operation, scale: int) -> tuple[Maybe, Maybe]:
    """The image and the shape of what there is for each channel, each telling of the other."""
    any_image = (OPEN,) * len(str(op.attr("data_format", "NHWC")))
    image = op.shape(0) or any_image
    axis = channel_axis(op, len(image))
    channels = merged(op.shape(scale), (image[axis],)) or (OPEN,)
    return merged(image, (*image[:axis], channels[0], *image[axis + 1 :])), channels


@shape_rule("BiasAdd BiasAddV1")
def biased(op: Operation) -> Maybe:
    """The input, whose channels are as many as there are biases."""
    shape, bias = op.known(0), op.shape(1)
    axis = channel_axis(op, len(shape))
    return merged(shape, (*shape[:axis], *(bias or (OPEN,)), *shape[axis + 1 :]))


@shape_rule("LRN")
def local_response(op: Operation) -> Maybe:
    """The image."""
    return op.shape(0) or (OPEN,) * 4
