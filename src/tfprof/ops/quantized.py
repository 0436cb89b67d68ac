"""Quantized arithmetic: outputs come with the minimum and the maximum that they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.ops.normalization import biased
from tfprof.ops.shape import OPEN, MaybeShape, merged
from tfprof.ops.shared_rules import broadcast_pair, like_input, per_input, per_output, with_range
from tfprof.ops.table import float_ops, no_shape, shape

if TYPE_CHECKING:
    from tfprof.ops.op import Op

FAKE: Final = "FakeQuantWithMinMax{Args,Vars,VarsPerChannel}"
STEPS: Final = {
    "Quantized{Add,BiasAdd,Mul} UniformQuantizedAdd QuantizedRelu": 1,
    "QuantizedRelu{6,X} UniformQuantizedClipByValue": 2,  # maximum, minimum
    "{,_Mkl,Uniform,Xla}Dequantize": 2,  # difference, product
    "{,_Mkl}QuantizeV2 Uniform{Quantize,Requantize}": 3,  # product, sum, rounding
    "QuantizeDownAndShrinkRange Requantize{,PerChannel}": 3,  # the same
    "QuantizeAndDequantize{,V2,V3,V4}": 5,  # maximum, minimum, product, rounding, product
    FAKE: 7,  # maximum, minimum, difference, product, rounding, product, sum
    f"{FAKE}Gradient QuantizeAndDequantizeV4Grad": 3,  # two comparisons, product
}
for _names, _steps in STEPS.items():
    float_ops(_names)(per_output(_steps))
float_ops("RequantizationRange{,PerChannel}")(per_input(0, steps=2))  # minimum, maximum
shape(FAKE, "QuantizeAndDequantize{,V2,V3,V4} {,_Mkl}Dequantize")(like_input(0))
shape("Uniform{Dequantize,Quantize,Requantize} UniformQuantizedClipByValue")(like_input(0))
shape(
    "QuantizedRelu{,6,X} {,_Mkl}QuantizeV2 QuantizeDownAndShrinkRange Requantize{,PerChannel}",
    "QuantizedInstanceNorm",
)(with_range(like_input(0)))
shape("QuantizeAndDequantizeV4Grad FakeQuantWithMinMaxVarsGradient")(with_range(like_input(0, 1)))
shape("QuantizedBiasAdd")(with_range(biased))
shape("Quantized{Add,Mul}")(with_range(broadcast_pair))
shape("UniformQuantizedAdd")(broadcast_pair)
shape("RequantizationRange{,PerChannel}")(lambda _: [(), ()])


@shape("FakeQuantWithMinMaxVarsPerChannelGradient")
def per_channel_gradients(op: Op) -> list[MaybeShape]:
    """The gradients of the input and of the ranges of its channels."""
    tensor = merged(op.shape(0), op.shape(1))
    channels = (OPEN,) if tensor is None else tensor[-1:]
    ranges = merged(channels, merged(op.shape(2), op.shape(3)))
    return [tensor and merged(tensor, (*tensor[:-1], *(ranges or ()))), ranges, ranges]


no_shape("TensorFlow infers none: it depends on how the input is packed", "XlaDequantize")
