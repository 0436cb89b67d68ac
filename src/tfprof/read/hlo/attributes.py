"""The attributes of instructions that rules ask for, as map entries of AttrValues; made on demand.

dot            lhs_contracting_dimensions …        while        known_trip_count
convolution    window_size, base_dilation …        custom-call  custom_call_target …
reduce …       applied: the opcodes of what is applied to single elements
compare        comparison_direction                constant     value, of a single whole number
all            dtype
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.strings import I64, Strings
from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.read.hlo.expand import CALLERS
from tfprof.read.hlo.modules import Modules, read_modules
from tfprof.wire.scalar import WireError, encode_bytes, encode_tag, encode_varint, fields, signed
from tfprof.wire.varint_columns import varint_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.read.source import Source

# TensorFlow's DataType of each element type of XLA.
DTYPES: Final = {
    1: 10, 2: 6, 3: 5, 4: 3, 5: 9, 6: 4, 7: 17, 8: 22, 9: 23, 10: 19, 11: 1, 12: 2, 15: 8, 16: 14,
    18: 18, 19: 24, 20: 25, 21: 29, 22: 30, 23: 27, 24: 28, 25: 26, 26: 31, 27: 32, 28: 97, 29: 96,
    30: 95, 31: 94, 32: 33, 33: 98,
}  # fmt: skip
_FFT: Final = ("FFT", "IFFT", "RFFT", "IRFFT")
_TRIPS: Final = re.compile(rb'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"?(\d{1,18})"?')
_MOST_APPLIED: Final = 1_000
_LONGEST_APPLIED: Final = 64  # bytes of an opcode; XLA's have up to 27
_DIRECTION_BYTES: Final = 2
_DIMENSIONS: Final = 3  # of a shape
_MOST_LITERAL: Final = 64  # bytes
_INTEGERS: Final = (4, 5, 6, 7)  # of a literal: s32, s64, u32, u64
_MOST_BYTES: Final = 4 << 20  # of a configuration


@dataclass(frozen=True, eq=False)
class HloAttributes(Frozen):
    """The attributes of all instructions of the modules in these slices of a file."""

    source: Source
    start: I64
    end: I64

    def __call__(self) -> tuple[I64, Strings]:
        """(instruction, map entry) of each attribute, by instruction."""
        self.source.check()
        try:
            modules = read_modules(self.source.data, self.start, self.end)
            row, number, entry = _special(modules)
        except WireError as problem:
            raise InputError(f"{self.source.name} is damaged: {problem}") from None
        typed, dtype = _dtypes(modules)
        both = np.append(typed, row)
        order = np.argsort(both, kind="stable")
        place = np.append(np.arange(len(dtype)), len(dtype) + number)[order]
        return both[order], Strings.concat([dtype, entry]).take(place)

    def within(self, source: Source) -> HloAttributes:
        """The same: its slices are those of its own file."""
        assert source is self.source
        return self


def _dtypes(modules: Modules) -> tuple[I64, Strings]:
    """(instruction, entry) of the dtype of the first output of each, where it is one."""
    count = len(modules.opcode)
    kind = np.zeros(count, np.int64)
    kind[modules.output_of[::-1]] = modules.element_type[::-1]
    entries = [_entry("dtype", encode_tag(6, 0) + encode_varint(DTYPES[at])) for at in DTYPES]
    place = np.full(256, -1, np.int64)
    place[list(DTYPES)] = np.arange(len(entries))
    row = np.flatnonzero((kind > 0) & (kind < place.size))
    row = row[place[kind[row]] >= 0]
    return row, Strings.of(entries).take(place[kind[row]])


def _special(modules: Modules) -> tuple[I64, I64, Strings]:
    """(instruction, number of the entry) of the attributes of single opcodes; distinct entries."""
    kind, makers = modules.kind, [_MAKERS.get(opcode) for opcode in modules.kinds]
    has_maker = np.array([maker is not None for maker in makers], np.bool_)
    called = np.searchsorted(modules.calls_of, np.arange(len(modules.opcode) + 1))
    view = memoryview(modules.buffer)  # type: ignore[arg-type]
    applied = _Applied(modules)
    rows: list[int] = []
    numbers: list[int] = []
    # Many instructions may apply the same large computation.
    known: dict[bytes, int] = {}
    for row in np.flatnonzero(has_maker[kind]).tolist() if kind.size else []:
        maker = makers[kind[row]]
        begin = int(modules.instruction.start[row])
        parts: dict[int, list[Any]] = {}
        for number, _, value in fields(view[begin : begin + int(modules.instruction.value[row])]):
            parts.setdefault(number, []).append(value)
        assert maker is not None
        made = list(maker(parts))
        computations = modules.called[called[row] : called[row + 1]].tolist()
        if computations and modules.opcode[row] not in CALLERS:
            made += applied.entries(modules.opcode[row], computations)
        rows += [row] * len(made)
        numbers += [known.setdefault(entry, len(known)) for entry in made]
    return np.array(rows, np.int64), np.array(numbers, np.int64), Strings.of(known)


class _Applied:
    """The opcodes of computations that are applied to single elements."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._known: dict[tuple[str, int], bytes | None] = {}
        self._start = np.searchsorted(modules.calls_of, np.arange(len(modules.opcode) + 1))

    def entries(self, opcode: bytes, computations: list[int]) -> Iterator[bytes]:
        """What an instruction applies; of two computations, the first one selects."""
        keys = ("select", "applied") if opcode == b"select-and-scatter" else ("applied",)
        for pair in zip(keys, computations, strict=False):
            if pair not in self._known:
                opcodes = self._opcodes(pair[1])
                self._known[pair] = None if opcodes is None else _texts(pair[0], opcodes)
            entry = self._known[pair]
            if entry is not None:
                yield entry

    def _opcodes(self, computation: int) -> list[bytes] | None:
        """All opcodes of a computation and of those that it calls; None if that is too much."""
        modules, waiting = self._modules, [computation]
        result: list[bytes] = []
        while waiting:
            at = waiting.pop()
            if at < 0:
                return None
            rows = range(int(modules.first[at]), int(modules.first[at + 1]))
            if len(result) + len(rows) > _MOST_APPLIED or len(waiting) > _MOST_APPLIED:
                return None
            for row in rows:
                if modules.opcode.length[row] > _LONGEST_APPLIED:
                    return None
                result.append(modules.opcode[row])
                waiting += modules.called[self._start[row] : self._start[row + 1]].tolist()
        return result


