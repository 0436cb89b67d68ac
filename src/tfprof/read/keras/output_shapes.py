"""The output shapes of layers, for configurations that record only the shapes of the inputs.

HDF5 files of Keras record no others, and neither do Sequential models in archives. A shape begins
with the batch; None is an open dimension. A layer without a rule has an unknown shape.
"""

from __future__ import annotations

import re
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Dim: TypeAlias = "int | None"
Shape: TypeAlias = "tuple[Dim, ...]"
Config: TypeAlias = "Mapping[str, Any]"
Rule: TypeAlias = "Callable[[Config, Sequence[Shape]], Shape]"
_MOST_WRAPPERS: Final = 8


def output_shapes(
    kind: str, config: Config, inputs: Sequence[Shape | None], count: int
) -> list[Shape | None]:
    """The shapes of the *count* outputs of a layer for inputs of these shapes."""
    shape = _shape(kind, config, inputs)
    units = config.get("units")
    # What follows the output of a recurrent layer are its states.
    states = (shape[0], units) if shape and isinstance(units, int) else None
    return [shape, *[states] * (count - 1)]


def _shape(
    kind: str, config: Config, inputs: Sequence[Shape | None], depth: int = 0
) -> Shape | None:
    known = [shape for shape in inputs if shape is not None]
    rule = next((rule for names, rule in _RULES if names.fullmatch(kind)), None)
    if rule is None or not known or len(known) < len(inputs):
        return None
    try:
        if rule is _time_distributed or rule is _bidirectional:
            return rule(config, known, depth + 1) if depth < _MOST_WRAPPERS else None
        shape = rule(config, known)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return None
    return (
        shape if all(side is None or (type(side) is int and side >= 0) for side in shape) else None
    )


def _same(_: Config, inputs: Sequence[Shape]) -> Shape:
    return inputs[0]


def _product(sides: Sequence[Dim]) -> Dim:
    return None if None in sides else prod(side for side in sides if side is not None)


def _reshape(config: Config, inputs: Sequence[Shape]) -> Shape:
    target, whole = list(config["target_shape"]), _product(inputs[0][1:])
    if -1 in target:
        rest = -prod(target)
        target[target.index(-1)] = whole // rest if whole is not None else None
    return (inputs[0][0], *target)


# --- images ---


def _sides(
    shape: Shape, config: Config, change: Callable[[int, Dim], Dim], channels: Dim = None
) -> Shape:
    """*shape* whose sides change; *channels*: how many the output has, None: as many."""
    first = config.get("data_format") == "channels_first"
    sides = shape[2:] if first else shape[1:-1]
    changed = [None if side is None else change(at, side) for at, side in enumerate(sides)]
    channels = (shape[1] if first else shape[-1]) if channels is None else channels
    return (shape[0], channels, *changed) if first else (shape[0], *changed, channels)


def _of(value: Any, at: int) -> int:  # noqa: ANN401 - out of a file
    """The number for one side."""
    return int(value[at % len(value)] if isinstance(value, list) else value)


