"""Traces of any length: a recorded batch of a Keras `fit`, repeated in time.

    python bench/traces.py OUT_FILE EXECUTIONS [--case keras_level2]

A step is ten batches, each after the end of the one before, and the next step follows. Every batch
has its own numbers of runs and contexts. Recorded times and small numbers are raised, so that a
varint takes as many bytes in every step: a line is then one array of bytes per step, in which only
these varints change.
"""

from __future__ import annotations

import argparse
import gzip
import struct
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from encode import block, varint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    Value: TypeAlias = int | float | bytes

CASE = "keras_level2"  # level 2 is what everybody gets
_CASES = Path(__file__).parents[1] / "tests" / "data" / "xplane"
_BATCHES = 10  # per step
_AT_A_TIME = 1 << 5  # steps
_FIXED, _BYTES = 1, 2
_HOST, _HEAD = b"/host:CPU", 32  # the name of a plane, and where it stands
_RUNS, _STEP = frozenset({b"id", b"_c", b"_p", b"step_id"}), b"step_num"
_EAGERLY = b"EagerLocalExecute: "
# Of the messages XSpace, XPlane, XLine, XEvent, XStat and the entries of maps.
_PLANE, _LINE, _EVENT, _KINDS, _NAMES = 1, 3, 4, 4, 5
_KIND, _OFFSET, _DURATION, _STAT = 1, 2, 3, 4
# The least numbers whose varints take 7, 5 and 3 bytes. Those from _LARGE on take 9 or 10.
_SEVEN, _FIVE, _THREE, _LARGE = 1 << 42, 1 << 28, 1 << 14, 1 << 56
_APART = 1 << 9  # more than a batch has small numbers


class Changing(NamedTuple):
    """A varint that changes from step to step."""

    at: int  # in the bytes of a step
    width: int
    first: int
    stride: int


