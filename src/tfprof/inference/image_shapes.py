"""Images cut, padded, resized and rearranged."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tfprof.inference.shape import OPEN, Unknown, merged, plus, split, times
from tfprof.inference.table import shape_rule

if TYPE_CHECKING:
    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Maybe, Shape

_IMAGE = 4


def _batch_of_images(op: Operation, number: int = 0) -> Shape:
    shape = op.shape(number) or (OPEN,) * _IMAGE
    if len(shape) != _IMAGE:
        raise Unknown
    return shape


def _sides(op: Operation, number: int) -> Shape:
    """The height and the width that an input lists."""
    return (OPEN, OPEN) if op.value(number) is None else op.dims(number)


@shape_rule("ResizeBilinear ResizeBicubic ResizeArea ResizeNearestNeighbor")
@shape_rule("ResizeNearestNeighborGrad")
def resized(op: Operation) -> Shape:
    """Height and width are the second input."""
    image = _batch_of_images(op)
    height, width = _sides(op, 1)
    return (image[0], height, width, image[3])


@shape_rule("ResizeBilinearGrad ResizeBicubicGrad")
def resized_back(op: Operation) -> Maybe:
    """The original image is the second input."""
    return op.shape(1)


@shape_rule("CropAndResize")
def cropped(op: Operation) -> Shape:
    """An image for each box, of the size that is the last input."""
    image = _batch_of_images(op)
    boxes = merged((op.shape(1) or (OPEN,))[:1], op.shape(2)) or (OPEN,)
    height, width = _sides(op, 3)
    return (boxes[0], height, width, image[3])


@shape_rule("SpaceToDepth DepthToSpace")
def depth_and_space(op: Operation) -> Shape:
    """Blocks become channels, or channels blocks."""
    shape, block = list(_batch_of_images(op)), int(op.attr("block_size"))
    layout = str(op.attr("data_format", "NHWC"))
    if layout not in ("NHWC", "NCHW"):
        raise Unknown
    channel, sides = (1, (2, 3)) if layout == "NCHW" else (3, (1, 2))
    if op.type == "SpaceToDepth":
        shape[channel] = times(shape[channel], block * block)
        for side in sides:
            shape[side] = split(shape[side], block)
    else:
        shape[channel] = split(shape[channel], block * block)
        for side in sides:
            shape[side] = times(shape[side], block)
    return tuple(shape)


@shape_rule("SpaceToBatchND BatchToSpaceND SpaceToBatch BatchToSpace")
def batch_and_space(op: Operation) -> Shape:
    """Blocks become images of the batch after padding, or images blocks that are then cropped."""
    shape = list(op.known(0))
    if op.type.endswith("ND"):
        blocks = op.value(1)
        margins = op.value(2)
        sizes = None if blocks is None else op.numbers(1)
    else:
        margins = op.value(1)
        sizes = [int(op.attr("block_size"))] * 2
    if sizes is None:
        return (OPEN,) * len(shape)
    count = prod(sizes)
    to_batch = op.type.startswith("SpaceToBatch")
    shape[0] = times(shape[0], count) if to_batch else split(shape[0], count)
    for place, block in enumerate(sizes):
        margin = OPEN if margins is None else int(margins[place].sum())
        if to_batch:
            shape[place + 1] = split(plus(shape[place + 1], margin), block)
        else:
            long = times(shape[place + 1], block)
            shape[place + 1] = OPEN if long < 0 or margin < 0 else long - margin
    return tuple(shape)


@shape_rule("Pad PadV2 MirrorPad")
def padded(op: Operation) -> Shape:
    """So many before and behind along each dimension."""
    margins = op.value(1)
    shape = op.shape(0)
    if margins is None:
        return (OPEN,) * len(shape if shape is not None else (0,) * op.known(1)[0])
    if shape is None:
        return (OPEN,) * len(margins)
    return tuple(
        plus(dim, *(max(int(one), OPEN) for one in both))
        for dim, both in zip(shape, margins, strict=True)
    )


@shape_rule("MirrorPadGrad")
def padded_gradient(op: Operation) -> Shape:
    """What is left without the padding."""
    shape, margins = op.known(0), op.full(1)
    return tuple(
        OPEN if dim < 0 else dim - int(both.sum()) for dim, both in zip(shape, margins, strict=True)
    )
