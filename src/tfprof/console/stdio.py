"""Standard input, output and error: the only module that touches them.

    write_stdout     pieces of bytes
    print_report     the same from a Python program, which may have replaced sys.stdout
    print_error      one sentence on stderr, behind "tfprof: "
    print_notes      the notes of a profile on stderr
    draw_status      a line on stderr that the next one replaces

Names come from files and may hold anything. Where a terminal shows them, what it would obey is
escaped here, and nowhere else; a file or a pipe gets every byte as it is.
"""

from __future__ import annotations

import os
import stat
import sys
from codecs import getincrementaldecoder
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from tfprof.console.escape import visible, visible_text
from tfprof.errors import ClosedPipeError, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import TextIO

    from tfprof.model import Note


class StdoutError(OutputError):
    """Standard output is closed or full, so the command cannot continue."""


class UnreadStdoutError(StdoutError, ClosedPipeError):
    """Nobody reads standard output any more."""


_CLEAR_LINE = "\r\x1b[K"
_SCREEN = os.terminal_size((80, 24))  # of a terminal that does not say how large it is


def write_stdout(pieces: Iterable[bytes], *, is_report: bool = False) -> None:
    """Write to standard output, to the last byte; a report has colour on a terminal."""
    if sys.stdout is None:
        if any(pieces):
            raise StdoutError("standard output is closed")
        return
    try:
        for piece in for_terminal(pieces, is_report) if stdout_is_terminal() else pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except OSError as problem:
        # What Python still holds back must have somewhere to go when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(problem, BrokenPipeError):
            raise UnreadStdoutError("standard output was closed early") from None
        raise StdoutError(f"standard output cannot be written: {problem.strerror}") from None


def print_report(pieces: Iterable[bytes]) -> None:
    """Write to sys.stdout, which a program may have replaced by a StringIO, a notebook or a Tee.

    A plain stream gets the bytes, whatever its encoding. Any other stream gets text, and what it
    cannot encode is escaped: printing never raises an error of encoding.
    """
    stream = sys.stdout
    if stream is None:
        return
    is_plain = getattr(type(stream), "write", None) is TextIOWrapper.write
    if not is_plain or "write" in getattr(stream, "__dict__", {}):  # it has a `write` of its own
        decoder = getincrementaldecoder("utf-8")("backslashreplace")
        for piece in pieces:
            _write_text(stream, decoder.decode(piece))
        _write_text(stream, decoder.decode(b"", final=True))
        return
    stream.flush()
    for piece in pieces:
        stream.buffer.write(piece)
    stream.flush()


def _write_text(stream: TextIO | None, text: str) -> None:
    """Write *text*, with escapes for characters that the stream cannot encode."""
    if stream is None or not text:
        return
    encoding: Any = getattr(stream, "encoding", None)
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    except (LookupError, TypeError):  # Python does not know the encoding: the stream decides
        pass
    stream.write(text)


def for_terminal(pieces: Iterable[bytes], is_report: bool) -> Iterable[bytes]:  # noqa: FBT001
    """*pieces* as a terminal gets them: escaped, and a report in colour."""
    if not is_report:
        return visible(pieces)
    from tfprof.console.colour import coloured, wanted  # noqa: PLC0415 - help has no colour

    return coloured(visible(pieces)) if wanted(os.environ) else visible(pieces)


def stdout_is_terminal() -> bool:
    """Whether a person may be looking at standard output."""
    return _is_terminal(sys.stdout)


def stdout_columns() -> int | None:
    """The width of the terminal that shows standard output; None where none does."""
    return stdout_screen().columns if stdout_is_terminal() else None


def stdout_screen() -> os.terminal_size:
    """The size of the terminal that shows standard output."""
    return _screen(sys.stdout)


def stdout_is_file() -> bool:
    """Whether standard output is a plain file."""
    try:
        return sys.stdout is not None and stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):  # a stream of another program has no number, or a closed one
        return False


def print_error(sentence: str, prefix: str = "tfprof: ") -> None:
    """Print a sentence on stderr."""
    write_stderr(f"{prefix}{_escaped(sentence)}\n")


def print_notes(notes: Iterable[Note]) -> None:
    """Print each note on stderr."""
    for note in notes:
        text = str(note).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        with suppress(OSError):
            _write_text(sys.stderr, f"{_escaped(text)}\n")


def print_command(command: str, options: Mapping[str, Any]) -> None:
    """Print the command that a shorter one stands for, ready to copy."""
    import shlex  # noqa: PLC0415

    from tfprof.tables.options import flags  # noqa: PLC0415

    print_error(f"running: tfprof {command} {shlex.join(flags(options))}")


def write_stderr(text: str) -> None:
    """Write *text* to stderr; a closed or full stderr does not stop the command."""
    with suppress(OSError):
        sys.stderr.write(text)


def _escaped(sentence: str) -> str:
    return visible_text(sentence) if _is_terminal(sys.stderr) else sentence


def stderr_is_terminal() -> bool:
    """Whether a person may be looking at stderr."""
    return _is_terminal(sys.stderr)


def open_missing_stderr() -> None:
    """Where stderr was closed by the process that started us, send it nowhere."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - until we exit


def flush() -> None:
    """Write what Python holds back; a closed or full stream was reported when it was written to."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError, ValueError):
            stream.flush()


def draw_status(text: str) -> None:
    """Show *text* as the one line that replaces itself; "" clears it. May raise OSError."""
    line = fitted(visible_text(text), _screen(sys.stderr).columns) if text else ""
    sys.stderr.write(f"{_CLEAR_LINE}{line}")
    sys.stderr.flush()


def fitted(text: str, columns: int) -> str:
    """*text* on one line of the terminal: of a long one, the beginning and the end."""
    if len(text) < columns:
        return text
    room = max(columns - 2, 0)
    return f"{text[: room // 2]}…{text[len(text) - (room - room // 2) :]}"


def _screen(stream: TextIO) -> os.terminal_size:
    try:
        size = os.get_terminal_size(stream.fileno())
    except OSError:
        return _SCREEN
    return os.terminal_size(given or usual for given, usual in zip(size, _SCREEN, strict=True))


def write_in_signal_handler(message: bytes) -> None:
    """Clear the status line and write *message*, past Python's stream: a signal may stop that."""
    with suppress(OSError, ValueError):
        stderr = sys.stderr.fileno()
        if os.isatty(stderr):
            os.write(stderr, _CLEAR_LINE.encode())
        os.write(stderr, message)


def is_interactive() -> bool:
    """Whether a person types what is read, and sees what is printed."""
    return _is_terminal(sys.stdin) and stdout_is_terminal()


def stdin_lines() -> Iterator[str]:
    """The lines of standard input; bytes that are not UTF-8 become surrogates."""
    if sys.stdin is not None:
        for line in sys.stdin.buffer:
            yield line.decode("utf-8", "surrogateescape")


def stdin_number() -> int:
    """The file descriptor of standard input."""
    return sys.stdin.fileno()


def after_interrupt() -> None:
    """End what Ctrl-C cut off with a line of its own."""
    sys.stdout.flush()
    write_stderr("\ninterrupted\n")


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and hasattr(stream, "isatty") and stream.isatty()
