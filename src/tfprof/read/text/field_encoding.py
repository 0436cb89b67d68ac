"""Encodes tokens of protobuf text as fields in wire format.

    "tensorflow.NodeDef"  ──►  {b"name": Field(tag 0a, TEXT), b"attr": Field(tag 2a, MESSAGE → …)}

Only spellings that protobuf's parser certainly reads the same way are accepted; others raise
Unhandled, and so do values that do not fit their field.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import TYPE_CHECKING

from tfprof.read.text.syntax import Unhandled
from tfprof.wire import schema
from tfprof.wire.scalar import BYTES as LENGTH_DELIMITED
from tfprof.wire.scalar import FIXED32, VARINT, encode_float, encode_tag, encode_varint

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.protobuf.descriptor import Descriptor, FieldDescriptor

# Kinds above TOKEN are strings.
MESSAGE, TOKEN, TEXT, BYTES = range(4)

# Encoded values that a field caches.
_MOST_CACHED = 1 << 12

_DECIMAL = re.compile(rb"-?(?:0|[1-9][0-9]*)")
_HEX, _OCTAL = re.compile(rb"-?0[xX][0-9a-fA-F]+"), re.compile(rb"-?0[0-7]+")
_FLOAT = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|-?inf|-?nan")
_BOOLS = {b"true": 1, b"t": 1, b"1": 1, b"True": 1, b"false": 0, b"f": 0, b"0": 0, b"False": 0}


class Field:
    """One field of a message: its kind and how its values are encoded."""

    def __init__(self, descriptor: FieldDescriptor, single: int) -> None:
        self.kind, wire_type, self._encode = _KINDS[descriptor.type]
        self.tag = encode_tag(descriptor.number, wire_type)
        # One bit if a message can have it only once; fields of a oneof share it. Else 0.
        self.single = single
        self.name = descriptor.name.encode()
        self._message = descriptor.message_type
        self.encoded: dict[bytes, bytes] = {}

    @cached_property
    def fields(self) -> dict[bytes, Field]:
        """The fields of the message that this field holds."""
        return fields_of(self._message)

    def of_token(self, token: bytes) -> bytes:
        """The field with a number or word as its value; raises Unhandled."""
        if self.kind != TOKEN:
            raise Unhandled
        encoded = self.tag + self._encode(token)
        if len(self.encoded) < _MOST_CACHED:
            self.encoded[token] = encoded
        return encoded


def _integer(low: int, high: int) -> Callable[[bytes], bytes]:
    """The encoder of integers from *low* to *high*, inclusive."""

    def encode(token: bytes) -> bytes:
        if _DECIMAL.fullmatch(token):
            number = int(token) if len(token) < 32 else high + 1  # noqa: PLR2004
        elif _HEX.fullmatch(token):
            number = int(token, 16)
        elif _OCTAL.fullmatch(token):
            number = int(token, 8)
        else:
            raise Unhandled
        if not low <= number <= high:
            raise Unhandled
        return encode_varint(number)

    return encode


def _bool(token: bytes) -> bytes:
    if token not in _BOOLS:
        raise Unhandled
    return encode_varint(_BOOLS[token])


def _float(token: bytes) -> bytes:
    if not _FLOAT.fullmatch(token):
        raise Unhandled
    try:
        return encode_float(float(token))
    except OverflowError as problem:
        raise Unhandled from problem


def _never(_: bytes) -> bytes:
    raise Unhandled


# By the descriptor's type number: kind, wire type, encoder of a token.
_KINDS: dict[int, tuple[int, int, Callable[[bytes], bytes]]] = {
    2: (TOKEN, FIXED32, _float),
    3: (TOKEN, VARINT, _integer(-1 << 63, (1 << 63) - 1)),
    4: (TOKEN, VARINT, _integer(0, (1 << 64) - 1)),
    5: (TOKEN, VARINT, _integer(-1 << 31, (1 << 31) - 1)),
    8: (TOKEN, VARINT, _bool),
    9: (TEXT, LENGTH_DELIMITED, _never),
    11: (MESSAGE, LENGTH_DELIMITED, _never),
    12: (BYTES, LENGTH_DELIMITED, _never),
    13: (TOKEN, VARINT, _integer(0, (1 << 32) - 1)),
}


@cache
def fields_of(descriptor: Descriptor) -> dict[bytes, Field]:
    """The fields of a message by name."""
    from google.protobuf.descriptor_pb2 import DescriptorProto  # noqa: PLC0415 - as `schema` does

    # The descriptor's attribute for "repeated" differs between runtimes; the proto's does not.
    copy = DescriptorProto()
    descriptor.CopyToProto(copy)
    by_name = {}
    for each, proto in zip(descriptor.fields, copy.field, strict=True):
        oneof = each.containing_oneof
        first = oneof.fields[0] if oneof else each
        repeated = proto.label == proto.LABEL_REPEATED
        by_name[each.name.encode()] = Field(each, 0 if repeated else 1 << first.index)
    return by_name


def fields_of_message(name: str) -> dict[bytes, Field]:
    """The fields of the message with this full name."""
    return fields_of(schema.message(name).DESCRIPTOR)
