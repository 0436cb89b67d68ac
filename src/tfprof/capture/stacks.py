"""Lines of the program that something comes from: a stack of frames, the outermost first."""

from __future__ import annotations

import sys
from typing import NamedTuple


class Frame(NamedTuple):
    """A line of a stack."""

    file: str
    line: int
    function: str
    column: int = 0


Stack = tuple[Frame, ...]


def stack_here() -> Stack:
    """The lines that led to who asks."""
    frame = sys._getframe(1)  # noqa: SLF001 - what the standard library reads stacks by
    found = []
    while frame is not None:
        code = frame.f_code
        found.append(Frame(code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(reversed(found))
