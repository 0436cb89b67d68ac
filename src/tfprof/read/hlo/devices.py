"""The devices of a program: how many run it, each a part of the work.

XLA divides a program while it optimizes. Before that, shapes and float operations are whole; then
each device has its own part, the entry computation is named `…_spmd` and the module lists how its
parameters are divided (`shardings`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.wire.decode import VARINT, Field, scan
from tfprof.wire.maps import repeated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.columns.strings import I64, U8

_TILED: Final = 3
_DIVIDED: Final = b"_spmd"
_MOST: Final = 1 << 31


def device_counts(buffer: U8, module: Mapping[int, Field], count: int) -> I64:
    """How many devices run each of *count* modules, each a part of the work; 1 if undivided."""
    sharding, assignment = module[14], module[15]
    part = scan(buffer, assignment.start, assignment.end, {1: VARINT, 2: VARINT})
    replicas, partitions = np.ones((2, count), np.int64)
    replicas[assignment.message] = part[1].last(assignment.start.size)
    partitions[assignment.message] = part[2].last(assignment.start.size)
    entry = Strings(buffer, *module[2].last_slice(count)).tolist()
    is_divided = np.array([_DIVIDED in name for name in entry], np.bool_)
    is_divided[sharding.message] = True
    of_sharding, _, tiles = tiles_of(buffer, sharding.start, sharding.end)
    if not assignment.start.size and tiles.size:
        each = np.ones(sharding.start.size)
        np.multiply.at(each, of_sharding, tiles)
        np.maximum.at(partitions, sharding.message, np.minimum(each, _MOST).astype(np.int64))
    replicas, partitions = (np.clip(each, 1, _MOST) for each in (replicas, partitions))
    return np.minimum(replicas * np.where(is_divided, partitions, 1), _MOST)


def tiles_of(buffer: U8, start: I64, end: I64) -> tuple[I64, I64, I64]:
    """(sharding, dimension, number of tiles) for the dimensions that these shardings divide."""
    is_tiled = scan(buffer, start, end, {1: VARINT})[1].last(start.size) == _TILED
    owner, tiles = repeated(buffer, start, end, 3)
    dimension = np.arange(owner.size) - np.searchsorted(owner, owner)
    divides = is_tiled[owner] & (tiles > 1) & (tiles <= _MOST)
    return owner[divides], dimension[divides], tiles[divides]
