"""Slices of tensors, and the keys they are stored under.

    a variable of 7x3 in three pieces       rows 0-2     rows 3-4     rows 5-6
    slice: (start, length) per dimension  (0,3)(0,3)   (3,2)(0,3)   (5,2)(0,3)

The key of a piece is encoded so that keys sort by bytes as names and numbers do:

    ┌───┬──────────────┬───────────────┬───────┬────────┬───────┬────────┬─
    │ 0 │ name, 00 01  │ 1, dimensions │ start │ length │ start │ length │ …
    └───┴──────────────┴───────────────┴───────┴────────┴───────┴────────┴─

In the name, 00 becomes 00 FF and FF becomes FF 00, so that 00 01 ends it. A number has as many
leading one bits as it has bytes, a zero bit, and its value; the encoding of a negative number n is
the complement of that of ~n. A full dimension may have length -1.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from tfprof.errors import InputError
from tfprof.foundation.arguments import INT64_MAX
from tfprof.wire.decode import WireError
from tfprof.wire.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.columns.strings import U8

Slice = tuple[tuple[int, int], ...]
Box = tuple[slice, ...]

UNCUT = -1
_SPECIAL = re.compile(rb"[\0\xff]")
# The first byte of every key of a piece; no name of a graph node begins with it.
PIECE = b"\0"
# The most that every supported NumPy version allows.
_MOST_DIMENSIONS = 32
_MOST_OF_TENSORFLOW = 254


def shape_of(data: U8) -> tuple[int, ...]:
    """The shape in a TensorShapeProto; raises WireError unless it is fully known."""
    message = Message(data)
    shape = tuple(Message(dim).signed(1) for dim in message.parts(2))
    if message.number(3) or any(dim < 0 for dim in shape):
        raise WireError(0, "shape that is not fully known")
    if len(shape) > _MOST_OF_TENSORFLOW or prod(shape) > INT64_MAX:
        raise WireError(0, "shape that no tensor can have")
    return shape


def slice_of(data: U8) -> Slice:
    """The slice in a TensorSliceProto; raises WireError."""
    extents = map(Message, Message(data).parts(1))
    return tuple((extent.signed(1), extent.signed(2, UNCUT)) for extent in extents)


def key_of(name: bytes, piece: Slice) -> bytes:
    """The key of a piece of the tensor *name*."""
    numbers = b"".join(_number(start) + _number(length) for start, length in piece)
    escaped = _SPECIAL.sub(lambda byte: byte[0] + bytes([byte[0][0] ^ 0xFF]), name)
    return PIECE + escaped + b"\0\1" + _count(len(piece)) + numbers


def _count(number: int) -> bytes:
    digits = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return bytes([len(digits)]) + digits


def _number(number: int) -> bytes:
    if number < 0:
        return bytes(byte ^ 0xFF for byte in _number(~number))
    size = number.bit_length() // 7 + 1
    return (number | ((1 << size) - 1) << 7 * size).to_bytes(size, "big")


def boxes(shape: Sequence[int], pieces: Sequence[Slice], title: str) -> list[Box]:
    """The index of each piece in a tensor of *shape*.

    Raises InputError, beginning with *title*, if the pieces do not fill the tensor.
    """
    result = [_box(shape, piece, title) for piece in pieces]
    held = sum(map(elements, result))
    if held != prod(shape):
        raise InputError(f"{title} is incomplete: its pieces hold {held} of {prod(shape)} values")
    if len(pieces) > 1 and len(shape) > _MOST_DIMENSIONS:
        raise InputError(f"{title} is in pieces and has more than {_MOST_DIMENSIONS} dimensions")
    return result


def elements(box: Box) -> int:
    """How many values a box holds."""
    return prod(side.stop - side.start for side in box)


def _box(shape: Sequence[int], piece: Slice, title: str) -> Box:
    if len(piece) != len(shape):
        raise InputError(f"{title} has {len(shape)} dimensions, but a piece has {len(piece)}")
    box = []
    for (start, length), dim in zip(piece, shape, strict=True):
        end = dim if length == UNCUT else start + length
        if not 0 <= start <= end <= dim:
            raise InputError(f"{title} has a piece outside its shape {tuple(shape)}: {piece}")
        box.append(slice(start, end))
    return tuple(box)
