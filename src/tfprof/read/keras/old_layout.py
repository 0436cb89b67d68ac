"""The layers of a model with weights in the old layout: one group per layer of the outer model.

    inner   weight_names: a/kernel:0, bn/gamma:0, a/bias:0, bn/moving_mean:0     a nested model:
                          all trainable weights, layer by layer, then all others

The order of the names says whose weights they are. Where it does not fit what the layers are known
to have, the names themselves do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.read.keras.model import (
    Contents,
    Layer,
    LayerWeight,
    Model,
    Stored,
    is_model,
    is_operation,
    label,
)
from tfprof.read.keras.weight_rules import weights_of_any_input
from tfprof.read.keras.weights import Underivable, Weight

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.read.keras.graph import Entry

_OPTIMIZER: Final = "optimizer_weights"
_OWN: Final = "top_level_model_weights"
_NUMBER: Final = re.compile(r"(:\d+|_\d+)$")


class Named(NamedTuple):
    """A weight with the name that it has in its group."""

    name: str
    stored: Stored


def groups_of(held: Contents, group: str) -> dict[str, list[Named]]:
    """The weights by layer, in the order of the file."""
    prefix = f"{group}/" if group else ""
    names = dict.fromkeys(held.lists.get(f"{group}/layer_names", ()))
    for place in held.lists:
        name, _, key = place.removeprefix(prefix).rpartition("/")
        if place.startswith(prefix) and key == "weight_names" and name and "/" not in name:
            names.setdefault(name)
    groups = {}
    for layer in names:
        if layer != _OPTIMIZER:
            listed = held.lists.get(f"{prefix}{layer}/weight_names", ())
            paths = ((name, f"{prefix}{layer}/{name}") for name in listed)
            groups[layer] = [Named(n, held.weights[p]) for n, p in paths if p in held.weights]
    if not groups.get(_OWN):
        groups.pop(_OWN, None)
    return groups


class OldModel(Model):
    """The layers found so far, and the weights by the places of their layers."""

    def __init__(self, groups: dict[str, list[Named]]) -> None:
        super().__init__(Contents({}, {}))
        self._groups = dict(groups)
        self._shares: dict[str, list[Named]] = {}

    def read(self, config: Entry) -> None:
        """Find all layers; raises ValueError, TypeError, KeyError or AttributeError."""
        for layer in config["config"]["layers"]:
            name = str(layer.get("name") or layer["config"].get("name"))
            place, group = f"/{_name(layer)}", self._groups.pop(name, [])
            if is_model(layer):
                self._split(layer, place, group)
            else:
                self._shares.setdefault(place, []).extend(group)
        super().read(config)

    def _place(self, layer: Entry, place: str, layer_name: str, used: dict[str, int]) -> str:  # noqa: ARG002 - as in Model
        return "" if is_operation(layer) else f"{place}/{layer_name}"

    def _derived(self, kind: str, layer: Entry) -> list[Weight] | None:
        return weights_of_any_input(kind, layer["config"])

    def _claimed(
        self, place: str, kind: str, derived: Sequence[Weight], *, trained: bool
    ) -> Iterator[LayerWeight]:
        """The weights of the layer at *place*, with the names of the *derived* ones."""
        mine = self._shares.pop(place, [])
        rules = _in_order(derived)
        for at, (name, stored) in enumerate(mine):
            if len(rules) == len(mine):
                yield self._known(rules[at], stored, trained=trained)
            else:
                short = _short(name, place.rpartition("/")[2])
                yield self._guess(short, kind, stored, trained=trained)

    # --- nested models ---

    def _split(self, model: Entry, place: str, group: list[Named]) -> None:
        """Give the weights of a nested model to its layers."""
        try:
            trained, others = self._order(model, place)
            owners = trained + others
        except Underivable:
            owners = []
        if len(owners) != len(group):
            owners = list(_owners_by_name(dict(_leaves(model, place)), group))
        for owner, weight in zip(owners, group, strict=True):
            self._shares.setdefault(owner, []).append(weight)

    def _order(self, layer: Entry, place: str) -> tuple[list[str], list[str]]:
        """The places of the owners of all trainable weights and of all others, in Keras's order."""
        trained = layer["config"].get("trainable", True) is not False
        if is_model(layer):
            inside = layer["config"]["layers"]
            parts = [self._order(each, f"{place}/{_name(each)}") for each in inside]
            both = [owner for first, second in parts for owner in first + second]
            split = tuple([owner for part in parts for owner in part[at]] for at in (0, 1))
        else:
            derived = self._derived(label(layer["class_name"]), layer)
            if derived is None:
                raise Underivable
            rules = _in_order(derived)
            both = [place] * len(rules)
            first = sum(rule.trained for rule in rules)
            split = (both[:first], both[first:])
        return (split[0], split[1]) if trained else ([], both)

    def _add_rest(self) -> None:
        """Add a layer for each group of weights that belongs to no layer."""
        rest = {place.strip("/"): share for place, share in self._shares.items()}
        for name, group in {**self._groups, **rest}.items():
            path = f"{self.title}/{'/'.join(map(label, name.split('/')))}"
            named = [
                self._guess(_short(w.name, name), "Layer", w.stored, trained=True) for w in group
            ]
            if named:
                self.layers.append(Layer(path, "Layer", tuple(named)))


def _in_order(derived: Sequence[Weight]) -> list[Weight]:
    """The stored ones, trainable ones first."""
    stored = [weight for weight in derived if weight.is_stored and not weight.is_copy]
    return sorted(stored, key=lambda weight: not weight.trained)


def _name(layer: Entry) -> str:
    return label(layer.get("name") or layer["config"].get("name") or layer["class_name"])


def _leaves(model: Entry, place: str) -> Iterator[tuple[str, str]]:
    """(name, place) of all layers of a model and of the models in it."""
    for layer in model["config"]["layers"]:
        inside = f"{place}/{_name(layer)}"
        if is_model(layer):
            yield from _leaves(layer, inside)
        else:
            yield _name(layer), inside


def _owners_by_name(leaves: dict[str, str], group: list[Named]) -> Iterator[str]:
    """The place of the layer that each weight is named after; "/rest" where it is none."""
    for name, _ in group:
        parts = [label(part) for part in (*name.split("/")[:-1], name.rpartition("_")[0])]
        parts += [_NUMBER.sub("", part) for part in parts]  # TensorFlow numbers scopes
        yield next((leaves[part] for part in parts if part in leaves), "/rest")


def _short(name: str, layer: str) -> str:
    """The name of a weight without that of its layer."""
    parts = [label(part) for part in _NUMBER.sub("", name).split("/")]
    if layer in parts[:-1]:
        parts = parts[parts.index(layer) + 1 :]
    return "/".join(parts).removeprefix(f"{layer}_")
