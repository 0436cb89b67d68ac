"""The parameters of a program as nodes: a weight is below the layer that has it.

    params['Conv_0']['kernel']      Model/Conv_0/kernel    the scope is that of the layer
    opt[0].nu['head']['bias']       opt/0/nu/head/bias     others have their path
    x                               x

Of two weights with one name, as those of two models with the same layers, the second has its path:
teacher/params/Conv_0/kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.read.hlo.modules import PARAMETER, Modules
from tfprof.read.hlo.weights import (
    COLLECTION,
    FIXED,
    STATISTICS,
    WEIGHT,
    Parameter,
    doubtful,
    guessed,
    kinds,
    parameter,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tfprof.columns.strings import I64


class EntryParameters(NamedTuple):
    """The parameters of the entry computations."""

    row: I64  # instructions
    name: list[bytes]  # of the node
    kind: I64
    doubtful: list[bytes]  # paths of what does not count as a weight, but may be one
    guessed: list[bytes]  # of weights that may be data


def entry_parameters(
    modules: Modules, scopes: Iterable[bytes], is_weight: Callable[[bytes], object] | None = None
) -> EntryParameters:
    """The parameters of all programs, named below the *scopes* that their paths end."""
    row = np.flatnonzero(modules.opcodes(PARAMETER) & modules.is_entry[modules.instruction.message])
    first = np.searchsorted(modules.output_of, row)
    columns = (
        modules.computation_module[modules.instruction.message[row]].tolist(),
        modules.instruction_name.take(row).tolist(),
        modules.op_name.take(row).tolist(),
        np.append(modules.element_type, 0)[first].tolist(),
        np.append(modules.output.elements(), 0)[first].tolist(),
    )
    parameters = [parameter(*each) for each in zip(*columns, strict=True)]
    kind = kinds(parameters, is_weight)
    names = list(_names(parameters, kind, _Layers(scopes)))
    number = modules.number[row].tolist()

    def paths(places: list[int]) -> list[bytes]:
        ordered = sorted(places, key=number.__getitem__)
        return [parameters[at].path or parameters[at].own for at in ordered]

    unsure = doubtful(parameters, kind, is_guess=is_weight is None)
    assumed = guessed(parameters, kind) if is_weight is None else []
    return EntryParameters(row, names, np.array(kind, np.int64), paths(unsure), paths(assumed))


def _names(parameters: list[Parameter], kind: list[int], layers: _Layers) -> Iterator[bytes]:
    taken: set[tuple[int, bytes]] = set()
    for each, of in zip(parameters, kind, strict=True):
        path = b"/".join(each.keys) or each.own
        name = (layers.name(each.keys) if of in (WEIGHT, FIXED) else path) or each.own
        module = each.argument[0]
        if (module, name) in taken:
            name = path
        taken.add((module, name))
        yield name


class _Layers:
    """The scopes of a program by the parts at their ends."""

    def __init__(self, scopes: Iterable[bytes]) -> None:
        self._scopes = [scope for scope in scopes if scope]
        self._by_end: dict[int, dict[bytes, bytes]] = {}  # by the number of parts

    def _ending(self, layer: bytes) -> bytes | None:
        """The shortest scope that is *layer* or ends so."""
        count = layer.count(b"/") + 1
        ends = self._by_end.get(count)
        if ends is None:
            ends = self._by_end[count] = self._ends(count)
        return ends.get(layer)

    def _ends(self, count: int) -> dict[bytes, bytes]:
        """The shortest scope by the last *count* parts of all."""
        ends: dict[bytes, bytes] = {}
        for scope in self._scopes:
            parts = scope.rsplit(b"/", count)
            if len(parts) >= count:
                end = scope if len(parts) == count else scope[len(parts[0]) + 1 :]
                known = ends.setdefault(end, scope)
                if known is not scope and (len(scope), scope) < (len(known), known):
                    ends[end] = scope
        return ends

    def name(self, keys: list[bytes]) -> bytes:
        """The name of a weight: below the shortest scope that ends as its path does."""
        inner = keys[:-1]
        begins: tuple[int, ...] = (0, 1)  # the first key is the name of an argument
        for collection in (COLLECTION, STATISTICS):
            if collection in inner:
                begins = (inner.index(collection) + 1,)
                break
        for first in begins:
            layer = b"/".join(inner[first:])
            scope = self._ending(layer) if layer else None
            if scope is not None:
                return scope + b"/" + keys[-1]
        return b"/".join(keys[begins[0] :])
