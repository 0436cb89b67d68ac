"""Preprocessing at inference, where random layers change nothing."""

from __future__ import annotations

from typing import Final

from tfprof.read.keras.graph import INT64, Call, Tensor, Unexpandable
from tfprof.read.keras.layers.reshaping import resized
from tfprof.read.keras.table import layer

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
