"""with_inferred_shapes(profile, dims) → Profile: open output shapes of a graph, filled in.

A shape that the graph declares in full stays as it is. What is unknown stays open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.shapes import Shapes
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Outputs, Profile
from tfprof.ops.engine import SHAPE, Engine
from tfprof.ops.symbols import bound, symbols

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tfprof.columns.strings import I64
    from tfprof.ops.shape import MaybeShape

    Sized = tuple[dict[str, int], Engine]


def with_inferred_shapes(profile: Profile, dims: Mapping[str, int] | None = None) -> Profile:
    """*profile* with the shapes that follow from its inputs; *dims* are sizes of open dimensions.

    Raises UsageError for an unknown dimension, InputError for a damaged attribute.
    """
    sizes = dict(dims or {})
    key = ("inferred shapes", *sorted(sizes.items()))
    return profile.cached(key, lambda: _inferred(profile, sizes))


def engine_of(profile: Profile, dims: Mapping[str, int]) -> Engine:
    """The engine for these dimensions. Only the latest is kept: engines are large."""
    kept = latest_engine(profile)
    latest = kept[0] if kept else None
    if latest is None:
        inputs = (node for symbol in symbols(profile) for node, _ in symbol.places)
        latest = dict(dims), Engine(profile, bound(profile, dims), inputs)
    elif latest[0] != dims:
        latest = dict(dims), latest[1].resized(bound(profile, dims))
    kept[:] = [latest]
    return latest[1]


def latest_engine(profile: Profile, kept: Callable[[], list[Sized]] = list) -> list[Sized]:
    """The latest engine of a profile, if it has one; *kept* gives that of one that is alike."""
    return profile.cached("engine", kept)


def _inferred(profile: Profile, dims: Mapping[str, int]) -> Profile:
    bound(profile, dims)  # checks them, also where no shape is open
    # What TensorFlow inferred in part stays: it knew as much as we do, unless an input got a size
    # or a function a caller.
    outputs = profile.outputs
    open_before = np.append(0, np.cumsum(~outputs.shape.are_whole()))
    declared = np.diff(outputs.start) > 0
    is_partly_open = open_before[outputs.start[1:]] > open_before[outputs.start[:-1]]
    is_open = ~declared | (is_partly_open & (bool(dims) or len(profile.regions) > 0))
    node = np.flatnonzero(is_open & profile.in_graph)
    if not node.size:
        return profile
    shapes = engine_of(profile, dims).settle(SHAPE, node.tolist())
    return replace(profile, outputs=_outputs(profile.outputs, node, shapes))


def _outputs(old: Outputs, node: I64, inferred: list[list[MaybeShape]]) -> Outputs:
    """*old* with *inferred* shapes in place of those of each *node*."""
    rows = [list(dims) or [1] if dims is not None else [] for shapes in inferred for dims in shapes]
    rank = np.fromiter(map(len, rows), np.int64, len(rows))
    dim = np.fromiter((dim for row in rows for dim in row), np.int64, int(rank.sum()))
    new = Shapes(np.append(0, np.cumsum(rank)), dim)
    count = np.diff(old.start)
    is_new = np.zeros(count.size, np.bool_)
    is_new[node] = True
    owner = np.repeat(np.arange(count.size), count)
    same = np.flatnonzero(~is_new[owner])
    new_owner = np.repeat(node, np.fromiter(map(len, inferred), np.int64, len(inferred)))
    row = np.concatenate([same, len(old.shape) + np.arange(new_owner.size)])
    owner = np.concatenate([owner[same], new_owner])
    row = row[np.argsort(owner, kind="stable")]
    ends = np.cumsum(np.bincount(owner, minlength=count.size))
    return Outputs(np.append(0, ends), old.shape.joined(new).take(row))
