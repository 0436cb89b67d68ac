"""Small tensors whose numbers are known before anything runs: axes, target shapes, bounds.

A value is an array of int64, float64 or bool, with at most MOST_VALUES elements. Single integers
may be unknown, as in the shape [?, 28, 28]: they are HOLE.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tfprof.ops.shape import OPEN, require

Value: TypeAlias = npt.NDArray[Any]

MOST_VALUES: Final = 64
HOLE: Final = -(2**63)
_LARGEST: Final = 2**63 - 1


def of_dims(dims: tuple[int, ...]) -> Value:
    """A shape as a tensor; an open dimension is a hole."""
    return np.array([HOLE if dim == OPEN else min(dim, _LARGEST) for dim in dims], np.int64)


def dims_of(value: Value) -> tuple[int, ...]:
    """A vector as a shape; holes and negative numbers are open. Raises UnknownShape."""
    require(value.ndim == 1 and value.dtype.kind == "i")
    return tuple(max(int(dim), OPEN) for dim in value)


def has_holes(value: Value) -> bool:
    """Whether an element is unknown."""
    return value.dtype.kind == "i" and bool((value == HOLE).any())


def small(value: Any) -> Value | None:  # noqa: ANN401 - whatever NumPy gives
    """The value as int64, float64 or bool; None if it is large or something else."""
    array = np.asarray(value)
    if array.size > MOST_VALUES:
        return None
    wide = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}.get(array.dtype.kind)
    return None if wide is None else array.astype(wide, copy=False)
