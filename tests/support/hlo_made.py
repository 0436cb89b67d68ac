"""HLO protos put together by hand: instructions, computations and modules, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.wire.scalar import encode_bytes, encode_tag, encode_varint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

F32: Final = 11


def number(field: int, value: int) -> bytes:
    return encode_tag(field, 0) + encode_varint(value & (1 << 64) - 1)


def packed(field: int, values: Iterable[int]) -> bytes:
    return encode_bytes(field, b"".join(encode_varint(value & (1 << 64) - 1) for value in values))


def shape(dims: Sequence[int] = (2, 3), kind: int = F32) -> bytes:
    return number(2, kind) + packed(3, dims)


def instruction(  # noqa: PLR0913 - an instruction has that many parts
    name: str, opcode: str, at: int, operands: Sequence[int] = (), *more: bytes,
    calls: Sequence[int] = (), op_name: str = "", dims: Sequence[int] = (2, 3),
) -> bytes:  # fmt: skip
    """An instruction with this id; *more* are fields in wire format."""
    parts = [
        encode_bytes(1, name.encode()),
        encode_bytes(2, opcode.encode()),
        encode_bytes(3, shape(dims)),
        encode_bytes(7, encode_bytes(2, op_name.encode())) if op_name else b"",
        number(35, at),
        packed(36, operands) if operands else b"",
        packed(38, calls) if calls else b"",
    ]
    return b"".join([*parts, *more])


def parameter(name: str, at: int, place: int = 0, op_name: str = "") -> bytes:
    return instruction(name, "parameter", at, (), number(9, place), op_name=op_name)


def computation(name: str, at: int, root: int, *instructions: bytes) -> bytes:
    body = b"".join(encode_bytes(2, each) for each in instructions)
    return encode_bytes(1, name.encode()) + body + number(5, at) + number(6, root)


def module(name: str, entry: int, *computations: bytes, more: bytes = b"") -> bytes:
    """A bare HloModuleProto."""
    inside = b"".join(encode_bytes(3, each) for each in computations)
    head = encode_bytes(1, name.encode()) + encode_bytes(2, b"main")
    return head + inside + number(6, entry) + more


def proto(*parts: bytes) -> bytes:
    """An HloProto around a module."""
    return encode_bytes(1, b"".join(parts))
