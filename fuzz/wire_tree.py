"""A message of any type as a tree that can be changed, and back to bytes.

    0a 03 08 96 01  ──►  [Node(1, BYTES, [Node(1, VARINT, 150)])]  ──►  0a 03 08 96 01

Without a schema, bytes that read as a message are taken for one unless they are plain text. That
may be wrong, and is no harm: what comes back are the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfprof.wire.decode import BYTES, FIXED32, FIXED64, VARINT, WireError
from tfprof.wire.scalar import decode_varint

if TYPE_CHECKING:
    from collections.abc import Iterator

START_GROUP, END_GROUP = 3, 4
_WIDTH = {FIXED64: 8, FIXED32: 4}
_DEEPEST = 20
_ALL_BITS = 2**64 - 1


@dataclass
class Node:
    """A field: a varint as a number, a message as its fields, anything else as bytes."""

    number: int
    wire_type: int
    value: int | bytes | list[Node]
    lie: int = 0  # how much longer than it is its length says that it is


def parse(data: bytes, depth: int = 0) -> list[Node] | None:
    """The fields of a message; None where *data* is none."""
    nodes: list[Node] = []
    at, view = 0, memoryview(data)
    try:
        while at < len(data):
            tag, at = decode_varint(view, at, len(data))
            node = Node(tag >> 3, tag & 7, b"")
            if not 0 < node.number < 1 << 29:
                return None
            if node.wire_type == VARINT:
                node.value, at = decode_varint(view, at, len(data))
            elif node.wire_type == BYTES:
                size, at = decode_varint(view, at, len(data))
                node.value, at = data[at : at + size], at + size
            elif node.wire_type in _WIDTH:
                size = _WIDTH[node.wire_type]
                node.value, at = data[at : at + size], at + size
            elif node.wire_type not in (START_GROUP, END_GROUP):
                return None
            nodes.append(node)
    except WireError:
        return None
    if at > len(data):
        return None
    for node in nodes:
        node.value = _inside(node, depth)
    return nodes


def _inside(node: Node, depth: int) -> int | bytes | list[Node]:
    """The value of a field, as a tree where it reads as a message."""
    value = node.value
    if node.wire_type != BYTES or not isinstance(value, bytes) or not value:
        return value
    if depth == _DEEPEST or all(32 <= byte < 127 for byte in value):  # plain text
        return value
    return parse(value, depth + 1) or value


def serialised(nodes: list[Node]) -> bytes:
    """The bytes of these fields."""
    return b"".join(map(_field, nodes))


def _field(node: Node) -> bytes:
    tag = varint(node.number << 3 | node.wire_type)
    value = node.value
    if isinstance(value, int):
        return tag + varint(value)
    content = serialised(value) if isinstance(value, list) else value
    if node.wire_type != BYTES:
        return tag + content
    return tag + varint(max(len(content) + node.lie, 0)) + content


def varint(number: int) -> bytes:
    """A number as protobuf writes it; a negative one takes ten bytes."""
    number &= _ALL_BITS
    groups = []
    while number > 127:  # what seven bits hold
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


def lists(nodes: list[Node]) -> Iterator[list[Node]]:
    """Every list of fields in the tree, the outermost first."""
    yield nodes
    for node in nodes:
        if isinstance(node.value, list):
            yield from lists(node.value)


def flat(nodes: list[Node]) -> list[Node]:
    """Every field of the tree."""
    return [node for fields in lists(nodes) for node in fields]
