"""Hostile HDF5 files of Keras."""

from __future__ import annotations

import io
import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import h5py
import numpy as np

from hostile import FEW, Row
from hostile_archives import NO_CONFIGS, layer, model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_CONFIG: Final = model(layer("Dense", "d", units=4))
_WEIGHTS: Final = {"d": {"d/kernel:0": (8, 4), "d/bias:0": (4,)}}
_NO_MODEL: Final = "its model_config is not that of a Keras model"


def hdf5(
    config: Any = _CONFIG,
    layers: Mapping[str, Mapping[str, tuple[int, ...]]] = _WEIGHTS,
    change: Callable[[Any], None] = lambda _: None,
) -> bytes:
    """A file with these weights, in which something is changed; without a configuration if None."""
    made = io.BytesIO()
    with h5py.File(made, "w") as file:
        if config is not None:
            file.attrs["model_config"] = config
        top = file.create_group("model_weights")
        top.attrs["layer_names"] = [name.encode() for name in layers]
        for name, weights in layers.items():
            group = top.require_group(name)
            group.attrs["weight_names"] = [weight.encode() for weight in weights]
            for weight, shape in weights.items():
                group.create_dataset(weight, shape, "float32", chunks=(1,) * len(shape) or None)
        change(file)
    return made.getvalue()


def _row(name: str, data: Callable[[], bytes], **expected: Any) -> Row:
    return Row(f"hdf5: {name}", {"graph.h5": data}, **{"commands": ("scope",), **expected})


def _cut(end: int) -> bytes:
    return hdf5()[:end]


def _call(*names: Any) -> list[Any]:
    """Calls as Keras 2 writes them."""
    return [[[name, 0, 0, {"mask": ["x", 0, 0]}] for name in names]]


def _links(file: Any) -> None:
    group = file["model_weights"]
    group["d/out"] = h5py.ExternalLink("/etc/passwd", "d")
    group["d/here"] = h5py.SoftLink("/model_weights/d/here")
    group["d/up"] = file["/"]
    group["d"].attrs["weight_names"] = [b"d/kernel:0", b"out", b"here", b"up/model_weights/d"]


def _deep(depth: int, file: Any) -> None:
    group = file["model_weights"]
    for _ in range(depth):
        group = group.create_group("g")
        group.attrs["weight_names"] = [b"g"]


def _attribute(name: str, value: Any, file: Any) -> None:
    place = file if name == "model_config" else file["model_weights/d"]
    place.attrs[name] = value


def _sound() -> Iterator[Row]:
    yield _row("sound", hdf5, shows=b"net/d/kernel (", commands=FEW)
    yield _row("weights alone", partial(hdf5, None), shows=b"model/d/kernel (", commands=FEW)
    yield _row("links", partial(hdf5, change=_links), shows=b"net/d/", commands=FEW)
    yield _row(
        "1,000 groups deep", partial(hdf5, change=partial(_deep, 1_000)), shows=b"net/d/kernel ("
    )
    names = ("", "a/b", "\x1b[31m", "a\nb", "\u202ex", "^a", "a:0", "</script>", "d", "d")
    config = model(*(layer("Dense", name, units=4) for name in names))
    yield _row("names of all kinds", partial(hdf5, config), shows=b"net/", commands=FEW)
    weights = {name: {f"{name}/kernel:0": (2,)} for name in names[2:-2]}
    yield _row("weights of all kinds", partial(hdf5, None, weights), shows=b"model/", commands=FEW)
    calls = [_call("d"), _call("nobody", 7), [7], [[7]], [["d", 0, 0, 7]], [["d"]], _call([])]
    for at, inbound in enumerate(calls):
        circle = [{**layer("Dense", "d", units=4), "name": "d", "inbound_nodes": inbound}]
        called = {"name": "net", "layers": circle, "input_layers": [], "output_layers": []}
        text = json.dumps({"class_name": "Model", "config": called})
        odd = {"refused": _NO_MODEL} if at in {2, 3, 4} else {"shows": b"net/"}
        yield _row(f"calls of kind {at}", partial(hdf5, text), **odd)
    many: dict[str, Any] = {"class_name": "Sequential", "config": [layer("Dense", "d", units=4)]}
    for _ in range(40):
        many = {"class_name": "Sequential", "config": [many]}
    yield _row("models in models, 40 deep", partial(hdf5, json.dumps(many)), shows=b"sequential/")


def _refused() -> Iterator[Row]:
    for name, config in {
        **NO_CONFIGS,
        "models in models, 3,000 deep": b'{"class_name":"Sequential","config":[' * 3_000,
    }.items():
        yield _row(name, partial(hdf5, config), refused=_NO_MODEL)
    for name, value in {
        "model_config": np.zeros(7),
        "weight_names": np.zeros((3, 3), np.float32),
        "name": np.zeros((2, 2)),
    }.items():
        yield _row(f"{name} of numbers", partial(hdf5, change=partial(_attribute, name, value)),
                   shows=b"/d")  # fmt: skip
    impossible = {"d": {"d/kernel:0": (2**40, 2**40)}}
    yield _row(
        "a shape of 2 to the 80th", partial(hdf5, None, impossible), refused="an impossible shape"
    )
    yield _row("no model", partial(hdf5, None, {}), refused="without a Keras model or its weights")
    for at in (8, 9, 100, 4_000, 9_000):
        yield _row(f"cut off at {at}", partial(_cut, at), refused="graph.h5 is a damaged HDF5 file")


ROWS: Final = [*_sound(), *_refused()]
