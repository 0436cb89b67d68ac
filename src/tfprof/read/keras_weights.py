"""Reads the path, shape and type of the weights in a Keras archive, but not their values.

They are stored in HDF5, which h5py reads. h5py is optional: without it the weights are derived from
the configuration of the layers.
"""

from __future__ import annotations

import io
from math import prod
from typing import Any, Final, NamedTuple

from tfprof.errors import InputError
from tfprof.read.keras_layers import MOST_ELEMENTS

_MOST: Final = 1_000_000
_FLOAT: Final = 1
# DataType of each HDF5 type; bfloat16 is stored as two untyped bytes.
_TYPES: Final = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "int64": 9,
    "bool": 10, "|V2": 14, "uint16": 17, "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip


class Stored(NamedTuple):
    """A weight in the file."""

    shape: tuple[int, ...]
    type: int


class Contents(NamedTuple):
    """The weights by their path in the file, and the names of groups."""

    weights: dict[str, Stored]
    names: dict[str, str]


def contents(data: memoryview, file: str) -> Contents | None:
    """The contents of the HDF5 file *data*, None without h5py; raises InputError."""
    try:
        import h5py  # noqa: PLC0415 - an extra that few need
    except ImportError:
        return None
    result = Contents({}, {})

    def visit(path: str, item: Any) -> None:  # noqa: ANN401 - h5py has no type hints
        if isinstance(item, h5py.Dataset):
            if len(result.weights) >= _MOST:
                raise InputError(f"{file} has more than {_MOST:,} weights")
            shape = tuple(map(int, item.shape or ()))
            if prod(shape) > MOST_ELEMENTS:
                raise InputError(f"{file}: {path} has an impossible shape")
            result.weights[path] = Stored(shape, _type(item.dtype))
        elif (name := item.attrs.get("name")) is not None:
            result.names[path.removesuffix("/vars")] = str(name)

    try:
        with h5py.File(Bytes(data), "r") as opened:
            opened.visititems(visit)
    except InputError:
        raise
    except Exception as problem:  # noqa: BLE001 - the library raises anything for a damaged file
        raise InputError(f"{file}: its weights cannot be read: {_line(problem)}") from None
    return result


def _type(dtype: Any) -> int:  # noqa: ANN401 - NumPy's own
    return _TYPES.get(str(dtype), _FLOAT)


def _line(problem: Exception) -> str:
    return " ".join(str(problem).split()) or type(problem).__name__


class Bytes(io.RawIOBase):
    """Bytes in memory as a file."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._at = memoryview(data), 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Set the position."""
        start = (0, self._at, len(self._data))[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        """The current position."""
        return self._at

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - anything that can be written to
        """Read into *buffer*; the number of bytes read."""
        piece = self._data[self._at : self._at + len(buffer)]
        memoryview(buffer).cast("B")[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
