"""The shapes that a graph declares for the outputs of a node, before anything is inferred.

In a profile's columns a scalar is one element. Where a shape may be either, the attribute decides;
without one (the shape comes from a run), a rule does.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from tfprof.ops.shape import OPEN, MaybeShape, merged

if TYPE_CHECKING:
    from tfprof.model import Profile
    from tfprof.ops.attributes import Attributes

_ONE = (1,)


class Declared(NamedTuple):
    """The declared shapes of a node's outputs."""

    shapes: list[MaybeShape]
    settled: bool  # complete and certain
    one_or_scalar: frozenset[int] = frozenset()  # outputs of one element and unknown rank

    def joined(self, inferred: list[MaybeShape]) -> list[MaybeShape]:
        """The declared shapes, completed with *inferred* ones."""
        if not self.shapes:
            return inferred
        return [
            (other if other in (_ONE, ()) else ()) if number in self.one_or_scalar
            else merged(declared, other)
            for number, (declared, other) in enumerate(zip_longest(self.shapes, inferred))
        ]  # fmt: skip


class DeclaredShapes:
    """The declared shapes of a profile."""

    def __init__(self, profile: Profile, attributes: Attributes) -> None:
        self._start: list[int] = profile.outputs.start.tolist()
        self._rank_start: list[int] = profile.outputs.shape.start.tolist()
        self._dim: list[int] = profile.outputs.shape.dim.tolist()
        self._attributes = attributes

    def of(self, node: int) -> Declared:
        """The shapes declared for a node."""
        rows = range(self._start[node], self._start[node + 1])
        shapes: list[MaybeShape] = [
            tuple(self._dim[self._rank_start[row] : self._rank_start[row + 1]]) or None
            for row in rows
        ]
        doubtful = [number for number, shape in enumerate(shapes) if shape == _ONE]
        if doubtful:
            listed = self._attributes.get(node, "_output_shapes")
            if isinstance(listed, list) and len(listed) == len(shapes):
                for number in doubtful:
                    shapes[number] = listed[number] if listed[number] in (_ONE, ()) else _ONE
                doubtful = []
        known = bool(shapes) and all(shape is not None and OPEN not in shape for shape in shapes)
        return Declared(shapes, known and not doubtful, frozenset(doubtful))
