"""Formulas of activations, reductions, losses, normalisation and pools, written out and counted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from tallied import (
    Number,
    Tally,
    counted,
    exp,
    largest,
    log,
    of,
    rsqrt,
    sigmoid,
    smallest,
    sqrt,
    tanh,
    total,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.ops.shape import Shape

ACTIVATIONS: dict[str, Callable[[Number], object]] = {
    "Relu": lambda x: largest(x, 0),
    "Relu6": lambda x: smallest(largest(x, 0), 6),
    "Elu": lambda x: (x > 0, exp(x) - 1),
    "Selu": lambda x: (x > 0, 1.76 * (exp(x) - 1)),
    "LeakyRelu": lambda x: largest(x, 0.2 * x),
    "Softplus": lambda x: log(1 + exp(x)),
    "Softsign": lambda x: x / (1 + abs(x)),
    "Sigmoid": sigmoid,
    "Tanh": tanh,
    "_MklSwish": lambda x: x * sigmoid(x),
    "_MklFusedMish": lambda x: x * tanh(log(1 + exp(x))),
    "ClipByValue": lambda x: smallest(largest(x, 0), 1),
    "Expm1": of(math.expm1),
    "Erf": of(math.erf),
}
GRADIENTS: dict[str, Callable[[Number, Number], object]] = {
    "ReluGrad": lambda g, x: g * (x > 0),
    "Relu6Grad": lambda g, x: (x > 0, x > 6, g * 1),
    "EluGrad": lambda g, y: (y > 0, g * (y + 1)),
    "SeluGrad": lambda g, y: (y > 0, g * (y + 1.76)),
    "LeakyReluGrad": lambda g, x: (x > 0, 0.2 * g),
    "SoftplusGrad": lambda g, x: g / (1 + exp(-x)),
    "SoftsignGrad": lambda g, x: g / (1 + abs(x)) ** 2,
    "SigmoidGrad": lambda y, g: g * y * (1 - y),
    "TanhGrad": lambda y, g: g * (1 - y * y),
    "SqrtGrad": lambda y, g: g * 0.5 / y,
    "ReciprocalGrad": lambda y, g: -g * y * y,
    "SquaredDifference": lambda x, y: (x - y) ** 2,
    "Atan2": lambda x, y: x.step(math.atan2(x.value, y.value)),
    "FloorDiv": lambda x, y: x / y,
    "Xlogy": lambda x, y: (x > 0, x * log(y)),
    "DivNoNan": lambda x, y: (y > 0, x / y),
    "ApproximateEqual": lambda x, y: abs(x - y) > 0.1,
}


@pytest.mark.parametrize("op", ACTIVATIONS)
def test_function_of_one(op: str) -> None:
    tally = Tally()
    for number in tally.numbers(6):
        ACTIVATIONS[op](number)
    assert counted(op, [(2, 3)], [(2, 3)]) == tally.steps > 0


@pytest.mark.parametrize("op", GRADIENTS)
def test_function_of_two_with_one_side_stretched(op: str) -> None:
    tally = Tally()
    for number in tally.numbers(6):
        GRADIENTS[op](number, tally.number())
    assert counted(op, [(1, 3), (2, 3)], [(2, 3)]) == tally.steps > 0


def test_composition_of_functions() -> None:
    names = ["Exp", "Rsqrt", "Sigmoid", "Square"]
    assert (
        counted("_UnaryOpsComposition", [(2, 3)], [(2, 3)], op_names=names) == (1 + 2 + 4 + 1) * 6
    )


def test_sums_of_tensors_do_not_count_control_inputs() -> None:
    tally = Tally()
    for _ in range(6):
        total(tally.numbers(3))
    assert counted("AddN", [(2, 3)] * 3, [(2, 3)]) == tally.steps
    assert counted("AddN", []) == 0


@pytest.mark.parametrize("op", ["Max", "Min", "Prod", "All", "Any", "Sum", "ArgMax"])
def test_reduction(op: str) -> None:
    tally = Tally()
    for _ in range(4):
        total(tally.numbers(5))
    assert counted(op, [(4, 5), (1,)], [(4,)]) == tally.steps
    assert counted(op, [(0, 3), (1,)], [(3,)]) == 0


def test_norms() -> None:
    tally = Tally()
    sqrt(total(x * x for x in tally.numbers(5)))
    assert counted("EuclideanNorm", [(5,), (1,)], [(1,)]) == tally.steps
    tally = Tally()
    total(x * x for x in tally.numbers(5)) / 2
    assert tally.steps == 2 * 5  # n products, n - 1 sums and a halving
    assert counted("L2Loss", [(5,)], [(1,)]) == tally.steps
    assert counted("L2Loss", [(0,)], [(1,)]) == 0


def from_nothing(numbers: list[Number], step: Callable[[Number, Number], Number]) -> Number:
    """A running step that begins with a neutral element, as Softmax counts its sums."""
    result = Number(numbers[0].tally, 0.0)
    for number in numbers:
        result = step(result, number)
    return result


def softmax_sum(row: list[Number]) -> tuple[list[Number], list[Number], Number]:
    """(shifted logits, their exponentials, the sum of these)."""
    most = from_nothing(row, largest)
    shifted = [x - most for x in row]
    powers = [exp(x) for x in shifted]
    return shifted, powers, from_nothing(powers, lambda a, b: a + b)


def test_losses() -> None:
    tally = Tally()
    for _ in range(4):
        shifted, _, whole = softmax_sum(tally.numbers(6))
        logarithm = log(whole)
        [x - logarithm for x in shifted]
    assert counted("LogSoftmax", [(4, 6)], [(4, 6)]) == tally.steps

    tally = Tally()
    for _ in range(4):
        shifted, powers, whole = softmax_sum(tally.numbers(6))
        logarithm, labels = log(whole), tally.numbers(6)
        terms = [label * (logarithm - x) for x, label in zip(shifted, labels, strict=True)]
        from_nothing(terms, lambda a, b: a + b)
        [power / whole - label for power, label in zip(powers, labels, strict=True)]
    op = "SoftmaxCrossEntropyWithLogits"
    assert counted(op, [(4, 6), (4, 6)], [(4,), (4, 6)]) == tally.steps

    tally = Tally()
    for _ in range(4):
        shifted, powers, whole = softmax_sum(tally.numbers(6))
        log(whole) - shifted[2]
        gradient = [power / whole for power in powers]
        gradient[2] -= 1
    assert counted(f"Sparse{op}", [(4, 6), (4,)], [(4,), (4, 6)]) == tally.steps


@pytest.mark.parametrize("version", ["", "V2", "V3"])
def test_batch_normalisation(version: str) -> None:
    images, channels = 12, 3
    image: Shape = (2, 2, 3, channels)
    parameters: list[Shape] = [(channels,)] * 4
    learn, apply, average = Tally(), Tally(), Tally()
    for _ in range(channels):
        normalise(apply, apply.numbers(images), apply.number(), apply.number())
        pixels = learn.numbers(images)
        mean = total(pixels) / images
        normalise(learn, pixels, mean, total((x - mean) ** 2 for x in pixels) / images)
        for old, new in (average.numbers(2), average.numbers(2)):
            0.9 * old + 0.1 * new
    op = f"FusedBatchNorm{version}"
    inputs = [image, *parameters]
    assert counted(op, inputs, [image], is_training=False) == apply.steps
    assert counted(op, inputs, [image], is_training=True) == learn.steps
    assert counted(op, inputs, [image]) == learn.steps
    assert counted(op, inputs, [image], exponential_avg_factor=0.9) == learn.steps + average.steps


def normalise(tally: Tally, pixels: list[Number], mean: Number, variance: Number) -> None:
    scale = tally.number() * rsqrt(variance + 1e-3)
    offset = tally.number() - mean * scale
    for pixel in pixels:
        pixel * scale + offset


@pytest.mark.parametrize("training", [True, False])
def test_gradient_of_batch_normalisation(training: bool) -> None:  # noqa: FBT001
    images, channels = 12, 3
    tally = Tally()
    for _ in range(channels):
        pixels, back = tally.numbers(images), tally.numbers(images)
        inverse = rsqrt(tally.number() + 1e-3)
        mean = tally.number()
        normal = [(x - mean) * inverse for x in pixels]
        offset = total(back)
        scale = total(g * x for g, x in zip(back, normal, strict=True))
        factor = tally.number() * inverse
        if training:
            one, two = offset / images, scale / images
            [factor * (g - one - x * two) for g, x in zip(back, normal, strict=True)]
        else:
            [factor * g for g in back]
    image: Shape = (2, 2, 3, channels)
    inputs = [image, image, (channels,), (channels,), (channels,)]
    op = "FusedBatchNormGrad"
    assert counted(f"{op}V3", inputs, [image], is_training=training) == tally.steps
    fused = counted("_FusedBatchNormGradEx", inputs, is_training=training, activation_mode="Relu")
    assert fused == tally.steps + 2 * images * channels


def test_fused_normalisation_adds_its_side_input_and_activation() -> None:
    inputs: list[Shape] = [(2, 2, 3, 4), (4,), (4,), (4,), (4,)]
    plain = counted("FusedBatchNormV3", inputs, is_training=False)
    more: dict[str, Any] = {"num_side_inputs": 1, "activation_mode": "Relu", "is_training": False}
    assert counted("_FusedBatchNormEx", inputs, **more) == plain + 2 * 48
    old = counted("BatchNormWithGlobalNormalization", inputs, scale_after_normalization=True)
    assert old == plain
    without = counted("BatchNormWithGlobalNormalization", inputs, scale_after_normalization=False)
    assert without == plain - 4


def test_local_response_normalisation() -> None:
    tally, radius = Tally(), 2
    for _ in range(8):
        window = [x**2 for x in tally.numbers(1)] + [Number(tally, 1.0)] * (2 * radius)
        tally.number() / (1 + 0.5 * total(window)) ** 0.75
    assert counted("LRN", [(1, 1, 2, 4)], depth_radius=radius) == tally.steps


# Windows ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "image", "output", "ksize"),
    [
        ("NHWC", (2, 4, 6, 3), (2, 2, 2, 3), [1, 2, 3, 1]),
        ("NCHW", (2, 3, 4, 6), (2, 3, 2, 2), [1, 1, 2, 3]),
        ("NCHW_VECT_C", (2, 1, 4, 6, 3), (2, 1, 2, 2, 3), [1, 1, 2, 3]),
    ],
)
def test_pools_in_any_layout(layout: str, image: Shape, output: Shape, ksize: list[int]) -> None:
    tally, again, spread = Tally(), Tally(), Tally()
    for _ in range(2 * 2 * 2 * 3):
        total(tally.numbers(6)) / 6
        from_nothing(again.numbers(6), largest)
        again.number() + again.number()
        for old, gradient in (spread.numbers(2) for _ in range(6)):
            old + gradient / 6
    how: dict[str, Any] = {"ksize": ksize, "data_format": layout}
    assert counted("AvgPool", [image], [output], **how) == tally.steps
    assert counted("MaxPool", [image], [output], **how) == tally.steps
    assert counted("MaxPoolGrad", [image, output, output], [image], **how) == again.steps
    assert counted("AvgPoolGrad", [(4,), output], [image], **how) == spread.steps


def test_pools_of_volumes_and_with_places() -> None:
    volume, pooled, ksize = (1, 4, 4, 4, 2), (1, 2, 2, 2, 2), [1, 2, 2, 2, 1]
    assert counted("MaxPool3D", [volume], [pooled], ksize=ksize) == 8 * 16
    assert counted("AvgPool3DGrad", [(5,), pooled], [volume], ksize=ksize) == 2 * 8 * 16
    assert counted("MaxPool3DGrad", [volume, pooled, pooled], [volume], ksize=ksize) == 9 * 16
    image, half = (1, 4, 4, 2), (1, 2, 2, 2)
    assert counted("MaxPoolWithArgmax", [image], [half, half], ksize=[1, 2, 2, 1]) == 4 * 8
    assert counted("MaxPoolGradWithArgmax", [image, half, half], [image]) == 8
    assert counted("FractionalMaxPool", [image], [half]) == 32


def test_resizing() -> None:
    tally = Tally()

    def between(one: Number, other: Number) -> Number:
        return one + (other - one) * tally.number()

    for _ in range(6):
        a, b, c, d = tally.numbers(4)
        between(between(a, b), between(c, d))
    assert counted("ResizeBilinear", [(1, 4, 4, 1), (2,)], [(1, 2, 3, 1)]) == tally.steps
    tally = Tally()
    for _ in range(6):
        rows = [total(x * tally.number() for x in tally.numbers(4)) for _ in range(4)]
        total(row * tally.number() for row in rows)
    assert counted("ResizeBicubic", [(1, 4, 4, 1), (2,)], [(1, 2, 3, 1)]) == tally.steps
    assert counted("CropAndResize", [(1, 4, 4, 1)], [(1, 2, 3, 1)], method="nearest") == 0
