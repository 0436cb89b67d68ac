"""Signals: what Ctrl-C, SIGTERM and SIGHUP do.

    a command            exits at once and removes half-written files
    the prompt           likewise, and restores the terminal; Ctrl-C is a key there
    a command at it      Ctrl-C stops it

On signal n, exit with status 128 + n. Only Ctrl-C in a command at the prompt raises an exception:
one that a signal raises can surface where Python ignores it, such as in a destructor, and get
lost; or in the middle of work that must be finished.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

from tfprof.console.stdio import flush, stdin_number, write_in_signal_handler
from tfprof.io.write_files import remove_unfinished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from sys import UnraisableHookArgs
    from types import FrameType

INTERRUPTED = 128 + signal.SIGINT

# Some systems have no SIGHUP.
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
# The process that started us may have set a closed terminal, or Ctrl-C, to be ignored.
_UNTOUCHED = (signal.SIG_DFL, signal.default_int_handler)

_before_exit: list[Callable[[], None]] = []


def exit_on_signals() -> None:
    """From now on, exit at once on a signal."""
    for number in _SIGNALS:
        if signal.getsignal(number) in _UNTOUCHED:
            signal.signal(number, _exit)


def exit_at_once(end: SystemExit) -> NoReturn:
    """Exit without freeing what the system frees faster, unless another thread still runs."""
    threads = sys.modules.get("threading")
    if not isinstance(end.code, int) or (threads and threads.active_count() > 1):
        raise end
    atexit._run_exitfuncs()  # noqa: SLF001 - Python has no public name for it
    flush()
    os._exit(end.code)


def stay_at_prompt() -> None:
    """From now on, Ctrl-C does not exit; other signals restore the terminal as it is now."""
    with suppress(ImportError):  # some systems have no such terminals
        import termios  # noqa: PLC0415

        stdin = stdin_number()
        settings = termios.tcgetattr(stdin)
        _before_exit.append(lambda: termios.tcsetattr(stdin, termios.TCSANOW, settings))
    signal.signal(signal.SIGINT, lambda _, __: None)
    sys.unraisablehook = _report_ignored


@contextmanager
def on_exit(restore: Callable[[], None]) -> Iterator[None]:
    """Inside, a signal that ends the process calls *restore* first."""
    _before_exit.append(restore)
    try:
        yield
    finally:
        _before_exit.remove(restore)


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside, Ctrl-C raises KeyboardInterrupt."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _exit(number: int, _: FrameType | None) -> None:
    remove_unfinished()
    write_in_signal_handler(b"tfprof: interrupted\n" if number == signal.SIGINT else b"")
    for restore in _before_exit:
        restore()
    os._exit(128 + number)


def _report_ignored(lost: UnraisableHookArgs) -> None:
    """Report exceptions that Python ignores, but no interrupts: the user presses Ctrl-C again."""
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)
