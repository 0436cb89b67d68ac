"""One number in wire format, decoded and encoded.

    300  =  0b10_0101100   ⇄   AC 02      a varint: seven bits per byte, lowest first;
                                          all bytes but the last have their highest bit set

A field begins with a tag, the varint of its number and wire type. No other
module decodes or encodes single varints; `varint_columns` handles many at once.
"""

from __future__ import annotations

import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
WIDTH = {FIXED64: 8, FIXED32: 4}

MOST_BYTES = 10
ONE_BYTE = 127
LARGEST_TAG = 0xFFFFFFFF
_UINT64 = (1 << 64) - 1
_SMALL = [bytes([number]) for number in range(ONE_BYTE + 1)]

TRUNCATED = "truncated varint"
TOO_LONG = "varint of more than 10 bytes"


class WireError(ValueError):
    """The bytes are not a protobuf message: what is wrong, and at which byte."""

    def __init__(self, offset: int, problem: str) -> None:
        super().__init__(f"{problem} at byte {offset}")
        self.offset = offset


def decode_varint(view: memoryview, at: int, stop: int) -> tuple[int, int]:
    """(the uint64 at *at*, the position after it); raises WireError."""
    if at < stop and view[at] <= ONE_BYTE:
        return view[at], at + 1
    value = shift = 0
    for position in range(at, min(stop, at + MOST_BYTES)):
        byte = view[position]
        value |= (byte & ONE_BYTE) << shift
        if byte <= ONE_BYTE:
            return value & _UINT64, position + 1
        shift += 7
    raise WireError(at, TOO_LONG if stop - at >= MOST_BYTES else TRUNCATED)


def signed(number: int) -> int:
    """A uint64 as the int64 with the same bits."""
    return number - (1 << 64) if number >= 1 << 63 else number


def split_tag(tag: int) -> tuple[int, int]:
    """(field number, wire type) of a tag."""
    return tag >> 3, tag & 7


def encode_varint(number: int) -> bytes:
    """The varint of a uint64 or int64."""
    if 0 <= number <= ONE_BYTE:
        return _SMALL[number]
    groups = bytearray()
    number &= _UINT64
    while number > ONE_BYTE:
        groups.append(number & ONE_BYTE | ONE_BYTE + 1)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def encode_tag(number: int, wire_type: int) -> bytes:
    """The tag of field *number*."""
    return encode_varint(number << 3 | wire_type)


def encode_bytes(number: int, value: bytes) -> bytes:
    """The field *number* with a string, bytes or an encoded message as its value."""
    return encode_tag(number, BYTES) + encode_varint(len(value)) + value


def encode_float(number: float) -> bytes:
    """The FIXED32 value of a float; raises OverflowError."""
    return struct.pack("<f", number)
