"""Fields of protobuf text in any layout, and the way past those that nobody asked for.

`FIELD` matches one of

    name: "value"      name: value      name {      name: {      name: [      }

with the blanks and the one separator that may stand behind. `skip` goes past a message or a list
that is not read, however deep, and checks it as protobuf's parser does: braces pair, strings and
numbers are valid, and of names and words only the letters matter.
"""

from __future__ import annotations

import re

from tfprof.read.text.strings import Odd, blanks, literals

_NAME = rb"[a-zA-Z_][0-9a-zA-Z_+-]*"
_TOKEN = rb"[a-zA-Z_][0-9a-zA-Z_+-]*|[0-9+-][0-9a-zA-Z_.+-]*|\.[0-9][0-9a-zA-Z_.+-]*"
# A plain string has no escapes, and no other string continues it.
_PLAIN = rb'"([^"\\\n]*)"(?!\s*["\'])'
_BEHIND = rb"\s*[;,]?\s*"

# The groups of FIELD by which a match is told from another; group 2 is the name.
CLOSE, OPEN, STRING, ATOM, COLON_OPEN, OTHER, BARE_LIST = 1, 3, 4, 5, 6, 7, 8
FIELD = re.compile(
    rb"([}>])" + _BEHIND
    + rb"|(" + _NAME + rb")\s*(?:([{<])\s*|:\s*(?:" + _PLAIN + _BEHIND
    + rb"|(" + _TOKEN + rb")" + _BEHIND + rb"|([{<])\s*|([\"'\[]))|(\[))"
)  # fmt: skip
CLOSER = {b"{": b"}", b"<": b">"}
LIST_END = b"]"

_SEPARATOR = re.compile(_BEHIND)
# An element of a list, without its end if it is a message or a string that is not plain.
_ELEMENT = re.compile(rb"\s*(?:([{<])|([\"'])|(" + _TOKEN + rb"))\s*")
_MESSAGE, _LITERAL, _VALUE = 1, 2, 3
_ELEMENT_END = re.compile(rb"\s*([,\]])\s*")

# Numbers that protobuf surely takes; a word is taken whatever it is.
_NUMBER = re.compile(
    rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|-(?:inf|nan)"
    rb"|0[xX][0-9a-fA-F]{1,16}|-0[xX][0-9a-fA-F]{1,15}|-?0[0-7]{1,20}"
)


def check_value(token: bytes) -> None:
    """Raise Odd unless *token* is valid as the value of any field."""
    if not (token[:1].isalpha() or token[:1] == b"_" or _NUMBER.fullmatch(token)):
        raise Odd


def after_separator(data: bytes, at: int) -> int:
    """The end of blanks and at most one separator from *at* on."""
    found = _SEPARATOR.match(data, at)
    assert found is not None  # it matches the empty string too
    return found.end()


def element(data: bytes, at: int) -> tuple[bytes | None, list[bytes], bytes, int]:
    """(brace, literals, token, end) of the element of a list *at*; only one of them is there.

    Behind a brace the end is where its first field begins.
    """
    found = _ELEMENT.match(data, at)
    if found is None:
        raise Odd
    if found.lastindex == _LITERAL:
        strings, end = literals(data, found.start(_LITERAL))
        return None, strings, b"", end
    return found[_MESSAGE], [], found[_VALUE] or b"", found.end()


def element_end(data: bytes, at: int) -> tuple[bool, int]:
    """Whether another element follows, and where it begins; else the end of the list."""
    found = _ELEMENT_END.match(data, at)
    if found is None:
        raise Odd
    if found[1] == b",":
        return True, found.end()
    return False, after_separator(data, found.end())


def skip(data: bytes, at: int, closer: bytes) -> int:  # noqa: C901 - a case for each match
    """The end of a message or list that *closer* ends and whose inside begins *at*."""
    waiting = [closer]
    if closer == LIST_END:
        at = _skip_elements(data, at, waiting, first=True)
    while waiting:
        found = FIELD.match(data, at)
        if found is None:
            at = past_blanks(data, at)
            continue
        kind, at = found.lastindex, found.end()
        if kind == ATOM:
            check_value(found[ATOM])
        elif kind in (OPEN, COLON_OPEN):
            waiting.append(CLOSER[found[kind]])
        elif kind == CLOSE:
            if found[CLOSE] != waiting.pop():
                raise Odd
            if waiting and waiting[-1] == LIST_END:
                at = _skip_elements(data, found.end(CLOSE), waiting)
        elif kind == OTHER and found[OTHER] == b"[":
            waiting.append(LIST_END)
            at = _skip_elements(data, at, waiting, first=True)
        elif kind == OTHER:
            at = after_separator(data, literals(data, at - 1)[1])
        elif kind != STRING:
            raise Odd
    return at


def _skip_elements(data: bytes, at: int, waiting: list[bytes], *, first: bool = False) -> int:
    """Go on in the list that waits last, *at* its first element or behind another one."""
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
    """The end of blanks and comments from *at* on; raises Odd where there are none."""
    end = blanks(data, at)
    if end == at:
        raise Odd
    return end
