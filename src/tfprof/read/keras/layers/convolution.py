"""Convolutions and pooling. What has a single dimension runs in two, as in TensorFlow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tfprof.read.keras.graph import INT32, Call, Operand, Tensor, Unexpandable, layer
from tfprof.read.keras.layers.activation import activated
from tfprof.read.keras.layers.dense import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

_ALONG: Final = {1: "Conv2D", 2: "Conv2D", 3: "Conv3D"}
_BACK: Final = {1: "Conv2DBackpropInput", 2: "Conv2DBackpropInput", 3: "Conv3DBackpropInputV2"}
_LAST, _FIRST = ("", "", "NHWC", "NHWC", "NDHWC")[1:], ("", "", "NCHW", "NCHW", "NCDHW")[1:]


class Window:
    """How a layer looks at the sides of an image: layout, strides and the like."""

    def __init__(self, call: Call, rank: int | None = None) -> None:
        self.call, self.sides = call, call.rank - 2 if rank is None else rank
        self.first = call.config.get("data_format") == "channels_first"
        self.layout = (_FIRST if self.first else _LAST)[self.sides]
        self.lifted = self.sides == 1
        self.axis = (2 if self.first else 1) if self.lifted else 0

    def of(self, key: str, default: int = 1) -> list[int]:
        """A setting for each side."""
        value: Any = self.call.config.get(key)
        values = value if isinstance(value, list) else [default if value is None else value]
        values = values * self.sides if len(values) == 1 else values
        if len(values) != self.sides:
            raise Unexpandable
        return [int(each) for each in values]

    def full(self, values: Sequence[int]) -> list[int]:
        """The same for each axis of the image."""
        inner = [1, *values] if self.lifted else [*values]
        return [1, 1, *inner] if self.first else [1, *inner, 1]

    def lift(self, x: Tensor) -> Tensor:
        """An image of at least two sides."""
        return self.call.expanded(x, self.axis) if self.lifted else x

    def drop(self, y: Tensor) -> Tensor:
        """The image with its own sides."""
        return self.call.op("Squeeze", y, squeeze_dims=[self.axis]) if self.lifted else y

    def filter(self, weight: Tensor) -> Tensor:
        """The filter for an image of at least two sides."""
        return self.call.expanded(weight, 0) if self.lifted else weight

    def attributes(self, strides: Sequence[int] = (), padding: str = "") -> dict[str, Any]:
        """The attributes of a convolution."""
        padding = padding or str(self.call.config.get("padding", "valid"))
        return {
            "strides": self.full(strides or self.of("strides")),
            "dilations": self.full(self.of("dilation_rate")),
            "padding": "SAME" if padding == "same" else "VALID",
            "data_format": self.layout,
        }

    def biased(self, y: Tensor) -> Tensor:
        """The image and a bias per channel."""
        return self.call.biased(y, layout="NCHW" if self.first else "NHWC")

    def padded(self, x: Tensor) -> Tensor:
        """A causal convolution looks back only."""
        if self.call.config.get("padding") != "causal":
            return x
        back = (self.of("kernel_size")[0] - 1) * self.of("dilation_rate")[0]
        pads = [[0, 0], [0, 0], [back, 0]] if self.first else [[0, 0], [back, 0], [0, 0]]
        return self.call.op("Pad", x, pads)


def convolved(window: Window, x: Tensor, weight: Tensor, **settings: Any) -> Tensor:  # noqa: ANN401 - attributes
    """The convolution of an image."""
    kind = _ALONG[window.sides]
    attributes = window.attributes(**settings)
    return window.drop(window.call.op(kind, window.lift(x), window.filter(weight), **attributes))


@layer("Conv1D Conv2D Conv3D")
def convolution(call: Call) -> Tensor:
    """Products with a filter, a bias and an activation."""
    window = Window(call)
    y = convolved(window, window.padded(call.x), kernel(call, "kernel"))
    return activated(call, window.biased(y))


def _depthwise(window: Window, x: Tensor, name: str) -> Tensor:
    attributes = window.attributes()
    # TensorFlow has one stride for both sides, also where one of them is there for its sake.
    strides = [max(window.of("strides"))] * len(window.full([1] * window.sides)[2:])
    attributes["strides"] = [1, 1, *strides] if window.first else [1, *strides, 1]
    weight = window.filter(window.call.weight(name))
    y = window.call.op("DepthwiseConv2dNative", window.lift(x), weight, **attributes)
    return window.drop(y)


@layer("DepthwiseConv1D DepthwiseConv2D")
def depthwise(call: Call) -> Tensor:
    """Each channel with filters of its own."""
    window = Window(call)
    return activated(call, window.biased(_depthwise(window, window.padded(call.x), "kernel")))


@layer("SeparableConv1D SeparableConv2D")
def separable(call: Call) -> Tensor:
    """Each channel with filters of its own, then all channels of a point."""
    window = Window(call)
    y = _depthwise(window, window.padded(call.x), "depthwise_kernel")
    settings: dict[str, Any] = {"strides": [1] * window.sides, "padding": "valid"}
    weight = window.filter(call.weight("pointwise_kernel"))
    attributes = {**window.attributes(**settings), "dilations": window.full([1] * window.sides)}
    y = window.drop(call.op("Conv2D", window.lift(y), weight, **attributes))
    return activated(call, window.biased(y))


@layer("Conv1DTranspose Conv2DTranspose Conv3DTranspose")
def transposed(call: Call) -> Tensor:
    """The gradient of a convolution with respect to its input."""
    window = Window(call)
    first = 2 if window.first else 1
    sides = [_longer(window, call, side, first + side) for side in range(window.sides)]
    extra: list[Operand] = [[1]] if window.lifted else []
    channels = [int(call.config["filters"])]
    parts = [channels, *extra, *sides] if window.first else [*extra, *sides, channels]
    sizes = call.joined(call.shape_of(call.x, 0, 1), *parts)
    weight = window.filter(call.weight("kernel"))
    y = call.op(_BACK[window.sides], sizes, weight, window.lift(call.x), **window.attributes())
    return activated(call, window.biased(window.drop(y)))


def _longer(window: Window, call: Call, side: int, axis: int) -> Operand:
    """The length of a side after a transposed convolution, as a vector."""
    stride, rate = window.of("strides")[side], window.of("dilation_rate")[side]
    reach = (window.of("kernel_size")[side] - 1) * rate + 1
    same = call.config.get("padding") == "same"
    if call.config.get("output_padding") is None:
        more = 0 if same else max(reach - stride, 0)
    else:
        more = window.of("output_padding")[side] + reach - stride - (reach // 2 * 2 if same else 0)
    length = call.sides[axis]
    if length is not None:
        return [length * stride + more]
    long = call.op("Mul", call.shape_of(call.x, axis, axis + 1), stride, dtype=INT32)
    return call.op("AddV2", long, more, dtype=INT32) if more else long


# --- pooling ---

_SIDES: Final = (1, 2, 3)


def _pooled(kind: str, rank: int, call: Call) -> Tensor:
    window = Window(call, rank)
    sizes = window.of("pool_size", 2)
    strides = window.of("strides") if call.config.get("strides") is not None else sizes
    return _windows(window, kind, call.x, sizes, window.attributes(strides))


def _windows(
    window: Window, kind: str, x: Tensor, sizes: list[int], attributes: dict[str, Any]
) -> Tensor:
    attributes["ksize"] = window.full(sizes)
    del attributes["dilations"]
    op = kind if window.sides < _SIDES[-1] else f"{kind}3D"
    return window.drop(window.call.op(op, window.lift(x), **attributes))


def _global(kind: str, rank: int, call: Call) -> Tensor:
    first = 2 if call.config.get("data_format") == "channels_first" else 1
    axes = [first + side for side in range(rank)]
    return call.reduced(kind, call.x, axes, keep=bool(call.config.get("keepdims")))


def _adaptive(kind: str, call: Call) -> Tensor:
    """Along each side in turn: all windows of two sizes, of which some are picked."""
    window, x = Window(call), call.x
    sizes = window.of("output_size")
    for side in range(window.sides):
        axis = side + (2 if window.first else 1)
        length = call.sides[axis]
        if length is None or sizes[side] < 1:
            raise Unexpandable
        small = -(-length // sizes[side])
        both = []
        for reach in (small, small + 1):
            ones = [1] * window.sides
            shape = [*ones[:side], reach, *ones[side + 1 :]]
            both.append(_windows(window, kind, x, shape, window.attributes(ones, "valid")))
        joined = call.joined(*both, axis=axis, dtype=None)
        x = call.op("GatherV2", joined, [0] * min(sizes[side], 1001), axis)
    return x


# The class says how many sides an image has; a Sequential model records no shape for these layers.
for _sides in _SIDES:
    for _name, _kind, _reduce in (("Average", "AvgPool", "Mean"), ("Max", "MaxPool", "Max")):
        layer(f"{_name}Pooling{_sides}D")(partial(_pooled, _kind, _sides))
        layer(f"Global{_name}Pooling{_sides}D")(partial(_global, _reduce, _sides))
        layer(f"Adaptive{_name}Pooling{_sides}D")(partial(_adaptive, _kind))
