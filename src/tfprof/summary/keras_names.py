"""Scopes with the names that Keras gave to layers, where TensorFlow added numbers.

    net_1/dense_1/MatMul      Keras 3 opens the scope of a layer twice per call: the first call of
    net_1/dense_3/MatMul      `dense` has the scope dense_1, its second call dense_3
    net_1/dense_1_2/MatMul    `dense_1`, because TensorFlow had given that name away
    net/dense/MatMul          tf_keras: the name as it is

If a file lists the layers, they decide. If not, a graph shows by its variables that scopes are
numbered: dense/kernel is read in dense_1. Then a number is removed, unless the number before it
is there as well, as in while and while_1. Calls of one layer become one scope.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.unique import marked
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.ops.classes import of_class
from tfprof.ops.reach import Links

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.columns.keras_layer import KerasLayer
    from tfprof.columns.strings import I64
    from tfprof.model import Profile

_NUMBERED: Final = re.compile(rb"(.+)_(\d{1,9})")
_MOST_VARIABLES: Final = 500  # that are looked at
Names = tuple[bytes, ...]


class Known(NamedTuple):
    """The layers that a file lists, and their scopes."""

    layers: tuple[KerasLayer, ...]
    model: int  # the scope of the model
    layer: Mapping[int, int]  # by scope: a row of layers


@dataclass(frozen=True, eq=False)
class Scopes:
    """Scopes, each after its parent; the first is the root."""

    part: list[bytes]  # the last part of the name
    parent: list[int]
    of_node: I64
    known: Known | None = None

    def __len__(self) -> int:
        return len(self.part)

    def name(self, scope: int) -> bytes:
        """The full name."""
        parts = []
        while scope > 0:
            parts.append(self.part[scope])
            scope = self.parent[scope]
        return b"/".join(reversed(parts))


class ScopeTree:
    """Scopes in the making."""

    def __init__(self) -> None:
        self.part, self.parent = [b""], [-1]
        self._known: dict[tuple[int, bytes], int] = {}

    def add(self, parent: int, part: bytes) -> int:
        """The scope of this name, a new one if there is none."""
        scope = self._known.setdefault((parent, part), len(self.part))
        if scope == len(self.part):
            self.part.append(part)
            self.parent.append(parent)
        return scope


def with_keras_names(tree: Scopes, profile: Profile) -> Scopes:
    """*tree* with one scope per layer, named as in Keras, where the files show these names."""
    named = tree
    if profile.layers:
        takes = np.diff(profile.edges.start) > 0  # variables alone are no layer
        works = np.bincount(tree.of_node[takes], minlength=len(tree)).tolist()
        for scope in range(len(tree) - 1, 0, -1):
            works[tree.parent[scope]] += works[scope]
        named = _with_layers(tree, profile.layers, works)
    if named is tree and _are_numbered(tree, profile):
        return _without_numbers(tree)
    return named


def _are_numbered(tree: Scopes, profile: Profile) -> bool:
    """Whether most variables of layers are read in scopes with numbers."""
    variable = np.flatnonzero(of_class(profile, "variable handle", "reference variable"))
    variable = variable[:_MOST_VARIABLES]
    owner, reader = Links.consumers(profile.edges, data=True).of(variable)
    is_call = marked(profile.regions.call, len(profile))
    owner, reader = owner[~is_call[reader]], reader[~is_call[reader]]
    numbered = 0
    for at in np.unique(owner, return_index=True)[1].tolist():
        names = {*profile.nodes.name[int(variable[owner[at]])].split(b"/")[:-1]}
        scopes = tree.name(int(tree.of_node[reader[at]])).split(b"/")
        if not names.isdisjoint(scopes):  # or an operation has the name of its layer
            numbered -= 1
        elif not names.isdisjoint(map(_without_number, scopes)):
            numbered += 1
    return numbered > 0


def _without_number(part: bytes) -> bytes:
    match = _NUMBERED.fullmatch(part)
    return match[1] if match else part


def _without_numbers(tree: Scopes) -> Scopes:
    taken = {*zip(tree.parent, tree.part, strict=True)}
    renamed, moved = ScopeTree(), [0]
    for parent, part in [*zip(tree.parent, tree.part, strict=True)][1:]:
        name, match = part, _NUMBERED.fullmatch(part)
        if match:
            before = match[1] if match[2] == b"1" else b"%b_%d" % (match[1], int(match[2]) - 1)
            name = part if (parent, before) in taken else match[1]
        moved.append(renamed.add(moved[parent], name))
    return Scopes(renamed.part, renamed.parent, np.array(moved)[tree.of_node])


def _with_layers(tree: Scopes, layers: tuple[KerasLayer, ...], works: list[int]) -> Scopes:
    """*tree* with the names of *layers*, also those without operations; as it is without one."""
    path = [tuple(layer.path.encode("utf-8", "replace").split(b"/")) for layer in layers]
    inside: defaultdict[Names, set[bytes]] = defaultdict(set)
    for each in path:
        inside[each[:-1]].add(each[-1])
    model = _model_scope(tree, path[0][-1], inside[path[0]], works)
    if model is None:
        return tree
    root, is_exact = path[0][-1], not model or tree.part[model] == path[0][-1]
    renamed, moved = ScopeTree(), [0]
    found: dict[int, Names] = {} if model else {0: path[0]}  # the layer of each new scope
    for scope in range(1, len(tree)):
        name, around = tree.part[scope], moved[tree.parent[scope]]
        names = (name, _without_number(name))
        layer: Names = ()
        if around in found:
            children = inside.get(found[around], set())
            names = names if is_exact else names[::-1]
            name = next((each for each in names if each in children), name)
            layer = (*found[around], name) if name in children else ()
        elif model and tree.parent[scope] == tree.parent[model] and root in names:
            name, layer = root, path[0]
        moved.append(renamed.add(around, name))
        if layer:
            found[moved[-1]] = layer
    scope_of = {each: scope for scope, each in found.items()}
    for each in path:
        if each not in scope_of and each[:-1] in scope_of:
            scope_of[each] = renamed.add(scope_of[each[:-1]], each[-1])
    row = {each: at for at, each in reversed([*enumerate(path)])}
    known = Known(layers, scope_of[path[0]], {at: row[each] for each, at in scope_of.items()})
    return Scopes(renamed.part, renamed.parent, np.array(moved)[tree.of_node], known)


def _model_scope(tree: Scopes, root: bytes, children: set[bytes], works: list[int]) -> int | None:
    """The scope of the model: the one of its name with most of its layers, else the root."""
    score: Counter[int] = Counter()
    for part, parent, nodes in zip(tree.part, tree.parent, works, strict=True):
        is_layer = part in children or _without_number(part) in children
        score[parent] += is_layer and nodes > 0
    named = [s for s, part in enumerate(tree.part) if root in (part, _without_number(part))]
    best = max(named, key=lambda scope: score[scope], default=0)
    return best if score[best] else None
