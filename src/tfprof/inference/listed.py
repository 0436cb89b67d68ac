"""The shapes that a graph lists for the outputs of a node, before anything is inferred.

A profile's columns tell a scalar as one element. Where that may be meant, the attribute is looked
up, and where there is none (a run told the shape), a rule may say which of both it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfprof.inference.shape import is_whole, merged

if TYPE_CHECKING:
    from tfprof.inference.attributes import Attributes
    from tfprof.inference.shape import Maybe
    from tfprof.model import Profile

_ONE = (1,)


class Shapes(NamedTuple):
    """The listed shapes of a node's outputs."""

    shapes: list[Maybe]
    settled: bool  # whether they are whole and beyond doubt
    one_or_scalar: frozenset[int] = frozenset()  # outputs of one element and unknown rank

    def joined(self, found: list[Maybe]) -> list[Maybe]:
        """What is listed, filled up with what a rule *found*."""
        if not self.shapes:
            return found
        more = max(0, len(self.shapes) - len(found))
        rows = zip(
            [*self.shapes, *found[len(self.shapes) :]], [*found, *[None] * more], strict=True
        )
        return [
            (other if other in (_ONE, ()) else ()) if number in self.one_or_scalar
            else merged(listed, other)
            for number, (listed, other) in enumerate(rows)
        ]  # fmt: skip


_NONE = Shapes([], settled=False)


class Listed:
    """What a profile lists."""

    def __init__(self, profile: Profile, attributes: Attributes) -> None:
        self._start: list[int] = profile.outputs.start.tolist()
        self._rank_start: list[int] = profile.outputs.shape.start.tolist()
        self._dim: list[int] = profile.outputs.shape.dim.tolist()
        self._attributes = attributes

    def of(self, node: int) -> Shapes:
        """The shapes listed for a node."""
        rows = range(self._start[node], self._start[node + 1])
        if not rows:
            return _NONE
        shapes: list[Maybe] = [
            tuple(self._dim[self._rank_start[row] : self._rank_start[row + 1]]) or None
            for row in rows
        ]
        doubtful = [number for number, shape in enumerate(shapes) if shape == _ONE]
        if doubtful:
            told = self._attributes.get(node, "_output_shapes")
            if isinstance(told, list) and len(told) == len(shapes):
                for number in doubtful:
                    shapes[number] = told[number] if told[number] in (_ONE, ()) else _ONE
                doubtful = []
        settled = bool(shapes) and not doubtful and all(map(is_whole, shapes))
        return Shapes(shapes, settled, frozenset(doubtful))
