"""Wire bytes for hostile files, put together by hand, and small sound files to go with them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tfprof.wire.scalar import encode_varint

if TYPE_CHECKING:
    from collections.abc import Iterable

varint: Final = lru_cache(1 << 17)(encode_varint)  # rows have millions of them

INT64_MAX: Final = (1 << 63) - 1
INT64_MIN: Final = -1 << 63
# What no length can be.
LENGTHS: Final = {
    "2^31": varint(1 << 31),
    "2^63-1": varint(INT64_MAX),
    "2^64-1": varint((1 << 64) - 1),
    "of eleven bytes": b"\xff" * 10 + b"\x01",
}


def number(field: int, value: int) -> bytes:
    """A field with a number; a negative one takes ten bytes."""
    return varint(field << 3) + varint(value & (1 << 64) - 1)


def part(field: int, *content: bytes) -> bytes:
    """A field with a text or message."""
    inside = b"".join(content)
    return varint(field << 3 | 2) + varint(len(inside)) + inside


def nested(depth: int, *fields: int, core: bytes = b"") -> bytes:
    """*core* in messages within messages, *depth* of them, by these fields in turn from outside."""
    pieces, size = [core], len(core)
    for level in reversed(range(depth)):
        head = varint(fields[level % len(fields)] << 3 | 2) + varint(size)
        pieces.append(head)
        size += len(head)
    return b"".join(reversed(pieces))


# --- graphs --------------------------------------------------------------------------------


def node(name: bytes, op: bytes = b"NoOp", *more: bytes, inputs: Iterable[bytes] = ()) -> bytes:
    """A NodeDef of a GraphDef."""
    return part(1, part(1, name), part(2, op), *(part(3, one) for one in inputs), *more)


def attribute(key: bytes, *value: bytes) -> bytes:
    """An entry of a NodeDef's attributes."""
    return part(5, part(1, key), part(2, *value))


def shape(*dims: int) -> bytes:
    """The content of a TensorShapeProto."""
    return b"".join(part(2, number(1, dim)) for dim in dims)


def shape_attribute(*dims: int) -> bytes:
    return attribute(b"shape", part(7, shape(*dims)))


def output_shapes(*shapes: bytes) -> bytes:
    return attribute(b"_output_shapes", part(1, *(part(7, one) for one in shapes)))


GRAPH: Final = (
    node(b"w", b"VariableV2", shape_attribute(3, 5), output_shapes(shape(3, 5)))
    + node(b"x", b"Placeholder", shape_attribute(-1, 3), output_shapes(shape(-1, 3)))
    + node(b"s/mul", b"MatMul", output_shapes(shape(-1, 5)), inputs=(b"x", b"w"))
)
META_GRAPH: Final = part(1, part(4, b"serve")) + part(2, GRAPH)


# --- runs ----------------------------------------------------------------------------------

CPU: Final = b"/job:localhost/replica:0/task:0/device:CPU:0"


def stat(name: bytes, start: int, micros: int, *more: bytes) -> bytes:
    """A NodeExecStats of a device."""
    return part(2, part(1, name), number(2, start), number(4, micros), *more)


def device(name: bytes, *stats: bytes) -> bytes:
    return part(1, part(1, name), *stats)


def run(*devices: bytes) -> bytes:
    """A RunMetadata."""
    return part(1, *devices)


def memory(allocator: bytes, total: int, peak: int, live: int, in_use: int) -> bytes:
    """What an allocator says of an execution."""
    numbers = (total, peak, live, in_use)
    return part(6, part(1, allocator), *(number(2 + at, one) for at, one in enumerate(numbers)))


def output(slot: int, requested: int, allocated: int, *dims: int) -> bytes:
    """An output that was allocated."""
    allocation = part(4, number(1, requested), number(2, allocated), part(3, b"cpu"))
    return part(7, number(1, slot), part(3, number(1, 1), part(2, shape(*dims)), allocation))


RUN: Final = run(device(CPU, stat(b"w", 100, 5, memory(b"cpu", 60, 60, 60, 0)),
                        stat(b"s/mul", 110, 20, output(0, 40, 64, 2, 5))))  # fmt: skip


# --- op logs -------------------------------------------------------------------------------


def frame(file: int, line: int, function: int, source: int = 0, function_line: int = 1) -> bytes:
    """A trace of a code_def."""
    numbers = ((2, line), (5, function_line), (6, file), (7, function), (8, source))
    return part(1, *(number(field, value) for field, value in numbers))


def entry(name: bytes, *frames: bytes, float_ops: int = 0, types: tuple[bytes, ...] = ()) -> bytes:
    """An entry of an op log."""
    inside = [part(1, name), *(part(3, one) for one in types)]
    if float_ops:
        inside.append(number(2, float_ops))
    if frames:
        inside.append(part(4, *frames))
    return part(1, *inside)


def text(key: int, value: bytes) -> bytes:
    """An entry of id_to_string."""
    return part(2, number(1, key), part(2, value))


LOG: Final = (
    entry(b"s/mul", frame(1, 7, 2, 3), float_ops=150, types=(b"mine",))
    + entry(b"w", frame(1, 8, 2, 3))
    + text(1, b"/home/model.py")
    + text(2, b"build")
    + text(3, b"y = x @ w")
)


# --- saved profiles ------------------------------------------------------------------------


def saved_node(key: int, name: bytes, *more: bytes, op: bytes = b"NoOp") -> bytes:
    """A node of a ProfileProto under its id."""
    return part(1, number(1, key), part(2, part(1, name), part(9, op), number(13, key), *more))


def saved_input(slot: int, source: int) -> bytes:
    return part(2, number(1, slot), number(2, source))


def record(step: int, *inside: bytes) -> bytes:
    """What a saved node did in a step."""
    return part(12, number(1, step), part(2, *inside))


def times(field: int, name: bytes, *pairs: tuple[int, ...]) -> bytes:
    """Executions on a device: field 4 is of accelerators, 5 of cpus."""
    listed = [part(1, part(1, *(varint(one & (1 << 64) - 1) for one in pair))) for pair in pairs]
    return part(field, part(1, name), part(2, *listed))


PROFILE: Final = (
    saved_node(0, b"w", part(4, b"\x03\x05"), record(0, times(5, b"/cpu:0", (100, 5))))
    + saved_node(1, b"s/mul", saved_input(0, 0), part(10, frame(1, 7, 2)), op=b"MatMul")
    + number(2, 1)
    + part(3, b"\0")
    + part(4, number(1, 1), part(2, b"/home/model.py"))
    + part(4, number(1, 2), part(2, b"build"))
)
