"""Shapes of HLO text as ShapeProto.

    f32[2,3]{1,0}   f32[<=8,?]{1,0:T(8,128)S(1)}   (f32[], /*index=5*/(s32[2], token[]))   b(f32[4])

A shape occurs many times in a text, so each text of one is encoded once.
"""

from __future__ import annotations

import re
from typing import Final

from tfprof.read.hlo.text_syntax import HloTextError, integer, integers, quoted, without_comments
from tfprof.wire.scalar import BYTES, VARINT, encode_tag, encode_varint, fields

# PrimitiveType of XLA; a later type has no number here and is written as unknown.
TYPES: Final = {
    name.encode(): number
    for name, number in {
        "pred": 1, "s8": 2, "s16": 3, "s32": 4, "s64": 5, "u8": 6, "u16": 7, "u32": 8, "u64": 9,
        "f16": 10, "f32": 11, "f64": 12, "opaque": 14, "c64": 15, "bf16": 16, "token": 17,
        "c128": 18, "f8e5m2": 19, "f8e4m3fn": 20, "s4": 21, "u4": 22, "f8e4m3b11fnuz": 23,
        "f8e5m2fnuz": 24, "f8e4m3fnuz": 25, "s2": 26, "u2": 27, "f8e4m3": 28, "f8e3m4": 29,
        "s1": 30, "u1": 31, "f4e2m1fn": 32, "f8e8m0fnu": 33,
    }.items()
}  # fmt: skip
_TUPLE, _BUFFER = 13, 34
_INNER: Final = 4  # the field that holds the shapes in a tuple
_DEEPEST: Final = 64  # tuples in tuples; those of JAX have up to 3
_TOKEN: Final = re.compile(rb"\s*(?:(b?\()|(\))|,|([a-z]\w*)\[([^\]]*)\](?:\s*\{([^{}]*)\})?)\s*")
_MEMORY_SPACE: Final = re.compile(rb"S\(([0-9]+)\)")
_UNBOUNDED: Final = -1 << 63


# By field number: there are many fields, and few numbers.
_NUMBER_TAGS: Final = [encode_tag(number, VARINT) for number in range(128)]
_BYTES_TAGS: Final = [encode_tag(number, BYTES) for number in range(128)]


def encode_bytes(number: int, value: bytes) -> bytes:
    """The field *number* with a string, bytes or an encoded message as its value."""
    return _BYTES_TAGS[number] + encode_varint(len(value)) + value


def packed(number: int, values: list[int]) -> bytes:
    """The packed field *number*; b"" without values."""
    return encode_bytes(number, b"".join(map(encode_varint, values))) if values else b""


def scalar(number: int, value: int) -> bytes:
    """The field *number*; b"" for 0."""
    return _NUMBER_TAGS[number] + encode_varint(value) if value else b""


class Shapes:
    """Encodes shapes, each text once."""

    def __init__(self) -> None:
        self._known: dict[bytes, bytes] = {}

    def __getitem__(self, text: bytes) -> bytes:
        shape = self._known.get(text)
        if shape is None:
            shape = self._known[text] = encode_shape(text)
        return shape


def encode_shape(text: bytes) -> bytes:
    """The ShapeProto of *text*."""
    # The shapes of open tuples so far; at first those outside of any, which should become one.
    opened: list[tuple[int, list[bytes]]] = [(0, [])]
    text = without_comments(text)
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise HloTextError(f"expected a shape, found {quoted(text[at:])}")
        at = match.end()
        bracket, close, name, sizes, layout = match.groups()
        if bracket:
            opened.append((_BUFFER if bracket.startswith(b"b") else _TUPLE, []))
            if len(opened) > _DEEPEST:
                raise HloTextError("expected fewer tuples in tuples")
        elif close:
            kind, inner = opened.pop()
            if not opened:
                break
            content = b"".join([encode_bytes(_INNER, shape) for shape in inner])
            opened[-1][1].append(scalar(2, kind) + content)
        elif name:
            opened[-1][1].append(_array(name, sizes, layout))
    if len(opened) != 1 or len(opened[0][1]) != 1:
        raise HloTextError(f"expected one shape, found {quoted(text)}")
    return opened[0][1][0]


def _array(name: bytes, sizes: bytes, layout: bytes | None) -> bytes:
    parts = [part.strip() for part in sizes.split(b",")] if sizes.strip() else []
    dynamic = [part.startswith((b"<=", b"?")) for part in parts]
    dimensions = [_UNBOUNDED if part == b"?" else integer(part.lstrip(b"<=")) for part in parts]
    shape = scalar(2, TYPES.get(name, 0)) + packed(3, dimensions)
    if layout is not None:
        order, _, tiles = layout.partition(b":")
        space = _MEMORY_SPACE.search(tiles)
        inner = packed(1, integers(order)) + scalar(8, integer(space[1]) if space else 0)
        shape += encode_bytes(5, inner)
    return shape + packed(6, [int(each) for each in dynamic]) if any(dynamic) else shape


def tuple_elements(shape: bytes) -> list[bytes]:
    """The ShapeProtos in the ShapeProto of a tuple."""
    return [bytes(value) for number, _, value in fields(memoryview(shape)) if number == _INNER]
