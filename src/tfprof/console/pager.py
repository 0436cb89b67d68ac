"""The user's pager: on a terminal, it shows what is longer or wider than the screen, as git does.

    TFPROF_PAGER, else PAGER, else less     with arguments; run by the shell where it needs one
    empty, or cat                           no pager
    LESS                                    FRSX where it is not set

Ctrl-C belongs to the pager, and leaving it early is no error. Without the program, text is printed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import time
from contextlib import suppress
from itertools import chain, takewhile
from typing import TYPE_CHECKING

from tfprof.console import stdio
from tfprof.console.signals import on_exit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from subprocess import Popen

_VARIABLES = ("TFPROF_PAGER", "PAGER")
_USUAL = "less"
_NONE = ("", "cat")
_ENVIRONMENT = {"LESS": "FRSX", "LV": "-c"}
_FOR_A_SHELL = re.compile(r"[|&;<>()$`\\*?\[#~=%]")
# No screen shows as much; a text of few lines is wide then.
_MOST_SHOWN = 1 << 16
_PATIENCE_SECONDS, _PAUSE_SECONDS = 1.0, 0.02  # with a pager that is to end


def page_stdout(pieces: Iterable[bytes], *, is_report: bool = False, always: bool = False) -> None:
    """Write to standard output, in the pager where the screen is too small or *always*."""
    flow = iter(pieces)
    if not stdio.stdout_is_terminal() or (command := pager_command(os.environ)) is None:
        stdio.write_stdout(flow, is_report=is_report)
        return
    head, large = b"", always
    while not large and (piece := next(flow, None)) is not None:
        head += piece
        large = head.count(b"\n") >= stdio.stdout_screen().lines or len(head) > _MOST_SHOWN
    whole = chain([head], flow)
    if not (large or _is_wide(head, is_report)) or not _run(command, whole, is_report):
        stdio.write_stdout(whole, is_report=is_report)


def pager_command(environment: Mapping[str, str]) -> list[str] | None:
    """The command of the pager; None where there is none to run."""
    wanted = next((environment[name] for name in _VARIABLES if name in environment), None)
    if wanted is None:
        usable = environment.get("TERM", "dumb") != "dumb" and shutil.which(_USUAL)
        return [_USUAL] if usable else None
    if wanted.strip() in _NONE:
        return None
    if _FOR_A_SHELL.search(wanted):
        return ["sh", "-c", wanted]
    with suppress(ValueError):  # an open quote
        words = shlex.split(wanted)
        if shutil.which(words[0]):
            return words
    stdio.print_error(f"the pager {wanted!r} cannot be run")
    return None


def _is_wide(text: bytes, is_report: bool) -> bool:  # noqa: FBT001
    """Whether a row is wider than the screen; the sentences above the rows may wrap."""
    if is_report:
        from tfprof.console.colour import rows_start  # noqa: PLC0415 - help needs no NumPy

        text = text[rows_start(text) :]
    lines = text.decode("utf-8", "replace").split("\n")
    return max(map(len, lines)) > stdio.stdout_screen().columns


def _end(process: Popen[bytes]) -> None:
    """Ask the pager to end, and give it a moment to restore the terminal."""
    process.terminate()
    until = time.monotonic() + _PATIENCE_SECONDS
    with suppress(ChildProcessError):
        while not os.waitpid(process.pid, os.WNOHANG)[0] and time.monotonic() < until:
            time.sleep(_PAUSE_SECONDS)


def _run(command: list[str], pieces: Iterable[bytes], is_report: bool) -> bool:  # noqa: FBT001
    """Feed the pager until it has all or is left; False where it does not start."""
    import subprocess  # noqa: PLC0415 - only the pager needs it

    environment = {**_ENVIRONMENT, **os.environ}
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)  # noqa: S603
    except OSError as problem:
        stdio.print_error(f"the pager {command[0]!r} cannot be run: {problem.strerror}")
        return False
    assert process.stdin
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        with on_exit(lambda: _end(process)):
            try:
                # After an interrupt the pager shows what it has got.
                lines = takewhile(lambda _: not interrupts, stdio.for_terminal(pieces, is_report))
                with suppress(BrokenPipeError):
                    process.stdin.writelines(lines)
            finally:
                with suppress(BrokenPipeError):
                    process.stdin.close()
                process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return True
