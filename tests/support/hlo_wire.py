"""Reads HLO protos by a plain loop over the wire format: what an instruction is, by field name.

Field numbers are those on the wire of protos that JAX 0.10.2 writes. Written for tests alone: it
shares no code with the reader.
"""

from __future__ import annotations

import json
from typing import Any, Final

Fields = list[tuple[int, Any]]


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data: bytes) -> Fields:
    at = 0
    found: Fields = []
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
            found.append((tag >> 3, value))
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                assert kind == 2, kind
                size, at = varint(data, at)
            assert at + size <= len(data)
            found.append((tag >> 3, data[at : at + size]))
            at += size
    return found


def signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


def last(message: Fields, number: int, default: Any = 0) -> Any:
    return next((value for field, value in reversed(message) if field == number), default)


def every(message: Fields, number: int) -> list[Any]:
    return [value for field, value in message if field == number]


def numbers(message: Fields, number: int) -> list[int]:
    """A repeated number, packed or not."""
    values = []
    for value in every(message, number):
        if isinstance(value, int):
            values.append(signed(value))
            continue
        at = 0
        while at < len(value):
            each, at = varint(value, at)
            values.append(signed(each))
    return values


def shape(data: bytes) -> Any:
    """(type, sizes, which are dynamic, layout and memory space); a list for a tuple."""
    message = fields(data)
    if inner := every(message, 4) or ([None] if last(message, 2) == 13 else []):
        return [last(message, 2), *(shape(each) for each in inner if each is not None)]
    layout = fields(last(message, 5, b""))
    sizes = numbers(message, 3)
    dynamic = numbers(message, 6) or [0] * len(sizes)
    return last(message, 2), sizes, dynamic, numbers(layout, 1), last(layout, 8)


def _dot(data: bytes) -> list[list[int]]:
    return [numbers(fields(data), number) for number in (1, 2, 3, 4)]


def _ragged(data: bytes) -> list[Any]:
    message = fields(data)
    return [_dot(last(message, 1, b"")), numbers(message, 2), numbers(message, 3)]


def _convolution(data: bytes) -> list[Any]:
    message = fields(data)
    single = [last(message, number) for number in (3, 4, 7, 8, 9, 10)]
    return [*single, *(numbers(message, number) for number in (6, 11, 12))]


def _window(data: bytes) -> list[list[int]]:
    rows = [fields(each) for each in every(fields(data), 1)]
    return [[signed(last(row, number)) for number in range(1, 8)] for row in rows]


def _metadata(data: bytes) -> tuple[Any, ...]:
    """Type, name, file, line, and the number of a stack frame."""
    message = fields(data)
    texts = (last(message, number, b"") for number in (1, 2, 3))
    return *texts, last(message, 4), last(message, 15)


def _sharding(data: bytes | None) -> Any:
    if data is None:
        return None
    message = fields(data)
    parts = [numbers(message, number) for number in (3, 4, 8, 9, 10)]
    inside = [_sharding(each) for each in every(message, 5)]
    return last(message, 1), last(message, 6), parts, inside


def _config(data: bytes) -> Any:
    """A configuration; the order of keys in JSON has no meaning."""
    try:
        return json.loads(data)
    except ValueError:
        return data


BYTES: Final = {"opcode": 2, "fusion_kind": 11, "custom_call_target": 28}
NUMBERS: Final = {  # field, and what it is where it is absent
    "parameter_number": (9, 0), "tuple_index": (13, 0), "fft_type": (31, 0),
    "feature_group_count": (50, 1), "batch_group_count": (58, 1),
}  # fmt: skip
LISTS: Final = {"dimensions": 14, "fft_length": 32}
MESSAGES: Final = {
    "shape": (3, shape), "metadata": (7, _metadata), "window": (15, _window),
    "convolution": (16, _convolution), "dot": (30, _dot), "ragged_dot": (90, _ragged),
    "backend_config": (43, _config),
}  # fmt: skip


