"""inferred(profile, dims) → Profile: the shapes of outputs that a graph leaves open, filled in.

A shape that the graph lists in full stays as it is; what cannot be known stays open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.shapes import Shapes
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.inference.engine import SHAPE, Engine
from tfprof.inference.symbols import bound
from tfprof.model import Outputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.columns.strings import I64
    from tfprof.inference.shape import Maybe
    from tfprof.model import Profile


def inferred(profile: Profile, dims: Mapping[str, int] | None = None) -> Profile:
    """*profile* with the shapes that follow from its inputs, whose open dimensions *dims* names.

    Raises UsageError for a dimension that there is not, InputError for a damaged attribute.
    """
    given = dict(dims or {})
    key = ("inferred", *sorted(given.items()))
    return profile.cached(key, lambda: _inferred(profile, given))


def engine_of(profile: Profile, dims: Mapping[str, int]) -> Engine:
    """The engine that knows what follows from these dimensions."""
    return profile.cached("engines", lambda: _Latest(profile)).engine(dims)


class _Latest:
    """The engine that was asked for last; it remembers a lot, and rarely is an older one wanted."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._made: tuple[dict[str, int], Engine] | None = None

    def engine(self, dims: Mapping[str, int]) -> Engine:
        """The engine of these dimensions."""
        made = self._made
        if made is None or made[0] != dims:
            made = dict(dims), Engine(self._profile, bound(self._profile, dims))
            self._made = made
        return made[1]


def _inferred(profile: Profile, dims: Mapping[str, int]) -> Profile:
    bound(profile, dims)  # wrong or not needed, it is told
    node = _open(profile, again=bool(dims) or len(profile.regions) > 0)
    if not node.size:
        return profile
    found = engine_of(profile, dims).settle(SHAPE, node.tolist())
    return replace(profile, outputs=_outputs(profile.outputs, node, found))


def _open(profile: Profile, *, again: bool) -> I64:
    """The nodes whose outputs are open; those that TensorFlow inferred in part only if *again*.

    It knew as much as is known here, unless an input has got a size or a function a caller.
    """
    outputs = profile.outputs
    wanting = np.append(0, np.cumsum(~outputs.shape.are_whole()))
    listed = np.diff(outputs.start) > 0
    is_open = ~listed | ((wanting[outputs.start[1:]] > wanting[outputs.start[:-1]]) & again)
    return np.flatnonzero(is_open & profile.in_graph)


def _outputs(old: Outputs, node: I64, found: list[list[Maybe]]) -> Outputs:
    """*old* with the shapes *found* in place of those of each *node*."""
    rows = [list(shape) or [1] if shape is not None else [] for shapes in found for shape in shapes]
    rank = np.fromiter(map(len, rows), np.int64, len(rows))
    dim = np.fromiter((dim for row in rows for dim in row), np.int64, int(rank.sum()))
    new = Shapes(np.append(0, np.cumsum(rank)), dim)
    count = np.diff(old.start)
    is_new = np.zeros(count.size, np.bool_)
    is_new[node] = True
    owner = np.repeat(np.arange(count.size), count)
    kept = np.flatnonzero(~is_new[owner])
    made = np.repeat(node, np.fromiter(map(len, found), np.int64, len(found)))
    row = np.concatenate([kept, len(old.shape) + np.arange(made.size)])
    owner = np.concatenate([owner[kept], made])
    row = row[np.argsort(owner, kind="stable")]
    ends = np.cumsum(np.bincount(owner, minlength=count.size))
    return Outputs(np.append(0, ends), old.shape.joined(new).take(row))
