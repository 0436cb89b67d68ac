"""Call stacks of the program, outermost frame first."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import FrameType


class Frame(NamedTuple):
    """One line of a call stack."""

    file: str
    line: int
    function: str
    column: int = 0


Stack = tuple[Frame, ...]


def stack_here() -> Stack:
    """The call stack of the caller."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as the standard library does
    frames = []
    while frame is not None:
        code = frame.f_code
        frames.append(Frame(code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return tuple(reversed(frames))