def module_of(data: bytes) -> dict[str, Any]:
    """What an HloProto or a bare HloModuleProto says, with names instead of ids."""
    message = fields(data)
    # Field 1 of a bare module is its name; that of an HloProto is the module.
    if len(message) == 1 or {number for number, _ in message} <= {1, 3}:
        message = fields(last(message, 1))
    parts = [fields(each) for each in every(message, 3)]
    called = {last(part, 5): last(part, 1) for part in parts}
    stacks = fields(last(message, 17, b""))
    devices = fields(last(message, 15, b""))
    donors = [fields(each) for each in every(fields(last(message, 18, b"")), 1)]
    return {
        "name": last(message, 1),
        "entry": (last(message, 2), called[last(message, 6)]),
        "computations": {last(part, 1): _computation(part, called) for part in parts},
        "aliases": [_alias(each) for each in every(fields(last(message, 8, b"")), 1)],
        "donors": [(last(each, 1), numbers(each, 2)) for each in donors],
        "devices": (last(devices, 1, 1), last(devices, 2, 1)),
        "files": every(stacks, 1),
        "functions": every(stacks, 2),
        "locations": [_numbers(each, 6) for each in every(stacks, 3)],
        "frames": [_numbers(each, 2) for each in every(stacks, 4)],
    }


def with_stacks(module: dict[str, Any]) -> dict[str, Any]:
    """*module* with call stacks in place of the numbers of frames and the tables of them."""
    tables = {key: module.pop(key) for key in ("files", "functions", "locations", "frames")}
    for computation in module["computations"].values():
        for instruction in computation["instructions"].values():
            *others, frame = instruction["metadata"]
            instruction["metadata"] = (*others, _stack(tables, frame))
    return module


def without_frames(module: dict[str, Any]) -> None:
    """Remove call stacks from *module*."""
    module.update(files=[], functions=[], locations=[], frames=[])
    for computation in module["computations"].values():
        for instruction in computation["instructions"].values():
            instruction["metadata"] = (*instruction["metadata"][:-1], 0)


def _stack(tables: dict[str, Any], frame: int) -> list[Any]:
    stack = []
    while frame:
        location, frame = tables["frames"][frame - 1]
        file, function, *lines = tables["locations"][location - 1]
        stack.append((tables["files"][file - 1], tables["functions"][function - 1], lines))
    return stack


def _numbers(data: bytes, count: int) -> list[int]:
    return [last(fields(data), number) for number in range(1, count + 1)]


def _alias(data: bytes) -> tuple[Any, ...]:
    message = fields(data)
    return numbers(message, 1), last(message, 2), numbers(message, 3), last(message, 4)


def _computation(message: Fields, called: dict[int, bytes]) -> dict[str, Any]:
    instructions = [fields(each) for each in every(message, 2)]
    names = {last(each, 35): last(each, 1) for each in instructions}
    assert len(names) == len(instructions)
    program = fields(last(message, 4))
    return {
        "instructions": {last(each, 1): _instruction(each, names, called) for each in instructions},
        "root": names[last(message, 6)],
        "fused": last(message, 7),
        "parameters": [shape(each) for each in every(program, 1)],
        "result": shape(last(program, 2)),
        "parameter_names": every(program, 3),
    }


def _instruction(
    message: Fields, names: dict[int, bytes], called: dict[int, bytes]
) -> dict[str, Any]:
    return {
        **{key: last(message, number, b"") for key, number in BYTES.items()},
        **{key: last(message, *number) for key, number in NUMBERS.items()},
        **{key: numbers(message, number) for key, number in LISTS.items()},
        **{key: read(last(message, number, b"")) for key, (number, read) in MESSAGES.items()},
        "sharding": _sharding(last(message, 40, None)),
        "operands": [names[each] for each in numbers(message, 36)],
        "control": [names[each] for each in numbers(message, 37)],
        "called": [called[each] for each in numbers(message, 38)],
    }
