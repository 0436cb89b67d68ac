"""Calls: nodes that call functions whose bodies are part of the graph.

          data inputs of the calling node                     output k is
call      what the body returns, its own                      what the body returns as k
loop      what the body returns, the condition, its own       either input k of both
choice    what each branch returns, one after the other       input k of any branch
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from tfprof.model import Profile


class Call(NamedTuple):
    """A call: its regions, and which of its data inputs are theirs."""

    regions: tuple[int, ...]
    kinds: tuple[int, ...]
    first: tuple[int, ...]  # the data input that is the first result of each region
    outputs: int
    own: int  # the first data input of the call itself

    @property
    def kind(self) -> int:
        """The kind of its first region."""
        return self.kinds[0]

    def returns_of(self, kind: int) -> int | None:
        """The data input that is the first result of the region of *kind*, or None."""
        return self.first[self.kinds.index(kind)] if kind in self.kinds else None


class Calls:
    """The calls of a profile, by the node that calls."""

    def __init__(self, profile: Profile) -> None:
        regions = profile.regions
        self._of_node = regions.of_node
        self.of: dict[int, Call] = {}
        self.outer: list[int] = [self.region_of(int(call)) for call in regions.call]
        of_call: dict[int, list[int]] = {}
        for region, call in enumerate(regions.call.tolist()):
            of_call.setdefault(call, []).append(region)
        # Files may be damaged: what is not an input of the call is not an output either.
        inputs = np.diff(profile.edges.start)[regions.call]
        returned = np.clip(regions.returns, 0, inputs).tolist()
        for call, numbers in of_call.items():
            returns = [returned[number] for number in numbers]
            self.of[call] = Call(
                tuple(numbers),
                tuple(int(regions.kind[number]) for number in numbers),
                tuple(accumulate(returns[:-1], initial=0)),
                returns[0],
                sum(returns),
            )
        self.call = regions.call
        self.kind = regions.kind

    def region_of(self, node: int) -> int:
        """The region that a node is in; -1: none."""
        return int(self._of_node[node]) if node < self._of_node.size else -1

    def around(self, node: int) -> list[int]:
        """The regions around a node, the innermost first."""
        regions, region = [], self.region_of(node)
        while region >= 0:
            regions.append(region)
            region = self.outer[region]
        return regions
