r"""The string literals of protobuf's text format.

    "plain"      'either quote'      "esc\141ped \"so\" \303\251"      "continued" " by another"

Taken are the escapes that protobuf prints and the usual others; what an escape means is asked of
protobuf itself.
"""

from __future__ import annotations

import re


class Odd(Exception):  # noqa: N818 - not an error: another reader takes over
    """The text is not laid out as this reader knows it, or is not valid at all."""


# A stretch of a literal, up to its quote or to something odd. It is bounded, for the matcher
# remembers each repetition and the content of a tensor may have millions of escapes.
_STRETCHES = {
    quote: re.compile(
        rb"[^\n\\" + quote + rb"]*(?:\\(?:[abfnrtv\\'\"]|[0-3][0-7]{2}|[0-7]{1,2}(?![0-7])"
        rb"|x[0-9a-fA-F])[^\n\\" + quote + rb"]*){0,256}"
    )
    for quote in (b'"', b"'")
}
_BLANKS = re.compile(rb"\s*(?:#[^\n]*\s*)*")


def literals(data: bytes, at: int) -> tuple[list[bytes], int]:
    """What stands between the quotes of the strings from *at* on, and where they end."""
    found = []
    while (quote := data[at : at + 1]) in _STRETCHES:
        begin = at = at + 1
        while not data.startswith(quote, at):
            end = _end(_STRETCHES[quote], data, at)
            if end == at:
                raise Odd
            at = end
        found.append(data[begin:at])
        at = blanks(data, at + 1)
    return found, at


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    found = pattern.match(data, at)
    assert found is not None  # these patterns match the empty string too
    return found.end()


def blanks(data: bytes, at: int) -> int:
    """The end of the blanks and comments from *at* on."""
    return _end(_BLANKS, data, at)


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
