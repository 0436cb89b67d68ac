"""Small protobuf messages without protobuf: one value, two spellings.

A message is a tuple of (number, name, value) triples. `wire` spells it as bytes on disk, `text` as
protobuf prints it; so the binary and the text form of a generated graph cannot drift apart.

    ((6, "type", FLOAT),)      wire → 30 01          text → type: DT_FLOAT
"""

from __future__ import annotations

import struct
from typing import NamedTuple, TypeAlias


class Enum(NamedTuple):
    """An enum value: written as its number, printed as its name."""

    name: str
    number: int


class Packed(NamedTuple):
    """Repeated numbers: written as one field, printed as a line each."""

    values: tuple[int, ...] | tuple[float, ...]


Value: TypeAlias = "int | bytes | Enum | Packed | Message"
Message: TypeAlias = "tuple[tuple[int, str, Value], ...]"

_SMALL = 1 << 14
_LOW = 0x7F  # the seven bits that a byte of a varint carries
_PLAIN = frozenset(map(chr, range(32, 127)))
_ESCAPED = {9: r"\t", 10: r"\n", 13: r"\r", 34: r"\"", 39: r"\'", 92: r"\\"}


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > _LOW:
        out.append(value & _LOW | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_VARINTS = [_varint(value) for value in range(_SMALL)]


def varint(value: int) -> bytes:
    """The varint of a signed or unsigned 64-bit integer; negatives take ten bytes."""
    return _VARINTS[value] if 0 <= value < _SMALL else _varint(value)


def block(tag: bytes, payload: bytes) -> bytes:
    """A length-delimited field whose tag is given as bytes."""
    return tag + varint(len(payload)) + payload


def wire(message: Message) -> bytes:
    """The message as protobuf serialises it: the fields in the order given."""
    return b"".join(_wire_field(number, value) for number, _, value in message)


def _wire_field(number: int, value: Value) -> bytes:
    if isinstance(value, Enum):
        return varint(number << 3) + varint(value.number)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, Packed):
        payload = b"".join(
            struct.pack("<f", each) if isinstance(each, float) else varint(each)
            for each in value.values
        )
    else:
        payload = value if isinstance(value, bytes) else wire(value)
    return block(varint(number << 3 | 2), payload)


def text(message: Message, indent: int = 0) -> str:
    """The message as protobuf's text format prints it."""
    return "".join(_text_field(name, value, " " * indent) for _, name, value in message)


def _text_field(name: str, value: Value, margin: str) -> str:
    if isinstance(value, Enum):
        return f"{margin}{name}: {value.name}\n"
    if isinstance(value, bool):
        return f"{margin}{name}: {'true' if value else 'false'}\n"
    if isinstance(value, int):
        return f"{margin}{name}: {value}\n"
    if isinstance(value, Packed):
        return "".join(f"{margin}{name}: {each}\n" for each in value.values)
    if isinstance(value, bytes):
        return f'{margin}{name}: "{escape(value)}"\n'
    return f"{margin}{name} {{\n{text(value, len(margin) + 2)}{margin}}}\n"


def escape(value: bytes) -> str:
    """The bytes inside the quotes of a text-format string."""
    return "".join(
        _ESCAPED.get(byte) or (chr(byte) if chr(byte) in _PLAIN else f"\\{byte:03o}")
        for byte in value
    )
