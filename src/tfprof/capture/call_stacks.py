"""Call stacks of the operations of a graph, with their texts as numbers.

    op.traceback ──► row of a unique stack ──► frames: file, line, function, source

Many operations share a stack, so each unique one is read once. Texts are numbered in order of
appearance: file, function, source of each frame. The empty text is `none`, number 0.
"""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.io.regular_files import is_special

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

NO_STACK: Final = -1
_NONE: Final = "none"
_UNKNOWN_LINE: Final = -1


Frame = tuple[int, int, int, int]  # file, line, function, source; all but the line are texts


class Texts:
    """Texts and their numbers."""

    def __init__(self) -> None:
        self._number = {_NONE: 0}

    def number(self, text: str) -> int:
        """The number of *text*; a new text gets the next number."""
        return self._number.setdefault(text or _NONE, len(self._number))

    def __len__(self) -> int:
        return len(self._number)

    def column(self) -> Strings:
        """All texts, by number."""
        return Strings.of(text.encode("utf-8", "replace") for text in self._number)


class Traces:
    """The stacks of the operations so far."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._frame: dict[tuple[str, int, str], Frame] = {}
        self._row: dict[Hashable, int] = {}
        self._tracebacks: list[Any] = []
        self._stacks: list[list[Frame]] = []
        self._of_operation: list[int] = []
        # Which stack came after which: programs create operations in the same order again and
        # again, and comparing two stacks is far cheaper than a lookup.
        self._followed_by: dict[int, int] = {}
        self._last = NO_STACK

    def add(self, operations: Iterable[Any]) -> None:
        """Read the stacks of more operations."""
        self._of_operation += [self._stack(operation.traceback) for operation in operations]

    def __len__(self) -> int:
        """How many operations were read."""
        return len(self._of_operation)

    @property
    def of_operation(self) -> I64:
        """The stack of each operation; NO_STACK if it has none."""
        return np.array(self._of_operation, np.int64)

    @property
    def start(self) -> I64:
        """Where the frames of each stack begin; at the end, the number of frames."""
        return np.cumsum([0, *map(len, self._stacks)])

    def frames(self) -> I64:
        """The frames of all stacks: four rows, for file, line, function and source."""
        frames = [frame for stack in self._stacks for frame in stack]
        return np.array(frames, np.int64).reshape(-1, 4).T

    def _stack(self, traceback: Any) -> int:  # its class is TensorFlow's
        if not traceback:  # operations imported from a GraphDef
            return NO_STACK
        guess = self._followed_by.get(self._last, NO_STACK)
        if guess == NO_STACK or self._tracebacks[guess] != traceback:
            guess = self._lookup(traceback)
            self._followed_by[self._last] = guess
        self._last = guess
        return guess

    def _lookup(self, traceback: Any) -> int:
        try:
            row = self._row.get(traceback)
            key: Hashable = traceback
        except TypeError:  # a plain list, as in older releases
            key = tuple(map(_parts, traceback))
            row = self._row.get(key)
        if row is None:
            row = self._row[key] = len(self._stacks)
            self._tracebacks.append(traceback)
            self._stacks.append([self._numbered(element) for element in traceback])
        return row

    def _numbered(self, element: Any) -> Frame:
        key = file, line, function = _parts(element)
        if key not in self._frame:
            source = element[3] if isinstance(element, tuple) else element.line
            source = source or source_line(file, line)  # TensorFlow 2 does not record it
            number = self._texts.number
            texts = number(file), number(function), number(source)
            self._frame[key] = texts[0], line or _UNKNOWN_LINE, *texts[1:]
        return self._frame[key]


def source_line(file: str, line: int | None) -> str:
    """The text of a line without the blanks around it; empty where the file cannot be read."""
    if not line or line <= 0 or is_special(file):  # Python can run what a pipe holds
        return ""
    return linecache.getline(file, line).strip()


def _parts(element: Any) -> tuple[str, int, str]:
    """File, line and function of an element of a traceback, which may be a plain tuple."""
    if isinstance(element, tuple):
        return element[0], element[1], element[2]
    return element.filename, element.lineno, element.name