def _window(config: Config, size: str, at: int, side: Dim) -> Dim:
    assert side is not None
    stride = _of(config.get("strides") or config[size], at)
    if config.get("padding", "valid") != "valid":
        return -(-side // stride)
    return (
        side - (_of(config[size], at) - 1) * _of(config.get("dilation_rate", 1), at) - 1
    ) // stride + 1


def _conv(config: Config, inputs: Sequence[Shape]) -> Shape:
    channels = config.get("filters")
    if channels is None:  # a depthwise convolution
        axis = 1 if config.get("data_format") == "channels_first" else -1
        channels = (inputs[0][axis] or 0) * int(config.get("depth_multiplier", 1))
    return _sides(inputs[0], config, partial(_window, config, "kernel_size"), channels)


def _transposed(config: Config, inputs: Sequence[Shape]) -> Shape:
    def longer(at: int, side: Dim) -> Dim:
        assert side is not None
        size, stride = _of(config["kernel_size"], at), _of(config.get("strides", 1), at)
        if config.get("output_padding") is not None or _of(config.get("dilation_rate", 1), at) > 1:
            return None
        return side * stride + (max(size - stride, 0) if config.get("padding") == "valid" else 0)

    return _sides(inputs[0], config, longer, config["filters"])


def _global(config: Config, inputs: Sequence[Shape]) -> Shape:
    pooled = _sides(inputs[0], config, lambda *_: 1)
    axis = 1 if config.get("data_format") == "channels_first" else -1
    return pooled if config.get("keepdims") else (pooled[0], pooled[axis])


def _framed(key: str, sign: int, config: Config, inputs: Sequence[Shape]) -> Shape:
    def change(at: int, side: Dim) -> Dim:
        frame = config[key]
        if isinstance(frame, list) and not isinstance(frame[0], list) and len(inputs[0]) == 3:  # noqa: PLR2004 - one side
            frame = [frame]
        pair = frame[at] if isinstance(frame, list) else frame
        assert side is not None
        return side + sign * (sum(pair) if isinstance(pair, list) else 2 * int(pair))

    return _sides(inputs[0], config, change)


# --- sequences, several inputs, layers in layers ---


def _recurrent(config: Config, inputs: Sequence[Shape]) -> Shape:
    units = config["units"] if "units" in config else config["cell"]["config"]["units"]
    steps = inputs[0][1:2] if config.get("return_sequences") else ()
    return (inputs[0][0], *steps, units)


def _inner(entry: Any, shape: Shape, depth: int) -> Shape:  # noqa: ANN401 - out of a file
    inner = _shape(str(entry["class_name"]), entry["config"], [shape], depth)
    if inner is None:
        raise ValueError
    return inner


def _bidirectional(config: Config, inputs: Sequence[Shape], depth: int = 0) -> Shape:
    shape = _inner(config["layer"], inputs[0], depth)
    doubled = 2 if config.get("merge_mode", "concat") == "concat" else 1
    return (*shape[:-1], (shape[-1] or 0) * doubled)


def _time_distributed(config: Config, inputs: Sequence[Shape], depth: int = 0) -> Shape:
    batch, steps, *rest = inputs[0]
    shape = _inner(config["layer"], (batch, *rest), depth)
    return (batch, steps, *shape[1:])


def _merged(_: Config, inputs: Sequence[Shape]) -> Shape:
    rank = max(map(len, inputs))
    full = [(shape[0], *[1] * (rank - len(shape)), *shape[1:]) for shape in inputs]
    return tuple(
        next((side for side in sides if side != 1), 1) for sides in zip(*full, strict=True)
    )


def _joined(config: Config, inputs: Sequence[Shape]) -> Shape:
    axis = config.get("axis", -1) % len(inputs[0])
    sides = [shape[axis] for shape in inputs]
    whole = None if None in sides else sum(side for side in sides if side is not None)
    return (*inputs[0][:axis], whole, *inputs[0][axis + 1 :])


def _dot(config: Config, inputs: Sequence[Shape]) -> Shape:
    left, right = inputs
    axes = config["axes"]
    a, b = (axes, axes) if isinstance(axes, int) else axes
    a, b = a % len(left), b % len(right)
    rest = (*left[:a], *left[a + 1 :], *right[1:b], *right[b + 1 :])
    return rest if len(rest) > 1 else (*rest, 1)


def _heads(config: Config, inputs: Sequence[Shape]) -> Shape:
    width = config.get("output_shape") or inputs[0][-1]
    return (*inputs[0][:-1], *(width if isinstance(width, list) else [width]))


# fmt: off
_RULES: Final[list[tuple[re.Pattern[str], Any]]] = [
    (re.compile(names), rule) for names, rule in (
        (r"\w*Normalization|Activation|(Leaky|P|Thresholded)?ReLU|ELU|Softmax|Masking", _same),
        (r"\w*Dropout(\dD)?|Gaussian\w+|Rescaling|ActivityRegularization|Identity", _same),
        ("Dense", lambda config, x: (*x[0][:-1], config["units"])),
        ("Embedding", lambda config, x: (*x[0], config["output_dim"])),
        ("Flatten", lambda _, x: (x[0][0], _product(x[0][1:]))), ("Reshape", _reshape),
        ("Permute", lambda config, x: (x[0][0], *(x[0][axis] for axis in config["dims"]))),
        ("RepeatVector", lambda config, x: (x[0][0], config["n"], x[0][1])),
        (r"((Depthwise|Separable)?Conv)\dD", _conv), (r"Conv\dDTranspose", _transposed),
        (r"(Max|Average)Pooling\dD",
         lambda config, x: _sides(x[0], config, partial(_window, config, "pool_size"))),
        (r"Global\w+Pooling\dD", _global),
        (r"ZeroPadding\dD", partial(_framed, "padding", 1)),
        (r"Cropping\dD", partial(_framed, "cropping", -1)),
        (r"UpSampling\dD", lambda config, x: _sides(
            x[0], config, lambda at, side: (side or 0) * _of(config["size"], at))),
        (r"(CuDNN)?(LSTM|GRU)|SimpleRNN|RNN", _recurrent), ("Bidirectional", _bidirectional),
        ("TimeDistributed", _time_distributed), ("Concatenate", _joined), ("Dot", _dot),
        (r"Add|Subtract|Multiply|Average|Maximum|Minimum", _merged),
        ("(Additive)?Attention", lambda _, x: (*x[0][:-1], x[1][-1])),
        ("MultiHeadAttention", _heads),
    )
]
# fmt: on