class Bytes:
    """Bytes of a message, with the varints in them that change."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.data = bytearray()
        self.changing: list[Changing] = []

    def add(self, number: int, value: Value) -> None:
        """A field that never changes."""
        if isinstance(value, float):
            self.data += varint(number << 3 | _FIXED) + struct.pack("<d", value)
        elif isinstance(value, int):
            self.data += varint(number << 3) + varint(value)
        else:
            self.data += block(varint(number << 3 | _BYTES), value)

    def change(self, number: int, first: int, stride: int) -> None:
        """A number that grows by *stride* from step to step."""
        self.data += varint(number << 3)
        spelled = varint(first)
        self.changing.append(Changing(len(self.data), len(spelled), first, stride))
        self.data += spelled

    def nest(self, number: int, message: Bytes) -> None:
        """A field that is a message."""
        self.data += varint(number << 3 | _BYTES) + varint(len(message.data))
        start = len(self.data)
        self.changing += [each._replace(at=each.at + start) for each in message.changing]
        self.data += message.data

    def repeated(self, steps: int) -> Iterator[bytes]:
        """The bytes of so many steps."""
        pattern = np.frombuffer(bytes(self.data), np.uint8)
        for start in range(0, steps, _AT_A_TIME):
            number = np.arange(start, min(start + _AT_A_TIME, steps), dtype=np.uint64)
            rows = np.tile(pattern, (number.size, 1))
            for at, width, first, stride in self.changing:
                value = np.uint64(first % (1 << 64)) + number * np.uint64(stride)
                for byte in range(width):
                    low = (value >> np.uint64(7 * byte)).astype(np.uint8) & np.uint8(0x7F)
                    rows[:, at + byte] = low | (0x80 if byte < width - 1 else 0)
            yield rows.tobytes()


class Recorded(NamedTuple):
    """A plane of the recorded trace."""

    lines: list[list[tuple[int, Value]]]
    before: bytes  # its fields before the lines, and behind them
    behind: bytes
    kinds: dict[int, bytes]  # names of events by number
    names: dict[int, bytes]  # names of stats
    period: int  # from the beginning of a batch to that of the next

    @classmethod
    def of(cls, plane: bytes) -> Recorded:
        """The parts of a plane."""
        parts = [*fields(plane)]
        before, behind = Bytes(), Bytes()
        for number, value in parts:
            if number != _LINE:
                (before if number < _LINE else behind).add(number, value)
        lines = [[*fields(_bytes(value))] for number, value in parts if number == _LINE]
        events = (dict(fields(_bytes(value))) for line in lines for key, value in line
                  if key == _EVENT)  # fmt: skip
        ends = (_int(event.get(_OFFSET, 0)) + _int(event.get(_DURATION, 0)) for event in events)
        kinds, names = (_metadata(parts, number) for number in (_KINDS, _NAMES))
        return cls(
            lines, bytes(before.data), bytes(behind.data), kinds, names, max(ends, default=0)
        )

    def executions(self) -> int:
        """How many operations a batch ran: nodes, and what ran eagerly but for functions."""
        count = 0
        for line in self.lines:
            for number, value in line:
                if number == _EVENT:
                    name = self.kinds[_int(dict(fields(_bytes(value)))[_KIND])]
                    is_node = b":" in name and b"::" not in name
                    count += is_node and not name.startswith(_EAGERLY + b"__inference")
        return count

    def events(self, line: int) -> Bytes:
        """The events of a line in one step."""
        events = Bytes()
        for batch in range(_BATCHES):
            for number, value in self.lines[line]:
                if number == _EVENT and (event := self._event(_bytes(value), batch)):
                    events.nest(_EVENT, event)
        return events

    def _event(self, event: bytes, batch: int) -> Bytes | None:
        """An event in a batch of a step; only the first batch has the marker, which is longer."""
        made, parts = Bytes(), [*fields(event)]
        stats = [self._stat(_bytes(value), batch) for number, value in parts if number == _STAT]
        marks = any(is_step for is_step, _ in stats)
        if marks and batch:
            return None
        for number, value in parts:
            if number == _OFFSET:
                first = _int(value) + _SEVEN + batch * self.period
                made.change(_OFFSET, first, _BATCHES * self.period)
            elif number == _DURATION and marks:
                made.add(_DURATION, _int(value) + (_BATCHES - 1) * self.period)
            elif number != _STAT:
                made.add(number, value)
        for _, stat in stats:
            made.nest(_STAT, stat)
        return made

    def _stat(self, stat: bytes, batch: int) -> tuple[bool, Bytes]:
        """(whether it marks a step, the stat)."""
        made = Bytes()
        (_, kind), *values = fields(stat)
        made.add(1, kind)
        name = self.names[_int(kind)]
        for number, value in values:
            if name == _STEP:
                made.change(number, _int(value) + _THREE, 1)
            elif name not in _RUNS or isinstance(value, bytes):
                made.add(number, value)
            elif _int(value) < _LARGE:
                small = _int(value) % _APART + batch * _APART + _FIVE
                made.change(number, small, _BATCHES * _APART)
            else:
                made.change(number, _int(value) + batch, _BATCHES)
        return name == _STEP, made


def _metadata(parts: list[tuple[int, Value]], wanted: int) -> dict[int, bytes]:
    """The names in the entries of a map, by their numbers."""
    entries = (dict(fields(_bytes(value))) for number, value in parts if number == wanted)
    return {_int(entry[1]): _bytes(dict(fields(_bytes(entry[2]))).get(2, b"")) for entry in entries}


def fields(message: bytes) -> Iterator[tuple[int, Value]]:
    """(number, value) of the fields of a message of varints, doubles and bytes."""
    at = 0
    while at < len(message):
        tag, at = _varint_at(message, at)
        if tag & 7 == _FIXED:
            yield tag >> 3, struct.unpack_from("<d", message, at)[0]
            at += 8
            continue
        value, at = _varint_at(message, at)
        is_bytes = tag & 7 == _BYTES
        yield tag >> 3, message[at : at + value] if is_bytes else value
        at += value if is_bytes else 0


def _varint_at(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while message[at] & 0x80:
        value |= (message[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | message[at] << shift, at + 1


def _int(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _bytes(value: Value) -> bytes:
    assert isinstance(value, bytes)
    return value


def write(path: Path, executions: int, case: str = CASE) -> None:
    """Write a trace of at least so many executions."""
    trace = gzip.decompress((_CASES / case / "trace.xplane.pb.gz").read_bytes())
    with path.open("wb") as file:
        for number, value in fields(trace):
            message = _bytes(value)
            if number == _PLANE and _HOST in message[:_HEAD]:
                file.writelines(_plane(Recorded.of(message), executions))
            else:
                file.write(block(varint(number << 3 | _BYTES), message))


def _plane(recorded: Recorded, executions: int) -> Iterator[bytes]:
    """The pieces of a plane whose lines are repeated."""
    steps = -(-executions // (recorded.executions() * _BATCHES))
    lines: list[tuple[bytes, Bytes]] = []
    for row, line in enumerate(recorded.lines):
        head = Bytes()
        for number, value in line:
            if number != _EVENT:
                head.add(number, value)
        events = recorded.events(row)
        size = len(head.data) + steps * len(events.data)
        lines.append((varint(_LINE << 3 | _BYTES) + varint(size) + head.data, events))
    length = sum(len(head) + steps * len(events.data) for head, events in lines)
    length += len(recorded.before) + len(recorded.behind)
    yield varint(_PLANE << 3 | _BYTES) + varint(length) + recorded.before
    for head_of_line, events in lines:
        yield head_of_line
        yield from events.repeated(steps)
    yield recorded.behind


def main() -> None:
    """Write a trace."""
    parser = argparse.ArgumentParser(description="Write a trace of so many executions.")
    parser.add_argument("out", type=Path)
    parser.add_argument("executions", type=int)
    parser.add_argument("--case", default=CASE, help="a folder of tests/data/xplane")
    asked = parser.parse_args()
    write(asked.out, asked.executions, asked.case)


if __name__ == "__main__":
    main()
