"""Reads checkpoints without TensorFlow: the names of their tensors, and their values.

    PREFIX.index exists    → the second format (second_format.py)
    PREFIX is a table      → the first format (slices.py)

Opening a checkpoint reads its index; the bytes of a tensor are read on demand. Checksums are
verified for everything that is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from math import prod
from typing import Protocol

import numpy as np

from tfprof.columns.strings import U8, Strings
from tfprof.errors import InputError, nearest
from tfprof.read.checkpoint import tensors
from tfprof.read.checkpoint.second_format import Bundle
from tfprof.read.checkpoint.slices import Box, TensorSlices, boxes, elements

# Memory-maps the file with this name; never decompresses, since values may look like a compressed
# file. Raises FileNotFoundError.
Opener = Callable[[str], U8]

# A checkpoint may also be named by one of its files.
_FILE_OF_BUNDLE = re.compile(r"\.(?:index|data-\d{5}-of-\d{5})\Z")
_SHARDED = re.compile(r"-\?{5}-of-(?!0{5})(\d{5})\Z")


class _Contents(Protocol):
    """The interface of both formats."""

    @property
    def names(self) -> list[bytes]: ...

    def stored(self, name: bytes) -> tensors.Stored: ...


class Checkpoint:
    """The tensors of a checkpoint. A pickle holds its prefix, and the files are opened again."""

    def __init__(self, prefix: str, opener: Opener) -> None:
        self.prefix = prefix
        self._opener = opener
        self._keys: Mapping[bytes, bytes] = {}  # of tensors that also have another name

    @classmethod
    def open(cls, prefix: str, opener: Opener) -> Checkpoint:
        """The checkpoint with this prefix; raises InputError.

        *prefix* may also be the name of one of its files, or PREFIX-?????-of-00002 for a sharded
        checkpoint of the first format.
        """
        checkpoint = cls(prefix, opener)
        checkpoint.prefix, checkpoint._contents = _contents(prefix, opener)
        return checkpoint

    def __getstate__(self) -> dict[str, object]:
        return {"prefix": self.prefix, "_opener": self._opener, "_keys": self._keys}

    def renamed(self, keys: Mapping[bytes, bytes]) -> Checkpoint:
        """The same checkpoint, whose tensors also go by other names: {name: its own name}."""
        checkpoint = Checkpoint(self.prefix, self._opener)
        checkpoint._contents, checkpoint._keys = self._contents, keys
        return checkpoint

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
        """Whether the checkpoint has a tensor *name*."""
        return self._keys.get(name, name) in self._known

    def dtype(self, name: bytes) -> int:
        """The dtype of a tensor, as TensorFlow's DataType number."""
        return self._stored(name).dtype

    def shape(self, name: bytes) -> tuple[int, ...]:
        """The shape of a tensor."""
        return self._stored(name).shape

    def tensor(self, name: bytes) -> tensors.Tensor:
        """The tensor *name* with its values; raises InputError."""
        stored = self._stored(name)
        if stored.dtype not in tensors.DTYPES:
            kind = tensors.OPAQUE.get(stored.dtype, f"unknown type {stored.dtype}")
            raise InputError(f"{self._title(name)} is of {kind}, whose values cannot be read")
        return tensors.Tensor(stored.dtype, stored.shape, self._values(name, stored))

    def _stored(self, name: bytes) -> tensors.Stored:
        if not self.has(name):
            hint = nearest(name.decode("utf-8", "replace"), list(self._names.texts()))
            raise InputError(f"{self.prefix} has no {tensors.called(name)}{hint}")
        return self._contents.stored(self._keys.get(name, name))

    def _title(self, name: bytes) -> str:
        return f"{tensors.called(name)} of {self.prefix}"

    def _values(self, name: bytes, stored: tensors.Stored) -> tensors.Values:
        if not stored.slices:
            return stored.read(None)
        piece_boxes = boxes(stored.shape, stored.slices, self._title(name))
        # Read all pieces first: their actual size bounds the memory that the whole takes.
        pieces = [stored.read(part) for part in stored.slices]
        for piece, box in zip(pieces, piece_boxes, strict=True):
            if len(piece) != elements(box):
                raise InputError(
                    f"{self._title(name)} is damaged: a piece has {len(piece)} values, not "
                    f"{elements(box)}"
                )
        if len(pieces) == 1 or not prod(stored.shape):
            return pieces[0]
        if _overlap(stored.shape, piece_boxes):
            raise InputError(f"{self._title(name)} is damaged: its pieces overlap")
        return _assembled(stored, piece_boxes, pieces)


def _contents(prefix: str, opener: Opener) -> tuple[str, _Contents]:
    """(the prefix itself, the contents of the files)."""
    for candidate in dict.fromkeys((prefix, _FILE_OF_BUNDLE.sub("", prefix))):
        try:
            index = opener(f"{candidate}.index")
        except FileNotFoundError:
            continue
        return candidate, Bundle(candidate, index, opener)
    return prefix, TensorSlices(_tables(prefix, opener))


def _overlap(shape: tuple[int, ...], piece_boxes: list[Box]) -> bool:
    """Whether boxes with as many values as the whole tensor overlap, so leave a gap."""
    filled = np.zeros(shape, np.bool_)
    for box in piece_boxes:
        filled[box] = True
    return not bool(filled.all())


def _assembled(
    stored: tensors.Stored, piece_boxes: list[Box], pieces: list[tensors.Values]
) -> tensors.Values:
    """The values of a tensor from those of its pieces."""
    arrays = [np.array(p, object) if isinstance(p, list) else p for p in pieces]
    whole: tensors.Array = np.zeros(stored.shape, arrays[0].dtype)
    for box, array in zip(piece_boxes, arrays, strict=True):
        whole[box] = array.reshape(whole[box].shape)
    values = whole.reshape(-1)
    return list(values) if stored.dtype == tensors.STRING else values


def _tables(prefix: str, opener: Opener) -> list[tuple[str, U8]]:
    """(name, content) of the files of a checkpoint of the first format."""
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
