"""Attributes of graph nodes as text; node -1 is a row that is not a graph node."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.unique import unique
from tfprof.foundation import units
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.read.columns import runs

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.model import Profile

_HALF: Final = 2**63


class InputGroup(NamedTuple):
    """Nodes of one operation type whose inputs have the same shapes."""

    shapes: tuple[str, ...]  # as in "0:3x4"
    runs: float  # whole, unless it is a mean or a percentile of a fleet
    defined: int
    micros: float


class NodeTexts:
    """Formats attributes of the nodes of one profile, each distinct value once."""

    def __init__(self, profile: Profile, filler: bytes) -> None:
        self._profile = profile
        self._filler = filler.decode()
        self._lists: dict[bytes, list[str]] = {}
        self._shapes: dict[int, str] = {}

    def dims(self, node: int) -> list[int]:
        """The node's own dimensions; none where it has no shape."""
        return self._profile.nodes.shape[node] if node >= 0 else []

    def shape(self, node: int) -> str:
        """The node's own shape, "" where it has none."""
        return units.shape(self.dims(node))

    def device(self, node: int) -> str | None:
        """The device the node was placed on; None where that is unknown."""
        device = int(self._profile.nodes.device[node]) if node >= 0 else -1
        return self._types[device] if device >= 0 else None

    def types(self, node: int) -> list[str]:
        """All types of the node, in byte order."""
        if node < 0:
            return [self._filler]
        first, last = self._type_range[node : node + 2]
        return self._sorted(self._profile.type_pairs[1][first:last])

    def types_of(self, nodes: I64) -> list[str]:
        """All types that some of *nodes* have, in byte order."""
        first = self._type_range[nodes]
        _, pair = runs(first, self._type_range[nodes + 1] - first)
        return self._sorted(unique(self._profile.type_pairs[1][pair]))

    def known_devices_of(self, nodes: I64) -> list[str]:
        """All known devices of *nodes*, in byte order."""
        kinds = unique(self._profile.nodes.device[nodes])
        return self._sorted(kinds[kinds >= 0])

    def devices_of(self, nodes: I64) -> str | None:
        """All devices of *nodes*, "" for an unknown device; None where there are no nodes."""
        if not nodes.size:
            return None
        unknown = [""] if int(self._profile.nodes.device[nodes].min()) < 0 else []
        known = "|".join(self.known_devices_of(nodes))
        return "|".join([*unknown, *([known] if known else [])])

    def inputs(self, node: int) -> list[str]:
        """The number and shape of each input, "unknown" where it is."""
        if node < 0:
            return []
        first, last = self._profile.edges.start[node : node + 2]
        sources = self._profile.edges.source[first:last].tolist()
        return [f"{at}:{self._output_shape(of)}" for at, of in enumerate(sources)]

    def input_groups(self, nodes: I64, times: I64, micros: I64) -> list[InputGroup]:
        """The *nodes* by the shapes of their inputs, the most run first."""
        sums: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
        for node in nodes.tolist():
            entry = sums[tuple(self.inputs(node))]
            entry[0] += int(times[node])
            entry[1] += 1
            # parity Q25: averages of negative sums are huge, and their sums wrap as an int64.
            entry[2] = (entry[2] + int(micros[node]) + _HALF) % (2 * _HALF) - _HALF
        ordered = sorted(sums.items(), key=lambda item: (-item[1][0], ",\t".join(item[0])))
        return [InputGroup(shapes, *numbers) for shapes, numbers in ordered]

    def _output_shape(self, node: int) -> str:
        # parity Q1: whichever output of the source is consumed, the first one's shape is shown.
        if node not in self._shapes:
            outputs = self._profile.outputs
            first, last = outputs.start[node : node + 2] if node >= 0 else (0, 0)
            dims = outputs.shape[int(first)] if first < last else []
            self._shapes[node] = units.shape(dims) or "unknown"
        return self._shapes[node]

    def _sorted(self, kinds: I64) -> list[str]:
        """Some types in byte order, each set of them sorted once."""
        key = kinds.tobytes()
        if key not in self._lists:
            ranked = kinds[np.argsort(self._type_rank[kinds])].tolist()
            self._lists[key] = [self._types[kind] for kind in ranked]
        return self._lists[key]

    @cached_property
    def _types(self) -> list[str]:
        return list(self._profile.types.texts())

    @cached_property
    def _type_rank(self) -> I64:
        return self._profile.types.rank()

    @cached_property
    def _type_range(self) -> I64:
        """The pairs of node i are type_range[i]:type_range[i + 1]."""
        return np.searchsorted(self._profile.type_pairs[0], np.arange(len(self._profile) + 1))
