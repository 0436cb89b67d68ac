"""The known shapes of all outputs, each distinct shape numbered once.

A node has the output shapes that the graph declares. Without these, the attribute `shape` counts
where it is unambiguous:

    VariableV2        the shape of its output
    Placeholder       the same, but in old graphs no dimensions meant any shape
    ReadVariableOp    the shape that its VarHandleOp names
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from tfprof.columns.shapes import Shapes
    from tfprof.model import Profile
    from tfprof.ops.shape import Shape

_UNKNOWN: Final = -1
_VARIABLE, _PLACEHOLDER, _READ, _HANDLE = range(4)
_TYPES: Final = Strings.of([b"VariableV2", b"Placeholder", b"ReadVariableOp", b"VarHandleOp"])


@dataclass(frozen=True, eq=False)
class NumberedShapes:
    """The outputs of node i are number[first[i]:first[i] + count[i]]."""

    first: I64
    count: I64
    number: I64  # the shape of each output; -1: not known in full
    _shapes: Shapes
    _example: I64  # an output with each shape

    def of_outputs(self, node: I64, slot: I64) -> I64:
        """The shape number of each (node, output); a node below 0 is unknown."""
        known = np.flatnonzero((node >= 0) & (slot < self.count[np.maximum(node, 0)]))
        number = np.full(node.size, _UNKNOWN, np.int64)
        number[known] = self.number[self.first[node[known]] + slot[known]]
        return number

    def shape(self, number: int) -> Shape | None:
        """The shape with this number; None: not known in full."""
        return None if number == _UNKNOWN else tuple(self._shapes[int(self._example[number])])


def numbered_shapes(profile: Profile) -> NumberedShapes:
    """The shapes of all outputs of a profile."""
    declared = profile.outputs
    first, count = declared.start[:-1].copy(), np.diff(declared.start)
    node, source = _from_attributes(profile, count == 0)
    first[node], count[node] = len(declared.shape) + np.arange(node.size), 1
    shapes = declared.shape.joined(profile.nodes.shape.take(source))
    width = shapes.dim.itemsize
    texts = Strings(
        shapes.dim.view(np.uint8), shapes.start[:-1] * width, np.diff(shapes.start) * width
    )
    number, example = texts.intern()
    number = np.where(shapes.take(example).are_whole()[number], number, _UNKNOWN)
    return NumberedShapes(first, count, number, shapes, example)


def _from_attributes(profile: Profile, undeclared: Bool) -> tuple[I64, I64]:
    """(node without declared outputs, node whose attribute is the shape of its one output)."""
    kind = np.full(len(profile.types) + 1, -1, np.int64)
    # A type that the profile lacks is -1, and writes to a row that no node has.
    kind[profile.types.find(_TYPES)] = np.arange(len(_TYPES))
    of_node, own = kind[profile.nodes.op], profile.nodes.shape
    rank = np.diff(own.start)
    variable = np.flatnonzero(undeclared & (of_node == _VARIABLE))
    placeholder = np.flatnonzero(undeclared & (of_node == _PLACEHOLDER) & (rank > 0))
    placeholder = placeholder[(rank[placeholder] > 1) | (own.dim[own.start[placeholder]] != 1)]
    edges = profile.edges
    reader = np.flatnonzero(undeclared & (of_node == _READ) & (np.diff(edges.start) > 0))
    handle = edges.source[edges.start[reader]]
    direct = (handle >= 0) & (of_node[np.maximum(handle, 0)] == _HANDLE)
    return (
        np.concatenate([variable, placeholder, reader[direct]]),
        np.concatenate([variable, placeholder, handle[direct]]),
    )
