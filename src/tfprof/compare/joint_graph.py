"""JointGraph: two profiles as one graph, and the pairs found so far.

    base   0 ─► 1 ─► 2           nodes   0 1 2 3 4 5      the nodes of the new profile come last
    new    3 ─► 4 ─► 5           partner 3 - 5 0 - 2      -: not matched yet

`kind` is a hash of what two nodes must have in common: operation type and shapes. Nothing here
depends on which profile is the base, so that both directions find the same pairs.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.byte_words import mix
from tfprof.columns.strings import I64, U64, Bool, Strings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.shapes import Shapes
    from tfprof.model import Profile

SEED: Final = np.uint64(0x51ED270B0B4F2D6B)
_ODD: Final = np.uint64(0xD6E8FEB86659FD93)
_ZERO: Final = np.uint8(ord("0"))
_MOST_DIGITS: Final = 20  # of a number that makes a name unique


class JointGraph:
    """The nodes and edges of both profiles; each edge has a source, a target and a place there."""

    def __init__(self, base: Profile, new: Profile) -> None:
        both = (base, new)
        self.first_new = len(base)
        self._names = [profile.nodes.name for profile in both]
        self.partner = np.full(len(base) + len(new), -1, np.int64)
        types = Strings.concat([profile.types for profile in both])
        op = np.append(base.nodes.op, len(base.types) + new.nodes.op)
        self.op, self.op_hash = types.intern()[0][op], types.hashes(SEED)[op]
        self.kind = mix(self.op_hash + mix(_shape_hashes(base.nodes.shape.joined(new.nodes.shape))))
        if all(profile.outputs.shape.dim.size for profile in both):
            # Without the first dimension, which is mostly the size of the batch.
            self.kind += np.concatenate([_output_hashes(profile) for profile in both])
        edges, more = base.edges, new.edges
        self.start = np.append(edges.start, edges.start[-1] + more.start[1:])
        source = np.append(edges.source, np.where(more.source < 0, -1, more.source + len(base)))
        self.source = np.maximum(source, -1)
        slot = np.append(edges.slot, more.slot)
        self.target = np.repeat(np.arange(self.partner.size), np.diff(self.start))
        # Control inputs have no order.
        self.place = np.where(slot < 0, -1, np.arange(slot.size) - self.start[self.target])
        self._slot = slot
        self.inputs = np.bincount(self.target[slot >= 0], minlength=self.partner.size)

    @cached_property
    def where(self) -> U64:
        """A hash of the place and the slot of each edge."""
        return mix(hashes(self.place) + self._slot.astype(np.uint64))

    @cached_property
    def _by_source(self) -> I64:
        return np.argsort(self.source, kind="stable")

    @cached_property
    def _out_start(self) -> I64:
        return np.searchsorted(self.source[self._by_source], np.arange(self.start.size))

    @property
    def is_open(self) -> bool:
        """Whether both sides have nodes without a partner."""
        sides = self.partner[: self.first_new], self.partner[self.first_new :]
        return all(bool((side < 0).any()) for side in sides)

    def name(self, node: int) -> bytes:
        """The name of one node."""
        names, new_names = self._names
        return names[node] if node < self.first_new else new_names[node - self.first_new]

    def names(self, nodes: I64) -> Strings:
        """The names of these ascending nodes."""
        base, new = np.split(nodes, [np.searchsorted(nodes, self.first_new)])
        rows = zip(self._names, (base, new - self.first_new), strict=True)
        return Strings.concat([names.take(at) for names, at in rows])

    def pair(self, base: I64, new: I64) -> None:
        """Match these nodes."""
        self.partner[base], self.partner[new] = new, base

    def unmatched(self, *, connected: bool = False) -> I64:
        """The nodes without a partner; with *connected* those that have edges."""
        is_open = self.partner < 0
        if connected:
            is_open &= np.diff(self.start) + np.diff(self._out_start) > 0
        return np.flatnonzero(is_open)

    def support(self, base: I64, new: I64, owner: I64) -> tuple[I64, I64]:
        """(how many inputs and readers each candidate pair has in common, how many differ).

        Neighbours that are matched count, and candidates; common ones if their *owner* is another.
        """
        image, candidate = self.partner.copy(), np.full(self.partner.size + 1, -1, np.int64)
        image[base], image[new] = new, base
        candidate[base] = np.arange(base.size)
        edge = np.flatnonzero(self.source[: self.start[self.first_new]] >= 0)
        target = image[self.target[edge]]
        comparable = (target >= 0) & (self.inputs[self.target[edge]] == self.inputs[target])
        place = self.place[edge]
        edge = edge[comparable & (place >= 0) & (place < np.diff(self.start)[target])]
        source, target = self.source[edge], self.target[edge]
        read = self.source[self.start[image[target]] + self.place[edge]]
        other = np.where(read < 0, -1, image[read])  # in the base
        owners = np.append(owner, -1)
        agrees = (other == source) & (owners[candidate[source]] != owners[candidate[target]])
        differs = (other != source) & (other >= 0) & (image[source] >= 0)
        agree = candidate[np.append(source[agrees], target[agrees])]
        differ = candidate[np.concatenate([each[differs] for each in (source, target, other)])]
        counts = (np.bincount(each[each >= 0], minlength=base.size) for each in (agree, differ))
        return next(counts), next(counts)

    def colours(self) -> Iterator[U64]:
        """Equal for nodes in equal surroundings: within one edge, two, …, up to matched nodes."""
        name = np.concatenate([names.hashes(SEED) for names in self._names])
        matched = self.partner >= 0
        own = colour = np.where(matched, mix(name + name[self.partner]), self.kind)
        while True:
            read = _sums(mix(np.append(colour, SEED)[self.source] + self.where), self.start)
            used = mix(colour[self.target] + self.where * _ODD)[self._by_source]
            mixed = mix(mix(colour) + mix(read)) + mix(_sums(used, self._out_start) ^ _ODD)
            colour = np.where(matched, own, mixed)
            yield colour


def one_each(key: U64, is_new: Bool) -> tuple[I64, I64]:
    """(row, row) of the keys that one row of each side has; the rows of the base come first."""
    order = np.argsort(key)
    bounds = np.append(np.flatnonzero(np.diff(key[order], prepend=~key[order[:1]])), key.size)
    two = bounds[:-1][np.diff(bounds) == 2]  # noqa: PLR2004 - one of each side
    first, second = np.sort([order[two], order[two + 1]], axis=0)
    apart = is_new[second] & ~is_new[first]
    return first[apart], second[apart]


def hashes(column: I64) -> U64:
    """A hash of each number."""
    return mix(mix(column.astype(np.uint64) + SEED) + _ODD)


def hash_without_suffixes(names: Strings) -> U64:
    """Equal for names that differ in the numbers that make them unique: a_1/b_2 and a/b_3."""
    return without_suffixes(names).hashes(SEED)


def without_suffixes(names: Strings) -> Strings:
    """Each name without _ and a number where one ends a part of it: a_1/b_2_3 is a/b_2."""
    names = names.compact()
    text, name_end = names.blob, names.start + names.length
    row, offset = names.positions(b"_")
    begin = names.start[row] + offset
    end, rest = begin + 1, np.arange(row.size)
    for _ in range(_MOST_DIGITS):  # rest: those that have only digits so far
        rest = rest[end[rest] < name_end[row[rest]]]
        rest = rest[text[end[rest]] - _ZERO < 10]  # noqa: PLR2004 - below zero it wraps
        end[rest] += 1
    at_end = end == name_end[row]
    ends_part = at_end | (text[np.where(at_end, 0, end)] == ord("/"))
    suffixes = np.flatnonzero(ends_part & (end > begin + 1))
    size = (end - begin)[suffixes]
    behind = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    stays = np.ones(text.size, np.bool_)
    stays[np.repeat(begin[suffixes], size) + behind] = False
    length = names.length - np.bincount(row[suffixes], size, len(names)).astype(np.int64)
    return Strings(text[stays], np.cumsum(length) - length, length)


def _sums(values: U64, start: I64) -> U64:
    """The sum of values[start[i]:start[i + 1]], modulo 2^64."""
    before = np.append(np.uint64(0), np.cumsum(values, dtype=np.uint64))
    return before[start[1:]] - before[start[:-1]]


def _shape_hashes(shapes: Shapes, first: int = 0) -> U64:
    """A hash of each shape's dimensions from *first* on; 0: unknown rank."""
    place = np.arange(shapes.dim.size) - np.repeat(shapes.start[:-1], np.diff(shapes.start))
    dim = np.where(place < first, 0, shapes.dim)
    return _sums(mix(hashes(dim) + hashes(place) * _ODD), shapes.start)


def _output_hashes(profile: Profile) -> U64:
    start = profile.outputs.start
    number = np.arange(len(profile.outputs.shape)) - np.repeat(start[:-1], np.diff(start))
    return _sums(mix(_shape_hashes(profile.outputs.shape, 1) + hashes(number)), start)