# --- entries --------------------------------------------------------------------------------------


def _entry(key: str, value: bytes) -> bytes:
    return encode_bytes(1, key.encode()) + encode_bytes(2, value)


def _int(key: str, number: int) -> bytes:
    return _entry(key, encode_tag(3, 0) + encode_varint(number & (1 << 64) - 1))


def _text(key: str, text: bytes) -> bytes:
    return _entry(key, encode_bytes(2, text))


def _ints(key: str, numbers: list[int]) -> bytes:
    packed = b"".join(encode_varint(number & (1 << 64) - 1) for number in numbers)
    return _entry(key, encode_bytes(1, encode_bytes(3, packed)))


def _texts(key: str, texts: list[bytes]) -> bytes:
    return _entry(key, encode_bytes(1, b"".join(encode_bytes(2, text) for text in texts)))


Parts = dict[int, list[Any]]


def _numbers(values: list[Any]) -> list[int]:
    """Repeated numbers, packed or not."""
    result: list[int] = []
    for value in values:
        if isinstance(value, int):
            result.append(signed(value))
        else:
            run = varint_run(np.frombuffer(value, np.uint8))
            result += run.astype(np.int64).tolist()
    return result


def _inside(parts: Parts, number: int) -> Parts:
    """The fields of the submessage *number*; none where there is none."""
    result: Parts = {}
    messages = [value for value in parts.get(number, []) if not isinstance(value, int)]
    for inner, _, value in fields(memoryview(messages[-1])) if messages else ():
        result.setdefault(inner, []).append(value)
    return result


def _number(parts: Parts, number: int, default: int = 0) -> int:
    value = parts.get(number, [default])[-1]
    return signed(value) if isinstance(value, int) else default


def _dot(parts: Parts) -> Iterator[bytes]:
    yield from _dot_dimensions(_inside(parts, 30))


