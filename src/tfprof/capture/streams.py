"""Printing for the Python calls: through sys.stdout and sys.stderr, which a program may redirect.

    plain stream    the bytes themselves, whatever its encoding
    any other       its `write`, as print does: a StringIO, a notebook, a Tee around a stream

Text that the stream cannot encode is escaped and never raises an error.
"""

from __future__ import annotations

import sys
from codecs import getincrementaldecoder
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.model import Note


def print_report(pieces: Iterable[bytes]) -> None:
    """Print a report on sys.stdout: byte for byte where the stream takes bytes."""
    stream = sys.stdout
    if stream is None:
        return
    binary = _below(stream)
    if binary is None:
        decoder = getincrementaldecoder("utf-8")("backslashreplace")
        for piece in pieces:
            _write(stream, decoder.decode(piece))
        _write(stream, decoder.decode(b"", final=True))
        return
    stream.flush()
    for piece in pieces:
        binary.write(piece)
    stream.flush()


def print_notes(notes: Iterable[Note]) -> None:
    """Print the notes on sys.stderr, one line each."""
    stream = sys.stderr
    if stream is not None:
        for note in notes:
            text = str(note).encode("utf-8", "surrogateescape")
            _write(stream, text.decode("utf-8", "backslashreplace") + "\n")


def _below(stream: TextIO) -> BinaryIO | None:
    """The binary stream below a plain one; None if the stream has a `write` of its own."""
    own = "write" in getattr(stream, "__dict__", {})
    if own or getattr(type(stream), "write", None) is not TextIOWrapper.write:
        return None
    return stream.buffer


def _write(stream: TextIO, text: str) -> None:
    if text:
        stream.write(_encodable(text, getattr(stream, "encoding", None)))


def _encodable(text: str, encoding: Any) -> str:  # noqa: ANN401 - a stream may have anything
    """*text*, with escapes for characters that *encoding* lacks."""
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    except (LookupError, TypeError):  # Python does not know the encoding: the stream decides
        return text
    return text
