"""Pooling: windows of an image, and all of it."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from tfprof.read.keras.graph import Call, Tensor, Unexpandable
from tfprof.read.keras.layers.convolution import Window
from tfprof.read.keras.table import layer

_SIDES: Final = (1, 2, 3)


def _pooled(kind: str, rank: int, call: Call) -> Tensor:
    window = Window(call, rank)
    sizes = window.of("pool_size", 2)
    strides = window.of("strides") if call.config.get("strides") is not None else sizes
    attributes: dict[str, Any] = {
        **window.attributes(strides=strides), "ksize": window.full(sizes),
    }  # fmt: skip
    del attributes["dilations"]
    op = kind if window.sides < _SIDES[-1] else f"{kind}3D"
    return window.drop(call.op(op, window.lift(call.x), **attributes))


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
            shape = window.full([*ones[:side], reach, *ones[side + 1 :]])
            attributes: dict[str, Any] = {
                "ksize": shape,
                "strides": window.full(ones),
                "padding": "VALID",
            }
            op = kind if window.sides < _SIDES[-1] else f"{kind}3D"
            pooled = call.op(op, window.lift(x), **attributes, data_format=window.layout)
            both.append(window.drop(pooled))
        joined = call.joined(*both, axis=axis, dtype=None)
        x = call.op("GatherV2", joined, [0] * min(sizes[side], 1001), axis)
    return x


# The class says how many sides an image has; a Sequential model records no shape for these layers.
for _sides in _SIDES:
    for _name, _kind, _reduce in (("Average", "AvgPool", "Mean"), ("Max", "MaxPool", "Max")):
        layer(f"{_name}Pooling{_sides}D")(partial(_pooled, _kind, _sides))
        layer(f"Global{_name}Pooling{_sides}D")(partial(_global, _reduce, _sides))
        layer(f"Adaptive{_name}Pooling{_sides}D")(partial(_adaptive, _kind))
