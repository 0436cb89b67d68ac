"""Arrows of the timeline: every scheduling of an input points at every scheduling of its consumer.

    x ran 3 times on cpu:0  ─┐             tail units   (x, cpu:0)   its 3 schedulings
    y, which takes x, ran   ─┼─► 12 arrows
    4 times on gpu:0        ─┘             head units   (y, gpu:0)   its 4 schedulings

Nodes in loops have more arrows than executions, so arrows never stand in memory all at once: links
between units are stored, and arrows are generated for some tails at a time. Units on one device are
never linked, so a run on one device costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.model import CPU, Step
from tfprof.read.columns import runs
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64
    from tfprof.query.counted import Answer

# Arrows generated at a time, if no single bar has more.
_RUN = 1 << 13


class _Units(NamedTuple):
    """Rows of one node on one device: those of unit u are row[start[u]:start[u + 1]]."""

    node: I64
    device: I64
    start: I64
    row: I64
    of: I64  # the unit of each row, in the order of the input


def _units(node: I64, device: I64, devices: int) -> _Units:
    pair, of = np.unique(node * devices + device, return_inverse=True)
    start = np.append(0, np.cumsum(np.bincount(of, minlength=pair.size)))
    return _Units(*np.divmod(pair, max(devices, 1)), start, np.argsort(of, kind="stable"), of)


@dataclass(frozen=True, eq=False)
class Arrows:
    """All arrows of one step; tails and heads are rows of what is drawn."""

    _tail: I64  # of each scheduling of an input
    _tail_unit: I64
    _link: I64  # the links of tail unit u are _link[u]:_link[u + 1]
    _head_unit: I64  # of each link
    _edge: I64
    _heads: _Units
    _head: I64

    @classmethod
    def of(cls, answer: Answer, step: Step, key: I64, drawn_key: I64, drawn_row: I64) -> Arrows:
        """Arrows to consumers on another device; *key* identifies executions."""
        # parity Q13: what is drawn where an input ran may be another node that started in the same
        # microsecond. Streams have no arrows.
        profile, edges = answer.profile, answer.profile.edges
        own_devices = np.unique(profile.nodes.device[profile.nodes.device >= 0])
        own = np.isin(profile.types.find(step.devices), own_devices)
        head = np.flatnonzero(own[step.device[drawn_row]])
        ran = np.flatnonzero(step.counts_as == CPU)
        tail = np.searchsorted(drawn_key, key[ran])
        is_drawn = np.append(drawn_key, -1)[tail] == key[ran]
        ran, tail = ran[is_drawn], tail[is_drawn]

        devices = len(step.devices)
        tails = _units(step.node[ran], step.device[ran], devices)
        heads = _units(step.node[drawn_row[head]], step.device[drawn_row[head]], devices)
        head_unit, edge = _members(edges.start, heads.node)
        source, owner = edges.source[edge], answer.drawing.owner
        accounted = (owner >= 0) & answer.counted.accounted_row[owner]
        # Names of unknown nodes are below 0, and there may be more of them than nodes.
        known = (source >= 0) & accounted[np.maximum(source, 0)]
        head_unit, edge, source = head_unit[known], edge[known], source[known]
        first = np.searchsorted(tails.node, np.arange(len(profile) + 1))
        at, tail_unit = _members(first, source)
        head_unit, edge = head_unit[at], edge[at]
        apart = np.flatnonzero(tails.device[tail_unit] != heads.device[head_unit])
        apart = apart[np.argsort(tail_unit[apart], kind="stable")]
        link = np.searchsorted(tail_unit[apart], np.arange(tails.node.size + 1))
        return cls(tail, tails.of, link, head_unit[apart], edge[apart], heads, head)

    def runs(self, place: I64) -> Iterator[tuple[I64, I64]]:
        """(tails, heads) of the arrows in order of the tail's *place*, many at a time."""
        count = np.append(0, np.cumsum(np.diff(self._heads.start)[self._head_unit]))
        times = (count[self._link[1:]] - count[self._link[:-1]])[self._tail_unit]
        arrows = int(times.sum())
        if arrows > limit("arrows"):
            raise UsageError(
                f"the timeline would have {arrows:,} arrows between devices; tfprof accepts "
                f"{beyond('arrows')}"
            )
        rows = np.flatnonzero(times)
        rows = rows[np.argsort(place[self._tail[rows]], kind="stable")]
        for some in _batches(self._tail[rows], times[rows]):
            yield self._arrows(rows[some], place)

    def _arrows(self, rows: I64, place: I64) -> tuple[I64, I64]:
        """The arrows that begin at these schedulings, those of a tail by consumer and input."""
        at, link = _members(self._link, self._tail_unit[rows])
        again, member = _members(self._heads.start, self._head_unit[link])
        tail = self._tail[rows[at[again]]]
        head = self._head[self._heads.row[member]]
        order = np.lexsort((self._edge[link[again]], head, place[tail]))
        return tail[order], head[order]


def _batches(tail: I64, times: I64) -> Iterator[slice]:
    """Slices of rows with about _RUN arrows each; rows of one tail stay together."""
    edge = np.append(np.flatnonzero(np.append(True, tail[1:] != tail[:-1])[: tail.size]), tail.size)
    arrows = np.append(0, np.cumsum(times))[edge]
    at = 0
    while at < edge.size - 1:
        after = max(int(np.searchsorted(arrows, arrows[at] + _RUN, "right")) - 1, at + 1)
        yield slice(int(edge[at]), int(edge[after]))
        at = after


def _members(start: I64, groups: I64) -> tuple[I64, I64]:
    """(place in *groups*, member) of every member of every group; group g is start[g:g + 2]."""
    return runs(start[groups], start[groups + 1] - start[groups])
