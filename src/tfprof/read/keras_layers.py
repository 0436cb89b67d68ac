"""Derives the weights of Keras layers from their configuration and input shape.

    Dense units=10, input [None, 24]     vars/0  kernel  24x10     vars/1  bias  10

A weight has a path in the archive below its layer, a name, a shape, and a trainable flag. The
weights of other layers, such as custom ones, are unknown.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Config = Mapping[str, Any]
    Build = Mapping[str, Any]

_WEIGHTLESS: Final = re.compile(
    r"InputLayer|Activation|(Leaky)?ReLU|ELU|Softmax|\w*Dropout(\dD)?|Gaussian\w+|\w*Pooling\dD"
    r"|Flatten|Reshape|Permute|RepeatVector|ZeroPadding\dD|Cropping\dD|UpSampling\dD|Add|Subtract"
    r"|Multiply|Average|Maximum|Minimum|Concatenate|Dot|Masking|Lambda|Rescaling|Resizing"
    r"|CenterCrop|Random\w+|ActivityRegularization|Identity|UnitNormalization|Discretization"
    r"|Hashing|HashedCrossing|CategoryEncoding|StringLookup|IntegerLookup"
)
# Classes whose weights are all trainable, though their shapes are not derived here.
ALL_TRAINED: Final = re.compile(r"Group(ed)?QueryAttention|ConvLSTM\dD|(Additive)?Attention")
_INT8, _INT64 = 6, 9
# More elements than any real tensor has.
MOST_ELEMENTS: Final = 2**48


class Weight(NamedTuple):
    """A weight of a layer."""

    place: str  # its path in the archive, below the layer
    name: str
    shape: tuple[int, ...]
    trained: bool = True
    type: int | None = None  # DataType, if it is not that of the layer
    is_copy: bool = False  # it repeats another weight of the layer


class Underivable(Exception):  # noqa: N818 - not an error: the weights are unknown
    """The configuration does not determine the weights."""


def weights(kind: str, config: Config, build: Build) -> list[Weight] | None:
    """The weights of a layer of class *kind*; None if unknown."""
    if _WEIGHTLESS.fullmatch(kind):
        return []
    rule = _RULES.get(kind)
    if rule is None:
        return None
    try:
        derived = rule(config, build)
        return derived if all(prod(each.shape) <= MOST_ELEMENTS for each in derived) else None
    except (Underivable, KeyError, IndexError, TypeError, ValueError, AttributeError):
        return None


def _in(build: Build) -> list[int | None]:
    shape = build["input_shape"]
    if not isinstance(shape, list):
        raise Underivable
    return shape


def _size(length: Any) -> int:  # noqa: ANN401 - out of a file
    if not isinstance(length, int) or isinstance(length, bool) or length < 0:
        raise Underivable
    return length


def _sizes(lengths: Any) -> tuple[int, ...]:  # noqa: ANN401 - out of a file
    return tuple(map(_size, lengths if isinstance(lengths, list) else [lengths]))


def _bias(config: Config, at: int, *shape: int) -> list[Weight]:
    return [Weight(f"vars/{at}", "bias", shape)] if config.get("use_bias", True) else []


def _channels(config: Config, build: Build) -> int:
    first = config.get("data_format") == "channels_first"
    return _size(_in(build)[1 if first else -1])


def _dense(config: Config, build: Build) -> list[Weight]:
    units = _size(config["units"])
    kernel, bias = (_size(_in(build)[-1]), units), _bias(config, 1, units)
    return _quantized(config, Weight("vars/0", "kernel", kernel), (units,), bias)


def _quantized(
    config: Config, weight: Weight, scale: tuple[int, ...], others: Sequence[Weight] = ()
) -> list[Weight]:
    """A weight and others; if quantized to int8, it is not trainable and has a scale."""
    policy = config.get("dtype")
    mode = policy["config"].get("mode") if isinstance(policy, dict) else None
    if mode is None:
        return [weight, *others]
    if mode != "int8":
        raise Underivable
    factor = Weight(f"vars/{1 + len(others)}", f"{weight.name}_scale", scale, trained=False)
    return [weight._replace(trained=False, type=_INT8), *others, factor]


def _conv(config: Config, build: Build) -> list[Weight]:
    groups, filters = _size(config.get("groups", 1)) or 1, _size(config["filters"])
    kernel = (*_sizes(config["kernel_size"]), _channels(config, build) // groups, filters)
    return [Weight("vars/0", "kernel", kernel), *_bias(config, 1, filters)]


def _transposed(config: Config, build: Build) -> list[Weight]:
    filters = _size(config["filters"])
    kernel = (*_sizes(config["kernel_size"]), filters, _channels(config, build))
    return [Weight("vars/0", "kernel", kernel), *_bias(config, 1, filters)]


def _depthwise(config: Config, build: Build) -> list[Weight]:
    channels, times = _channels(config, build), _size(config.get("depth_multiplier", 1))
    kernel = (*_sizes(config["kernel_size"]), channels, times)
    return [Weight("vars/0", "kernel", kernel), *_bias(config, 1, channels * times)]


def _separable(config: Config, build: Build) -> list[Weight]:
    kernel = _depthwise(config, build)[0].shape
    filters, (channels, times) = _size(config["filters"]), kernel[-2:]
    ones = (1 for _ in kernel[:-2])
    return [
        Weight("vars/0", "depthwise_kernel", kernel),
        Weight("vars/1", "pointwise_kernel", (*ones, channels * times, filters)),
        *_bias(config, 2, filters),
    ]


def _axes_shape(config: Config, build: Build) -> tuple[int, ...]:
    """The sizes of the input's axes that the layer names."""
    axis = config.get("axis", -1)
    axes = axis if isinstance(axis, list) else [axis]
    return tuple(_size(_in(build)[each]) for each in axes)


