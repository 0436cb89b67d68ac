"""The notes that a capture leaves in its folder: one line of text per note, below a first line.

# tfprof capture notes, version 1
the functions are missing: AttributeError: …
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tfprof.columns.strings import clean_text
from tfprof.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.read.source import Source

_VERSION: Final = 1
_TITLE: Final = "# tfprof capture notes, version "
_FIRST_LINE: Final = re.compile(rf"{_TITLE}(\d{{1,9}})")
# A capture writes a few lines.
_MOST_BYTES, _MOST_LINES = 1 << 16, 100


def notes_as_bytes(notes: Iterable[str]) -> bytes:
    """The content of the file with these notes."""
    lines = (" ".join(note.split()) for note in notes)
    return "".join(f"{line}\n" for line in (f"{_TITLE}{_VERSION}", *lines)).encode()


def read_notes(source: Source) -> list[str]:
    """The notes in a file; raises InputError."""
    text = source.data[:_MOST_BYTES].tobytes().decode("utf-8", "replace")
    first, *lines = text.split("\n")
    match = _FIRST_LINE.fullmatch(first)
    if match is None:
        raise InputError(f"{source.name} does not begin as the notes of a capture do")
    if int(match[1]) > _VERSION:
        return [f"{source.name} is of a newer release of tfprof, which can read it"]
    return [clean_text(line) for line in lines[:_MOST_LINES] if line.strip()]
