"""Reachability: which nodes are reached from others along edges, forwards or backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.read.columns import runs

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Edges

# It is faster to follow fewer nodes than this one by one.
_FEW = 64


@dataclass(frozen=True, eq=False)
class Links:
    """Links from each node to others; those of node i are node[start[i]:start[i + 1]]."""

    start: I64
    node: I64

    @classmethod
    def inputs(cls, edges: Edges, aside: Bool | None = None, silent: Bool | None = None) -> Links:
        """From each node to its inputs, and to control inputs that are not *aside*.

        Nodes that are *silent* have no outputs: a saved profile lists control inputs as inputs.
        """
        known = edges.source >= 0
        if aside is not None:
            known &= (edges.slot >= 0) | ~aside[np.maximum(edges.source, 0)]
        if silent is not None:
            known &= ~silent[np.maximum(edges.source, 0)]
        return cls(np.append(0, np.cumsum(known))[edges.start], edges.source[known])

    @classmethod
    def consumers(cls, edges: Edges, *, data: bool = False, waits: Bool | None = None) -> Links:
        """From each node to its consumers; if *data*, control edges count only to what *waits*."""
        count = edges.start.size - 1
        consumer = np.repeat(np.arange(count), np.diff(edges.start))
        known = edges.source >= 0
        if data:
            known &= (edges.slot >= 0) | (False if waits is None else waits[consumer])
        source = edges.source[known]
        ends = np.cumsum(np.bincount(source, minlength=count))
        return cls(np.append(0, ends), consumer[known][np.argsort(source, kind="stable")])

    def reached(self, begin: Bool, through: Bool | None = None) -> Bool:
        """The nodes reachable from those of *begin*, which are included; only *through* these."""
        seen = begin.copy()
        front = np.flatnonzero(begin)
        while front.size:
            step = self._one_by_one if front.size < _FEW else self._at_once
            front = step(front, seen, through)
        return seen

    def of(self, nodes: I64) -> tuple[I64, I64]:
        """(index in *nodes*, linked node) of every link of these nodes."""
        owner, link = runs(self.start[nodes], self.start[nodes + 1] - self.start[nodes])
        return owner, self.node[link]

    def _at_once(self, front: I64, seen: Bool, through: Bool | None) -> I64:
        after = np.unique(self.of(front)[1])
        after = after[~seen[after] if through is None else ~seen[after] & through[after]]
        seen[after] = True
        return after

    def _one_by_one(self, front: I64, seen: Bool, through: Bool | None) -> I64:
        """Follow links until there are too many nodes at a time; those are the result."""
        ahead = front.tolist()
        while ahead and len(ahead) < 4 * _FEW:
            node = ahead.pop()
            for other in self.node[self.start[node] : self.start[node + 1]].tolist():
                if not seen[other] and (through is None or through[other]):
                    seen[other] = True
                    ahead.append(other)
        return np.array(ahead, np.int64)
