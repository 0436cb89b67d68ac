r"""The string literals of protobuf's text format.

    "plain"      'either quote'      "esc\141ped \"so\" \303\251"      "continued" " by another"

Accepts the escapes that protobuf prints and the other usual ones; protobuf itself decodes them.
"""

from __future__ import annotations

import re


class Unhandled(Exception):  # noqa: N818 - not an error: another reader takes over
    """The text has a form that this reader does not handle, or is invalid."""


# Repetitions are bounded because the matcher uses memory for each one: the content of a tensor may
# have millions of escapes. A stretch ends at a quote or at anything unusual.
_STRETCHES = {
    quote: re.compile(
        rb"[^\n\\" + quote + rb"]*(?:\\(?:[abfnrtv\\'\"]|[0-3][0-7]{2}|[0-7]{1,2}(?![0-7])"
        rb"|x[0-9a-fA-F])[^\n\\" + quote + rb"]*){0,256}"
    )
    for quote in (b'"', b"'")
}
_BLANKS = re.compile(rb"\s*(?:#[^\n]*\s*){0,64}")

# Strings and comments. Escapes in strings: known ones, octal ones above a byte, any other.
_PARTS = re.compile(rb'#[^\n]*|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|\'[^\'\\\n]*(?:\\.[^\'\\\n]*)*\'?')
_ESCAPE = re.compile(
    rb"\\(?:([abfnrtvxuUN\\'\"]|[0-3][0-7]{0,2}|[4-7][0-7]?(?![0-7]))|([4-7])|(.))"
)


def literals(data: bytes, at: int) -> tuple[list[bytes], int]:
    """(the contents of the quoted strings from *at* on, where they end)."""
    contents = []
    while (quote := data[at : at + 1]) in _STRETCHES:
        end = _furthest(_STRETCHES[quote], data, at + 1)
        if not data.startswith(quote, end):
            raise Unhandled
        contents.append(data[at + 1 : end])
        at = blanks(data, end + 1)
    return contents, at


def blanks(data: bytes, at: int) -> int:
    """The end of the blanks and comments from *at* on."""
    return _furthest(_BLANKS, data, at)


def _furthest(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    """The end of as many matches of a bounded *pattern* as possible."""
    while (match := pattern.match(data, at)) and match.end() > at:
        at = match.end()
    return at


def without_warnings(data: bytes) -> bytes:
    r"""*data* with escapes that Python warns of rewritten; they mean, or fail, the same.

    Python's parser takes an unknown escape literally.
    """
    return _PARTS.sub(_part_without_warnings, data) if b"\\" in data else data


def _part_without_warnings(part: re.Match[bytes]) -> bytes:
    return part[0] if part[0].startswith(b"#") else _ESCAPE.sub(_escape_without_warnings, part[0])


def _escape_without_warnings(escape: re.Match[bytes]) -> bytes:
    if escape[1]:
        return escape[0]
    return rb"\xg" if escape[2] else rb"\\" + escape[3]


def unescape(strings: list[bytes], *, text: bool) -> bytes:
    """The joined value of literals; raises Unhandled if it should be *text* but is not UTF-8."""
    # protobuf's own function, so the result is certainly the same.
    from google.protobuf.text_encoding import CUnescape  # noqa: PLC0415

    try:
        value = b"".join([CUnescape(string.decode()) for string in strings])
        if text:
            value.decode()
    except ValueError as problem:
        raise Unhandled from problem
    return value
