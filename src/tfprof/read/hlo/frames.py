"""Call stacks of HLO instructions: the stack frames of modules as the columns of an op log.

    stack_frame_id ─► frame ─► location ─► file, function, line
                        └─ parent frame, the caller

Ids count from 1 and 0 is none. Older files name a file and a line instead. JAX leaves its own
frames out; those of other libraries are skipped if any of the user's remain. A stack has the
innermost frames, as many as _DEEPEST.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, U8, Strings
from tfprof.columns.unique import combined, unique_inverse
from tfprof.foundation.stack_files import library_of, short_path
from tfprof.wire.decode import BYTES, VARINT, scan

if TYPE_CHECKING:
    from tfprof.read.hlo.modules import Modules

_DEEPEST: Final = 128
_MOST_FRAMES: Final = 2_000_000
_LARGEST_ID: Final = 1 << 31
# String ids that no op log and no GraphDebugInfo uses, so that a profile can have all of them.
_FIRST_TEXT: Final = 1 << 41


class Frames(NamedTuple):
    """The stacks of frames, one row per distinct frame that instructions have."""

    of_row: I64  # of each instruction; -1: none
    line: list[bytes]  # of each: the innermost file and line, as `train.py#L12`
    stack_start: I64
    columns: dict[str, I64]  # of frames: file, line, function …
    string_id: I64
    string: Strings


def frames(modules: Modules) -> Frames:
    """The stacks of all instructions; raises WireError."""
    module = modules.computation_module[modules.instruction.message]
    has = np.flatnonzero((modules.frame > 0) & (modules.frame < _LARGEST_ID))
    many = int(modules.frame[has].max(initial=0)) + 1
    key, inverse = unique_inverse(module[has] * many + modules.frame[has])
    of_row = np.full(module.size, -1, np.int64)
    of_row[has] = inverse
    index = _Index(modules.buffer, modules.start, modules.end)
    stacks: list[list[_Frame]] = []
    total = 0
    for number in key.tolist():
        stack = index.stack(*divmod(number, many)) if total < _MOST_FRAMES else []
        total += len(stack)
        stacks.append(stack)
    rows, stack_of, single = _single_frames(modules)
    of_row[rows] = len(stacks) + stack_of
    stacks += single
    texts: dict[str, int] = {"": _FIRST_TEXT}

    def ids(parts: list[str]) -> I64:
        return np.array([texts.setdefault(t, _FIRST_TEXT + len(texts)) for t in parts], np.int64)

    every = [frame for stack in stacks for frame in reversed(stack)]
    columns = {
        "file": ids([frame.file for frame in every]),
        "line": np.array([frame.line for frame in every], np.int64),
        "function": ids([frame.function for frame in every]),
        "function_line": np.zeros(len(every), np.int64),
        "source": np.full(len(every), _FIRST_TEXT, np.int64),
    }
    return Frames(
        of_row,
        [_label(stack) for stack in stacks],
        np.cumsum([0, *map(len, stacks)]),
        columns,
        np.array(list(texts.values()), np.int64),
        Strings.of(text.encode("utf-8", "surrogateescape") for text in texts),
    )


def _single_frames(modules: Modules) -> tuple[I64, I64, list[list[_Frame]]]:
    """(instruction, its stack, the stacks) of those that have a file and a line, and no frame.

    TensorFlow names a file of its own, which says nothing.
    """
    rows = np.flatnonzero((modules.frame == 0) & (modules.file.length > 0))
    number, first = modules.file.take(rows).intern()
    files = [each.decode("utf-8", "surrogateescape") for each in modules.file.take(rows[first])]
    is_user = np.array([not library_of(file) for file in files], np.bool_)
    rows, number = rows[is_user[number]], number[is_user[number]]
    stack, first = combined(number, modules.line[rows])
    places = zip(number[first].tolist(), modules.line[rows[first]].tolist(), strict=True)
    return rows, stack, [[_Frame(files[file], line, "")] for file, line in places]


def _label(stack: list[_Frame]) -> bytes:
    if not stack or not stack[0].file:
        return b""
    name = short_path(stack[0].file).replace("\\", "/").rpartition("/")[2]
    return f"{name}#L{stack[0].line}".encode("utf-8", "surrogateescape")


class _Frame(NamedTuple):
    """A line of a call stack."""

    file: str
    line: int
    function: str


class _Index:
    """The stack frames of several modules, by module and id."""

    def __init__(self, buffer: U8, start: I64, end: I64) -> None:
        index = scan(buffer, start, end, {17: BYTES})[17]
        part = scan(buffer, index.start, index.end, dict.fromkeys((1, 2, 3, 4), BYTES))
        self._first = {number: index.message[field.message] for number, field in part.items()}
        self._file, self._function = (
            [text.decode("utf-8", "surrogateescape") for text in part[n].strings(buffer)]
            for n in (1, 2)
        )
        self._begin = {
            number: np.searchsorted(owner, np.arange(start.size + 1)).tolist()
            for number, owner in self._first.items()
        }
        location = scan(buffer, part[3].start, part[3].end, dict.fromkeys((1, 2, 3), VARINT))
        frame = scan(buffer, part[4].start, part[4].end, dict.fromkeys((1, 2), VARINT))
        # Protobuf reads the low 32 bits of an int32, with their sign.
        self._location = [
            location[n].last(part[3].start.size).astype(np.int32).tolist() for n in (1, 2, 3)
        ]
        self._frame = [frame[n].last(part[4].start.size).tolist() for n in (1, 2)]

    def _row(self, number: int, module: int, one_based: int) -> int:
        """The row of the field *number* with this id in a module; -1: none."""
        begin, end = self._begin[number][module : module + 2]
        return begin + one_based - 1 if 0 < one_based <= end - begin else -1

    def stack(self, module: int, frame: int) -> list[_Frame]:
        """The frames from the innermost on; those of libraries only if there are no others."""
        every: list[_Frame] = []
        while (row := self._row(4, module, frame)) >= 0 and len(every) < _DEEPEST:
            location, parent = (column[row] for column in self._frame)
            every.append(self._at(module, location))
            frame = parent
        return [each for each in every if not library_of(each.file)] or every

    def _at(self, module: int, location: int) -> _Frame:
        row = self._row(3, module, location)
        if row < 0:
            return _Frame("", 0, "")
        file, function, line = (column[row] for column in self._location)
        texts: list[Any] = []
        for number, names, text in ((1, self._file, file), (2, self._function, function)):
            at = self._row(number, module, text)
            texts.append(names[at] if at >= 0 else "")
        return _Frame(texts[0], line, texts[1])
