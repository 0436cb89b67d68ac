"""Layers that move elements, and preprocessing at inference, where random layers change nothing."""

from __future__ import annotations

from math import prod
from typing import Any, Final

from tfprof.read.keras.graph import INT64, Call, Tensor, Unexpandable, layer
from tfprof.read.keras.layers.convolution import Window


@layer("Flatten")
def flatten(call: Call) -> Tensor:
    """All but the batch in one dimension."""
    rest = call.sides[1:]
    if None in rest:
        return call.reshaped(call.x, None, -1)
    return call.reshaped(call.x, -1, prod(each or 0 for each in rest))


@layer("Reshape")
def reshape(call: Call) -> Tensor:
    """Other dimensions behind the batch."""
    target = [int(each) for each in call.config["target_shape"]]
    if -1 in target:
        sides = [side for side in call.x.shape or () if side is not None]
        rest = prod(side for side in target if side != -1)
        if len(sides) == len(call.x.shape or ()) - 1 and rest:  # all but the batch are known
            target[target.index(-1)] = prod(sides) // rest
        return call.reshaped(call.x, None, target)
    return call.op("Reshape", call.x, [-1, *target])


# Dimensions in another order, and the same for each step.
layer("Permute")(lambda call: call.op("Transpose", call.x, [0, *call.config["dims"]]))
layer("RepeatVector")(
    lambda call: call.op("Tile", call.expanded(call.x, 1), [1, int(call.config["n"]), 1])
)


def _pairs(window: Window, key: str) -> list[list[int]]:
    """So many before and behind along each side."""
    value: Any = window.call.config[key]
    values = value if isinstance(value, list) else [value]
    if window.sides == 1 and len(values) == 2 and not isinstance(values[0], list):  # noqa: PLR2004 - both ends
        values = [values]
    values = values * window.sides if len(values) == 1 else values
    return [each if isinstance(each, list) else [each, each] for each in values]


@layer("ZeroPadding1D ZeroPadding2D ZeroPadding3D")
def zero_padding(call: Call) -> Tensor:
    """Zeros around the image."""
    window, none = Window(call), [0, 0]
    pairs = _pairs(window, "padding")
    pads = [none, none, *pairs] if window.first else [none, *pairs, none]
    return call.op("Pad", call.x, pads)


@layer("Cropping1D Cropping2D Cropping3D")
def cropping(call: Call) -> Tensor:
    """The image without its margins."""
    window = Window(call)
    pairs = _pairs(window, "cropping")
    first = 2 if window.first else 1
    begin = [0] * first + [before for before, _ in pairs]
    end = [0] * first + [-behind for _, behind in pairs]
    mask = sum(1 << axis for axis, at in enumerate(end) if at == 0)
    return call.op("StridedSlice", call.x, begin, end, [1] * len(begin), end_mask=mask)


@layer("UpSampling1D UpSampling2D UpSampling3D")
def up_sampling(call: Call) -> Tensor:
    """Each element several times; or between them, interpolated."""
    window = Window(call)
    times = window.of("size", 2)
    if call.config.get("interpolation", "nearest") == "nearest":
        return call.op("Tile", call.x, [1, 1, *times] if window.first else [1, *times, 1])
    sides = call.sides[2:] if window.first else call.sides[1:-1]
    return resized(call, [s and s * n for s, n in zip(sides, times, strict=True)])


def resized(call: Call, sides: list[int | None]) -> Tensor:
    """The image in another size."""
    kinds = {"bilinear": "ResizeBilinear", "nearest": "ResizeNearestNeighbor",
             "bicubic": "ResizeBicubic", "area": "ResizeArea"}  # fmt: skip
    kind = kinds[str(call.config.get("interpolation", "bilinear"))]
    first = call.config.get("data_format") == "channels_first"
    size = [side for side in sides if side is not None]
    if len(size) < 2 or call.rank != 4:  # noqa: PLR2004 - a batch of images
        raise Unexpandable
    x = call.op("Transpose", call.x, [0, 2, 3, 1]) if first else call.x
    y = call.op(kind, x, size)
    return call.op("Transpose", y, [0, 3, 1, 2]) if first else y


# --- preprocessing ---

_RANDOM: Final = """
AugMix CutMix MixUp RandAugment RandomBrightness RandomColorDegeneration RandomColorJitter
RandomContrast RandomElasticTransform RandomErasing RandomFlip RandomGaussianBlur RandomGrayscale
RandomHue RandomInvert RandomPerspective RandomPosterization RandomRotation RandomSaturation
RandomSharpness RandomShear RandomTranslation RandomZoom Solarization
"""
layer(_RANDOM)(lambda call: call.op("Identity", call.x))
layer("Rescaling")(lambda call: call.op("AddV2", call.op("Mul", call.x, 1.0), 1.0))


@layer("Resizing")
def resizing(call: Call) -> Tensor:
    """The image in another size."""
    if call.config.get("crop_to_aspect_ratio") or call.config.get("pad_to_aspect_ratio"):
        raise Unexpandable
    return resized(call, [int(call.config["height"]), int(call.config["width"])])


@layer("CenterCrop RandomCrop")
def crop(call: Call) -> Tensor:
    """The middle of the image."""
    first = call.config.get("data_format") == "channels_first"
    sides = call.sides[-2:] if first else call.sides[-3:-1]
    size = [int(call.config["height"]), int(call.config["width"])]
    if any(side is None or side < wanted for side, wanted in zip(sides, size, strict=True)):
        raise Unexpandable  # Keras resizes a smaller image
    whole = [-1] * (call.rank - 3)
    sizes = [*whole, -1, *size] if first else [*whole, *size, -1]
    return call.op("Slice", call.x, [0] * call.rank, sizes)


layer("Discretization")(lambda call: call.op("Bucketize", _indices_of(call)))


def _indices_of(call: Call) -> Tensor:
    """The input of a layer that returns an index for each element."""
    if call.config.get("output_mode", "int") != "int":
        raise Unexpandable
    return call.x


# A number below a bound for each element.
layer("Hashing HashedCrossing")(
    lambda call: call.op("StringToHashBucketFast", _indices_of(call), dtype=INT64)
)


@layer("IntegerLookup StringLookup")
def lookup(call: Call) -> Tensor:
    """The place of each element in a vocabulary."""
    x = _indices_of(call)
    return call.op("LookupTableFindV2", call.op("HashTableV2"), x, 0, dtype=INT64)


@layer("CategoryEncoding")
def category_encoding(call: Call) -> Tensor:
    """How often each category occurs, or whether it does."""
    if call.config.get("output_mode", "multi_hot") == "one_hot":
        raise Unexpandable
    return call.op("DenseBincount", call.x, int(call.config["num_tokens"]), [])


@layer("Pipeline")
def pipeline(call: Call) -> list[Tensor]:
    """One layer after the other."""
    x = [call.x]
    for entry in call.config["layers"]:
        x = call.inner(entry, x[0]._replace(shape=call.x.shape))
    return x
