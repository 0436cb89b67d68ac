"""Small tensors whose numbers are known before anything runs: axes, target shapes, bounds.

An array of whole numbers, floats or truths, with at most MOST_VALUES elements. Of whole numbers
single ones may be open, as in the shape [?, 28, 28]: they are HOLE.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tfprof.inference.shape import OPEN, Unknown

Value: TypeAlias = npt.NDArray[Any]

MOST_VALUES: Final = 64
HOLE: Final = -(2**63)
_LARGEST: Final = 2**63 - 1


def of_dims(dims: tuple[int, ...]) -> Value:
    """A shape as a tensor; an open dimension is a hole."""
    return np.array([HOLE if dim == OPEN else min(dim, _LARGEST) for dim in dims], np.int64)


def dims_of(value: Value) -> tuple[int, ...]:
    """A tensor as a shape; what is a hole or below zero is open. Raises Unknown for no list."""
    if value.ndim != 1 or value.dtype.kind != "i":
        raise Unknown
    return tuple(max(int(dim), OPEN) for dim in value)


def has_holes(value: Value) -> bool:
    """Whether an element is open."""
    return value.dtype.kind == "i" and bool((value == HOLE).any())


def small(value: Any) -> Value | None:  # noqa: ANN401 - whatever NumPy gives
    """The value if it is worth keeping: not large, and numbers of 64 bits or truths."""
    array = np.asarray(value)
    if array.size > MOST_VALUES:
        return None
    wide = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}.get(array.dtype.kind)
    return None if wide is None else array.astype(wide, copy=False)
