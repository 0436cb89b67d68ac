"""Frozen: the base of dataclasses whose columns are read-only."""

from __future__ import annotations

import numpy as np

from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import Strings


class Frozen:
    """A dataclass whose columns become read-only."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            columns = vars(value).values() if isinstance(value, (Strings, Shapes)) else (value,)
            for column in columns:
                if isinstance(column, np.ndarray):
                    column.flags.writeable = False
