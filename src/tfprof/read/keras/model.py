"""The layers of a Keras archive, each with its weights.

    {"class_name": "Dense", "config": {"name": "head", …}}     the second Dense of its model:
    layers/dense_1/vars/0   24x10                              its kernel

Weights are stored by class and number, not by name. Models may contain models. Weights that belong
to no listed layer, as in a model without a list of layers, become layers of their own.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.read.keras.weight_rules import weights, weights_of_any_input
from tfprof.read.keras.weights import ALL_TRAINED, Weight, snake
from tfprof.read.keras_layers import known_layer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfprof.columns.keras_layer import KerasLayer
    from tfprof.read.keras.graph import Entry

_FLOAT: Final = 1
# Integer types, which are never trainable.
_INTEGERS: Final = frozenset({3, 4, 5, 6, 9, 17, 22, 23})
DTYPES: Final = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7,
    "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "float16": 19, "uint32": 22,
    "uint64": 23,
}  # fmt: skip
_NOT_WEIGHTS: Final = re.compile(r"(?:^|/)(?:optimizer|seed_generator|\w*metrics?)(?:/|$)")
# A class whose weights are stored under another name than the one in the configuration.
_STORED_AS: Final = {"GroupQueryAttention": "GroupedQueryAttention"}
_NOT_IN_NAMES: Final = re.compile(r"[/:^\s]|[^ -~]")
_NO_LAYER: Final = "no layer that is listed"


class Stored(NamedTuple):
    """A weight in the file."""

    shape: tuple[int, ...]
    type: int


class Contents(NamedTuple):
    """What an HDF5 file holds: weights, names of groups, lists of names, texts; by path."""

    weights: dict[str, Stored]
    names: Mapping[str, str]
    lists: Mapping[str, list[str]] = {}
    texts: Mapping[str, str] = {}


class LayerWeight(NamedTuple):
    """A weight of a layer."""

    name: str
    shape: tuple[int, ...] | None  # None if unknown
    type: int
    trained: bool


_UNKNOWN: Final = LayerWeight("weights", None, _FLOAT, trained=True)


class Layer(NamedTuple):
    """A layer: its path, class and weights."""

    path: str
    kind: str
    weights: tuple[LayerWeight, ...]


class Model:
    """The layers found so far, and the weights that belong to none of them yet."""

    records_layers = True  # weights alone do not say what layers compute and what is trainable

    def __init__(self, stored: Contents | None) -> None:
        self.layers: list[Layer] = []
        self.named: list[KerasLayer] = []  # models and layers, as Keras lists them
        self.stored = stored
        self.unclaimed = dict(stored.weights) if stored else {}
        self._places = sorted(self.unclaimed)
        self._by_name = {
            (group.rpartition("/")[0], label(name)): group
            for group, name in (stored.names.items() if stored else ())
        }
        self.unknown: list[str] = []  # classes of layers whose weights are unknown
        self.unbuilt: list[str] = []  # layers that have weights, but none in the file
        self.guessed: list[str] = []  # classes whose weights may or may not be trainable
        self._knows_some = False
        self.title = "model"
        self.lists_layers = False

    @property
    def knows_trained(self) -> bool:
        """Whether it is known of some weight, or guessed of none, that it is trainable."""
        return self.records_layers and (self._knows_some or not self.guessed)

    def read(self, config: Entry) -> None:
        """Find all layers; raises ValueError, TypeError, KeyError or AttributeError."""
        if isinstance(_mapping(config, "config").get("layers"), list):
            self.lists_layers = True
            self._add_model(config, "", "", trained=True)
        else:
            self.title = label(config["config"].get("name") or config["class_name"])
            if self.stored is None:
                kind = label(config["class_name"])
                self.unknown.append(kind)
                self.layers.append(Layer(f"{self.title}/own", kind, (_UNKNOWN,)))
        self._add_rest()

    def _add_model(self, entry: Entry, around: str, place: str, *, trained: bool) -> None:
        """Add the layers of a model, stored at *place*."""
        config = _mapping(entry, "config")
        name = label(config.get("name") or entry.get("name") or entry["class_name"])
        path = f"{around}/{name}" if around else name
        self.title = self.title if around else path
        kind = _kind(entry)
        self._list(known_layer(path, kind, None))
        trained = trained and config.get("trainable", True) is not False
        used: dict[str, int] = {}
        for layer in config["layers"]:
            layer_config = _mapping(layer, "config")
            layer_name = label(layer.get("name") or layer_config.get("name") or layer["class_name"])
            inside = self._place(layer, place, layer_name, used)
            if is_model(layer):
                self._add_model(layer, path, inside, trained=trained)
                continue
            if inside and (kind, layer["class_name"]) != ("Sequential", "InputLayer"):
                is_input = layer["class_name"] == "InputLayer"
                dims = layer_config.get("batch_shape", layer_config.get("batch_input_shape"))
                named = (f"{path}/{layer_name}", _kind(layer))
                self._list(known_layer(*named, dims if is_input else None))
            self._add(layer, f"{path}/{layer_name}", inside, trained=trained)

    def _list(self, layer: KerasLayer | None) -> None:
        self.named += [] if layer is None else [layer]

    def _place(self, layer: Entry, place: str, layer_name: str, used: dict[str, int]) -> str:
        """Where the weights of a layer are stored; "" for an operation, which has none."""
        if is_operation(layer):
            return ""
        name = str(layer["class_name"])
        kind = snake(_STORED_AS.get(name, name))
        number = used[kind] = used.get(kind, -1) + 1
        folder = f"{place}/layers" if place else "layers"
        expected = f"{folder}/{kind}_{number}" if number else f"{folder}/{kind}"
        names = self.stored.names if self.stored else {}
        if label(names.get(expected, layer_name)) == layer_name:
            return expected
        return self._by_name.get((folder, layer_name), expected)

    def _add(self, layer: Entry, path: str, place: str, *, trained: bool) -> None:
        config, kind = _mapping(layer, "config"), _kind(layer)
        trained = trained and config.get("trainable", True) is not False
        derived = self._derived(kind, layer) if place else []
        layer_weights: list[LayerWeight] = []
        if self.stored is not None:
            layer_weights = list(self._claimed(place, kind, derived or (), trained=trained))
            if not layer_weights and any(weight.is_any_shape for weight in derived or ()):
                self.unbuilt.append(f"{path.rpartition('/')[2]} ({kind})")
                layer_weights = [_UNKNOWN]
        elif derived is None:
            self.unknown.append(kind)
            layer_weights = [_UNKNOWN]
        else:
            self._knows_some = True
            # The dtype of weights under this policy; mixed policies store float32.
            policy = config.get("dtype")
            name = policy.get("config", {}).get("name") if isinstance(policy, dict) else policy
            dtype = _FLOAT if "mixed" in str(name) else DTYPES.get(str(name), _FLOAT)
            layer_weights = [
                LayerWeight(each.name, each.shape, each.type or dtype, trained and each.trained)
                for each in derived
                if not each.is_copy
            ]
        self.layers.append(Layer(path, kind, tuple(layer_weights)))

    def _derived(self, kind: str, layer: Entry) -> list[Weight] | None:
        """The weights that a layer of this configuration has; None if unknown."""
        build = layer.get("build_config")
        derived = weights(kind, layer["config"], build if isinstance(build, dict) else {})
        if derived is None and self.stored is not None:
            return weights_of_any_input(kind, layer["config"])
        return derived

    def _claimed(
        self, place: str, kind: str, derived: Sequence[Weight], *, trained: bool
    ) -> Iterator[LayerWeight]:
        """The weights stored at *place*, with the names of the *derived* ones."""
        if not place:
            return
        derived_at = {weight.place: weight for weight in derived if weight.is_stored}
        first = bisect_left(self._places, f"{place}/")
        last = bisect_left(self._places, f"{place}0")  # "0" is the character after "/"
        quantized: set[str] = set()  # where a kernel is of integers, only a bias is trained
        for where in self._places[first:last]:
            stored = self.unclaimed.pop(where, None)
            inside = where[len(place) + 1 :]
            if stored is None or _NOT_WEIGHTS.search(inside):
                continue
            # Attributes of tf_keras may begin with "_" that do not in Keras 3.
            weight = derived_at.get(inside) or derived_at.get(inside.removeprefix("_"))
            folder = inside.rpartition("/")[0]
            if stored.type in _INTEGERS:
                quantized.add(folder)
            fits = weight and (weight.is_any_shape or weight.shape == stored.shape)
            if weight is None or not fits:
                learns = trained and folder not in quantized
                yield self._guess(_weight_name(inside), kind, stored, trained=learns)
            elif not weight.is_copy:
                yield self._known(weight, stored, trained=trained)
        for weight in derived:
            if not weight.is_stored:
                yield LayerWeight(weight.name, weight.shape, _FLOAT, trained)

    def _known(self, weight: Weight, stored: Stored, *, trained: bool) -> LayerWeight:
        """A weight that a rule of its layer describes."""
        self._knows_some = True
        is_trained = trained and weight.trained and stored.type not in _INTEGERS
        return LayerWeight(weight.name, stored.shape, stored.type, is_trained)

    def _guess(self, name: str, kind: str, stored: Stored, *, trained: bool) -> LayerWeight:
        """A weight that counts as trainable if its layer is, though it may not be."""
        if not trained or stored.type in _INTEGERS:
            self._knows_some = True
            return LayerWeight(name, stored.shape, stored.type, trained=False)
        if ALL_TRAINED.fullmatch(kind):
            self._knows_some = True
        else:
            self.guessed.append(kind)
        return LayerWeight(name, stored.shape, stored.type, trained=True)

    def _add_rest(self) -> None:
        """Add a layer for each group of weights that belongs to no layer."""
        groups: dict[str, list[LayerWeight]] = {}
        for where, stored in self.unclaimed.items():
            group, _, last = where.rpartition("vars/")
            if not _NOT_WEIGHTS.search(where):
                weight = self._guess(_weight_name(f"vars/{last}"), _NO_LAYER, stored, trained=True)
                groups.setdefault(_weight_name(group.strip("/")), []).append(weight)
        for group, group_weights in groups.items():
            path = f"{self.title}/{group}" if group else f"{self.title}/own"
            self.layers.append(Layer(path, "Layer", tuple(group_weights)))


def label(name: object) -> str:
    """*name* as a valid part of a node name."""
    return _NOT_IN_NAMES.sub("_", str(name)) or "layer"


def is_model(entry: Entry) -> bool:
    """Whether an entry of a configuration is a model, not a layer."""
    return isinstance(entry["config"].get("layers"), list) and entry["class_name"] != "Pipeline"


def is_operation(entry: Entry) -> bool:
    """Whether an entry is an operation, which Keras does not count among the layers."""
    return str(entry.get("module", "")).startswith("keras.src.ops")


def _kind(entry: Entry) -> str:
    return label(entry["class_name"]) if entry["class_name"] != "" else ""


def _weight_name(place: str) -> str:
    return "/".join(map(label, place.replace("vars/", "weight_").split("/")))


def _mapping(entry: Entry, key: str) -> dict[str, Any]:
    value = entry[key]
    if not isinstance(value, dict):
        raise TypeError(key)
    return value


def compute_dtype(policy: Any) -> int:  # noqa: ANN401 - out of a file
    """The dtype that a layer computes in under this policy."""
    config = policy.get("config", {}) if isinstance(policy, dict) else {"name": policy}
    name = config.get("name") or config.get("source_name") if isinstance(config, dict) else ""
    return DTYPES.get(str(name).removeprefix("mixed_"), _FLOAT)
