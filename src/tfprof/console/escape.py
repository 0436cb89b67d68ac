r"""Escapes control characters, so that a terminal shows them instead of obeying them.

    escape [2J        clears the screen                     shown as   \x1b[2J
    a mark U+202E     turns the text around                 shown as   \u202e
    a line end        makes one name look like two rows     shown as   \n

Names come from files and may hold any of these. Only what a terminal shows is escaped; a file or a
pipe gets every byte as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Control characters but tab and newline, marks that change the direction of text or end a line, and
# bytes that are not UTF-8.
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_BYTES_FROM = 0xDC00  # surrogateescape maps the bytes that are not UTF-8 to characters from here
_ONE_BYTE = 0xFF


def visible(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """*pieces*, each of whole lines, escaped; line ends and tabs stay."""
    for piece in pieces:
        text = piece.decode("utf-8", "surrogateescape")
        yield OBEYED.sub(_shown, text).encode() if OBEYED.search(text) else piece


def visible_text(text: str) -> str:
    """A sentence, escaped and on one line."""
    return OBEYED.sub(_shown, text).replace("\n", "\\n")


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code >= _BYTES_FROM:
        code -= _BYTES_FROM
    return f"\\x{code:02x}" if code <= _ONE_BYTE else f"\\u{code:04x}"
