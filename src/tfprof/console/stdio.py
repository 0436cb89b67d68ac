"""What the command says: reports to standard output, sentences and notes to standard error.

    show         what came of a question: its report, its notes, the files it wrote
    write        pieces of bytes, to the last one
    say, tell    a sentence of ours; the notes of a profile

A name out of a file may hold anything; where a terminal shows it, nothing in it is obeyed.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tfprof.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TextIO

    from tfprof.console.outcome import Outcome
    from tfprof.model import Note


def show(outcome: Outcome) -> None:
    """Notes, report, and the files that were written."""
    tell(outcome.notes)
    _report(outcome.stdout)
    for path in outcome.written:
        say(f"wrote {path}")


def _report(pieces: Iterable[bytes]) -> None:
    """Print a report; how far that is, is told where it goes to a file."""
    from tfprof.io.files import bounded, told  # noqa: PLC0415

    pieces = bounded("standard output", pieces)
    if not _is_plain_file(sys.stdout):
        # On a terminal, also behind a pager, a line of ours would stand between those of others.
        write(_for_the_eye(pieces))
        return
    from tfprof.console.progress import Progress  # noqa: PLC0415

    with Progress():
        write(told("writing to standard output", pieces))


def write(pieces: Iterable[bytes]) -> None:
    """Write to standard output, to the last byte."""
    if sys.stdout is None:
        if any(pieces):
            raise OutputError("standard output is closed")
        return
    try:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # What Python still holds back must have somewhere to go when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError("standard output was closed before the whole report was read") from None
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError(f"standard output cannot be written: {problem.strerror}") from None


def say_command(command: str, given: Mapping[str, Any]) -> None:
    """Show the command that a shorter one stands for, ready to be copied."""
    import shlex  # noqa: PLC0415

    words = [
        f"--{name}={','.join(value) if isinstance(value, tuple) else value}"
        for name, value in given.items()
    ]
    say(f"this is: tfprof {command} {shlex.join(words)}")


def say(sentence: str) -> None:
    """Say a sentence of ours on stderr."""
    put(f"tfprof: {_as_seen(sentence)}\n")


def tell(notes: Iterable[Note]) -> None:
    """Say each of the notes on stderr."""
    for note in notes:
        put(f"{_as_seen(str(note))}\n")


def put(text: str) -> None:
    """Say *text* on stderr; that nobody can hear it is no reason to stop."""
    with suppress(OSError):
        sys.stderr.write(text)


def _as_seen(sentence: str) -> str:
    """*sentence*, which may hold names out of files, safe to be shown."""
    if not is_terminal(sys.stderr):
        return sentence
    from tfprof.console.escape import visible_text  # noqa: PLC0415 - most sentences go nowhere or to a file

    return visible_text(sentence)


def harmless(pieces: Iterable[bytes]) -> Iterable[bytes]:
    """*pieces*, and where a terminal shows them, nothing in them that it would obey."""
    if not is_terminal(sys.stdout):
        return pieces
    from tfprof.console.escape import visible  # noqa: PLC0415

    return visible(pieces)


def _for_the_eye(pieces: Iterable[bytes]) -> Iterable[bytes]:
    """*pieces* in colour where a terminal shows them; anywhere else as they are."""
    if not is_terminal(sys.stdout):
        return pieces
    from tfprof.console.colour import coloured, wanted  # noqa: PLC0415

    return coloured(pieces) if wanted(os.environ) else pieces


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person may be looking at *stream*."""
    return stream is not None and stream.isatty()


def _is_plain_file(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # what a program put in its place has no number, or a closed one
        return False