def _axis_norm(config: Config, build: Build) -> list[Weight]:
    shape = _axes_shape(config, build)
    names = [name for name, on in (("gamma", "scale"), ("beta", "center")) if config.get(on, True)]
    return [Weight(f"vars/{at}", name, shape) for at, name in enumerate(names)]


def _batch_norm(config: Config, build: Build) -> list[Weight]:
    scales, shape = _axis_norm(config, build), (_size(_in(build)[config.get("axis", -1)]),)
    means = enumerate(("moving_mean", "moving_variance"), len(scales))
    return [*scales, *(Weight(f"vars/{at}", name, shape, trained=False) for at, name in means)]


def _embedding(config: Config, _: Build) -> list[Weight]:
    shape = (_size(config["input_dim"]), _size(config["output_dim"]))
    return _quantized(config, Weight("vars/0", "embeddings", shape), shape[:1])


def _recurrent(gates: int, *, two_biases: bool = False) -> Callable[[Config, Build], list[Weight]]:
    def derived(config: Config, build: Build) -> list[Weight]:
        units = _size(config["units"])
        wide = gates * units
        bias = (2, wide) if two_biases and config.get("reset_after", True) else (wide,)
        return [
            Weight("cell/vars/0", "kernel", (_size(_in(build)[-1]), wide)),
            Weight("cell/vars/1", "recurrent_kernel", (units, wide)),
            *(each._replace(place="cell/vars/2") for each in _bias(config, 2, *bias)),
        ]

    return derived


def _inner(config: Config, shape: Sequence[int | None]) -> list[Weight]:
    """The weights of the layer inside a wrapper layer."""
    layer = config["layer"]
    inner = weights(layer["class_name"], layer["config"], {"input_shape": list(shape)})
    if inner is None:
        raise Underivable
    return inner


def _bidirectional(config: Config, build: Build) -> list[Weight]:
    inner = _inner(config, _in(build))
    return [
        weight._replace(place=f"{way}_layer/{weight.place}", name=f"{way}/{weight.name}")
        for way in ("forward", "backward")
        for weight in inner
    ]


def _time_distributed(config: Config, build: Build) -> list[Weight]:
    shape = _in(build)
    inner = _inner(config, [shape[0], *shape[2:]])
    return [weight._replace(place=f"layer/{weight.place}") for weight in inner]


