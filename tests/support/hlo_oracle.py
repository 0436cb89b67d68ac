"""A second reader of HLO for tests: it walks a message and adds up products and convolutions.

It shares nothing with tfprof; `hlo_wire` reads fields. Field numbers are those that protobuf files
of XLA have had since 2017; fields that no test needs are skipped.
"""

from __future__ import annotations

import json
import re
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from hlo_wire import every, fields, last, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def messages(data: bytes, number: int) -> list[bytes]:
    return every(fields(data), number)


def text(data: bytes, number: int) -> str:
    return str(last(fields(data), number, b"").decode())


def integers(data: bytes, number: int) -> list[int]:
    """A repeated number, packed or not, as signed."""
    return numbers(fields(data), number)


def integer(data: bytes, number: int, default: int = 0) -> int:
    return (integers(data, number) or [default])[-1]


class Instruction(NamedTuple):
    """An instruction; *data* is its message."""

    name: str
    opcode: str
    shape: tuple[int, ...]  # () of a tuple, too
    scope: str  # JAX's name stack
    operands: list[int]
    calls: list[int]
    data: bytes

    @property
    def trips(self) -> int | None:
        """How often a loop runs, if XLA found out."""
        config = text(self.data, 43)
        if not config.startswith("{"):
            return None
        count = json.loads(config).get("known_trip_count")
        return None if count is None else int(count["n"])


class Module(NamedTuple):
    """The instructions of a module by id, and the ids in each computation."""

    instructions: Mapping[int, Instruction]
    computations: Mapping[int, list[int]]
    entry: int

    def opcodes(self) -> set[str]:
        return {one.opcode for one in self.instructions.values()}

    def parameters(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the arguments of the program by JAX's names for them."""
        entry = (self.instructions[number] for number in self.computations[self.entry])
        return {one.scope: one.shape for one in entry if one.opcode == "parameter"}


def module(data: bytes) -> Module:
    """A module from the bytes of an HloProto or an HloModuleProto."""
    first = next(value for number, value in fields(data) if number == 1)
    assert isinstance(first, bytes)
    body = data if re.fullmatch(rb"[\w.-]+", first) else first
    instructions: dict[int, Instruction] = {}
    computations: dict[int, list[int]] = {}
    for computation in messages(body, 3):
        here = computations[integer(computation, 5)] = []
        for one in messages(computation, 2):
            here.append(integer(one, 35))
            instructions[here[-1]] = _instruction(one)
    return Module(instructions, computations, integer(body, 6))


def _instruction(data: bytes) -> Instruction:
    shape = messages(data, 3)[0]
    metadata = b"".join(messages(data, 7))
    return Instruction(
        text(data, 1),
        text(data, 2),
        tuple(integers(shape, 3)),
        text(metadata, 2),
        integers(data, 36),
        integers(data, 38),
        data,
    )


def product(one: Instruction, operands: list[tuple[int, ...]]) -> int:
    """Two float operations for every element of the output and of what is contracted."""
    numbers = messages(one.data, 30)[0]
    return 2 * prod(one.shape) * prod(operands[0][at] for at in integers(numbers, 1))


def convolution(one: Instruction, operands: list[tuple[int, ...]]) -> int:
    """Likewise; zeros that dilate the input are not multiplied, zeros around it are.

    But no tap has more products than there are numbers for it in the input.
    """
    dilation = prod(integer(size, 6, 1) for size in messages(messages(one.data, 15)[0], 1))
    kernel = operands[1]
    features = kernel[integer(messages(one.data, 16)[0], 4)]
    total = 2 * prod(one.shape) * prod(kernel)
    assert total % (features * dilation) == 0
    groups = prod(integer(one.data, number, 1) for number in (50, 58))
    same_feature = kernel[integer(messages(one.data, 16)[0], 3)]
    most = 2 * prod(operands[0]) * prod(kernel) // (same_feature * groups)
    return min(total // (features * dilation), most)


CONTRACTIONS = {"dot": product, "convolution": convolution}


def contractions(
    data: bytes, counts: Callable[[Instruction], bool] = lambda _: True, unknown: int = 1
) -> int:
    """The float operations of products and convolutions in one run of a program.

    A loop runs as often as XLA found, else *unknown* times; of the branches of a conditional, the
    most expensive one runs. *counts* chooses instructions.
    """
    read = module(data)

    def cost(one: Instruction) -> int:
        if (rule := CONTRACTIONS.get(one.opcode)) is None or not counts(one):
            return 0
        return rule(one, [read.instructions[at].shape for at in one.operands])

    return _in_one_run(read, read.entry, cost, unknown)


def elements(data: bytes, opcode: str) -> int:
    """The elements that all instructions with this opcode make in one run, loops unrolled."""
    read = module(data)
    return _in_one_run(read, read.entry, lambda one: prod(one.shape) * (one.opcode == opcode))


def _in_one_run(
    read: Module, computation: int, cost: Callable[[Instruction], int], unknown: int = 1
) -> int:
    """What the instructions of a computation cost, with those that they call."""
    found = 0
    for number in read.computations[computation]:
        one = read.instructions[number]
        inner = [_in_one_run(read, at, cost, unknown) for at in one.calls]
        if one.opcode == "while":
            found += sum(inner) * (unknown if one.trips is None else one.trips)
        else:
            found += max(inner) if one.opcode == "conditional" else sum(inner)
        found += cost(one)
    return found
