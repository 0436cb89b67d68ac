"""The layers that a Keras archive lists, each with the weights that are kept for it.

    {"class_name": "Dense", "config": {"name": "head", …}}     the second Dense of its model:
    layers/dense_1/vars/0   24x10                              its kernel

Weights are kept by class and number, not by name. Models may hold models. What is kept for no layer
that is listed, as in a model that lists none, becomes a layer of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.read.keras_layers import ALL_TRAINED, weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.read.keras_layers import Weight
    from tfprof.read.keras_weights import Contents, Stored

Entry = Any  # an object of the configuration, which may hold anything

_FLOAT: Final = 1
# Whole numbers, which nothing is trained in.
_WHOLE: Final = frozenset({3, 4, 5, 6, 9, 17, 22, 23})
_TYPES: Final = {"float64": 2, "bfloat16": 14, "float16": 19}
_NOT_WEIGHTS: Final = re.compile(r"(?:^|/)(?:optimizer|seed_generator|\w*metrics?)(?:/|$)")
_SNAKE: Final = (re.compile(r"(.)([A-Z][a-z]+)"), re.compile(r"([a-z])([A-Z])"))
# A class that is listed under another name than its own, which weights are kept under.
_KEPT_AS: Final = {"GroupQueryAttention": "GroupedQueryAttention"}
_ODD: Final = re.compile(r"[/:^\s]|[^ -~]")


class Held(NamedTuple):
    """A weight of a layer."""

    name: str
    shape: tuple[int, ...] | None  # None: not known
    type: int
    trained: bool


_UNTOLD: Final = Held("weights", None, _FLOAT, trained=True)
_NO_LAYER: Final = "no layer that is listed"


class Layer(NamedTuple):
    """A layer: its path, class, the paths of those it takes something from, and its weights."""

    path: str
    kind: str
    inputs: tuple[str, ...]
    held: tuple[Held, ...]


class Model:
    """The layers as they are found, and the weights that none of them has claimed yet."""

    def __init__(self, stored: Contents | None) -> None:
        self.layers: list[Layer] = []
        self.stored = stored
        self.unclaimed = dict(stored.weights) if stored else {}
        self._places = sorted(self.unclaimed)
        self._by_name = {
            (group.rpartition("/")[0], label(name)): group
            for group, name in (stored.names.items() if stored else ())
        }
        self.untold: list[str] = []  # classes of layers whose weights are not known
        self.guessed: list[str] = []  # classes whose weights may or may not be trained
        self._tells = False
        self.title = "model"
        self._end: dict[str, str] = {}  # the layer that stands for a model inside of another

    @property
    def tells_trained(self) -> bool:
        """Whether it is known of some weights whether they are trained, or there are none."""
        return self._tells or not self.guessed

    def read(self, config: Entry) -> None:
        """Find all layers; raises ValueError, TypeError, KeyError or AttributeError."""
        if isinstance(_mapping(config, "config").get("layers"), list):
            self._add_model(config, "", "", (), trained=True)
        else:
            self.title = label(config["config"].get("name") or config["class_name"])
            if self.stored is None:
                kind = label(config["class_name"])
                self.untold.append(kind)
                self.layers.append(Layer(f"{self.title}/own", kind, (), (_UNTOLD,)))
        self._add_rest()

    def _add_model(
        self, entry: Entry, around: str, place: str, outer: tuple[str, ...], *, trained: bool
    ) -> None:
        """The layers of a model; the archive keeps it at *place*, and it takes from *outer*."""
        config = _mapping(entry, "config")
        name = label(config.get("name") or entry.get("name") or entry["class_name"])
        path = f"{around}/{name}" if around else name
        self.title = self.title if around else path
        trained = trained and config.get("trainable", True) is not False
        used: dict[str, int] = {}
        before: tuple[str, ...] = outer
        for layer in config["layers"]:
            told = _mapping(layer, "config")
            called = label(layer.get("name") or told.get("name") or layer["class_name"])
            inside = self._place(layer, place, called, used)
            inputs = before
            if layer.get("inbound_nodes"):
                inputs = tuple(dict.fromkeys(f"{path}/{one}" for one in _takes(layer)))
            elif "inbound_nodes" in layer:
                inputs = outer
            if isinstance(told.get("layers"), list):
                self._add_model(layer, path, inside, inputs, trained=trained)
            else:
                self._add(layer, f"{path}/{called}", inside, inputs, trained=trained)
            before = (f"{path}/{called}",)
        self._end[path] = self.layers[-1].path if self.layers else path

    def _place(self, layer: Entry, place: str, called: str, used: dict[str, int]) -> str:
        """Where the weights of a layer are kept; "" for an operation, which has none."""
        if str(layer.get("module", "")).startswith("keras.src.ops"):
            return ""
        name = str(layer["class_name"])
        kind = snake(_KEPT_AS.get(name, name))
        number = used[kind] = used.get(kind, -1) + 1
        folder = f"{place}/layers" if place else "layers"
        expected = f"{folder}/{kind}_{number}" if number else f"{folder}/{kind}"
        names = self.stored.names if self.stored else {}
        if label(names.get(expected, called)) == called:
            return expected
        return self._by_name.get((folder, called), expected)

    def _add(
        self, layer: Entry, path: str, place: str, inputs: Sequence[str], *, trained: bool
    ) -> None:
        config, kind = _mapping(layer, "config"), label(layer["class_name"])
        trained = trained and config.get("trainable", True) is not False
        build = layer.get("build_config")
        derived = weights(kind, config, build if isinstance(build, dict) else {}) if place else []
        held: list[Held] = []
        if self.stored is not None:
            held = list(self._claimed(place, kind, derived or (), trained=trained))
        elif derived is None:
            self.untold.append(kind)
            held = [_UNTOLD]
        else:
            self._tells = True
            dtype = _type(config.get("dtype"))
            held = [
                Held(one.name, one.shape, one.type or dtype, trained and one.trained)
                for one in derived
                if not one.kept_twice
            ]
        ends = tuple(self._end.get(one, one) for one in inputs)
        self.layers.append(Layer(path, kind, ends, tuple(held)))

    def _claimed(
        self, place: str, kind: str, derived: Sequence[Weight], *, trained: bool
    ) -> Iterator[Held]:
        """What the archive keeps at *place*, by the names that are *derived* for it."""
        if not place:
            return
        known = {one.place: one for one in derived}
        first = bisect_left(self._places, f"{place}/")
        last = bisect_left(self._places, f"{place}0")  # the character behind the slash
        for where in self._places[first:last]:
            found = self.unclaimed.pop(where, None)
            inside = where[len(place) + 1 :]
            if found is None or _NOT_WEIGHTS.search(inside):
                continue
            told = known.get(inside)
            if told is None or told.shape != found.shape:
                yield self._guess(_plain(inside), kind, found, trained=trained)
            elif not told.kept_twice:
                self._tells = True
                yield Held(told.name, found.shape, found.type, trained and told.trained)

    def _guess(self, name: str, kind: str, found: Stored, *, trained: bool) -> Held:
        """A weight that counts as trained where its layer is, though it may never be."""
        if not trained or found.type in _WHOLE:
            self._tells = True
            return Held(name, found.shape, found.type, trained=False)
        if ALL_TRAINED.fullmatch(kind):
            self._tells = True
        else:
            self.guessed.append(kind)
        return Held(name, found.shape, found.type, trained=True)

    def _add_rest(self) -> None:
        """A layer for each group of weights that none has claimed."""
        groups: dict[str, list[Held]] = {}
        for where, found in self.unclaimed.items():
            group, _, last = where.rpartition("vars/")
            if not _NOT_WEIGHTS.search(where):
                one = self._guess(_plain(f"vars/{last}"), _NO_LAYER, found, trained=True)
                groups.setdefault(_plain(group.strip("/")), []).append(one)
        for group, held in groups.items():
            path = f"{self.title}/{group}" if group else f"{self.title}/own"
            self.layers.append(Layer(path, "Layer", (), tuple(held)))


def snake(name: str) -> str:
    """The name of a class as the archive spells it: LayerNormalization, layer_normalization."""
    first, second = _SNAKE
    text = re.sub(r"\W+", "", name)
    return second.sub(r"\1_\2", first.sub(r"\1_\2", text)).lower()


def label(name: object) -> str:
    """A name that can be one part of a node's."""
    return _ODD.sub("_", str(name)) or "layer"


def _plain(place: str) -> str:
    return "/".join(map(label, place.replace("vars/", "weight_").split("/")))


def _mapping(entry: Entry, key: str) -> dict[str, Any]:
    value = entry[key]
    if not isinstance(value, dict):
        raise TypeError(key)
    return value


def _takes(layer: Entry) -> Iterator[str]:
    """The layers that a layer takes something from, wherever its arguments say so."""
    ahead = [layer["inbound_nodes"]]
    while ahead:
        one = ahead.pop()
        if isinstance(one, dict):
            history = one.get("keras_history")
            if isinstance(history, list) and history:
                yield label(history[0])
            ahead += reversed(list(one.values()))
        elif isinstance(one, list):
            ahead += reversed(one)


def _type(policy: Any) -> int:  # noqa: ANN401 - out of a file
    """The type that the weights of a layer with this policy have; mixed ones keep float32."""
    name = policy.get("config", {}).get("name") if isinstance(policy, dict) else policy
    return _TYPES.get(str(name), _FLOAT)
