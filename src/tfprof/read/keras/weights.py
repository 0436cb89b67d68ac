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
    r"|AugMix|AutoContrast|CutMix|MixUp|RandAugment|Solarization|Equalization|MelSpectrogram"
    r"|MaxNumBoundingBoxes|ContrastLimitedAdaptiveHistogramEqualization|Pipeline|TextVectorization"
    r"|Flatten|Reshape|Permute|RepeatVector|ZeroPadding\dD|Cropping\dD|UpSampling\dD|Add|Subtract"
    r"|Multiply|Average|Maximum|Minimum|Concatenate|Dot|Masking|Lambda|Rescaling|Resizing"
    r"|CenterCrop|Random\w+|ActivityRegularization|Identity|UnitNormalization|Discretization"
    r"|Hashing|HashedCrossing|CategoryEncoding|StringLookup|IntegerLookup"
)
# Classes whose weights are all trainable, whatever their shapes are.
ALL_TRAINED: Final = re.compile(r"Group(ed)?QueryAttention|ConvLSTM\dD|(Additive)?Attention")
_FLOAT, _INT8, _INT64 = 1, 6, 9
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
    is_stored: bool = True  # Keras adds the product of LoRA's matrices to the kernel instead


_SNAKE: Final = (re.compile(r"(.)([A-Z][a-z]+)"), re.compile(r"([a-z])([A-Z])"))


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


def snake(name: str) -> str:
    """The name of a class in the archive: LayerNormalization becomes layer_normalization."""
    first, second = _SNAKE
    text = re.sub(r"\W+", "", name)
    return second.sub(r"\1_\2", first.sub(r"\1_\2", text)).lower()


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
    inputs, units = _size(_in(build)[-1]), _size(config["units"])
    kernel = _adapted(config, "kernel", (inputs, units), _bias(config, 1, units))
    return _quantized(config, kernel, (units,), (inputs, units))


def _adapted(
    config: Config, name: str, shape: tuple[int, ...], others: Sequence[Weight] = ()
) -> list[Weight]:
    """A weight and others; LoRA adds two matrices and trains these instead."""
    weight = Weight("vars/0", name, shape)
    if config.get("lora_rank") is None:
        return [weight, *others]
    rank = _size(config["lora_rank"])
    return [
        weight._replace(trained=False), *others,
        Weight("", f"lora_{name}_a", (*shape[:-1], rank), type=_FLOAT, is_stored=False),
        Weight("", f"lora_{name}_b", (rank, shape[-1]), type=_FLOAT, is_stored=False),
    ]  # fmt: skip


