"""The fields of a message in text: their names, and how protobuf encodes their values.

    dtype: DT_FLOAT          08 01             an enum, by its word or number; 0 if it is unknown
    int_val: 1 int_val: 300  3a 03 01 ac 02    repeated numbers are packed
    size: 0                                    a default is not written, but a choice is: b: false

A value that is not spelled as usual raises Unhandled.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import TYPE_CHECKING

from tfprof.read.text.syntax import Unhandled, is_dtype
from tfprof.wire import scalar
from tfprof.wire.scalar import BYTES as LENGTH_DELIMITED
from tfprof.wire.scalar import FIXED32, FIXED64, VARINT, encode_tag, encode_varint

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

# Kinds above TOKEN are strings.
MESSAGE, TOKEN, TEXT, BYTES = range(4)
# Encoded values that a field caches.
_MOST_CACHED = 1 << 12
_SHORT = 128
_DECIMAL = re.compile(rb"-?(?:0|[1-9][0-9]*)")
_HEX, _OCTAL = re.compile(rb"-?0[xX][0-9a-fA-F]+"), re.compile(rb"-?0[0-7]+")
_FLOAT = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|-?inf|-?nan")
_BOOLS = {b"true": 1, b"t": 1, b"1": 1, b"True": 1, b"false": 0, b"f": 0, b"0": 0, b"False": 0}


class Field:
    """One field of a message: its kind and how its values are encoded."""

    def __init__(self, descriptor: FieldDescriptor, single: int) -> None:
        self.kind, wire_type, self._encode = _KINDS[descriptor.type]
        if descriptor.enum_type is not None:
            self._encode = _enum(descriptor.enum_type)
        # One bit if a message can have it only once; fields of a oneof share it. Else 0.
        self.single = single
        self.is_packed = self.kind == TOKEN and not single
        in_map = _is_map_entry(descriptor.containing_type)
        always = self.kind == MESSAGE or descriptor.containing_oneof is not None
        # Whether it is written even if it holds its default.
        self._is_explicit = not single or in_map or always
        self._tag = encode_tag(descriptor.number, LENGTH_DELIMITED if self.is_packed else wire_type)
        self.name = descriptor.name.encode()
        self._message = descriptor.message_type
        self.is_map = _is_map_entry(self._message)
        self.encoded: dict[bytes, bytes] = {}

    @cached_property
    def fields(self) -> dict[bytes, Field]:
        """The fields of the message that this field holds."""
        return fields_of(self._message)

    @cached_property
    def _heads(self) -> list[bytes]:
        """Tag and length of short values."""
        heads = [self._tag + encode_varint(size) for size in range(_SHORT)]
        return heads if self._is_explicit else [b"", *heads[1:]]

    def delimited(self, value: bytes) -> bytes:
        """The field with a string, a message or packed numbers as its value."""
        size = len(value)
        return (self._heads[size] if size < _SHORT else self._tag + encode_varint(size)) + value

    def of_token(self, token: bytes) -> bytes:
        """The field with a number or word as its value; raises Unhandled."""
        if self.kind != TOKEN:
            raise Unhandled
        value = self._encode(token)
        encoded = value if self.is_packed else self._tag + value
        if not (self._is_explicit or any(value)):
            encoded = b""
        if len(self.encoded) < _MOST_CACHED:
            self.encoded[token] = encoded
        return encoded


def _is_map_entry(message: Descriptor | None) -> bool:
    return message is not None and message.GetOptions().map_entry


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


def _enum(descriptor: EnumDescriptor) -> Callable[[bytes], bytes]:
    """The encoder of words of an enum, or of numbers."""
    numbers = {name.encode(): value.number for name, value in descriptor.values_by_name.items()}

    def encode(token: bytes) -> bytes:
        if token in numbers or is_dtype(token):
            return encode_varint(numbers.get(token, 0))
        if not _DECIMAL.fullmatch(token):
            raise Unhandled
        return _int32(token)

    return encode


def _real(encode: Callable[[float], bytes]) -> Callable[[bytes], bytes]:
    def encode_token(token: bytes) -> bytes:
        if not _FLOAT.fullmatch(token):
            raise Unhandled
        try:
            return encode(float(token))
        except OverflowError as problem:
            raise Unhandled from problem

    return encode_token


def _never(_: bytes) -> bytes:
    raise Unhandled


_int32 = _integer(-1 << 31, (1 << 31) - 1)
# By the descriptor's type number: kind, wire type, encoder of a token.
_KINDS: dict[int, tuple[int, int, Callable[[bytes], bytes]]] = {
    1: (TOKEN, FIXED64, _real(scalar.encode_double)),
    2: (TOKEN, FIXED32, _real(scalar.encode_float)),
    3: (TOKEN, VARINT, _integer(-1 << 63, (1 << 63) - 1)),
    4: (TOKEN, VARINT, _integer(0, (1 << 64) - 1)),
    5: (TOKEN, VARINT, _int32),
    8: (TOKEN, VARINT, _bool),
    9: (TEXT, LENGTH_DELIMITED, _never),
    11: (MESSAGE, LENGTH_DELIMITED, _never),
    12: (BYTES, LENGTH_DELIMITED, _never),
    13: (TOKEN, VARINT, _integer(0, (1 << 32) - 1)),
    14: (TOKEN, VARINT, _never),  # an enum has an encoder of its own
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
