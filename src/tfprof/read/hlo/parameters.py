"""The parameters of a program as nodes: a weight is below the layer that has it.

    params['Conv_0']['kernel']      Model/Conv_0/kernel                the scope of the layer
    params['layers']['up']['bias']  Model/while.3/body/layers/up/bias  the layer runs in a loop
    opt[0].nu['head']['bias']       opt/0/nu/head/bias                 others have their path
    x                               x

Of two weights with one name, as those of two models with the same layers, the second has its path:
teacher/params/Conv_0/kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import combined, first_rows, unique
from tfprof.read.functions import check_texts, unique_names
from tfprof.read.hlo.expand import region_calls
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
    from tfprof.read.hlo.expand import Nodes
    from tfprof.read.hlo.name_stacks import NameStacks

    F64 = np.ndarray[tuple[int], np.dtype[np.float64]]

_IN_LAYERS: Final = (WEIGHT, FIXED)
_MOST_PARTS: Final = 4  # of a layer, each in the one before
_DEEPEST_LAYER: Final = 64  # parts
_FUSED: Final = 6  # fusions inside of each other that are followed, as a power of 2


class EntryParameters(NamedTuple):
    """The parameters of the entry computations."""

    row: I64  # instructions
    name: list[bytes]  # of the node
    kind: I64
    body: I64  # the computation of a loop or call that runs its layer; -1: the entry, or unknown
    doubtful: list[bytes]  # paths of what does not count as a weight, but may be one
    guessed: list[bytes]  # of weights that may be data


def entry_parameters(
    modules: Modules,
    stacks: NameStacks,
    work: F64,
    is_weight: Callable[[bytes], object] | None = None,
) -> EntryParameters:
    """The parameters of all programs, named below the scopes that their paths end.

    *work* is a rough measure of that of each instruction.
    """
    row = np.flatnonzero(modules.opcodes(PARAMETER) & modules.is_entry[modules.instruction.message])
    first = np.searchsorted(modules.output_of, row)
    output = np.where(first < modules.output_of.size, first, -1)
    columns = (
        modules.computation_module[modules.instruction.message[row]].tolist(),
        modules.instruction_name.take(row).tolist(),
        modules.op_name.take(row).tolist(),
        np.append(modules.element_type, 0)[output].tolist(),
        modules.output.take(output).elements().tolist(),
    )
    parameters = [parameter(*each) for each in zip(*columns, strict=True)]
    kind = kinds(parameters, is_weight)
    runs = _scoped_instructions(modules, stacks)
    used = [stacks.scopes[at] for at in unique(stacks.scope[runs]).tolist()]
    named = list(_names(parameters, kind, _Layers(used)))
    number = modules.number[row].tolist()

    def paths(places: list[int]) -> list[bytes]:
        ordered = sorted(places, key=number.__getitem__)
        return [parameters[at].path or parameters[at].own for at in ordered]

    unsure = doubtful(parameters, kind, is_guess=is_weight is None)
    assumed = guessed(parameters, kind) if is_weight is None else []
    return EntryParameters(
        row,
        [name for name, _ in named],
        np.array(kind, np.int64),
        _bodies(modules, stacks, runs, work, [*zip(columns[0], named, strict=True)]),
        paths(unsure),
        paths(assumed),
    )


def _names(
    parameters: list[Parameter], kind: list[int], layers: _Layers
) -> Iterator[tuple[bytes, bytes]]:
    """(the name of each parameter, the scope of its layer; empty: none)."""
    taken: set[tuple[int, bytes]] = set()
    for each, of in zip(parameters, kind, strict=True):
        scope, name = layers.place(each.keys) if of in _IN_LAYERS else (b"", b"/".join(each.keys))
        name = (scope + b"/" + name if scope else name) or each.own
        module = each.argument[0]
        if (module, name) in taken:
            scope, name = b"", b"/".join(each.keys) or each.own
        taken.add((module, name))
        yield name, scope


class _Layers:
    """The scopes of a program by the parts at their ends."""

    def __init__(self, scopes: Iterable[bytes]) -> None:
        self._scopes = [scope for scope in scopes if scope]
        self._by_end: dict[int, dict[bytes, bytes]] = {}  # by the number of parts

    def _ending(self, layer: bytes) -> bytes | None:
        """The shortest scope that is *layer* or ends so."""
        count = layer.count(b"/") + 1
        if count > _DEEPEST_LAYER:  # all scopes are compared for each number of parts
            return None
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

    def place(self, keys: list[bytes]) -> tuple[bytes, bytes]:
        """(the shortest scope that ends as the path of a weight does, or nothing; the rest)."""
        inner = keys[:-1]
        begins: tuple[int, ...] = (0, 1)  # the first key is the name of an argument
        ends = (len(inner),)
        for collection in (COLLECTION, STATISTICS):
            if collection in inner:
                begins = (inner.index(collection) + 1,)
                # All that is in a collection is in layers. Some have parts without a scope.
                ends = (*range(len(inner), max(begins[0], len(inner) - _MOST_PARTS), -1),)
                break
        for end in ends:
            for first in begins:
                layer = b"/".join(inner[first:end])
                scope = self._ending(layer) if layer else None
                if scope is not None:
                    return scope, b"/".join(keys[end:])
        return b"", b"/".join(keys[begins[0] :])


# --- layers in loops ---


def _scoped_instructions(modules: Modules, stacks: NameStacks) -> I64:
    """The instructions with a scope that become nodes, other than parameters.

    What a reduction applies to single elements becomes none. JAX leaves out the outer scopes of it.
    """
    is_run = modules.is_entry
    is_run[region_calls(modules).computation] = True
    is_run = is_run[modules.instruction.message] & ~modules.opcodes(PARAMETER)
    return np.flatnonzero(is_run & (stacks.scope > 0))


def _bodies(
    modules: Modules,
    stacks: NameStacks,
    row: I64,
    work: F64,
    named: list[tuple[int, tuple[bytes, bytes]]],
) -> I64:
    """The body of a loop or call that does most of the work of each parameter's layer; -1: none.

    The way forward decides, if the program also has gradients. *row* are instructions with scopes,
    *named* has the module, name and scope of each parameter.
    """
    number = {text: at for at, text in enumerate(stacks.scopes)}
    wanted = [(module, number[scope] if scope else 0) for module, (_, scope) in named]
    layer = unique(np.array([scope for _, scope in wanted], np.int64))
    row = row[np.isin(stacks.scope[row], layer)]
    computation, scope = _outside_fusions(modules)[row], stacks.scope[row]
    if modules.is_entry[computation].all():
        return np.full(len(named), -1, np.int64)
    pair, first = combined(computation, scope)
    forward = np.bincount(pair, work[row] * (stacks.phase[row] <= 1), minlength=first.size)
    order = np.lexsort((np.bincount(pair, work[row], minlength=first.size), forward))
    computation, scope = computation[first[order]], scope[first[order]]
    of_module = modules.computation_module[computation].tolist()
    body = np.where(modules.is_entry[computation], -1, computation).tolist()
    # The last of each is the one with most work.
    most = dict(zip(zip(of_module, scope.tolist(), strict=True), body, strict=True))
    return np.array([most.get(each, -1) for each in wanted], np.int64)


def _outside_fusions(modules: Modules) -> I64:
    """The computation of each instruction; of one that was fused, that of the fusion."""
    around = np.arange(modules.computation_module.size)
    fusion, called = modules.fusions()
    around[called] = modules.instruction.message[fusion]
    for _ in range(_FUSED):
        around = around[around]
    return around[modules.instruction.message]


def with_bodies(
    modules: Modules, parameters: EntryParameters, name: Strings, scope_length: I64, nodes: Nodes
) -> Strings:
    """The names of *nodes*, those of weights below the loops and calls that run their layers.

    *name* is that of each instruction, which begins with a scope of this length.
    """
    if not (parameters.body >= 0).any():
        return nodes.name
    of_node = nodes.regions.of_node
    node = first_rows(of_node)[1]
    node = node[of_node[node] >= 0]
    computation, first = first_rows(modules.instruction.message[nodes.row[node]])
    node_in = dict(zip(computation.tolist(), node[first].tolist(), strict=True))
    node_of = dict(zip(*(column.tolist() for column in first_rows(nodes.row)), strict=True))
    places, texts = [], []
    prefixes = 0
    for row, body in zip(parameters.row.tolist(), parameters.body.tolist(), strict=True):
        if body not in node_in or row not in node_of:
            continue
        region = int(of_node[node_in[body]])
        caller = int(nodes.row[nodes.regions.call[region]])
        prefix = nodes.name[node_in[body]][: nodes.regions.prefix[region]]
        prefixes += len(prefix)
        check_texts(prefixes, len(nodes.name))
        around = name[caller][: scope_length[caller]]
        places.append(node_of[row])
        texts.append(prefix + name[row].removeprefix(around))
    place = np.arange(len(nodes.name))
    place[places] = len(nodes.name) + np.arange(len(texts))
    names = Strings.concat([nodes.name, Strings.of(texts)]).take(place)
    return unique_names(names, np.ones(len(names), np.int64))
