"""Work that goes on after the command has ended, as git's housekeeping does."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from tfprof.console.signals import interruptible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_POLITE = 10  # nice
_FIRST_OTHER = 3  # descriptor after standard error


def run_detached(work: Sequence[Callable[[], None]], *, caller_stays: bool = False) -> None:
    """Do *work* in a process that nobody waits for; without such processes, now.

    A caller that stays gets no zombie: this takes some milliseconds that others need not spend.
    """
    if not work:
        return
    threads = sys.modules.get("threading")
    if not hasattr(os, "fork") or (threads and threads.active_count() > 1):
        with interruptible():
            _run(work)
        return
    caller = os.getpid()
    try:
        with suppress(OSError):  # no more processes: then nothing is done
            if child := os.fork():
                if caller_stays:
                    os.waitpid(child, 0)
            # The system adopts and reaps the child of a child that has ended.
            elif not caller_stays or not os.fork():
                _let_go()
                _run(work)
    finally:
        if os.getpid() != caller:
            os._exit(0)


def _run(work: Sequence[Callable[[], None]]) -> None:
    # An interrupt ends it; the answer is delivered, so there is nothing to report.
    with suppress(Exception, KeyboardInterrupt):
        for each in work:
            each()


def _let_go() -> None:
    """Leave the terminal, and whatever else the caller may wait for."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(_FIRST_OTHER):
        os.dup2(nothing, standard)
    with suppress(OSError):
        # What Python opens is not inheritable: all else is the caller's, such as a lock.
        for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - numbers
            with suppress(OSError):
                if int(name) >= _FIRST_OTHER and os.get_inheritable(int(name)):
                    os.close(int(name))
    os.nice(_POLITE)
