"""Images: resized (a fixed number of taps per output element), cropped, padded and rearranged."""

from __future__ import annotations

from typing import Final

from tfprof.ops import shared_rules as shared
from tfprof.ops.op import Op, size
from tfprof.ops.shape import OPEN, Shape, merged, minus, plus, require, split, times
from tfprof.ops.table import float_ops, shape

LERP: Final = 3  # difference, product, sum
BILINEAR: Final = 3 * LERP  # two along a row, one across
BICUBIC: Final = 5 * 7  # four rows and one column of four taps, each four products and three sums
PROJECTION: Final = 3 * 4 + 2  # two products and two sums for x, y and the divisor; two quotients

# --- float operations ---

float_ops("{,Quantized}ResizeBilinear")(shared.per_output(BILINEAR))
float_ops("ResizeBicubic")(shared.per_output(BICUBIC))
# A product and a sum for each of four, or sixteen, taps; one sum for the nearest neighbour.
float_ops("ResizeBilinearGrad")(shared.per_input(0, steps=8))
float_ops("ResizeBicubicGrad")(shared.per_input(0, steps=32))
float_ops("ResizeNearestNeighborGrad")(shared.per_input(0))
float_ops("AdjustContrast{,v2}")(shared.per_output(4))  # mean, difference, product, sum
# A weighted sum of what each area covers, each element of the finer image once.
float_ops("ResizeArea")(lambda op: 2 * max(size(op.input(0)), size(op.output())))
# Three interpolations between two; none for the nearest neighbour.
float_ops("CropAndResize", attributes="method")(
    lambda op: 0 if op.attr("method") == "nearest" else BILINEAR * size(op.output())
)


@float_ops("ImageProjectiveTransform{V2,V3}", attributes="interpolation")
def projective(op: Op) -> int:
    """Where each pixel comes from, and an interpolation per element."""
    image = op.output()
    steps = 0 if op.attr("interpolation") == "NEAREST" else BILINEAR
    return PROJECTION * size(image[:-1]) + steps * size(image)


# A product and a sum for each of four taps; one sum for the nearest neighbour.
float_ops("CropAndResizeGradImage", attributes="method")(
    lambda op: (1 if op.attr("method") == "nearest" else 8) * size(op.input(0))
)


# --- shapes ---


@shape("Resize{Bilinear,Bicubic,Area,NearestNeighbor} ResizeNearestNeighborGrad")
@shape("ScaleAndTranslate ImageProjectiveTransform{V2,V3}")
def resized(op: Op) -> Shape:
    """Height and width are the second input; of a transform, the third."""
    batch, _, _, channels = op.ranked(0, 4)
    return (batch, *op.dims(2 if op.type.startswith("ImageProjective") else 1, 2), channels)


@shape("ExtractImagePatches")
def patches(op: Op) -> Shape:
    """Patches by row and column; each has the channels of all its pixels."""
    image, padding = op.ranked(0, 4), op.attr("padding")
    sizes, strides, rates = (
        shared.per_axis(op, name, 4) for name in ("ksizes", "strides", "rates")
    )
    reach = [(side - 1) * rate + 1 for side, rate in zip(sizes, rates, strict=True)]
    places = (shared.windows(image[n], reach[n], strides[n], padding) for n in (1, 2))
    return (image[0], *places, times(image[3], sizes[1], sizes[2]))


shape("QuantizedResizeBilinear")(shared.with_range(resized))
shape("Resize{Bilinear,Bicubic}Grad")(shared.like_input(1))
shape("AdjustContrast{,v2} AdjustHue AdjustSaturation")(shared.like_input(0))
shape("DrawBoundingBoxes{,V2}")(shared.like_input(0))
# Three colours, or hue, saturation and value.
shape("RGBToHSV HSVToRGB")(lambda op: merged(op.shape(0), (*op.known(0)[:-1], 3)))


@shape("CropAndResize")
def cropped(op: Op) -> Shape:
    """An image per box, of the size that the last input lists."""
    boxes = merged((op.shape(1) or (OPEN,))[:1], op.shape(2)) or (OPEN,)
    return (boxes[0], *op.dims(3, 2), op.ranked(0, 4)[3])


shape("CropAndResizeGradImage")(shared.image_listed_by(3))


@shape("SpaceToDepth DepthToSpace")
def depth_and_space(op: Op) -> Shape:
    """Blocks become channels, or channels blocks."""
    image, block = list(op.ranked(0, 4)), int(op.attr("block_size"))
    layout = str(op.attr("data_format", "NHWC"))
    require(layout in ("NHWC", "NCHW"))
    for axis in (1, 2, 3):
        is_channel = axis == layout.index("C")
        resize = split if is_channel == (op.type == "DepthToSpace") else times
        image[axis] = resize(image[axis], block * block if is_channel else block)
    return tuple(image)


@shape("SpaceToBatch{,ND} BatchToSpace{,ND}")
def batch_and_space(op: Op) -> Shape:
    """Blocks become images of the batch after padding, or images blocks that are then cropped."""
    in_any_rank, to_batch = op.type.endswith("ND"), op.type.startswith("SpaceToBatch")
    image = list(op.known(0) if in_any_rank else op.ranked(0, 4))
    blocks = op.dims(1) if in_any_rank else (int(op.attr("block_size")),) * 2
    image[0] = (times if to_batch else split)(image[0], times(1, *blocks))
    for axis, margin in enumerate(shared.margins(op, op.inputs - 1, len(blocks)), 1):
        if to_batch:
            image[axis] = split(plus(image[axis], margin), blocks[axis - 1])
        else:
            image[axis] = minus(times(image[axis], blocks[axis - 1]), margin)
    return tuple(image)


# Each dimension with its padding before and after, or without it.
shape("Pad{,V2} MirrorPad")(lambda op: tuple(map(plus, *_with_margins(op))))
shape("MirrorPadGrad")(lambda op: tuple(map(minus, *_with_margins(op))))


def _with_margins(op: Op) -> tuple[Shape, Shape]:
    """A tensor, and how much padding each of its dimensions gets."""
    rank = len(shared.all_open(op))
    return op.ranked(0, rank), shared.margins(op, 1, rank)
