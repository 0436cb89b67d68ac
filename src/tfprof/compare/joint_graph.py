"""JointGraph: two profiles as one graph, and the pairs found so far.

    base   0 ─► 1 ─► 2           nodes   0 1 2 3 4 5      the nodes of the new profile come last
    new    3 ─► 4 ─► 5           partner 3 - 5 0 - 2      -: not matched yet

`kind` is a hash of what two nodes must have in common: operation type and shapes. Nothing here
depends on which profile is the base, so that both directions find the same pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.byte_words import mix
from tfprof.columns.strings import I64, U64, Bool, Strings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.shapes import Shapes
    from tfprof.model import Profile

_SEED = np.uint64(0x51ED270B0B4F2D6B)
_ODD = np.uint64(0xD6E8FEB86659FD93)


class JointGraph:
    """The nodes and edges of both profiles; each edge has a source, a target and a place there."""

    def __init__(self, base: Profile, new: Profile) -> None:
        both = (base, new)
        self.first_new = len(base)
        self.name = Strings.concat([profile.nodes.name for profile in both])
        self.partner = np.full(len(self.name), -1, np.int64)
        types = Strings.concat([profile.types for profile in both])
        op = np.append(base.nodes.op, len(base.types) + new.nodes.op)
        self.op, self.op_hash = types.intern()[0][op], types.hashes(_SEED)[op]
        shapes = [_shape_hashes(profile.nodes.shape) for profile in both]
        self.kind = mix(self.op_hash + mix(np.concatenate(shapes)))
        if all(profile.outputs.shape.dim.size for profile in both):
            # Without the first dimension: it is mostly the size of the batch.
            self.kind += np.concatenate([_output_hashes(profile) for profile in both])
        starts = [profile.edges.start for profile in both]
        self.start = np.append(starts[0], starts[0][-1] + starts[1][1:])
        source = [profile.edges.source for profile in both]
        source[1] = np.where(source[1] < 0, -1, source[1] + self.first_new)
        self.source = np.maximum(np.concatenate(source), -1)
        self.slot = np.concatenate([profile.edges.slot for profile in both])
        self.target = np.repeat(np.arange(self.start.size - 1), np.diff(self.start))
        # Control inputs have no order.
        self.place = np.where(
            self.slot < 0, -1, np.arange(self.source.size) - self.start[self.target]
        )
        self.inputs = np.bincount(self.target[self.slot >= 0], minlength=len(self.name))
        self.by_source = np.argsort(self.source, kind="stable")
        self.out_start = np.searchsorted(self.source[self.by_source], np.arange(self.start.size))

    def pair(self, base: I64, new: I64) -> None:
        """Match these nodes."""
        self.partner[base], self.partner[new] = new, base

    def unmatched(self) -> I64:
        """The nodes without a partner."""
        return np.flatnonzero(self.partner < 0)

    def is_alone(self, nodes: I64) -> Bool:
        """Which of these nodes have no edges."""
        outputs, inputs = np.diff(self.out_start)[nodes], np.diff(self.start)[nodes]
        alone: Bool = outputs + inputs == 0
        return alone

    def connected(self) -> I64:
        """The nodes without a partner that have edges."""
        nodes = self.unmatched()
        return nodes[~self.is_alone(nodes)]

    def support(self, base: I64, new: I64, owner: I64) -> tuple[I64, I64]:
        """How many edges each candidate pair has in common, and how many it has not.

        Edges to matched nodes count, and to candidates of another *owner*.
        """
        image, candidate = self.partner.copy(), np.full(self.partner.size, -1, np.int64)
        image[base], image[new] = new, base
        candidate[base] = np.arange(base.size)
        owners = np.append(owner, -1)[candidate]
        edge = np.flatnonzero((self.target < self.first_new) & (self.source >= 0))
        ends = owners[self.source[edge]], owners[self.target[edge]]
        edge = edge[(ends[0] != ends[1]) & (self.place[edge] >= 0)]
        other = image[self.target[edge]]
        alike = (other >= 0) & (self.inputs[self.target[edge]] == self.inputs[other])
        edge = edge[alike & (self.place[edge] < np.diff(self.start)[other])]
        source, target = self.source[edge], self.target[edge]
        read = self.source[self.start[image[target]] + self.place[edge]]
        agrees = read == image[source]
        differs = ~agrees & (read >= 0) & (image[source] >= 0) & (image[read] >= 0)
        pair = candidate[np.append(source, target)]
        agree, differ = (
            np.bincount(pair[np.tile(each, 2) & (pair >= 0)], minlength=base.size)
            for each in (agrees, differs)
        )
        return agree, differ

    def colours(self) -> Iterator[U64]:
        """Equal for nodes in equal surroundings: within one edge, two, …, up to matched nodes."""
        name = self.name.hashes(_SEED)
        matched = self.partner >= 0
        own = np.where(matched, mix(name + name[self.partner]), self.kind)
        where = mix(hashes(self.place) + self.slot.astype(np.uint64))
        colour = own
        while True:
            read = _sums(mix(np.append(colour, _SEED)[self.source] + where), self.start)
            used = mix(colour[self.target] + where * _ODD)[self.by_source]
            mixed = mix(mix(colour) + mix(read)) + mix(_sums(used, self.out_start) ^ _ODD)
            colour = np.where(matched, own, mixed)
            yield colour


def hashes(column: I64) -> U64:
    """A hash of each number."""
    return mix(mix(column.astype(np.uint64) + _SEED) + _ODD)


def _sums(values: U64, start: I64) -> U64:
    """The sum of values[start[i]:start[i + 1]], modulo 2^64."""
    before = np.append(np.uint64(0), np.cumsum(values, dtype=np.uint64))
    return before[start[1:]] - before[start[:-1]]


def _shape_hashes(shapes: Shapes, first: int = 0) -> U64:
    """A hash of each shape's dimensions from *first* on; 0: unknown rank."""
    rank = np.diff(shapes.start)
    place = np.arange(shapes.dim.size) - np.repeat(shapes.start[:-1], rank)
    dim = np.where(place < first, 0, shapes.dim)
    return _sums(hashes(dim) * (2 * place + 1).astype(np.uint64) + hashes(place), shapes.start)


def _output_hashes(profile: Profile) -> U64:
    outputs = profile.outputs
    number = np.arange(len(outputs.shape)) - np.repeat(outputs.start[:-1], np.diff(outputs.start))
    return _sums(mix(_shape_hashes(outputs.shape, 1) + hashes(number)), outputs.start)


def one_each(key: U64, is_new: Bool) -> tuple[I64, I64]:
    """(row, row) of the keys that one row of each side has; the rows of the base come first."""
    order = np.argsort(key, kind="stable")
    bounds = np.append(np.flatnonzero(np.diff(key[order], prepend=~key[order[:1]])), key.size)
    two = bounds[:-1][np.diff(bounds) == 2]  # noqa: PLR2004 - one of each side
    first, second = order[two], order[two + 1]
    apart = is_new[second] & ~is_new[first]
    return first[apart], second[apart]
