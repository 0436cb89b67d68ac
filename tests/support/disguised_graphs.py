"""A profile whose nodes have other names and another order, some of them gone; truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Edges, Outputs, Profile
from tfprof.read.columns import members

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.columns.strings import I64


def disguised(
    profile: Profile, kept: Sequence[int], rename: Callable[[bytes], bytes], *, edges: bool = True
) -> Profile:
    """The graph of the nodes *kept*, in this order; who read another one reads its first input."""
    order = np.array(kept, np.int64)
    names = [rename(profile.nodes.name[node]) for node in kept]
    assert len(set(names)) == len(names)
    nodes, outputs = profile.nodes, profile.outputs
    sizes = np.diff(outputs.start)[order]
    return Profile(
        nodes=replace(
            nodes,
            name=Strings.of(names),
            op=nodes.op[order],
            device=nodes.device[order],
            float_ops=nodes.float_ops[order],
            stack=np.full(order.size, -1),
            shape=nodes.shape.take(order),
        ),
        types=profile.types,
        edges=_edges(profile, kept) if edges else Edges(np.zeros(order.size + 1, np.int64)),
        outputs=Outputs(
            np.append(0, np.cumsum(sizes)), outputs.shape.take(members(outputs.start, order))
        ),
    )


def _edges(profile: Profile, kept: Sequence[int]) -> Edges:
    place = {node: at for at, node in enumerate(kept)}
    first, source, slot = (
        getattr(profile.edges, of).tolist() for of in ("start", "source", "slot")
    )
    start, sources, slots = [0], [], []
    for node in kept:
        for edge in range(first[node], first[node + 1]):
            while source[edge] >= 0 and source[edge] not in place:
                edge = first[source[edge]]  # noqa: PLW2901 - the first input of what is gone
            sources.append(place.get(source[edge], -1))
            slots.append(slot[edge])
        start.append(len(sources))
    columns = (np.array(column, np.int64) for column in (start, sources, slots))
    return Edges(next(columns), next(columns), next(columns), Strings.of([b"unknown"]))


def without_edges(profile: Profile) -> Profile:
    """What a run alone tells of the same nodes."""
    return disguised(profile, range(len(profile)), lambda name: name, edges=False)


def inner(profile: Profile) -> I64:
    """The nodes that read a node: all but the ends of the graph."""
    edges = profile.edges
    reads = np.flatnonzero(np.diff(edges.start))
    return reads[(edges.source[edges.start[reads]] >= 0) & (edges.slot[edges.start[reads]] >= 0)]
