"""Pooling and resizing: what each window or tap takes.

pool       Π(ksize) · |output|            whichever way the image is laid out
resize     a fixed number of taps for each output element
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.flops.op import UnknownShape, size
from tfprof.flops.table import rule

if TYPE_CHECKING:
    from tfprof.flops.op import Op

LERP = 3  # difference, product, sum
BILINEAR = 3 * LERP  # two along a row, one across
BICUBIC = 5 * 7  # four rows and one column of four taps, each four products and three sums


def window(op: Op) -> int:
    """How many elements a window has."""
    ksize = op.attr("ksize")
    if not isinstance(ksize, list):
        raise UnknownShape
    return size(tuple(int(str(length)) for length in ksize))


@rule("AvgPool", "MaxPool", "AvgPool3D", "MaxPool3D", attributes=("ksize",))
@rule("MaxPoolWithArgmax", "QuantizedAvgPool", "QuantizedMaxPool", attributes=("ksize",))
@rule("_MklAvgPool", "_MklNativeAvgPool", "_MklMaxPool", "_MklNativeMaxPool", attributes=("ksize",))
@rule("_MklAvgPool3D", "_MklNativeAvgPool3D", attributes=("ksize",))
@rule("_MklMaxPool3D", "_MklNativeMaxPool3D", "_QuantizedMaxPool3D", attributes=("ksize",))
@rule("_MklQuantizedAvgPool", "_MklQuantizedMaxPool", attributes=("ksize",))
def pool(op: Op) -> int:
    """One for each element of each window."""
    return window(op) * size(op.output())


@rule("AvgPoolGrad", "AvgPool3DGrad", attributes=("ksize",))
@rule("_MklAvgPoolGrad", "_MklNativeAvgPoolGrad", attributes=("ksize",))
@rule("_MklAvgPool3DGrad", "_MklNativeAvgPool3DGrad", attributes=("ksize",))
def avg_pool_grad(op: Op) -> int:
    """A quotient and a sum for each element of each window."""
    return 2 * window(op) * size(op.input(1))


@rule("MaxPoolGrad", "MaxPool3DGrad", attributes=("ksize",))
@rule("_MklMaxPoolGrad", "_MklNativeMaxPoolGrad", attributes=("ksize",))
@rule("_MklMaxPool3DGrad", "_MklNativeMaxPool3DGrad", attributes=("ksize",))
def max_pool_grad(op: Op) -> int:
    """The windows once more, and a sum for each."""
    return (window(op) + 1) * size(op.input(1))


@rule("MaxPoolGradGrad", "MaxPool3DGradGrad", attributes=("ksize",))
def max_pool_grad_grad(op: Op) -> int:
    """The windows once more."""
    return window(op) * size(op.input(1))


@rule("FractionalMaxPool", "FractionalAvgPool")
def fractional_pool(op: Op) -> int:
    """One for each element of the image: the windows cover it once."""
    return size(op.input(0))


@rule("FractionalMaxPoolGrad")
def fractional_max_pool_grad(op: Op) -> int:
    """The windows once more, and a sum for each."""
    return size(op.input(0)) + size(op.input(1))


@rule("FractionalAvgPoolGrad")
def fractional_avg_pool_grad(op: Op) -> int:
    """A quotient and a sum for each element of the image."""
    return 2 * size(op.output())


@rule("ResizeBilinear", "QuantizedResizeBilinear")
def resize_bilinear(op: Op) -> int:
    """Three interpolations between two."""
    return BILINEAR * size(op.output())


@rule("ResizeBilinearGrad")
def resize_bilinear_grad(op: Op) -> int:
    """A product and a sum for each of four taps."""
    return 8 * size(op.input(0))


@rule("ResizeBicubic")
def resize_bicubic(op: Op) -> int:
    """Five weighted sums of four."""
    return BICUBIC * size(op.output())


@rule("ResizeBicubicGrad")
def resize_bicubic_grad(op: Op) -> int:
    """A product and a sum for each of sixteen taps."""
    return 32 * size(op.input(0))


@rule("ResizeArea")
def resize_area(op: Op) -> int:
    """A weighted sum of what each area covers, each element of the finer image once."""
    return 2 * max(size(op.input(0)), size(op.output()))


@rule("CropAndResize", attributes=("method",))
def crop_and_resize(op: Op) -> int:
    """Three interpolations between two; none where the nearest is taken."""
    return 0 if op.attr("method") == "nearest" else BILINEAR * size(op.output())


@rule("CropAndResizeGradImage", attributes=("method",))
def crop_and_resize_grad(op: Op) -> int:
    """A product and a sum for each of four taps; one sum where the nearest is taken."""
    return (1 if op.attr("method") == "nearest" else 8) * size(op.input(0))
