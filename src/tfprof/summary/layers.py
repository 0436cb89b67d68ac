"""The rows of a summary: the layers of a model down to a depth, from its name scopes.

    net                 a title: it holds one scope and nothing else
      stem              a layer
      block1            a block: several of its scopes have parameters
        conv            a layer
        (other)         what block1 computes outside of these
      head              a layer

A scope that computes nothing, such as that of a variable, belongs to the scope around it. A scope
is split if two or more scopes inside have parameters; any other scope is one layer, whatever
TensorFlow calls its parts. Rows are in the order in which the graph first names them.

If a file lists the layers of a Keras model, each has a row, also one that computes nothing, in the
order of the list. What else is in the model or outside of it belongs to (other).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from tfprof.columns.keras_layer import KerasLayer
    from tfprof.columns.strings import I64, Bool
    from tfprof.summary.keras_names import Scopes

OTHER: Final = b"(other)"


class Layer(NamedTuple):
    """A layer, a block, or the rest of a block."""

    name: bytes  # below the row around it
    path: bytes  # the full name of its scope
    parent: int  # -1: none
    depth: int  # from 1
    is_block: bool = False  # its numbers are the sums of the rows inside
    keras: KerasLayer | None = None  # what a file records of it


@dataclass(frozen=True, eq=False)
class Layers:
    """The rows, parents before their children, and the row of each node."""

    title: str
    rows: list[Layer]
    of_node: I64


def layers(scopes: Scopes, computes: Bool, readers: I64, depth: int) -> Layers:
    """The layers down to *depth*; *computes* is a mask of nodes, *readers* read parameters.

    Nodes that do neither have a row as well, but add nothing to it. If nothing computes, the
    readers make the rows.
    """
    if not computes.any():
        computes = np.isin(np.arange(computes.size), readers)
    tree = _Tree(scopes, computes, readers)
    known = scopes.known
    top = known.model if known is not None else tree.end_of_chain(0)
    rows, row_of = _rows(tree, top, depth)
    row_of.setdefault(0, row_of[top])
    for scope in range(1, len(scopes)):
        row_of.setdefault(scope, row_of[scopes.parent[scope]])
    of_scope = np.array([row_of[scope] for scope in range(len(scopes))], np.int64)
    title = scopes.name(top).decode("utf-8", "replace")
    if model := tree.keras(top):
        title = f"{scopes.part[top].decode()} ({model.kind})"
    return Layers(title, rows, of_scope[scopes.of_node])


class _Tree:
    """What the scopes of a graph hold, and which of them may be a row."""

    def __init__(self, scopes: Scopes, computes: Bool, readers: I64) -> None:
        count, parent = len(scopes), scopes.parent
        self.scopes = scopes
        self._nodes = np.bincount(scopes.of_node[computes], minlength=count).tolist()
        read = np.bincount(scopes.of_node[readers], minlength=count).tolist()
        first_node = np.full(count, np.iinfo(np.int64).max)
        counted = np.flatnonzero(computes)
        np.minimum.at(first_node, scopes.of_node[counted], counted)
        first: list[int] = first_node.tolist()
        work, has = list(self._nodes), list(read)
        for scope in range(count - 1, 0, -1):
            around = parent[scope]
            work[around] += work[scope]
            has[around] += has[scope]
            first[around] = min(first[around], first[scope])
        self.inside: list[list[int]] = [[] for _ in range(count)]
        own_row = list(range(count))  # a scope that computes nothing belongs to the one around it
        listed = {} if scopes.known is None else scopes.known.layer
        lists = {parent[scope] for scope in listed}  # these have the layers listed, and no others
        for scope in range(1, count):
            if scope in listed or (work[scope] and parent[scope] not in lists):
                self.inside[parent[scope]].append(scope)
            else:
                own_row[scope] = own_row[parent[scope]]
        for inside in self.inside:
            inside.sort(key=lambda scope: (listed.get(scope, 0), first[scope]))
        self._reads = [0] * count
        for scope, parameters in enumerate(read):
            self._reads[own_row[scope]] += parameters
        # Blocks: parameters are read in two of the scopes inside, or one of these is a block.
        weight = has if has[0] else work
        self.splits = [False] * count
        for scope in range(count - 1, 0, -1):
            self.splits[scope] |= sum(weight[inner] > 0 for inner in self.inside[scope]) > 1
            self.splits[parent[scope]] |= self.splits[scope]
        if scopes.known is not None:
            self.splits[scopes.known.model] = True

    def keras(self, scope: int) -> KerasLayer | None:
        """What a file records of the layer with this scope."""
        known = self.scopes.known
        return known.layers[known.layer[scope]] if known and scope in known.layer else None

    def end_of_chain(self, scope: int, *, splits: bool = False) -> int:
        """Skip scopes that hold one other and nothing else; only those that split if *splits*."""
        while len(self.inside[scope]) == 1 and not self._nodes[scope] and not self._reads[scope]:
            (inner,) = self.inside[scope]
            is_layer = self.keras(scope) is not None or not (splits or self.inside[inner])
            if is_layer or (splits and not self.splits[scope]):
                break
            scope = inner
        return scope


def _rows(tree: _Tree, top: int, most: int) -> tuple[list[Layer], dict[int, int]]:
    """(rows for what is in a scope down to a depth, row of each scope that has one)."""
    rows: list[Layer] = []
    row_of: dict[int, int] = {}
    todo: list[tuple[int, int, int, bool]] = []
    name, parents = tree.scopes.name, tree.scopes.parent

    def add_inside(scope: int, row: int, depth: int) -> None:
        todo.append((scope, row, depth, True))
        todo.extend((inner, row, depth, False) for inner in reversed(tree.inside[scope]))

    add_inside(top, -1, 1)
    while todo:
        scope, parent, depth, is_rest = todo.pop()
        row = len(rows)
        if is_rest:
            row_of[scope] = row
            rows.append(Layer(OTHER, name(scope), parent, depth))
            continue
        last = tree.end_of_chain(scope, splits=True)
        path, above = name(last), name(parents[scope])
        is_block = tree.splits[last] and depth < most
        row_of[scope] = row_of[last] = row
        below = path[len(above) + 1 :] if above else path
        rows.append(Layer(below, path, parent, depth, is_block, tree.keras(last)))
        if is_block:
            add_inside(last, row, depth + 1)
    return rows, row_of
