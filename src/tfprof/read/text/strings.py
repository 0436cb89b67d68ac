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
