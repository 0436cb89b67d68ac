"""Images: resized (a fixed number of taps per output element), cropped, padded and rearranged."""

from __future__ import annotations

from math import prod
from typing import Final

from tfprof.ops.op import Op, size
from tfprof.ops.shape import OPEN, Shape, merged, plus, require, split, times
from tfprof.ops.shared_rules import all_open, like_input, per_input, per_output, with_range
from tfprof.ops.table import float_ops, shape

LERP: Final = 3  # difference, product, sum
BILINEAR: Final = 3 * LERP  # two along a row, one across
BICUBIC: Final = 5 * 7  # four rows and one column of four taps, each four products and three sums
_IMAGE: Final = 4


# --- float operations ---


float_ops("{,Quantized}ResizeBilinear")(per_output(BILINEAR))
float_ops("ResizeBicubic")(per_output(BICUBIC))
# A product and a sum for each of four, or sixteen, taps; one sum for the nearest neighbour.
float_ops("ResizeBilinearGrad")(per_input(0, steps=8))
float_ops("ResizeBicubicGrad")(per_input(0, steps=32))
float_ops("ResizeNearestNeighborGrad")(per_input(0))
float_ops("AdjustContrast{,v2}")(per_output(4))  # mean, difference, product, sum
# A weighted sum of what each area covers, each element of the finer image once.
float_ops("ResizeArea")(lambda op: 2 * max(size(op.input(0)), size(op.output())))
# Three interpolations between two; none for the nearest neighbour.
float_ops("CropAndResize", attributes="method")(
    lambda op: 0 if op.attr("method") == "nearest" else BILINEAR * size(op.output())
)
# A product and a sum for each of four taps; one sum for the nearest neighbour.
float_ops("CropAndResizeGradImage", attributes="method")(
    lambda op: (1 if op.attr("method") == "nearest" else 8) * size(op.input(0))
)


# --- shapes ---


def _images(op: Op, number: int = 0) -> Shape:
    images = op.shape(number) or (OPEN,) * _IMAGE
    require(len(images) == _IMAGE)
    return images


def _sides(op: Op, number: int) -> Shape:
    """The height and the width that an input lists."""
    return (OPEN, OPEN) if op.value(number) is None else op.dims(number)


@shape("Resize{Bilinear,Bicubic,Area,NearestNeighbor} ResizeNearestNeighborGrad")
def resized(op: Op) -> Shape:
    """Height and width are the second input."""
    image = _images(op)
    return (image[0], *_sides(op, 1), image[3])


shape("QuantizedResizeBilinear")(with_range(resized))
shape("Resize{Bilinear,Bicubic}Grad")(like_input(1))
shape("AdjustContrast{,v2} AdjustHue AdjustSaturation RGBToHSV HSVToRGB")(like_input(0))


@shape("CropAndResize")
def cropped(op: Op) -> Shape:
    """An image per box, of the size that the last input lists."""
    image = _images(op)
    boxes = merged((op.shape(1) or (OPEN,))[:1], op.shape(2)) or (OPEN,)
    return (boxes[0], *_sides(op, 3), image[3])


# The image whose sizes are the last input.
shape("CropAndResizeGradImage")(lambda op: (OPEN,) * _IMAGE if op.value(3) is None else op.dims(3))


@shape("SpaceToDepth DepthToSpace")
def depth_and_space(op: Op) -> Shape:
    """Blocks become channels, or channels blocks."""
    image, block = list(_images(op)), int(op.attr("block_size"))
    layout = str(op.attr("data_format", "NHWC"))
    require(layout in ("NHWC", "NCHW"))
    channel, sides = (1, (2, 3)) if layout == "NCHW" else (3, (1, 2))
    smaller, larger = (sides, [channel]) if op.type == "SpaceToDepth" else ([channel], sides)
    for axis in smaller:
        image[axis] = split(image[axis], block if axis in sides else block * block)
    for axis in larger:
        image[axis] = times(image[axis], block if axis in sides else block * block)
    return tuple(image)


@shape("SpaceToBatch{,ND} BatchToSpace{,ND}")
def batch_and_space(op: Op) -> Shape:
    """Blocks become images of the batch after padding, or images blocks that are then cropped."""
    image = list(op.known(0))
    if op.type.endswith("ND"):
        margins = op.value(2)
        blocks = None if op.value(1) is None else op.numbers(1)
    else:
        margins = op.value(1)
        blocks = [int(op.attr("block_size"))] * 2
    if blocks is None:
        return (OPEN,) * len(image)
    to_batch = op.type.startswith("SpaceToBatch")
    image[0] = (times if to_batch else split)(image[0], prod(blocks))
    for axis, block in enumerate(blocks, 1):
        margin = OPEN if margins is None else int(margins[axis - 1].sum())
        if to_batch:
            image[axis] = split(plus(image[axis], margin), block)
        else:
            long = times(image[axis], block)
            image[axis] = OPEN if long < 0 or margin < 0 else long - margin
    return tuple(image)


@shape("Pad{,V2} MirrorPad")
def padded(op: Op) -> Shape:
    """Each dimension plus its padding before and after."""
    margins, tensor = op.value(1), op.shape(0)
    if margins is None:
        return all_open(op)
    if tensor is None:
        return (OPEN,) * len(margins)
    return tuple(
        plus(dim, *(max(int(margin), OPEN) for margin in both))
        for dim, both in zip(tensor, margins, strict=True)
    )


@shape("MirrorPadGrad")
def unpadded(op: Op) -> Shape:
    """What is left without the padding."""
    tensor, margins = op.known(0), op.full(1)
    return tuple(
        OPEN if dim < 0 else dim - int(both.sum())
        for dim, both in zip(tensor, margins, strict=True)
    )
