r"""The syntax of protobuf text: string literals, fields, and how to skip unknown fields.

    "plain"      'either quote'      "esc\141ped \"so\" \303\251"      "continued" " by another"

Accepts the escapes that protobuf prints and the other usual ones; protobuf itself decodes them.
`FIELD` matches one of

    name: "value"      name: value      name {      name: {      name: [      }

with the blanks and the one separator that may follow. `skip` skips a message or a list of any
depth and checks it as protobuf's parser does: braces match, and names, words, strings and numbers
are well-formed.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

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
_WORDS = re.compile(_PARTS.pattern + rb"|[A-Za-z_]\w*")
_DTYPE = re.compile(rb"DT_[A-Z0-9_]+")
_NAME = rb"[a-zA-Z_][0-9a-zA-Z_+-]*"
_TOKEN = rb"[a-zA-Z_][0-9a-zA-Z_+-]*|[0-9+-][0-9a-zA-Z_.+-]*|\.[0-9][0-9a-zA-Z_.+-]*"
# A plain string has no escapes, and no other string continues it.
_PLAIN = rb'"([^"\\\n]*)"(?!\s*["\'])'
_BEHIND = rb"\s*[;,]?\s*"
# The groups of FIELD that identify what matched; group 2 is the name.
CLOSE, OPEN, STRING, ATOM, COLON_OPEN, OTHER, BARE_LIST = 1, 3, 4, 5, 6, 7, 8
FIELD = re.compile(
    rb"([}>])" + _BEHIND
    + rb"|(" + _NAME + rb")\s*(?:([{<])\s*|:\s*(?:" + _PLAIN + _BEHIND
    + rb"|(" + _TOKEN + rb")" + _BEHIND + rb"|([{<])\s*|([\"'\[]))|(\[))"
)  # fmt: skip
CLOSER = {b"{": b"}", b"<": b">"}
LIST_END = b"]"
_SEPARATOR = re.compile(_BEHIND)
# An element of a list; of a message or string only the beginning.
_ELEMENT = re.compile(rb"\s*(?:([{<])|([\"'])|(" + _TOKEN + rb"))\s*")
_MESSAGE, _LITERAL, _VALUE = 1, 2, 3
_ELEMENT_END = re.compile(rb"\s*([,\]])\s*")
# Numbers that protobuf certainly accepts; it accepts any word.
_NUMBER = re.compile(
    rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|-(?:inf|nan)"
    rb"|0[xX][0-9a-fA-F]{1,16}|-0[xX][0-9a-fA-F]{1,15}|-?0[0-7]{1,20}"
)


class Unhandled(Exception):  # noqa: N818 - not an error: another reader takes over
    """The text has a form that this reader does not handle, or is invalid."""


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
    r"""*data* with escapes that Python warns of rewritten; they mean, or fail, the same."""

    def escape(match: re.Match[bytes]) -> bytes:
        # Python's parser takes an unknown escape literally.
        return match[0] if match[1] else rb"\xg" if match[2] else rb"\\" + match[3]

    def part(match: re.Match[bytes]) -> bytes:
        return match[0] if match[0].startswith(b"#") else _ESCAPE.sub(escape, match[0])

    return _PARTS.sub(part, data) if b"\\" in data else data


def is_dtype(word: bytes) -> bool:
    """Whether *word* is spelled as the name of a dtype, perhaps of a later TensorFlow."""
    return _DTYPE.fullmatch(word) is not None


def without_dtypes(data: bytes, known: Collection[bytes], instead: bytes) -> bytes:
    """*data* with *instead* for names of dtypes that are not *known*."""

    def word(match: re.Match[bytes]) -> bytes:
        return instead if is_dtype(match[0]) and match[0] not in known else match[0]

    return _WORDS.sub(word, data)


def unescape(strings: list[bytes], *, text: bool) -> bytes:
    """The joined value of literals; raises Unhandled if it should be *text* but is not UTF-8."""
    try:
        value = b"".join([_unescaped(string) for string in strings])
        if text:
            value.decode()
    except ValueError as problem:
        raise Unhandled from problem
    return value


def _unescaped(string: bytes) -> bytes:
    if b"\\" not in string:
        return string
    if b"\\x" not in string:
        # Fast, and without copies: the content of a tensor may be most of a file.
        return codecs.escape_decode(string)[0]
    # protobuf's own function, which accepts a single hexadecimal digit.
    from google.protobuf.text_encoding import CUnescape  # noqa: PLC0415

    return CUnescape(string.decode())


def check_value(token: bytes) -> None:
    """Raise Unhandled unless *token* is valid as the value of any field."""
    if not (token[:1].isalpha() or token[:1] == b"_" or _NUMBER.fullmatch(token)):
        raise Unhandled


def after_separator(data: bytes, at: int) -> int:
    """The end of blanks and at most one separator from *at* on."""
    match = _SEPARATOR.match(data, at)
    assert match is not None  # it matches the empty string too
    return match.end()


def element(data: bytes, at: int) -> tuple[bytes | None, list[bytes], bytes, int]:
    """(brace, literals, token, end) of the list element at *at*; only one of the three is set.

    After a brace, the end is where its first field begins.
    """
    match = _ELEMENT.match(data, at)
    if match is None:
        raise Unhandled
    if match.lastindex == _LITERAL:
        strings, end = literals(data, match.start(_LITERAL))
        return None, strings, b"", end
    return match[_MESSAGE], [], match[_VALUE] or b"", match.end()


def element_end(data: bytes, at: int) -> tuple[bool, int]:
    """(whether another element follows, where it begins or else the list ends)."""
    match = _ELEMENT_END.match(data, at)
    if match is None:
        raise Unhandled
    if match[1] == b",":
        return True, match.end()
    return False, after_separator(data, match.end())


def skip(data: bytes, at: int, closer: bytes) -> int:  # noqa: C901 - a case for each match
    """The end of the message or list that *closer* closes and whose contents begin at *at*."""
    waiting = [closer]
    if closer == LIST_END:
        at = _skip_elements(data, at, waiting, first=True)
    while waiting:
        match = FIELD.match(data, at)
        if match is None:
            at = past_blanks(data, at)
            continue
        kind, at = match.lastindex, match.end()
        if kind == ATOM:
            check_value(match[ATOM])
        elif kind in (OPEN, COLON_OPEN):
            waiting.append(CLOSER[match[kind]])
        elif kind == CLOSE:
            if match[CLOSE] != waiting.pop():
                raise Unhandled
            if waiting and waiting[-1] == LIST_END:
                at = _skip_elements(data, match.end(CLOSE), waiting)
        elif kind == OTHER and match[OTHER] == b"[":
            waiting.append(LIST_END)
            at = _skip_elements(data, at, waiting, first=True)
        elif kind == OTHER:
            at = after_separator(data, literals(data, at - 1)[1])
        elif kind != STRING:
            raise Unhandled
    return at


def _skip_elements(data: bytes, at: int, waiting: list[bytes], *, first: bool = False) -> int:
    """Continue in the innermost open list, at its *first* element or after another one."""
    if first:
        at = blanks(data, at)
        more = not data.startswith(LIST_END, at)
        if not more:
            at = after_separator(data, at + 1)
    else:
        more, at = element_end(data, at)
    while more:
        brace, _, token, at = element(data, at)
        if brace:
            waiting.append(CLOSER[brace])
            return at
        if token:
            check_value(token)
        more, at = element_end(data, at)
    waiting.pop()
    return at


def past_blanks(data: bytes, at: int) -> int:
    """The end of blanks and comments from *at* on; raises Unhandled if there are none."""
    end = blanks(data, at)
    if end == at:
        raise Unhandled
    return end