def _spectral(config: Config, build: Build) -> list[Weight]:
    """A layer whose kernel, its first weight, is also stored for the wrapper."""
    inner = [each._replace(place=f"layer/{each.place}") for each in _inner(config, _in(build))]
    shape = inner[0].shape
    return [
        *inner,
        Weight("vars/0", "kernel", shape, is_copy=True),
        Weight("vars/1", "vector_u", (1, shape[-1]), trained=False),
    ]


def _normalization(config: Config, build: Build) -> list[Weight]:
    if config.get("mean") is not None:
        return []
    shape = () if config.get("axis", -1) is None else _axes_shape(config, build)
    return [
        Weight("vars/0", "mean", shape, trained=False),
        Weight("vars/1", "variance", shape, trained=False),
        Weight("vars/2", "count", (), trained=False, type=_INT64),
    ]


def _attention(config: Config, build: Build) -> list[Weight]:
    shapes = build.get("shapes_dict", build)
    query = shapes["query_shape"]
    value = shapes.get("value_shape", query)
    key = shapes.get("key_shape") or value
    heads, depth = _size(config["num_heads"]), _size(config["key_dim"])
    deep = _size(config.get("value_dim") or depth)
    output = _sizes(config["output_shape"]) if config.get("output_shape") else (_size(query[-1]),)
    projections = {
        "query": ((_size(query[-1]), heads, depth), (heads, depth)),
        "key": ((_size(key[-1]), heads, depth), (heads, depth)),
        "value": ((_size(value[-1]), heads, deep), (heads, deep)),
        "output": ((heads, deep, *output), output),
    }
    layer_weights = []
    for name, (kernel, bias) in projections.items():
        layer_weights.append(Weight(f"{name}_dense/vars/0", f"{name}/kernel", kernel))
        if config.get("use_bias", True):
            layer_weights.append(Weight(f"{name}_dense/vars/1", f"{name}/bias", bias))
    return layer_weights


def _einsum_dense(config: Config, build: Build) -> list[Weight]:
    operands, _, result = config["equation"].replace(" ", "").partition("->")
    left, right = operands.split(",")
    shape, output = _in(build), config["output_shape"]
    output = output if isinstance(output, list) else [output]
    lengths = dict(zip(reversed(left.replace("...", "")), reversed(shape), strict=False))
    stated = dict(zip(reversed(result.replace("...", "")), reversed(output), strict=False))
    lengths.update({label: length for label, length in stated.items() if length is not None})
    layer_weights = [Weight("vars/0", "kernel", tuple(_size(lengths[label]) for label in right))]
    if axes := config.get("bias_axes"):
        first = min(result.replace("...", "").index(axis) for axis in axes)
        labels = result.replace("...", "")[first:]
        dims = tuple(_size(lengths[label]) if label in axes else 1 for label in labels)
        layer_weights.append(Weight("vars/1", "bias", dims))
    return layer_weights


def _prelu(config: Config, build: Build) -> list[Weight]:
    shared = set(_sizes(config.get("shared_axes") or []))
    shape = [1 if axis in shared else dim for axis, dim in enumerate(_in(build))][1:]
    return [Weight("vars/0", "alpha", _sizes(shape))]


_RULES: Final[dict[str, Callable[[Config, Build], list[Weight]]]] = {
    "Dense": _dense,
    "EinsumDense": _einsum_dense,
    **{f"Conv{rank}D": _conv for rank in (1, 2, 3)},
    **{f"Conv{rank}DTranspose": _transposed for rank in (1, 2, 3)},
    **{f"DepthwiseConv{rank}D": _depthwise for rank in (1, 2)},
    **{f"SeparableConv{rank}D": _separable for rank in (1, 2)},
    "BatchNormalization": _batch_norm,
    "LayerNormalization": _axis_norm,
    "GroupNormalization": _axis_norm,
    "RMSNormalization": lambda config, build: _axis_norm({**config, "center": False}, build),
    "Embedding": _embedding,
    "LSTM": _recurrent(4),
    "GRU": _recurrent(3, two_biases=True),
    "SimpleRNN": _recurrent(1),
    "Bidirectional": _bidirectional,
    "TimeDistributed": _time_distributed,
    "SpectralNormalization": _spectral,
    "Normalization": _normalization,
    "MultiHeadAttention": _attention,
    "PReLU": _prelu,
}
