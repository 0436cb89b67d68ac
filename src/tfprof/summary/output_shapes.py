"""The shape of what each row computes: the last tensor that something outside of it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.ops.classes import of_class
from tfprof.ops.dtypes import DTYPES

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Profile
    from tfprof.summary.layers import Layers
    from tfprof.summary.parameters import Parameters

_SLOTS: Final = 1 << 20  # no node has as many outputs


def output_shapes(shaped: Profile, placed: Layers, in_model: Bool) -> list[list[int] | None]:
    """The dimensions of each row's output, -1: open; None: unknown."""
    # What a file records of a layer counts, unless the graph knows more of the same shape.
    outputs, rows = shaped.outputs, placed.rows
    shapes: list[list[int] | None] = []
    for tensor, row in zip(_last_tensors(shaped, placed, in_model).tolist(), rows, strict=True):
        node, slot = divmod(tensor, _SLOTS)
        at = int(outputs.start[node]) + _SLOTS - 1 - slot if tensor >= 0 else -1
        found = outputs.shape[at] if tensor >= 0 and at < outputs.start[node + 1] else []
        listed = None if row.keras is None else row.keras.shape
        pairs = zip(found, listed or (), strict=False)
        fits = listed is None or (
            len(found) == len(listed) and all(a == b or b < 0 for a, b in pairs)
        )
        shapes.append(found or None if fits else list(listed or ()))
    return shapes


def of_variables(
    shaped: Profile, placed: Layers, params: Parameters, dtypes: I64
) -> list[tuple[list[int] | None, str]]:
    """(shape, dtype) of each row that is one variable; (None, "") of others."""
    row = placed.of_node[params.node]
    alone = np.bincount(row, minlength=len(placed.rows))[row] == 1
    found: list[tuple[list[int] | None, str]] = [(None, "")] * len(placed.rows)
    for at, node in zip(row[alone].tolist(), params.node[alone].tolist(), strict=True):
        found[at] = shaped.nodes.shape[node], DTYPES[int(dtypes[node])].name
    return found


def _may_be_same(found: list[int], listed: tuple[int, ...]) -> bool:
    pairs = zip(found, listed, strict=False)
    return len(found) == len(listed) and all(a == b or b < 0 for a, b in pairs)


def _last_tensors(shaped: Profile, placed: Layers, in_model: Bool) -> I64:
    """The last output of each row that is read outside of it, -1 if none is."""
    # As a number: the node times _SLOTS, and less for a later output of it.
    edges, count = shaped.edges, len(placed.rows)
    end = np.arange(1, count + 1)  # of the rows inside each row
    parent = np.array([row.parent for row in placed.rows], np.int64)
    for row in range(count - 1, -1, -1):
        if parent[row] >= 0:
            end[parent[row]] = max(end[parent[row]], end[row])
    holds = ("variable handle", "reference variable", "variable read", "constant", "placeholder")
    is_tensor = in_model & ~of_class(shaped, *holds)
    reader = np.repeat(np.arange(len(shaped)), np.diff(edges.start))
    data = (edges.source >= 0) & (edges.slot >= 0) & in_model[reader]
    data &= is_tensor[np.maximum(edges.source, 0)]
    source, slot, reads = edges.source[data], edges.slot[data], placed.of_node[reader[data]]
    # What nothing reads is an output of the model.
    unread = is_tensor.copy()
    unread[source] = False
    (ends,) = np.nonzero(unread)
    source, slot = np.append(source, ends), np.append(slot, np.zeros_like(ends))
    reads = np.append(reads, np.full(ends.size, -1))
    tensor = source * _SLOTS + _SLOTS - 1 - np.minimum(slot, _SLOTS - 1)
    last, around = np.full(count, -1, np.int64), placed.of_node[source]
    while around.size:
        leaves = (reads < around) | (reads >= end[around])
        np.maximum.at(last, around[leaves], tensor[leaves])
        outer = leaves & (parent[around] >= 0)
        tensor, reads, around = tensor[outer], reads[outer], parent[around[outer]]
    return last
