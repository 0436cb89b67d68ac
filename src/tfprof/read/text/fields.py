"""How each field of our messages is spelled in wire bytes, given a token of text.

    "tensorflow.NodeDef"  ──►  {b"name": Field(tag 0a, TEXT), b"attr": Field(tag 2a, MESSAGE → …)}

Only spellings that protobuf's parser surely reads the same way are taken; for others the answer
is Odd, as for values that do not fit their field.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import TYPE_CHECKING

from tfprof.read.text.strings import Odd
from tfprof.wire import schema
from tfprof.wire.scalar import BYTES as LENGTH_DELIMITED
from tfprof.wire.scalar import FIXED32, VARINT, encode_float, encode_tag, encode_varint

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.protobuf.descriptor import Descriptor, FieldDescriptor

# Above TOKEN are the strings.
MESSAGE, TOKEN, TEXT, BYTES = range(4)

# Values a field remembers the bytes of: enough for what repeats, little for what does not.
_REMEMBERED = 1 << 12

_DECIMAL = re.compile(rb"-?(?:0|[1-9][0-9]*)")
_HEX, _OCTAL = re.compile(rb"-?0[xX][0-9a-fA-F]+"), re.compile(rb"-?0[0-7]+")
_FLOAT = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|-?inf|-?nan")
_BOOLS = {b"true": 1, b"t": 1, b"1": 1, b"True": 1, b"false": 0, b"f": 0, b"0": 0, b"False": 0}


class Field:
    """One field of a message: what it holds and how that is written."""

    def __init__(self, descriptor: FieldDescriptor, alone: int) -> None:
        self.kind, wire_type, self._spell = _KINDS[descriptor.type]
        self.tag = encode_tag(descriptor.number, wire_type)
        self.alone = alone  # a bit that fields share if a message has only one of them; or 0
        self.name = descriptor.name.encode()
        self._message = descriptor.message_type
        self.spelled: dict[bytes, bytes] = {}

    @cached_property
    def fields(self) -> dict[bytes, Field]:
        """The fields of the message that this field holds."""
        return fields_of(self._message)

    def of_token(self, token: bytes) -> bytes:
        """The field with a number or word as its value; raises Odd."""
        if self.kind != TOKEN:
            raise Odd
        spelled = self.tag + self._spell(token)
        if len(self.spelled) < _REMEMBERED:
            self.spelled[token] = spelled
        return spelled


def _integer(low: int, high: int) -> Callable[[bytes], bytes]:
    """The speller of integers from *low* to *high*, both included."""

    def spell(token: bytes) -> bytes:
        if _DECIMAL.fullmatch(token):
            number = int(token) if len(token) < 32 else high + 1  # noqa: PLR2004
        elif _HEX.fullmatch(token):
            number = int(token, 16)
        elif _OCTAL.fullmatch(token):
            number = int(token, 8)
        else:
            raise Odd
        if not low <= number <= high:
            raise Odd
        return encode_varint(number)

    return spell


def _bool(token: bytes) -> bytes:
    if token not in _BOOLS:
        raise Odd
    return encode_varint(_BOOLS[token])


def _float(token: bytes) -> bytes:
    if not _FLOAT.fullmatch(token):
        raise Odd
    try:
        return encode_float(float(token))
    except OverflowError as problem:
        raise Odd from problem


def _never(_: bytes) -> bytes:
    raise Odd


# By the descriptor's type number: kind, wire type, how a token is spelled.
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

    # The descriptor's own word for "repeated" differs between runtimes; the message's does not.
    stated = DescriptorProto()
    descriptor.CopyToProto(stated)
    found = {}
    for each, said in zip(descriptor.fields, stated.field, strict=True):
        oneof = each.containing_oneof
        first = oneof.fields[0] if oneof else each
        repeated = said.label == said.LABEL_REPEATED
        found[each.name.encode()] = Field(each, 0 if repeated else 1 << first.index)
    return found


def fields_of_message(name: str) -> dict[bytes, Field]:
    """The fields of the message with this full name."""
    return fields_of(schema.message(name).DESCRIPTOR)
