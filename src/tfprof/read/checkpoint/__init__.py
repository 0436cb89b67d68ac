"""Checkpoints, read without TensorFlow: the names of the tensors in one, and their values.

    PREFIX.index exists    → the second format (bundle.py)
    PREFIX is a table      → the first format (tensor_slices.py)

Only what is asked for is read: the index when a checkpoint is opened, a tensor's own bytes when
its values are wanted. Everything read is held to its checksum.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Protocol

import numpy as np

from tfprof.columns.strings import U8, Strings
from tfprof.errors import InputError, nearest
from tfprof.read.checkpoint.bundle import Bundle
from tfprof.read.checkpoint.slices import boxes, elements
from tfprof.read.checkpoint.tensor_slices import TensorSlices
from tfprof.read.checkpoint.tensors import DTYPES, OPAQUE, STRING, Tensor, called

if TYPE_CHECKING:
    from tfprof.read.checkpoint.slices import Box
    from tfprof.read.checkpoint.tensors import Array, Stored, Values

# Gives the bytes of the file with this name, mapped rather than read, as they stand: these bytes
# may look like a compressed file and be none. Raises FileNotFoundError where there is no file.
Opener = Callable[[str], U8]

# People name a checkpoint by one of its files, too.
_FILE_OF_BUNDLE = re.compile(r"\.(?:index|data-\d{5}-of-\d{5})\Z")
_SHARDED = re.compile(r"-\?{5}-of-(?!0{5})(\d{5})\Z")


class _Contents(Protocol):
    """What each format offers."""

    @property
    def names(self) -> list[bytes]: ...

    def stored(self, name: bytes) -> Stored: ...


class Checkpoint:
    """The tensors of a checkpoint. A pickle holds its prefix, and the files are opened again."""

    def __init__(self, prefix: str, opener: Opener) -> None:
        self.prefix = prefix
        self._opener = opener

    @classmethod
    def open(cls, prefix: str, opener: Opener) -> Checkpoint:
        """The checkpoint with this prefix; raises InputError.

        *prefix* may also be the name of one of the files, or PREFIX-?????-of-00002 for the files
        of a checkpoint of the first format that is in pieces.
        """
        checkpoint = cls(prefix, opener)
        checkpoint.prefix, checkpoint._contents = _contents(prefix, opener)
        return checkpoint

    def __getstate__(self) -> dict[str, object]:
        return {"prefix": self.prefix, "_opener": self._opener}

    @cached_property
    def _contents(self) -> _Contents:
        return _contents(self.prefix, self._opener)[1]

    def names(self) -> Strings:
        """The names of all tensors, in byte order."""
        return self._names

    @cached_property
    def _names(self) -> Strings:
        return Strings.of(self._contents.names)

    @cached_property
    def _known(self) -> frozenset[bytes]:
        return frozenset(self._contents.names)

    def has(self, name: bytes) -> bool:
        """Whether there is a tensor *name*."""
        return name in self._known

    def dtype(self, name: bytes) -> int:
        """TensorFlow's number of the type of a tensor."""
        return self._stored(name).dtype

    def shape(self, name: bytes) -> tuple[int, ...]:
        """The shape of a tensor."""
        return self._stored(name).shape

    def tensor(self, name: bytes) -> Tensor:
        """The tensor *name*, with its values; raises InputError where they cannot be read."""
        stored = self._stored(name)
        if stored.dtype not in DTYPES:
            kind = OPAQUE.get(stored.dtype, f"unknown type {stored.dtype}")
            raise InputError(f"{self._what(name)} is of {kind}, whose values cannot be read")
        return Tensor(stored.dtype, stored.shape, self._values(name, stored))

    def _stored(self, name: bytes) -> Stored:
        if not self.has(name):
            hint = nearest(name.decode("utf-8", "replace"), list(self._names.texts()))
            raise InputError(f"{self.prefix} has no {called(name)}{hint}")
        return self._contents.stored(name)

    def _what(self, name: bytes) -> str:
        return f"{called(name)} of {self.prefix}"

    def _values(self, name: bytes, stored: Stored) -> Values:
        if not stored.slices:
            return stored.read(None)
        places = boxes(stored.shape, stored.slices, self._what(name))
        # All pieces first: what they really hold bounds the memory that the whole will take.
        pieces = [stored.read(part) for part in stored.slices]
        for piece, place in zip(pieces, places, strict=True):
            if len(piece) != elements(place):
                raise InputError(
                    f"{self._what(name)} is damaged: a piece has {len(piece)} values, not "
                    f"{elements(place)}"
                )
        if len(pieces) == 1 or not prod(stored.shape):
            return pieces[0]
        if _overlap(stored.shape, places):
            raise InputError(f"{self._what(name)} is damaged: its pieces overlap")
        return _put_together(stored, places, pieces)


def _contents(prefix: str, opener: Opener) -> tuple[str, _Contents]:
    """(the prefix itself, what is in the files)."""
    for candidate in dict.fromkeys((prefix, _FILE_OF_BUNDLE.sub("", prefix))):
        try:
            index = opener(f"{candidate}.index")
        except FileNotFoundError:
            continue
        return candidate, Bundle(candidate, index, opener)
    return prefix, TensorSlices(_tables(prefix, opener))


def _overlap(shape: tuple[int, ...], places: list[Box]) -> bool:
    """Whether *places*, which have as many values as the whole, leave some of it out."""
    filled = np.zeros(shape, np.bool_)
    for place in places:
        filled[place] = True
    return not bool(filled.all())


def _put_together(stored: Stored, places: list[Box], pieces: list[Values]) -> Values:
    """The values of a whole tensor from those of its pieces."""
    arrays = [np.array(p, object) if isinstance(p, list) else p for p in pieces]
    whole: Array = np.zeros(stored.shape, arrays[0].dtype)
    for place, array in zip(places, arrays, strict=True):
        whole[place] = array.reshape(whole[place].shape)
    values = whole.reshape(-1)
    return list(values) if stored.dtype == STRING else values


def _tables(prefix: str, opener: Opener) -> list[tuple[str, U8]]:
    """The files of a checkpoint of the first format: name and content."""
    sharded = _SHARDED.search(prefix)
    if not sharded:
        missing = f"there is no checkpoint {prefix}: neither {prefix}.index nor {prefix} exists"
        return [(prefix, _opened(opener, prefix, missing))]
    stem, count = prefix[: sharded.start()], int(sharded[1])
    files = [f"{stem}-{number:05d}-of-{count:05d}" for number in range(count)]
    missing = f"does not exist; expected one of the {count} files of the checkpoint {prefix}"
    return [(file, _opened(opener, file, f"{file} {missing}")) for file in files]


def _opened(opener: Opener, file: str, missing: str) -> U8:
    try:
        return opener(file)
    except FileNotFoundError:
        raise InputError(missing) from None
