"""Reads Keras's HDF5 files: a whole model, or its weights alone.

/ ─┬─ model_config        attribute: the layers, their configuration and connections
   ├─ model_weights       the old layout, also at the top of a file of weights (old_layout.py)
   │    └─ conv1                weight_names: conv1/kernel:0, conv1/bias:0
   │         └─ conv1/kernel:0
   ├─ optimizer_weights   no weights of the model: left out
   └─ layers, vars        the layout of .keras archives, in files of weights (model.py)
"""

from __future__ import annotations

import json
import re
from math import prod
from typing import TYPE_CHECKING, Any, Final

from tfprof.errors import InputError, UnsupportedError
from tfprof.foundation.natural_order import natural
from tfprof.read.keras.archive import profile_of
from tfprof.read.keras.expand import NOT_MADE_FOR
from tfprof.read.keras.h5_process import contents
from tfprof.read.keras.model import Contents, Model
from tfprof.read.keras.old_config import todays
from tfprof.read.keras.old_layout import OldModel, groups_of
from tfprof.read.keras.weight_rules import class_names
from tfprof.wire.decode import buffer_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfprof.model import Profile
    from tfprof.read.keras.graph import Entry
    from tfprof.read.source import Source

_GROUP: Final = "model_weights"
_WEIGHT: Final = re.compile(r"(^|/)vars/[^/]+$")
_LAYER: Final = re.compile(r"layers/([^/]+)/")


def read_hdf5(source: Source) -> Profile:
    """The layers and weights in the HDF5 file *source*; raises InputError."""
    held = _held(source)
    text = held.texts.get("model_config")
    group = _GROUP if f"{_GROUP}/layer_names" in held.lists else ""
    groups = groups_of(held, group)
    model: Model
    try:
        if text is not None:
            config, model = (
                todays(json.loads(text), held.texts.get("keras_version", "")),
                OldModel(groups),
            )
        elif groups:
            config, model = _entry("weights", "model", groups), OldModel(groups)
        else:
            stored = {path: held.weights[path] for path in filter(_WEIGHT.search, held.weights)}
            config, model = _listed(stored, held.names), WeightsModel(Contents(stored, held.names))
        model.read(config)
        if not model.layers:
            what = "an HDF5 file of data, without a Keras model or its weights"
            raise UnsupportedError(source.name, what, "give the model")
        if text is None:
            model.lists_layers = model.records_layers = False
        return profile_of(config, model, source.name)
    except (*NOT_MADE_FOR, RecursionError):
        raise InputError(f"{source.name}: its model_config is not that of a Keras model") from None


def optimizer_parameters(source: Source) -> int:
    """How many numbers the optimizer keeps in the file, beside the weights of the model."""
    stored = _held(source).weights.items()
    return sum(prod(each.shape) for path, each in stored if path.startswith("optimizer"))


def _held(source: Source) -> Contents:
    held = contents(buffer_view(source.data), source.name, " is a damaged HDF5 file")
    if held is None:
        raise InputError(
            f"{source.name} is an HDF5 file, which tfprof reads with h5py: "
            "pip install 'tfprof[keras]'"
        )
    return held


# --- weights without a configuration ---


class WeightsModel(Model):
    """The layers of a file that has weights by class and number, and nothing else."""

    def _place(self, layer: Entry, place: str, layer_name: str, used: dict[str, int]) -> str:  # noqa: ARG002 - as in Model
        return str(layer["place"])


def _entry(kind: str, name: str, layers: Iterable[str] = ()) -> dict[str, Any]:
    inside = [_entry("", each) for each in layers]
    return {"class_name": kind, "config": {"name": name, **({"layers": inside} if inside else {})}}


def _listed(stored: Iterable[str], names: Mapping[str, str]) -> Entry:
    """A configuration of the layers that weights are stored for; their order is unknown."""
    classes = {"sequential": "Sequential", "functional": "Functional", **class_names()}
    entries = {"": _entry("weights", "model")}
    entries[""]["config"]["layers"] = []
    for path in sorted(stored, key=natural):
        place = ""
        while found := _LAYER.match(path, len(place) and len(place) + 1):
            around, place = entries[place], path[: found.end() - 1]
            if place not in entries:
                kind = re.sub(r"_\d+$", "", found[1])
                name = names.get(place, found[1])
                entries[place] = {**_entry(classes.get(kind, ""), name), "place": place}
                around["config"].setdefault("layers", []).append(entries[place])
    return entries[""]
