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
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

from tfprof.console.colour import rows_start
from tfprof.console.signals import on_exit
from tfprof.console.stdio import (
    for_terminal,
    print_error,
    stdout_is_terminal,
    stdout_screen,
    write_stdout,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_VARIABLES = ("TFPROF_PAGER", "PAGER")
_USUAL = "less"
_NONE = ("", "cat")
_ENVIRONMENT = {"LESS": "FRSX", "LV": "-c"}
_FOR_A_SHELL = re.compile(r"[|&;<>()$`\\*?\[#~=%]")
# No screen shows as much; a text of few lines is wide then.
_MOST_SHOWN = 1 << 16


def page_stdout(pieces: Iterable[bytes], *, is_report: bool = False, always: bool = False) -> None:
    """Write to standard output, in the pager where the screen is too small or *always*."""
    flow = iter(pieces)
    if not stdout_is_terminal() or (command := pager_command(os.environ)) is None:
        write_stdout(flow, is_report=is_report)
        return
    head = b""
    while not (large := _exceeds(head, final=False)) and (piece := next(flow, b"")):
        head += piece
    whole = chain([head], flow)
    if not (always or large or _exceeds(head, final=True)) or not _run(command, whole, is_report):
        write_stdout(whole, is_report=is_report)


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
    print_error(f"the pager {wanted!r} cannot be run")
    return None


def _exceeds(head: bytes, *, final: bool) -> bool:
    """Whether *head* is more than a screen: at once by its lines, when *final* by its rows' width.

    Explanations above rows are sentences, which may wrap.
    """
    screen = stdout_screen()
    if head.count(b"\n") >= screen.lines or len(head) > _MOST_SHOWN:
        return True
    rows = head[rows_start(head) :].decode("utf-8", "replace") if final else ""
    return any(len(row) > screen.columns for row in rows.split("\n"))


def _run(command: list[str], pieces: Iterable[bytes], is_report: bool) -> bool:  # noqa: FBT001
    """Feed the pager until it has all or is left; False where it does not start."""
    import subprocess  # noqa: PLC0415 - only the pager needs it

    environment = {**_ENVIRONMENT, **os.environ}
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)  # noqa: S603
    except OSError as problem:
        print_error(f"the pager {command[0]!r} cannot be run: {problem.strerror}")
        return False
    assert process.stdin
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        with on_exit(process.terminate):
            try:
                with suppress(BrokenPipeError):
                    process.stdin.writelines(_until(interrupts, for_terminal(pieces, is_report)))
            finally:
                with suppress(BrokenPipeError):
                    process.stdin.close()
                process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return True


def _until(interrupts: list[int], pieces: Iterable[bytes]) -> Iterator[bytes]:
    """*pieces*; after an interrupt the pager shows what it has got."""
    for piece in pieces:
        if interrupts:
            return
        yield piece
