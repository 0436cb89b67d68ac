"""Reads NodeDefs of a graph or a function body into columns.

    NodeDef ─┬─ name, op, input*
             └─ attr* ─► key, value ─┬─ shape            for key "shape"
                                     └─ list ─► shape*   for "_output_shapes"

Only attributes with these two keys are decoded. Few queries need the others, and their tensors may
be most of a file: NodeDefAttributes holds where each node is, to read them later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import I64, U8, Bool, Strings
from tfprof.columns.unique import unique
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.read.columns import NODE_DEF_ATTRIBUTES, GraphColumns, NodeDefAttributes
from tfprof.read.in_chunks import in_chunks
from tfprof.read.source import Source
from tfprof.wire.decode import BYTES, VARINT, Field, scan

_SHAPE, _OUTPUT_SHAPES = 0, 1
_KEYS = Strings.of([b"shape", b"_output_shapes"])
_MAP_KEY_TAG = 10
_NODE_DEF = {1: BYTES, 2: BYTES, 3: BYTES, NODE_DEF_ATTRIBUTES: BYTES}


class _Attributes(NamedTuple):
    """Attributes: their node, their key (a row of _KEYS or -1), and the slice of their value."""

    node: I64
    key: I64
    start: I64
    end: I64

    def of(self, key: int) -> _Attributes:
        """The value of *key* for each node that has it; the last one if the key is repeated."""
        rows = np.flatnonzero(self.key == key)
        last = np.ones(rows.size, np.bool_)
        last[:-1] = self.node[rows[1:]] != self.node[rows[:-1]]
        rows = rows[last]
        return _Attributes(self.node[rows], self.key[rows], self.start[rows], self.end[rows])


def attribute_entries(buffer: U8, nodes: Field) -> Field:
    """The entries of the attribute maps of the NodeDefs in these slices."""
    number = NODE_DEF_ATTRIBUTES
    return scan(buffer, nodes.start, nodes.end, {number: BYTES})[number]


def node_columns(buffer: U8, nodes: Field) -> GraphColumns:
    """The NodeDefs in these slices."""
    owners = ("input", "shape_node", "output_node")
    columns = in_chunks(buffer, nodes, _node_columns, owners)
    inputs = columns.pop("input")
    return GraphColumns(
        **columns,
        input_node=inputs.message,
        input_name=inputs.strings(buffer),
        attributes=NodeDefAttributes(Source("the graph", buffer), nodes.start, nodes.value),
    )


def _node_columns(buffer: U8, nodes: Field) -> dict[str, Any]:
    count = nodes.start.size
    field = scan(buffer, nodes.start, nodes.end, _NODE_DEF)
    attributes = _attributes(buffer, field[NODE_DEF_ATTRIBUTES])
    shape = attributes.of(_SHAPE)
    held = scan(buffer, shape.start, shape.end, {7: BYTES})[7]
    shape_start, shape_length = held.last_slice(shape.node.size)
    has_shape = unique(held.message)
    outputs = attributes.of(_OUTPUT_SHAPES)
    lists = scan(buffer, outputs.start, outputs.end, {1: BYTES})[1]
    listed = scan(buffer, lists.start, lists.end, {7: BYTES})[7]
    return {
        "name": Strings(buffer, *field[1].last_slice(count)),
        "op": Strings(buffer, *field[2].last_slice(count)),
        "input": field[3],
        "shape_node": shape.node[has_shape],
        "shape": _shapes(buffer, shape_start[has_shape], (shape_start + shape_length)[has_shape]),
        "output_node": outputs.node[lists.message[listed.message]],
        "output_shape": _shapes(buffer, listed.start, listed.end),
    }


def _shapes(buffer: U8, start: I64, end: I64) -> Shapes:
    """The TensorShapeProtos in these slices."""
    field = scan(buffer, start, end, {2: BYTES, 3: VARINT})
    dim = scan(buffer, field[2].start, field[2].end, {1: VARINT})[1]
    unknown_rank: Bool = field[3].last(start.size) != 0
    return Shapes.of(start.size, field[2].message, dim.last(field[2].start.size), unknown_rank)


def _attributes(buffer: U8, entry: Field) -> _Attributes:
    """The entries of attribute maps; most entries with keys that are not in _KEYS are skipped."""
    long_enough = entry.value > 1
    first = buffer[np.where(long_enough, entry.start, 0)]
    second = buffer[np.where(long_enough, entry.start + 1, 0)]
    # In every real file an entry begins with its key: skip keys of another length.
    candidate = ~long_enough | (first != _MAP_KEY_TAG)
    for length in _KEYS.length:
        candidate |= second == length
    candidates = np.flatnonzero(candidate)
    field = scan(buffer, entry.start[candidates], entry.end[candidates], {1: BYTES, 2: BYTES})
    key = _KEYS.find(Strings(buffer, *field[1].last_slice(candidates.size)))
    start, length = field[2].last_slice(candidates.size)
    return _Attributes(entry.message[candidates], key, start, start + length)
