"""graph_id(): which graph a profile has, whatever its runs, devices and op log add to it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.read.columns import members

if TYPE_CHECKING:
    from tfprof.columns.shapes import Shapes
    from tfprof.columns.strings import I64, Strings
    from tfprof.model import Profile

_DIGITS: Final = 16


def graph_id(profile: Profile) -> str:
    """16 hexadecimal digits of what is in the graph: names, operation types, shapes, edges.

    All profiles without a graph have the same.
    """
    digest = hashlib.sha256()
    node = np.flatnonzero(profile.in_graph)
    row = np.full(len(profile) + 1, -1, np.int64)
    row[node] = np.arange(node.size)
    used, op = np.unique(profile.nodes.op[node], return_inverse=True)
    # Types are numbered by their names: an op log or a run may have added others.
    types = profile.types.take(used)
    _strings(digest, profile.nodes.name.take(node))
    _strings(digest, types.take(types.order()))
    _numbers(digest, types.rank()[op])
    _shapes(digest, profile.nodes.shape.take(node))
    inputs = members(profile.edges.start, node)
    # A name that is not in the graph is no node, also if a run has it.
    source = profile.edges.source[inputs]
    _numbers(digest, np.diff(profile.edges.start)[node])
    _numbers(digest, row[np.where(source < 0, -1, source)])
    _numbers(digest, profile.edges.slot[inputs])
    _numbers(digest, np.diff(profile.outputs.start)[node])
    _shapes(digest, profile.outputs.shape.take(members(profile.outputs.start, node)))
    return digest.hexdigest()[:_DIGITS]


def _strings(digest: hashlib._Hash, strings: Strings) -> None:
    _numbers(digest, strings.length)
    digest.update(strings.compact().blob.tobytes())


def _shapes(digest: hashlib._Hash, shapes: Shapes) -> None:
    _numbers(digest, np.diff(shapes.start))
    _numbers(digest, shapes.dim)


def _numbers(digest: hashlib._Hash, numbers: I64) -> None:
    digest.update(np.append(numbers.size, numbers).astype("<i8").tobytes())
