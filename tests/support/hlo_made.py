"""HLO protos put together by hand: instructions, computations and modules, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostile_parts import number, part, varint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["computation", "instruction", "module", "number", "packed", "parameter", "proto"]

F32: Final = 11


def packed(field: int, values: Iterable[int]) -> bytes:
    return part(field, *(varint(value & (1 << 64) - 1) for value in values))


def shape(dims: Sequence[int] = (2, 3), kind: int = F32) -> bytes:
    return number(2, kind) + packed(3, dims)


def instruction(  # noqa: PLR0913 - an instruction has that many parts
    name: str, opcode: str, at: int, operands: Sequence[int] = (), *more: bytes,
    calls: Sequence[int] = (), op_name: str = "", dims: Sequence[int] = (2, 3),
) -> bytes:  # fmt: skip
    """An instruction with this id; *more* are fields in wire format."""
    parts = [
        part(1, name.encode()),
        part(2, opcode.encode()),
        part(3, shape(dims)),
        part(7, part(2, op_name.encode())) if op_name else b"",
        number(35, at),
        packed(36, operands) if operands else b"",
        packed(38, calls) if calls else b"",
    ]
    return b"".join([*parts, *more])


def parameter(name: str, at: int, place: int = 0, op_name: str = "") -> bytes:
    return instruction(name, "parameter", at, (), number(9, place), op_name=op_name)


def computation(name: str, at: int, root: int, *instructions: bytes) -> bytes:
    body = [part(2, each) for each in instructions]
    return b"".join([part(1, name.encode()), *body, number(5, at), number(6, root)])


def module(name: str, entry: int, *computations: bytes, more: bytes = b"") -> bytes:
    """A bare HloModuleProto."""
    inside = [part(3, each) for each in computations]
    return b"".join([part(1, name.encode()), part(2, b"main"), *inside, number(6, entry), more])


def proto(*parts: bytes) -> bytes:
    """An HloProto around a module."""
    return part(1, *parts)
