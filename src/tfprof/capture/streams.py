"""What is printed goes through Python's own streams, so that a program can redirect it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.model import Note


def put(pieces: Iterable[bytes]) -> None:
    """Print a report on sys.stdout: byte for byte where the stream takes bytes."""
    stream = sys.stdout
    if stream is None:
        return
    binary = getattr(stream, "buffer", None)
    if binary is None:
        # A StringIO or a notebook: bytes that are no text must not stop the program.
        stream.write(b"".join(pieces).decode("utf-8", "backslashreplace"))
        return
    stream.flush()
    for piece in pieces:
        binary.write(piece)
    stream.flush()


def tell(notes: Iterable[Note]) -> None:
    """Print each note on sys.stderr, a line each."""
    stream = sys.stderr
    if stream is not None:
        for note in notes:
            text = str(note).encode("utf-8", "surrogateescape")
            stream.write(text.decode("utf-8", "backslashreplace") + "\n")
