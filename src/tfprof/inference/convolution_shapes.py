"""Convolutions and pooling: how many windows fit along each dimension of an image.

    SAME      ⌈length / stride⌉
    VALID     ⌈(length - window + 1) / stride⌉
    EXPLICIT  as VALID, of the length with its padding

A window with holes reaches (size - 1) · dilation + 1 elements far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.inference.shape import OPEN, Unknown, merged, times
from tfprof.inference.table import shape_rule
from tfprof.inference.value import dims_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Maybe, Shape


def windows(length: int, window: int, stride: int, padding: str, extra: int = 0) -> int:
    """How many windows fit along one dimension."""
    if length < 0 or (window < 0 and padding != "SAME") or stride <= 0:
        return OPEN
    if padding == "SAME":
        return -(-length // stride)
    return max(0, -(-(length + extra - window + 1) // stride))


def channel_axis(op: Operation, rank: int) -> int:
    """The dimension of an image that counts its channels."""
    layout = str(op.attr("data_format", "NHWC"))
    if layout.startswith("NCHW_VECT"):
        raise Unknown
    return 1 if layout.startswith("NC") else rank - 1


def _spatial(op: Operation, rank: int) -> list[int]:
    """The dimensions of an image that windows move along."""
    channel = channel_axis(op, rank)
    return [axis for axis in range(1, rank) if axis != channel]


def _each(op: Operation, name: str, rank: int) -> Sequence[int]:
    """A number for each dimension; 1 for all where the attribute is left out."""
    given = op.attr(name)
    return given if isinstance(given, list) and len(given) == rank else [1] * rank


def _convolved(op: Operation, image: Shape, weights: Shape, channels: int) -> Shape:
    """The image that a convolution with a filter of this shape gives."""
    rank, padding = len(image), str(op.attr("padding", "VALID"))
    strides, dilations = _each(op, "strides", rank), _each(op, "dilations", rank)
    pads = op.attr("explicit_paddings") or [0] * (2 * rank)
    result = list(image)
    result[channel_axis(op, rank)] = channels
    for place, axis in enumerate(_spatial(op, rank)):
        reach = OPEN if weights[place] < 0 else (weights[place] - 1) * dilations[axis] + 1
        extra = pads[2 * axis] + pads[2 * axis + 1] if padding == "EXPLICIT" else 0
        result[axis] = windows(image[axis], reach, strides[axis], padding, extra)
    return tuple(result)


def _image_and_filter(op: Operation) -> tuple[Shape, Shape]:
    weights = op.shape(1)
    image = op.shape(0)
    if weights is None or image is None:
        rank = len(weights or image or ())
        weights, image = weights or (OPEN,) * rank, image or (OPEN,) * rank
    if len(image) != len(weights) or len(image) < 3:  # noqa: PLR2004 - batch, length, channels
        raise Unknown
    return image, weights


@shape_rule("Conv2D Conv3D Conv _FusedConv2D _FusedConv3D _MklConv2D _MklNativeConv2D")
def convolution(op: Operation) -> Shape:
    """Channels as many as the filter gives."""
    image, weights = _image_and_filter(op)
    return _convolved(op, image, weights, weights[-1])


@shape_rule("DepthwiseConv2dNative _FusedDepthwiseConv2dNative")
def depthwise(op: Operation) -> Shape:
    """So many channels for each channel of the image."""
    image, weights = _image_and_filter(op)
    depth = max(weights[-2], image[channel_axis(op, len(image))])  # one of both may be open
    return _convolved(op, image, weights, times(depth, weights[-1]))


@shape_rule("Conv2DBackpropInput Conv3DBackpropInputV2 DepthwiseConv2dNativeBackpropInput")
def to_input_of_size(op: Operation) -> Shape:
    """The image whose sizes are the first input; some give those of its sides only."""
    weights, gradient = op.shape(1), op.shape(2)
    rank = len(gradient or weights or ())
    sizes = op.value(0)
    given = (OPEN,) * rank if sizes is None else dims_of(sizes)
    if len(given) == rank - 2 and op.type.startswith("Conv2D"):
        image = [OPEN] * rank
        for place, axis in enumerate(_spatial(op, rank)):
            image[axis] = given[place]
        given = tuple(image)
    if gradient is not None and len(given) == rank and given[0] < 0:
        given = (gradient[0], *given[1:])
    return given


@shape_rule("Conv2DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropFilter")
def to_filter_of_size(op: Operation) -> Shape:
    """The filter whose sizes are the second input."""
    sizes = op.value(1)
    return (OPEN,) * len(op.known(2)) if sizes is None else dims_of(sizes)


@shape_rule("Conv3DBackpropInput Conv2DBackpropInputV2 MaxPoolGrad MaxPoolGradV2 MaxPool3DGrad")
def as_first(op: Operation) -> Maybe:
    """The image itself is the first input."""
    return op.shape(0)


@shape_rule("MaxPoolGradGrad MaxPoolGradGradV2 MaxPool3DGradGrad Conv2DBackpropFilterV2")
@shape_rule("Conv3DBackpropFilter Dilation2DBackpropFilter")
def as_second(op: Operation) -> Maybe:
    """The second input has the shape."""
    return op.shape(1)


@shape_rule("AvgPoolGrad AvgPool3DGrad")
def pool_gradient_of_size(op: Operation) -> Shape:
    """The image whose sizes are the first input."""
    sizes = op.value(0)
    return (OPEN,) * len(op.known(1)) if sizes is None else dims_of(sizes)


@shape_rule("AvgPool MaxPool AvgPool3D MaxPool3D")
def pool(op: Operation) -> Shape:
    """Windows of the sizes that an attribute gives."""
    return _pooled(op, op.attr("ksize"), op.attr("strides"))


@shape_rule("MaxPoolWithArgmax")
def pool_with_places(op: Operation) -> list[Maybe]:
    """Likewise, and where each largest element stands."""
    pooled = pool(op)
    return [pooled, pooled]


@shape_rule("MaxPoolV2")
def pool_by_inputs(op: Operation) -> Shape:
    """Windows of the sizes that inputs give."""
    return _pooled(op, op.numbers(1), op.numbers(2))


def _pooled(op: Operation, sizes: Sequence[int], strides: Sequence[int]) -> Shape:
    image = op.shape(0)
    if image is None:
        image = (OPEN,) * len(sizes)
    padding = str(op.attr("padding", "VALID"))
    pads = op.attr("explicit_paddings") or [0] * (2 * len(image))
    if not len(image) == len(sizes) == len(strides):
        raise Unknown
    explicit = padding == "EXPLICIT"
    return tuple(
        windows(length, sizes[axis], strides[axis], padding,
                pads[2 * axis] + pads[2 * axis + 1] if explicit else 0)
        for axis, length in enumerate(image)
    )  # fmt: skip


@shape_rule("FractionalMaxPool FractionalAvgPool")
def fractional_pool(op: Operation) -> list[Maybe]:
    """The image divided by a ratio, and where the rows and the columns are cut."""
    image = op.known(0)
    ratio = op.attr("pooling_ratio")
    pooled = tuple(
        OPEN if length < 0 else int(length / share)
        for length, share in zip(image, ratio, strict=True)
    )
    return [pooled, *((OPEN if pooled[axis] < 0 else pooled[axis] + 1,) for axis in (1, 2))]


@shape_rule("Dilation2D")
def dilation(op: Operation) -> Shape:
    """As a convolution whose filter has a channel for each of the image."""
    image, weights = op.known(0), op.known(1)
    strides, rates = op.attr("strides"), op.attr("rates")
    padding = str(op.attr("padding"))
    sides = [
        windows(image[axis], (weights[axis - 1] - 1) * rates[axis] + 1, strides[axis], padding)
        for axis in (1, 2)
    ]
    return (image[0], *sides, max(image[3], weights[2]))


@shape_rule("Dilation2DBackpropInput")
def dilation_to_input(op: Operation) -> Maybe:
    """The image."""
    return merged(op.shape(0), None)
