"""Normalization at inference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.read.keras.graph import Call, Tensor, Unexpandable, layer

if TYPE_CHECKING:
    from collections.abc import Sequence


def _axes(call: Call) -> list[int]:
    axis = call.config.get("axis", -1)
    return [each % call.rank for each in (axis if isinstance(axis, list) else [axis])]


def _along(call: Call, name: str, axes: Sequence[int]) -> Tensor:
    """A weight whose dimensions are those of some axes of the input."""
    value = call.weight(name)
    if list(axes) == [*range(call.rank - len(axes), call.rank)]:
        return value
    dims = [call.sides[axis] or 0 if axis in axes else 1 for axis in range(call.rank)]
    return call.op("Reshape", value, dims)


@layer("BatchNormalization")
def batch_normalization(call: Call) -> Tensor:
    """By the mean and the variance that training has learned."""
    (axis,) = _axes(call)
    mean, variance = (_along(call, name, [axis]) for name in ("moving_mean", "moving_variance"))
    scale = call.op("Rsqrt", call.op("AddV2", variance, 1.0))
    if call.has("gamma"):
        scale = call.op("Mul", scale, _along(call, "gamma", [axis]))
    if call.has("beta"):
        offset = call.op("Sub", _along(call, "beta", [axis]), call.op("Mul", mean, scale))
    else:
        offset = call.op("Mul", call.op("Neg", mean), scale)
    return call.op("AddV2", call.op("Mul", call.x, scale), offset)


def _normalized(call: Call, x: Tensor, axes: Sequence[int], gamma: Tensor | None,
                beta: Tensor | None) -> Tensor:  # fmt: skip
    """By the mean and the variance of the input itself."""
    mean = call.reduced("Mean", x, axes)
    variance = call.reduced("Mean", call.op("SquaredDifference", x, mean), axes)
    scale = call.op("Rsqrt", call.op("AddV2", variance, 1.0))
    if gamma is not None:
        scale = call.op("Mul", scale, gamma)
    offset = call.op("Mul", call.op("Neg", mean), scale)
    if beta is not None:
        offset = call.op("AddV2", offset, beta)
    return call.op("AddV2", call.op("Mul", x, scale), offset)


@layer("LayerNormalization")
def layer_normalization(call: Call) -> Tensor:
    """Each example over some axes."""
    axes = _axes(call)
    gamma, beta = (
        _along(call, name, axes) if call.has(name) else None for name in ("gamma", "beta")
    )
    return _normalized(call, call.x, axes, gamma, beta)


@layer("GroupNormalization")
def group_normalization(call: Call) -> Tensor:
    """Each example over its sides and a group of channels."""
    (axis,) = _axes(call)
    channels, groups = call.sides[axis], int(call.config["groups"])
    if channels is None or axis == 0:
        raise Unexpandable
    groups = channels if groups == -1 else groups
    split = [groups, channels // groups]
    before, after = call.shape_of(call.x, 0, axis), call.shape_of(call.x, axis + 1)
    x = call.reshaped(call.x, before, split, *([after] if axis + 1 < call.rank else []))
    dims = [1] * axis + split + [1] * (call.rank - axis - 1)
    gamma, beta = (
        call.op("Reshape", call.weight(name), dims) if call.has(name) else None
        for name in ("gamma", "beta")
    )
    axes = [each for each in range(1, call.rank + 1) if each != axis]
    return call.op("Reshape", _normalized(call, x, axes, gamma, beta), call.shape_of(call.x))


@layer("RMSNormalization")
def rms_normalization(call: Call) -> Tensor:
    """By the root of the mean square."""
    axes = _axes(call)
    mean = call.reduced("Mean", call.op("Square", call.x), axes)
    scale = call.op("Rsqrt", call.op("AddV2", mean, 1.0))
    return call.op("Mul", call.op("Mul", call.x, scale), _along(call, "gamma", axes))


def unit(call: Call, x: Tensor, *axes: int) -> Tensor:
    """Vectors of length 1."""
    total = call.reduced("Sum", call.op("Square", x), axes)
    return call.op("Mul", x, call.op("Minimum", call.op("Rsqrt", total), 1.0))


layer("UnitNormalization")(lambda call: unit(call, call.x, *_axes(call)))
# At inference, the layer inside as it is.
layer("SpectralNormalization")(lambda call: call.inner(call.config["layer"], *call.inputs))


@layer("Normalization")
def normalization(call: Call) -> Tensor:
    """By a mean and a variance that are learned or given."""
    if call.config.get("invert"):
        raise Unexpandable
    learned = call.config.get("mean") is None
    mean, variance = (call.weight(name) if learned else 1.0 for name in ("mean", "variance"))
    deviation = call.op("Maximum", call.op("Sqrt", variance), 1.0)
    return call.op("RealDiv", call.op("Sub", call.x, mean), deviation)