def _ragged_dot(parts: Parts) -> Iterator[bytes]:
    """The numbers of a dot, inside those of ragged dimensions; nothing without them."""
    ragged = _inside(parts, 90)
    if 1 in ragged:
        yield from _dot_dimensions(_inside(ragged, 1))


def _dot_dimensions(numbers: Parts) -> Iterator[bytes]:
    for number, name in ((1, "lhs_contracting_dimensions"), (3, "lhs_batch_dimensions")):
        yield _ints(name, _numbers(numbers.get(number, [])))


# Of each dimension of a window: the field and its value if absent.
_WINDOW: Final = {
    "window_size": (1, 0), "window_stride": (2, 0), "padding_low": (3, 0), "padding_high": (4, 0),
    "window_dilation": (5, 1), "base_dilation": (6, 1),
}  # fmt: skip


def _window(parts: Parts) -> Iterator[bytes]:
    dimensions = [
        _inside({1: [part]}, 1)
        for part in _inside(parts, 15).get(1, [])
        if not isinstance(part, int)
    ]
    for name, (number, default) in _WINDOW.items():
        yield _ints(name, [_number(each, number, default) or default for each in dimensions])


def _convolution(parts: Parts) -> Iterator[bytes]:
    numbers = _inside(parts, 16)
    if not numbers:
        return
    yield from _window(parts)
    yield _int("kernel_input_feature_dimension", _number(numbers, 3))
    yield _int("kernel_output_feature_dimension", _number(numbers, 4))
    yield _ints("output_spatial_dimensions", _numbers(numbers.get(12, [])))
    yield _int("feature_group_count", _number(parts, 50, 1))
    yield _int("batch_group_count", _number(parts, 58, 1))


def _fft(parts: Parts) -> Iterator[bytes]:
    kind = _number(parts, 31)
    if 0 <= kind < len(_FFT):
        yield _text("fft_type", _FFT[kind].encode())
    yield _ints("fft_length", _numbers(parts.get(32, [])))


def _custom_call(parts: Parts) -> Iterator[bytes]:
    for key, number in (("custom_call_target", 28), ("backend_config", 43)):
        text = parts.get(number, [b""])[-1]
        if not isinstance(text, int):
            yield _text(key, bytes(text[:_MOST_BYTES]))
    yield from _convolution(parts)


def _while(parts: Parts) -> Iterator[bytes]:
    config = parts.get(43, [b""])[-1]
    if not isinstance(config, int) and (match := _TRIPS.search(bytes(config[:_MOST_BYTES]))):
        yield _int("known_trip_count", int(match[1]))


def _compare(parts: Parts) -> Iterator[bytes]:
    direction = parts.get(63, [b""])[-1]
    if not isinstance(direction, int) and len(direction) == _DIRECTION_BYTES:
        yield _text("comparison_direction", bytes(direction))


def _constant(parts: Parts) -> Iterator[bytes]:
    """The value of a single whole number; larger literals are not read."""
    literal = parts.get(8, [b""])[-1]
    if isinstance(literal, int) or len(literal) > _MOST_LITERAL:
        return
    inside = _inside(parts, 8)
    if _DIMENSIONS in _inside(inside, 1):
        return
    numbers = [number for field in _INTEGERS for number in _numbers(inside.get(field, []))]
    if len(numbers) == 1:
        yield _int("value", numbers[0])


def _nothing(_: Parts) -> Iterator[bytes]:
    return iter(())


_MAKERS: Final[dict[bytes, Callable[[Parts], Iterator[bytes]]]] = {
    b"dot": _dot,
    b"ragged-dot": _ragged_dot,
    b"scaled-dot": _dot,
    b"convolution": _convolution,
    b"reduce-window": _window,
    b"select-and-scatter": _window,
    b"fft": _fft,
    b"custom-call": _custom_call,
    b"while": _while,
    b"compare": _compare,
    b"constant": _constant,
    **dict.fromkeys(
        (
            b"reduce",
            b"scatter",
            b"map",
            b"all-reduce",
            b"all-reduce-start",
            b"reduce-scatter",
            b"collective-reduce",
        ),
        _nothing,
    ),
}
