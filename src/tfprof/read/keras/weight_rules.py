"""Derives the weights of Keras layers from their configuration and input shape.

The weights of other layers, such as custom ones, are unknown.
"""

from __future__ import annotations

import re
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Final

from tfprof.read.keras.weights import (
    INT64,
    MOST_ELEMENTS,
    Underivable,
    Weight,
    adapted,
    bias,
    channels,
    input_shape,
    quantized,
    size,
    sizes,
    snake,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.read.keras.weights import Build, Config

    Rule = Callable[[Config, Build], list[Weight]]

_MOST_INSIDE: Final = 1000
_ANY_INPUT: Final = dict.fromkeys(("input_shape", "query_shape", "value_shape"), [1] * 8)
_WEIGHTLESS: Final = re.compile(
    r"InputLayer|Activation|(Leaky)?ReLU|ELU|Softmax|\w*Dropout(\dD)?|Gaussian\w+|\w*Pooling\dD"
    r"|AugMix|AutoContrast|CutMix|MixUp|RandAugment|Solarization|Equalization|MelSpectrogram"
    r"|MaxNumBoundingBoxes|ContrastLimitedAdaptiveHistogramEqualization|Pipeline|TextVectorization"
    r"|Flatten|Reshape|Permute|RepeatVector|ZeroPadding\dD|Cropping\dD|UpSampling\dD|Add|Subtract"
    r"|Multiply|Average|Maximum|Minimum|Concatenate|Dot|Masking|Lambda|Rescaling|Resizing"
    r"|CenterCrop|Random\w+|ActivityRegularization|Identity|UnitNormalization|Discretization"
    r"|Hashing|HashedCrossing|CategoryEncoding|StringLookup|IntegerLookup"
    r"|TFOpLambda|SlicingOpLambda|TensorFlowOpLayer|AddLoss|AddMetric|ThresholdedReLU"
)


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
    except (Underivable, ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
        return None


def weights_of_any_input(kind: str, config: Config) -> list[Weight] | None:
    """The same where the shape of the input is unknown; their own shapes are not meant."""
    derived = weights(kind, config, _ANY_INPUT)
    return None if derived is None else [each._replace(is_any_shape=True) for each in derived]


def class_names() -> dict[str, str]:
    """Classes of layers with weights, by their names in archives."""
    return {snake(kind): kind for kind in _RULES}


def _dense(config: Config, build: Build) -> list[Weight]:
    inputs, units = size(input_shape(build)[-1]), size(config["units"])
    kernel = adapted(config, "kernel", (inputs, units), bias(config, 1, units))
    return quantized(config, kernel, (units,), (inputs, units))


def _conv(config: Config, build: Build) -> list[Weight]:
    groups, filters = size(config.get("groups", 1)) or 1, size(config["filters"])
    kernel = (*sizes(config["kernel_size"]), channels(config, build) // groups, filters)
    return adapted(config, "kernel", kernel, bias(config, 1, filters))


def _stored(**shapes: tuple[int, ...]) -> list[Weight]:
    """Weights that are stored in this order."""
    return [Weight(f"vars/{at}", name, shapes[name]) for at, name in enumerate(shapes)]


def _transposed(config: Config, build: Build) -> list[Weight]:
    filters = size(config["filters"])
    kernel = (*sizes(config["kernel_size"]), filters, channels(config, build))
    return _stored(kernel=kernel) + bias(config, 1, filters)


def _depthwise(config: Config, build: Build) -> list[Weight]:
    depth, times = channels(config, build), size(config.get("depth_multiplier", 1))
    kernel = (*sizes(config["kernel_size"]), depth, times)
    return _stored(kernel=kernel) + bias(config, 1, depth * times)


def _separable(config: Config, build: Build) -> list[Weight]:
    kernel = _depthwise(config, build)[0].shape
    filters, ones = size(config["filters"]), (1 for _ in kernel[:-2])
    points = (*ones, prod(kernel[-2:]), filters)
    return _stored(depthwise_kernel=kernel, pointwise_kernel=points) + bias(config, 2, filters)


def _axes_shape(config: Config, build: Build) -> tuple[int, ...]:
    """The sizes of the input's axes that the layer names."""
    axis = config.get("axis", -1)
    axes = axis if isinstance(axis, list) else [axis]
    return tuple(size(input_shape(build)[each]) for each in axes)


def _axis_norm(config: Config, build: Build) -> list[Weight]:
    shape = _axes_shape(config, build)
    names = [name for name, on in (("gamma", "scale"), ("beta", "center")) if config.get(on, True)]
    return _stored(**dict.fromkeys(names, shape))


def _batch_norm(config: Config, build: Build) -> list[Weight]:
    axis = config.get("axis", -1)
    axis = axis[0] if isinstance(axis, list) else axis  # tf_keras writes a list
    scales, shape = _axis_norm(config, build), (size(input_shape(build)[axis]),)
    means = enumerate(("moving_mean", "moving_variance"), len(scales))
    return [*scales, *(Weight(f"vars/{at}", name, shape, trained=False) for at, name in means)]


def _embedding(config: Config, _: Build) -> list[Weight]:
    shape = rows, columns = size(config["input_dim"]), size(config["output_dim"])
    others = []
    if config.get("tie_weights") is False:
        others = [Weight("vars/1", "reverse_embeddings", (columns, rows))]
    table = adapted(config, "embeddings", shape, others)
    return quantized(config, table, shape[:1], shape, axis=1)


def _cell(gates: int, *, two_biases: bool = False) -> Rule:
    def derived(config: Config, build: Build) -> list[Weight]:
        units = size(config["units"])
        wide = gates * units
        shape = (2, wide) if two_biases and config.get("reset_after", True) else (wide,)
        kernel = size(input_shape(build)[-1]), wide
        return _stored(kernel=kernel, recurrent_kernel=(units, wide)) + bias(config, 2, *shape)

    return derived


_CELLS: Final = {
    "LSTM": _cell(4), "GRU": _cell(3, two_biases=True), "SimpleRNN": _cell(1),
}  # fmt: skip


def _layer_of_cells(cell: Rule, config: Config, build: Build) -> list[Weight]:
    return _below("cell", cell(config, build))


def _below(place: str, layer_weights: list[Weight], name: str = "") -> list[Weight]:
    """Weights of a layer that is stored below another one."""
    if len(layer_weights) > _MOST_INSIDE:  # wrappers may double what is inside
        raise Underivable
    return [
        weight._replace(place=f"{place}/{weight.place}", name=f"{name}{weight.name}")
        for weight in layer_weights
    ]


def _rnn(config: Config, build: Build) -> list[Weight]:
    cell, shape = config["cell"], input_shape(build)
    if cell["class_name"] != "StackedRNNCells":
        return _below("cell", _inner({"layer": cell}, shape))
    layer_weights, used = [], dict[str, int]()
    for at, each in enumerate(cell["config"]["cells"]):
        kind = snake(each["class_name"])
        number = used[kind] = used.get(kind, -1) + 1
        place = f"cell/cells/{kind}_{number}" if number else f"cell/cells/{kind}"
        layer_weights += _below(place, _inner({"layer": each}, shape), f"cells/{at}/")
        shape = [None, size(each["config"]["units"])]
    return layer_weights


def _conv_lstm(config: Config, build: Build) -> list[Weight]:
    filters, kernel = size(config["filters"]), sizes(config["kernel_size"])
    wide = 4 * filters
    inputs, back = (*kernel, channels(config, build), wide), (*kernel, filters, wide)
    return _below("cell", _stored(kernel=inputs, recurrent_kernel=back) + bias(config, 2, wide))


def _inner(config: Config, shape: Sequence[int | None]) -> list[Weight]:
    layer = config["layer"]
    inner = weights(layer["class_name"], layer["config"], {"input_shape": list(shape)})
    if inner is None:
        raise Underivable
    return inner


def _bidirectional(config: Config, build: Build) -> list[Weight]:
    there, other = _inner(config, input_shape(build)), config.get("backward_layer")
    back = _inner({"layer": other}, input_shape(build)) if other else there
    return _below("forward_layer", there, "forward/") + _below("backward_layer", back, "backward/")


def _time_distributed(config: Config, build: Build) -> list[Weight]:
    shape = input_shape(build)
    return _below("layer", _inner(config, [shape[0], *shape[2:]]))


def _spectral(config: Config, build: Build) -> list[Weight]:
    """A layer whose kernel, its first weight, is also stored for the wrapper."""
    inner = _below("layer", _inner(config, input_shape(build)))
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
        Weight("vars/2", "count", (), trained=False, type=INT64),
    ]


def _scored(config: Config, _: Build) -> list[Weight]:
    """Attention without heads."""
    names = ["scale"] if config.get("use_scale") else []
    names += ["concat_score_weight"] if config.get("score_mode") == "concat" else []
    return _stored(**dict.fromkeys(names, ()))


def _additive(config: Config, build: Build) -> list[Weight]:
    width = size(build["input_shape"][0][-1])
    return _stored(scale=(width,)) if config.get("use_scale", True) else []


def _attention(config: Config, build: Build) -> list[Weight]:
    heads, depth = size(config["num_heads"]), size(config["key_dim"])
    deep = size(config.get("value_dim") or depth)
    return _projections(config, build, "{}_dense", (heads, heads), (depth, deep))


def _grouped(config: Config, build: Build) -> list[Weight]:
    heads = size(config["num_query_heads"]), size(config["num_key_value_heads"])
    return _projections(config, build, "_{}_dense", heads, (size(config["head_dim"]),) * 2)


def _projections(
    config: Config, build: Build, place: str, heads: tuple[int, int], depth: tuple[int, int]
) -> list[Weight]:
    """The weights of attention with *heads* for queries and for keys."""
    shapes = build.get("shapes_dict", build)
    query = shapes["query_shape"]
    value = shapes.get("value_shape", query)
    key = shapes.get("key_shape") or value
    output = sizes(config["output_shape"]) if config.get("output_shape") else (size(query[-1]),)
    if config.get("use_gate"):
        raise Underivable
    projections = {
        "query": ((size(query[-1]), heads[0], depth[0]), (heads[0], depth[0])),
        "key": ((size(key[-1]), heads[1], depth[0]), (heads[1], depth[0])),
        "value": ((size(value[-1]), heads[1], depth[1]), (heads[1], depth[1])),
        "output": ((heads[0], depth[1], *output), output),
    }
    layer_weights = []
    for name, (kernel, shape) in projections.items():
        both = _stored(kernel=kernel) + bias(config, 1, *shape)
        layer_weights += _below(place.format(name), both, f"{name}/")
    return layer_weights


def einsum_lengths(config: Config, shape: Sequence[int | None]) -> dict[str, int | None]:
    """The length of each label in the equation of an EinsumDense layer."""
    operands, _, result = config["equation"].replace(" ", "").partition("->")
    output = config["output_shape"]
    output = output if isinstance(output, list) else [output]
    left = operands.split(",")[0].replace("...", "")
    lengths = dict(zip(reversed(left), reversed(shape), strict=False))
    stated = dict(zip(reversed(result.replace("...", "")), reversed(output), strict=False))
    return {**lengths, **{label: each for label, each in stated.items() if each is not None}}


def _einsum_dense(config: Config, build: Build) -> list[Weight]:
    operands, _, result = config["equation"].replace(" ", "").partition("->")
    left, right = operands.split(",")
    lengths = einsum_lengths(config, input_shape(build))
    biases = []
    if axes := config.get("bias_axes"):
        first = min(result.replace("...", "").index(axis) for axis in axes)
        labels = result.replace("...", "")[first:]
        dims = tuple(size(lengths[label]) if label in axes else 1 for label in labels)
        biases = [Weight("vars/1", "bias", dims)]
    kernel = {label: size(lengths[label]) for label in right}
    summed = prod(length for label, length in kernel.items() if label not in result)
    matrix = summed, prod(kernel.values()) // max(summed, 1)
    hidden = len(input_shape(build)) - len(left.replace("...", "")) if "..." in result else 0
    scale = (*[1] * hidden, *(kernel.get(label, 1) for label in result.replace("...", "")))
    packed = matrix[1:] if "int4" in str(config.get("dtype")) else scale
    kernels = adapted(config, "kernel", tuple(kernel.values()), biases)
    return quantized(config, kernels, packed, matrix)


def _prelu(config: Config, build: Build) -> list[Weight]:
    shared = set(sizes(config.get("shared_axes") or []))
    shape = [1 if axis in shared else dim for axis, dim in enumerate(input_shape(build))][1:]
    return _stored(alpha=sizes(shape))


_RULES: Final[dict[str, Rule]] = {
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
    "ReversibleEmbedding": _embedding,
    **{f"{name}Cell": cell for name, cell in _CELLS.items()},
    **{name: partial(_layer_of_cells, cell) for name, cell in _CELLS.items()},
    "RNN": _rnn,
    **{f"ConvLSTM{rank}D": _conv_lstm for rank in (1, 2, 3)},
    "Bidirectional": _bidirectional,
    "TimeDistributed": _time_distributed,
    "SpectralNormalization": _spectral,
    "Normalization": _normalization,
    "MultiHeadAttention": _attention,
    "GroupQueryAttention": _grouped,
    "Attention": _scored,
    "AdditiveAttention": _additive,
    "PReLU": _prelu,
}
