"""Fills in unknown output shapes of the graph with the input shapes that a trace records.

    graph   x ?x64 ─► MatMul ◄─ w 64x8
    trace   MatMul (float[32,64];float[64,8])           so x is 32x64

Only executions of exactly the node count, if they have as many inputs as the graph has edges. An
output gets the first recorded shape that is compatible with its known dimensions.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.shapes import Shapes
from tfprof.columns.unique import unique
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Outputs, Profile

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Strings

_INPUT = re.compile(r"[a-z]\w*\[([\d,]*)\]")
_MOST_DIMS = 254


def with_shape_source(profile: Profile, node: I64, input_shapes: Strings) -> Profile:
    """*profile*, to be completed on demand with the input shapes of each *node* (-1: none)."""
    # An execution without inputs has "()".
    rows = np.flatnonzero((node >= 0) & (input_shapes.length > len("()")))
    if not rows.size:
        return profile
    ids, first = input_shapes.take(rows).intern()
    pair = unique(node[rows] * first.size + ids)
    nodes, texts = pair // first.size, input_shapes.take(rows[first]).compact()
    shapes = partial(_with_shapes, nodes, texts, pair % first.size)
    return replace(profile, shape_sources=(*profile.shape_sources, shapes))


def _shapes(text: str) -> list[list[int] | None]:
    """The dimensions of each input, None if unknown."""
    shapes: list[list[int] | None] = []
    for part in text[1:-1].split(";"):
        match = _INPUT.fullmatch(part)
        dims = match[1].split(",") if match is not None and match[1] else []
        whole = match is not None and len(dims) <= _MOST_DIMS
        # Impossibly large dimensions are ignored.
        fits = whole and all(len(dim) in range(1, 19) for dim in dims)
        # A scalar has one element, as in `columns.shapes`.
        shapes.append([int(dim) for dim in dims] or [1] if fits else None)
    return shapes


def _with_shapes(nodes: I64, lines: Strings, which: I64, profile: Profile) -> Profile:
    """*profile* with the shapes in these lines; *which* is the line of each node."""
    texts = [_shapes(text) for text in lines.texts()]
    edges, outputs = profile.edges, profile.outputs
    is_open = ~outputs.shape.are_whole()
    filled: dict[int, list[int]] = {}
    calls = set(profile.regions.call.tolist())
    for node, text in zip(nodes.tolist(), which.tolist(), strict=True):
        if node in calls:
            continue
        span = slice(int(edges.start[node]), int(edges.start[node + 1]))
        inputs = zip(edges.source[span].tolist(), edges.slot[span].tolist(), strict=True)
        data_inputs = [(source, slot) for source, slot in inputs if slot >= 0]
        if len(data_inputs) != len(texts[text]):
            continue
        for (source, slot), dims in zip(data_inputs, texts[text], strict=True):
            if source < 0 or dims is None:
                continue
            output = int(outputs.start[source]) + slot
            listed = output < int(outputs.start[source + 1])
            if listed and is_open[output] and output not in filled:
                known = outputs.shape[output]
                if not known or _agree(known, dims):
                    filled[output] = dims
    return _with_outputs(profile, filled) if filled else profile


def _agree(known: list[int], dims: list[int]) -> bool:
    return len(known) == len(dims) and all(
        dim in (-1, other) for dim, other in zip(known, dims, strict=True)
    )


def _with_outputs(profile: Profile, filled: dict[int, list[int]]) -> Profile:
    """*profile* with these shapes of outputs."""
    old, count = profile.outputs, len(profile.outputs.shape)
    rank = np.array([len(dims) for dims in filled.values()], np.int64)
    dim = np.array([dim for dims in filled.values() for dim in dims], np.int64)
    added = Shapes(np.append(0, np.cumsum(rank)), dim)
    row = np.arange(count)
    row[np.array(list(filled), np.int64)] = count + np.arange(rank.size)
    return replace(profile, outputs=Outputs(old.start, old.shape.joined(added).take(row)))
