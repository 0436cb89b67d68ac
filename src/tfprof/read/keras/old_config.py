"""Configurations of Keras 1 and 2 in the form that Keras has today.

"config": [layer, …]                           a Sequential model until Keras 2.2.2
"batch_input_shape" of the first layer         in place of an InputLayer
Convolution2D, nb_filter, border_mode, …       the names of Keras 1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.read.keras.weights import snake

if TYPE_CHECKING:
    from tfprof.read.keras.graph import Entry

_CLASSES: Final = {
    **{f"Convolution{rank}D": f"Conv{rank}D" for rank in (1, 2, 3)},
    "AtrousConvolution1D": "Conv1D", "AtrousConvolution2D": "Conv2D",
    "Deconvolution2D": "Conv2DTranspose", "SeparableConvolution2D": "SeparableConv2D",
}  # fmt: skip
_KEYS: Final = {
    "nb_filter": "filters", "filter_length": "kernel_size", "subsample": "strides",
    "subsample_length": "strides", "border_mode": "padding", "atrous_rate": "dilation_rate",
    "bias": "use_bias", "output_dim": "units", "inner_activation": "recurrent_activation",
    "p": "rate", "pool_length": "pool_size", "stride": "strides", "length": "size",
}  # fmt: skip
_LAYOUTS: Final = {"tf": "channels_last", "th": "channels_first"}
_MERGES: Final = {
    "concat": "Concatenate", "sum": "Add", "mul": "Multiply", "ave": "Average", "max": "Maximum",
    "dot": "Dot",
}  # fmt: skip
_OF_LAYERS: Final = {"trainable", "layers", "batch_shape"}  # an operation has none of these
_INSIDE: Final = ("layer", "backward_layer", "forward_layer", "cell")


def todays(entry: Entry, version: str) -> Entry:
    """Change a model of this version of Keras, and everything in it, to today's form."""
    waiting = [entry]
    while waiting:
        layer = waiting.pop()
        if not isinstance(layer, dict):
            continue
        config = layer.get("config")
        if isinstance(config, list):
            name = layer.get("name") or snake(str(layer.get("class_name")))
            layer["config"] = config = {"name": name, "layers": config}
        if not isinstance(config, dict):
            continue
        _rename(layer, config)
        if version.startswith("3") and layer.get("name") and not _OF_LAYERS & config.keys():
            layer["module"] = "keras.src.ops"
        waiting += [config[key] for key in _INSIDE if key in config]
        for key in ("layers", "cells"):
            inside = config.get(key)
            waiting += inside if isinstance(inside, list) else []
        if layer.get("class_name") == "Sequential":
            _add_input(config)
    return entry


def _rename(layer: Entry, config: Entry) -> None:
    kind = str(layer.get("class_name"))
    for old, new in _KEYS.items():
        if old in config:
            config.setdefault(new, config[old])
    if "nb_row" in config:
        config.setdefault("kernel_size", [config["nb_row"], config.get("nb_col")])
    if "kernel_dim1" in config:
        config.setdefault("kernel_size", [config.get(f"kernel_dim{at}") for at in (1, 2, 3)])
    if config.get("dim_ordering") in list(_LAYOUTS):
        config.setdefault("data_format", _LAYOUTS[config["dim_ordering"]])
    if kind == "Merge" and config.get("mode") in list(_MERGES):
        layer["class_name"] = _MERGES[config["mode"]]
        config.setdefault("axis", config.get("concat_axis", -1))
    elif kind in {"GRU", "GRUCell"}:
        config.setdefault("reset_after", False)
    layer["class_name"] = _CLASSES.get(kind, layer.get("class_name"))


def _add_input(config: Entry) -> None:
    """Put an InputLayer before the layers of a Sequential model."""
    first = config["layers"][0] if config.get("layers") else None
    inner = first.get("config") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(inner, dict):
        return
    if first["class_name"] != "InputLayer" and "batch_input_shape" in inner:
        # An embedding has the dtype of its output.
        dtype = "float32" if first["class_name"] == "Embedding" else inner.get("dtype")
        given = {"name": f"{inner.get('name')}_input", "batch_shape": inner["batch_input_shape"]}
        given["dtype"] = inner.get("input_dtype", dtype)
        config["layers"] = [{"class_name": "InputLayer", "config": given}, *config["layers"]]
