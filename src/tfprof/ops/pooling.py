"""Pooling: Π(ksize) steps per output element, whichever way the image is laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from tfprof.ops import shared_rules as shared
from tfprof.ops.op import Op, size
from tfprof.ops.shape import OPEN, MaybeShape, Shape, merged, require
from tfprof.ops.table import float_ops, shape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


POOLS: Final = "{,_Mkl,_MklNative}{Avg,Max}Pool{,3D}"
QUANTIZED: Final = "{,_Mkl}Quantized{Avg,Max}Pool _QuantizedMaxPool3D"
AVG_GRADIENTS: Final = "{,_Mkl,_MklNative}AvgPool{,3D}Grad"
MAX_GRADIENTS: Final = "{,_Mkl,_MklNative}MaxPool{,3D}Grad"


# --- float operations ---


def _window(op: Op) -> int:
    """The number of elements of a window."""
    ksize = op.attr("ksize")
    require(isinstance(ksize, list))
    return size(tuple(int(str(length)) for length in ksize))


def _count(types: str, tensorflow: str, steps: Callable[[Op, int], int]) -> None:
    """Count these *types*, and with TensorFlow's own numbers those that it counts in NHWC only."""

    def in_nhwc(op: Op) -> int:
        require(op.attr("data_format") == "NHWC")
        return steps(op, size(tuple(cast("Any", op.attr("ksize")))))

    float_ops(types, attributes="ksize")(lambda op: steps(op, _window(op)))
    float_ops(tensorflow, attributes="data_format ksize", tensorflow=True)(in_nhwc)


# One per element of each window.
_count(
    f"{POOLS} {QUANTIZED} MaxPoolWithArgmax",
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


# --- shapes ---


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
    in_inputs = op.type.endswith("V2")
    names = ("ksize", "strides")
    sizes, strides = map(op.numbers, (3, 4)) if in_inputs else map(op.attr, names)
    return merged(_pooled(op, sizes, strides), op.shape(1))


def _pooled(op: Op, sizes: Sequence[int], strides: Sequence[int]) -> Shape:
    image = op.ranked(0, len(sizes))
    padding = str(op.attr("padding", "VALID"))
    pads = op.attr("explicit_paddings") or [0] * (2 * len(image))
    require(len(sizes) == len(strides))
    explicit = padding == "EXPLICIT"
    return tuple(
        length if not axis else shared.windows(length, sizes[axis], strides[axis], padding,
                pads[2 * axis] + pads[2 * axis + 1] if explicit else 0)
        for axis, length in enumerate(image)
    )  # fmt: skip


@shape("Fractional{Max,Avg}Pool")
def fractional_pool_shape(op: Op) -> list[MaybeShape]:
    """The image divided by a ratio, and where the rows and the columns are cut."""
    image, ratio = op.known(0), op.attr("pooling_ratio")
    pairs = zip(image, ratio, strict=True)
    pooled = tuple(OPEN if length < 0 else int(length / share) for length, share in pairs)
    return [pooled, *((OPEN if pooled[axis] < 0 else pooled[axis] + 1,) for axis in (1, 2))]
