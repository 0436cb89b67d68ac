"""Told to end: what Ctrl-C and other signals do to the command.

    a command          leaves at once, and what is half-written is removed
    the prompt         leaves likewise, the terminal as it was; but for Ctrl-C, which is a key there
    an answer at it    Ctrl-C stops it

Who is told to end exits with 128 and the number of the signal. Nothing is raised for it but by
Ctrl-C in an answer: what a signal raises can come up where Python lets nothing out, as while an
object is given up, and then it is lost; or in the middle of what must be done to its end.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from tfprof.io.atomic_write import remove_unfinished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from sys import UnraisableHookArgs
    from types import FrameType

INTERRUPTED = 128 + signal.SIGINT

_CLEAR_LINE = b"\r\x1b[K"  # of how far the command was
# There is no SIGHUP everywhere.
_TOLD_BY = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
# Who started us may have said that a closed terminal, or Ctrl-C, is no reason to end.
_UNTOUCHED = (signal.SIG_DFL, signal.default_int_handler)

_before_leaving: list[Callable[[], None]] = []


def leave_when_told() -> None:
    """From now on, leave at once when told to end."""
    for number in _TOLD_BY:
        if signal.getsignal(number) in _UNTOUCHED:
            signal.signal(number, _leave)


def stay_at_prompt() -> None:
    """From now on, Ctrl-C ends nothing; other signals leave the terminal as it is now."""
    with suppress(ImportError):  # there are no such terminals everywhere
        import termios  # noqa: PLC0415

        stdin = sys.stdin.fileno()
        settings = termios.tcgetattr(stdin)
        _before_leaving.append(lambda: termios.tcsetattr(stdin, termios.TCSANOW, settings))
    signal.signal(signal.SIGINT, _nothing)
    sys.unraisablehook = _but_interrupts


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside, Ctrl-C raises KeyboardInterrupt, but where that would be lost."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(number: int, _: FrameType | None) -> None:
    remove_unfinished()
    # Past Python's stream, which we may just have stopped in the middle of.
    with suppress(OSError, ValueError):
        stderr = sys.stderr.fileno()
        if os.isatty(stderr):
            os.write(stderr, _CLEAR_LINE)
        if number == signal.SIGINT:
            os.write(stderr, b"tfprof: interrupted\n")
    for restore in _before_leaving:
        restore()
    os._exit(128 + number)


def _nothing(_: int, __: FrameType | None) -> None:
    pass


def _but_interrupts(lost: UnraisableHookArgs) -> None:
    """Tell of exceptions that are lost, as Python does; who interrupts does so again."""
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)