def _quantized(
    config: Config, layer_weights: list[Weight], scale: tuple[int, ...], matrix: tuple[int, int],
    axis: int = 0,
) -> list[Weight]:  # fmt: skip
    """Weights of which the first is quantized: it is not trainable, and has a scale.

    In int4, two numbers of a row of the *matrix* share a byte; each block along the *axis* has a
    scale and a zero of its own.
    """
    policy = config.get("dtype")
    mode = policy["config"].get("mode") if isinstance(policy, dict) else None
    if mode is None:
        return layer_weights
    weight, *others = layer_weights
    stored = sum(each.is_stored for each in layer_weights)
    places = (f"vars/{stored + at}" for at in range(3))
    kind, _, block = str(mode).partition("/")
    if kind == "int4":
        rows, columns = matrix
        weight = weight._replace(shape=(rows, -(-columns // 2)))
        if int(block or -1) > 0:
            groups = -(-matrix[axis] // int(block))
            scale = (groups, columns) if axis == 0 else (rows, groups)
    elif kind != "int8":
        raise Underivable
    scales = [Weight(next(places), f"{weight.name}_scale", scale, trained=False)]
    if kind == "int4" and int(block or -1) > 0:
        scales.append(Weight(next(places), f"{weight.name}_zero", scale, trained=False, type=_INT8))
        index = (matrix[axis],)
        scales.append(Weight(next(places), "g_idx", index, trained=False, type=_FLOAT))
    return [weight._replace(trained=False, type=_INT8), *others, *scales]


def _conv(config: Config, build: Build) -> list[Weight]:
    groups, filters = _size(config.get("groups", 1)) or 1, _size(config["filters"])
    kernel = (*_sizes(config["kernel_size"]), _channels(config, build) // groups, filters)
    return _adapted(config, "kernel", kernel, _bias(config, 1, filters))


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
    shape = rows, columns = _size(config["input_dim"]), _size(config["output_dim"])
    others = []
    if config.get("tie_weights") is False:
        others = [Weight("vars/1", "reverse_embeddings", (columns, rows))]
    table = _adapted(config, "embeddings", shape, others)
    return _quantized(config, table, shape[:1], shape, axis=1)


def _cell(gates: int, *, two_biases: bool = False) -> Callable[[Config, Build], list[Weight]]:
    def derived(config: Config, build: Build) -> list[Weight]:
        units = _size(config["units"])
        wide = gates * units
        bias = (2, wide) if two_biases and config.get("reset_after", True) else (wide,)
        return [
            Weight("vars/0", "kernel", (_size(_in(build)[-1]), wide)),
            Weight("vars/1", "recurrent_kernel", (units, wide)),
            *_bias(config, 2, *bias),
        ]

    return derived


_CELLS: Final = {
    "LSTM": _cell(4), "GRU": _cell(3, two_biases=True), "SimpleRNN": _cell(1),
}  # fmt: skip


def _below(place: str, layer_weights: list[Weight], name: str = "") -> list[Weight]:
    """Weights of a layer that is stored below another one."""
    return [
        weight._replace(place=f"{place}/{weight.place}", name=f"{name}{weight.name}")
        for weight in layer_weights
    ]


def _rnn(config: Config, build: Build) -> list[Weight]:
    cell, shape = config["cell"], _in(build)
    if cell["class_name"] != "StackedRNNCells":
        return _below("cell", _inner({"layer": cell}, shape))
    layer_weights, used = [], dict[str, int]()
    for at, each in enumerate(cell["config"]["cells"]):
        kind = snake(each["class_name"])
        number = used[kind] = used.get(kind, -1) + 1
        place = f"cell/cells/{kind}_{number}" if number else f"cell/cells/{kind}"
        layer_weights += _below(place, _inner({"layer": each}, shape), f"cells/{at}/")
        shape = [None, _size(each["config"]["units"])]
    return layer_weights


def _conv_lstm(config: Config, build: Build) -> list[Weight]:
    filters, kernel = _size(config["filters"]), _sizes(config["kernel_size"])
    cell = [
        Weight("vars/0", "kernel", (*kernel, _channels(config, build), 4 * filters)),
        Weight("vars/1", "recurrent_kernel", (*kernel, filters, 4 * filters)),
        *_bias(config, 2, 4 * filters),
    ]
    return _below("cell", cell)


def _inner(config: Config, shape: Sequence[int | None]) -> list[Weight]:
    """The weights of the layer inside a wrapper layer."""
    layer = config["layer"]
    inner = weights(layer["class_name"], layer["config"], {"input_shape": list(shape)})
    if inner is None:
        raise Underivable
    return inner


def _bidirectional(config: Config, build: Build) -> list[Weight]:
    forward = config["layer"]
    ways = {"forward": forward, "backward": config.get("backward_layer") or forward}
    return [
        weight
        for way, layer in ways.items()
        for weight in _below(f"{way}_layer", _inner({"layer": layer}, _in(build)), f"{way}/")
    ]


def _time_distributed(config: Config, build: Build) -> list[Weight]:
    shape = _in(build)
    return _below("layer", _inner(config, [shape[0], *shape[2:]]))


def _spectral(config: Config, build: Build) -> list[Weight]:
    """A layer whose kernel, its first weight, is also stored for the wrapper."""
    inner = _below("layer", _inner(config, _in(build)))
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


def _scored(config: Config, _: Build) -> list[Weight]:
    """Attention without heads."""
    names = ["scale"] if config.get("use_scale") else []
    names += ["concat_score_weight"] if config.get("score_mode") == "concat" else []
    return [Weight(f"vars/{at}", name, ()) for at, name in enumerate(names)]


def _additive(config: Config, build: Build) -> list[Weight]:
    width = _size(build["input_shape"][0][-1])
    return [Weight("vars/0", "scale", (width,))] if config.get("use_scale", True) else []


def _attention(config: Config, build: Build) -> list[Weight]:
    heads, depth = _size(config["num_heads"]), _size(config["key_dim"])
    deep = _size(config.get("value_dim") or depth)
    return _projections(config, build, "{}_dense", (heads, heads), (depth, deep))


def _grouped(config: Config, build: Build) -> list[Weight]:
    heads = _size(config["num_query_heads"]), _size(config["num_key_value_heads"])
    return _projections(config, build, "_{}_dense", heads, (_size(config["head_dim"]),) * 2)


def _projections(
    config: Config, build: Build, place: str, heads: tuple[int, int], depth: tuple[int, int]
) -> list[Weight]:
    """The weights of attention with *heads* for queries and for keys."""
    shapes = build.get("shapes_dict", build)
    query = shapes["query_shape"]
    value = shapes.get("value_shape", query)
    key = shapes.get("key_shape") or value
    output = _sizes(config["output_shape"]) if config.get("output_shape") else (_size(query[-1]),)
    if config.get("use_gate"):
        raise Underivable
    projections = {
        "query": ((_size(query[-1]), heads[0], depth[0]), (heads[0], depth[0])),
        "key": ((_size(key[-1]), heads[1], depth[0]), (heads[1], depth[0])),
        "value": ((_size(value[-1]), heads[1], depth[1]), (heads[1], depth[1])),
        "output": ((heads[0], depth[1], *output), output),
    }
    layer_weights = []
    for name, (kernel, bias) in projections.items():
        both = [Weight("vars/0", "kernel", kernel), *_bias(config, 1, *bias)]
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
    lengths = einsum_lengths(config, _in(build))
    biases = []
    if axes := config.get("bias_axes"):
        first = min(result.replace("...", "").index(axis) for axis in axes)
        labels = result.replace("...", "")[first:]
        dims = tuple(_size(lengths[label]) if label in axes else 1 for label in labels)
        biases = [Weight("vars/1", "bias", dims)]
    kernel = {label: _size(lengths[label]) for label in right}
    summed = prod(length for label, length in kernel.items() if label not in result)
    matrix = summed, prod(kernel.values()) // max(summed, 1)
    hidden = len(_in(build)) - len(left.replace("...", "")) if "..." in result else 0
    scale = (*[1] * hidden, *(kernel.get(label, 1) for label in result.replace("...", "")))
    packed = matrix[1:] if "int4" in str(config.get("dtype")) else scale
    adapted = _adapted(config, "kernel", tuple(kernel.values()), biases)
    return _quantized(config, adapted, packed, matrix)


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
    "ReversibleEmbedding": _embedding,
    **{f"{name}Cell": cell for name, cell in _CELLS.items()},
    **{
        name: lambda config, build, cell=cell: _below("cell", cell(config, build))
        for name, cell in _CELLS.items()
    },
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
