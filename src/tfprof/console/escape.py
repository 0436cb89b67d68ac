r"""What a terminal would obey instead of show, made visible: names come from files, not from us.

    escape [2J        clears the screen                     shown as   \x1b[2J
    a mark U+202E     turns the text around                 shown as   \u202e
    a line end        makes one name look like two rows     shown as   \n

Only for the eye: what goes to a file or a pipe stays as it is, to the last byte.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfprof.columns.strings import Strings
from tfprof.foundation.lazy_dataclasses import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.query.counted import Answer

# Control characters but tab and newline, what changes the direction of text or ends a line, and
# bytes that are no text.
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_BYTES_FROM = 0xDC00  # where what is no UTF-8 is kept among the characters
_ONE_BYTE = 0xFF


def visible(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """*pieces*, each of whole lines, with nothing in them that a terminal obeys but line ends."""
    for piece in pieces:
        text = piece.decode("utf-8", "surrogateescape")
        yield OBEYED.sub(_shown, text).encode() if OBEYED.search(text) else piece


def visible_text(text: str) -> str:
    """A sentence for the eye: on one line, with nothing in it that a terminal obeys."""
    return OBEYED.sub(_shown, text).replace("\n", "\\n")


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code >= _BYTES_FROM:
        code -= _BYTES_FROM
    return f"\\x{code:02x}" if code <= _ONE_BYTE else f"\\u{code:04x}"


def on_one_line(answer: Answer) -> Answer:
    """*answer* with names that hold a line end shown on one line."""
    drawing = answer.drawing
    label = drawing.label
    if not bool((label.blob == ord("\n")).any()):
        return answer
    names = [name.replace(b"\n", b"\\n") for name in label]
    changed = replace(drawing, label=Strings.of(names))
    return replace(answer, counted=replace(answer.counted, drawing=changed))
