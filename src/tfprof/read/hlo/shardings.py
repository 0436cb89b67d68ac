"""The whole shapes of parameters that are divided among devices.

    parameter   f32[4,32]                of each device
    sharding    devices=[4,1,2]          4 tiles by 1; what follows the dimensions are copies
    whole       f32[16,32]

If tiles are uneven, XLA pads them, and the whole has the padding, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.shapes import Shapes
from tfprof.read.hlo.devices import tiles_of
from tfprof.wire.decode import BYTES, scan

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.read.hlo.modules import Modules

_LARGEST: Final = 2.0**62


def whole_shapes(modules: Modules, row: I64, shapes: Shapes) -> Shapes:
    """The *shapes* of these parameters over all devices; *row* has their instructions."""
    start, end = _shardings(modules, row)
    is_divided = modules.devices[modules.computation_module[modules.instruction.message[row]]] > 1
    owner, dimension, tiles = tiles_of(modules.buffer, start, np.where(is_divided, end, start))
    at = shapes.start[owner] + dimension
    # What follows the dimensions of a shape are copies of its tiles.
    is_dimension = at < shapes.start[owner + 1]
    owner, at, tiles = owner[is_dimension], at[is_dimension], tiles[is_dimension]
    size = np.ones(len(shapes))
    np.multiply.at(size, np.repeat(np.arange(len(shapes)), np.diff(shapes.start)), shapes.dim)
    np.multiply.at(size, owner, tiles)
    fits = (size[owner] > 0) & (size[owner] < _LARGEST)
    dim = shapes.dim.copy()
    dim[at[fits]] *= tiles[fits]
    return Shapes(shapes.start, dim)


def _shardings(modules: Modules, row: I64) -> tuple[I64, I64]:
    """(start, end) of the sharding of each parameter: its own, else that of its module."""
    instruction = modules.instruction
    own = scan(modules.buffer, instruction.start[row], instruction.end[row], {40: BYTES})[40]
    start, length = own.last_slice(row.size)
    owner = modules.computation_module[instruction.message[row]]
    listed = modules.sharding
    first, last = (np.searchsorted(listed.message, owner, side) for side in ("left", "right"))
    number = modules.number[row]
    has_none = np.ones(row.size, np.bool_)
    has_none[own.message] = False
    has_none &= (number >= 0) & (number < last - first)
    place = (first + number)[has_none]
    start[has_none], length[has_none] = listed.start[place], listed.value[place]
    return start, start + length
