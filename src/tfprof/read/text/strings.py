r"""The string literals of protobuf's text format.

    "plain"      'either quote'      "esc\141ped \"so\" \303\251"      "continued" " by another"

Taken are the escapes that protobuf prints and the usual others; what an escape means is asked of
protobuf itself.
"""

from __future__ import annotations

import re


class Odd(Exception):  # noqa: N818 - not an error: another reader takes over
    """The text is not laid out as this reader knows it, or is not valid at all."""


# These are bounded, for the matcher remembers each repetition: the content of a tensor may have
# millions of escapes. The first go as far as a quote or something odd.
_STRETCHES = {
    quote: re.compile(
        rb"[^\n\\" + quote + rb"]*(?:\\(?:[abfnrtv\\'\"]|[0-3][0-7]{2}|[0-7]{1,2}(?![0-7])"
        rb"|x[0-9a-fA-F])[^\n\\" + quote + rb"]*){0,256}"
    )
    for quote in (b'"', b"'")
}
_BLANKS = re.compile(rb"\s*(?:#[^\n]*\s*){0,64}")

# Strings and comments; in a string an escape: one that is known, one above a byte, any other.
_PARTS = re.compile(rb'#[^\n]*|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|\'[^\'\\\n]*(?:\\.[^\'\\\n]*)*\'?')
_ESCAPE = re.compile(
    rb"\\(?:([abfnrtvxuUN\\'\"]|[0-3][0-7]{0,2}|[4-7][0-7]?(?![0-7]))|([4-7])|(.))"
)


def literals(data: bytes, at: int) -> tuple[list[bytes], int]:
    """What stands between the quotes of the strings from *at* on, and where they end."""
    found = []
    while (quote := data[at : at + 1]) in _STRETCHES:
        end = _furthest(_STRETCHES[quote], data, at + 1)
        if not data.startswith(quote, end):
            raise Odd
        found.append(data[at + 1 : end])
        at = blanks(data, end + 1)
    return found, at


def blanks(data: bytes, at: int) -> int:
    """The end of the blanks and comments from *at* on."""
    return _furthest(_BLANKS, data, at)


def _furthest(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Where a bounded *pattern*, taken as often as it goes, comes to."""
    while (found := pattern.match(data, at)) and found.end() > at:
        at = found.end()
    return at


def without_warnings(data: bytes) -> bytes:
    r"""*data* with the escapes that Python warns of in other words: they mean, or fail, the same.

    To Python's parser an escape that it does not know is what it is written as.
    """
    return _PARTS.sub(_part_without_warnings, data) if b"\\" in data else data


def _part_without_warnings(part: re.Match[bytes]) -> bytes:
    return part[0] if part[0].startswith(b"#") else _ESCAPE.sub(_escape_without_warnings, part[0])


def _escape_without_warnings(escape: re.Match[bytes]) -> bytes:
    if escape[1]:
        return escape[0]
    return rb"\xg" if escape[2] else rb"\\" + escape[3]


def unescape(strings: list[bytes], *, text: bool) -> bytes:
    """What literals mean together; raises Odd if that is to be *text* and is no UTF-8."""
    # The runtime's own function: so it cannot mean anything else.
    from google.protobuf.text_encoding import CUnescape  # noqa: PLC0415

    try:
        meant = b"".join([CUnescape(string.decode()) for string in strings])
        if text:
            meant.decode()
    except ValueError as problem:
        raise Odd from problem
    return meant
