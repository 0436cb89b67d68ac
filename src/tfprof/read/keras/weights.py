"""The weights of a layer, also quantized and with LoRA.

    Dense units=10, input [None, 24]     vars/0  kernel  24x10     vars/1  bias  10
    lora_rank=2                          lora_kernel_a  24x2       lora_kernel_b  2x10

A weight has a path in the archive below its layer, a name, a shape, and a trainable flag.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Config = Mapping[str, Any]
    Build = Mapping[str, Any]

# Classes whose weights are all trainable, whatever their shapes are.
ALL_TRAINED: Final = re.compile(
    r"Group(ed)?QueryAttention|ConvLSTM\dD|(Additive)?Attention|CuDNN\w+"
)
_FLOAT, _INT8, INT64 = 1, 6, 9
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
    is_any_shape: bool = False  # the shape of the input is unknown, and so is its own
    is_stored: bool = True  # Keras adds the product of LoRA's matrices to the kernel instead


_SNAKE: Final = (re.compile(r"(.)([A-Z][a-z]+)"), re.compile(r"([a-z])([A-Z])"))


class Underivable(Exception):  # noqa: N818 - not an error: the weights are unknown
    """The configuration does not determine the weights."""


def snake(name: str) -> str:
    """The name of a class in the archive: LayerNormalization becomes layer_normalization."""
    first, second = _SNAKE
    text = re.sub(r"\W+", "", name)
    return second.sub(r"\1_\2", first.sub(r"\1_\2", text)).lower()


def input_shape(build: Build) -> list[int | None]:
    """The shape that a layer was built for; raises Underivable."""
    shape = build["input_shape"]
    if not isinstance(shape, list):
        raise Underivable
    return shape


def size(length: Any) -> int:  # noqa: ANN401 - out of a file
    """A dimension of a weight; raises Underivable."""
    if not isinstance(length, int) or isinstance(length, bool) or length < 0:
        raise Underivable
    return length


def sizes(lengths: Any) -> tuple[int, ...]:  # noqa: ANN401 - out of a file
    """Dimensions of a weight, one or several; raises Underivable."""
    return tuple(map(size, lengths if isinstance(lengths, list) else [lengths]))


def bias(config: Config, at: int, *shape: int) -> list[Weight]:
    """The bias of a layer, if it uses one."""
    return [Weight(f"vars/{at}", "bias", shape)] if config.get("use_bias", True) else []


def channels(config: Config, build: Build) -> int:
    """The number of channels of the input."""
    first = config.get("data_format") == "channels_first"
    return size(input_shape(build)[1 if first else -1])


def adapted(
    config: Config, name: str, shape: tuple[int, ...], others: Sequence[Weight] = ()
) -> list[Weight]:
    """A weight and others; LoRA adds two matrices and trains these instead."""
    weight = Weight("vars/0", name, shape)
    if config.get("lora_rank") is None:
        return [weight, *others]
    rank = size(config["lora_rank"])
    return [
        weight._replace(trained=False), *others,
        Weight("", f"lora_{name}_a", (*shape[:-1], rank), type=_FLOAT, is_stored=False),
        Weight("", f"lora_{name}_b", (rank, shape[-1]), type=_FLOAT, is_stored=False),
    ]  # fmt: skip


def quantized(
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
