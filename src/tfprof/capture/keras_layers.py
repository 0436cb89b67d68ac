"""The layers of Keras that the nodes of a traced function are in, by their name scopes.

    functional_1_1/inner_1/dense_1/MatMul       inner (Sequential), dense (Dense)
    └─ the model   └─ a layer of it, and one of that layer

Keras 2 names a scope after its layer. Keras 3 adds a number, so that `dense_1` may be the scope of
`dense` or of `dense_1`: a scope that can be of one layer only leaves the others to the rest.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from tfprof.capture.keras_models import tensorflow_variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TAPE: Final = "gradient_tape/"
_NUMBER: Final = re.compile(r"_\d+$")

LayerPath = tuple[str, ...]  # names and classes of layers, outermost first
# (layers, the scopes inside of them of each node, the layers outside)
_Level = tuple[dict[str, Any], dict[str, list[str]], LayerPath]


def layers_of(model: Any, nodes: Iterable[str]) -> dict[str, LayerPath]:  # of Keras
    """The layers of *model* that each node is in; nodes in none are left out."""
    result: dict[str, LayerPath] = {}
    scopes_of = {node: node.removeprefix(_TAPE).split("/")[:-1] for node in nodes}
    for around in scopes_of.values():  # from that of the model on
        while around and not _names(around[0], [model.name]):
            around.pop(0)
    calls = _below(scopes_of)
    waiting: list[_Level] = [(_children(model), scopes, ()) for scopes in calls.values()]
    while waiting:
        layers, scopes, outside = waiting.pop()
        below = _below(scopes)
        for scope, layer in _matched(below, layers).items():
            path = (*outside, _described(layer))
            result |= dict.fromkeys(below[scope], path)
            waiting.append((_children(layer), below[scope], path))
    return result


def layers_of_weights(model: Any) -> dict[int, LayerPath]:  # of Keras
    """The layers of *model* that each of its weights is in, by the id of its handle."""
    result: dict[int, LayerPath] = {}
    waiting: list[tuple[Any, LayerPath]] = [(model, ())]
    while waiting:
        layer, path = waiting.pop()
        handles = (tensorflow_variable(weight) for weight in layer.weights if path)
        result |= {id(behind.handle): path for behind in handles if behind is not None}
        below = [(child, (*path, _described(child))) for child in _children(layer).values()]
        waiting += below  # a layer comes before those inside it
    return result


def _described(layer: Any) -> str:  # of Keras
    return f"{layer.name} ({type(layer).__name__})"


def _below(scopes: Mapping[str, list[str]]) -> dict[str, dict[str, list[str]]]:
    """By the first of its scopes, each node with the others."""
    below: dict[str, dict[str, list[str]]] = {}
    for node, inside in scopes.items():
        if inside:
            below.setdefault(inside[0], {})[node] = inside[1:]
    return below


def _children(layer: Any) -> dict[str, Any]:  # of Keras
    return {child.name: child for child in getattr(layer, "layers", ())}


def _matched(scopes: Iterable[str], layers: Mapping[str, Any]) -> dict[str, Any]:
    """The layer of each scope that is one of a layer."""
    names = {scope: found for scope in scopes if (found := _names(scope, layers))}
    certain = {scope: found[0] for scope, found in names.items() if len(found) == 1}
    more = certain
    while more:
        taken = set(certain.values())
        left = {s: [n for n in found if n not in taken] for s, found in names.items()}
        more = {s: free[0] for s, free in left.items() if s not in certain and len(free) == 1}
        certain = {**certain, **more}
    return {scope: layers[certain.get(scope, found[0])] for scope, found in names.items()}


def _names(scope: str, layers: Iterable[str]) -> list[str]:
    """The names of layers that a scope may have: its own, without a number, without two."""
    bare = _NUMBER.sub("", scope)
    return [name for name in dict.fromkeys((scope, bare)) if name in layers] or [
        name for name in (_NUMBER.sub("", bare),) if name in layers
    ]
