"""What is wrong with a text, in one sentence.

    7:12: expected an integer, found "x"

Protobuf's parser tells line and column of most errors, in words for those who know its source.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.protobuf.text_format import ParseError

# What the parser says, and what is meant.
_SENTENCES = (
    (r"Expected identifier or number, got (.*)\.$", 'expected a field name, found "{}"'),
    (r"Couldn't parse integer: (.*)$", 'expected an integer, found "{}"'),
    (r"Value out of range: (.*)$", "expected an integer that its field can hold, found {}"),
    (r"(?:Couldn't parse|Invalid octal) float: (.*)$", 'expected a number, found "{}"'),
    (r"Expected string but found: '(.*)'$", 'expected a string, found "{}"'),
    (r"String missing ending quote: ", "expected the string to end on its line"),
    (r"Couldn't parse string: ", "expected a string in UTF-8"),
    (r"codec can't ", "expected only escapes that mean a byte"),
    (r'^Message type "(.*)" should not have multiple "(.*)" ', 'expected only one "{1}" in a {0}'),
    (r'^Field "(.*?)" is specified along with field "(.*?)"', 'expected "{1}" or "{0}", not both'),
    (r'^Message type "(.*)" does not have extensions', "expected a field of {}, found a bracket"),
    (r"^Invalid field value: (.*)$", 'expected a value, found "{}"'),
    (r"Expected (.*)\.$", "expected {}"),
)
_LONGEST = 40
_LONGEST_SAID = 200

_BAD_VALUE = "Invalid field value: "
# What stands before a value; strings, of which one may end nowhere, and comments: stepped over.
_STEPS = re.compile(
    rb"([:\[,])(?:\s|#[^\n]*\n)*"
    rb'|"[^"\\\n]*(?:\\.[^"\\\n]*)*(?:"|())'
    rb"|'[^'\\\n]*(?:\\.[^'\\\n]*)*(?:'|())"
    rb"|#[^\n]*"
)
_BEFORE_VALUE = 1


def sentence(data: bytes, problem: ParseError) -> str:
    """Line, column and what was expected there."""
    said = re.sub(r"^\d+:\d+ : ", "", str(problem))
    line, column = problem.GetLine(), problem.GetColumn()
    if line is None or column is None:
        bad = said.removeprefix(_BAD_VALUE).encode()
        line, column = position(data, _first_value(data, bad))
    return f"{line}:{column}: {_in_our_words(said)}"


def position(data: bytes, offset: int) -> tuple[int, int]:
    """Line and column of an *offset*; the column counts characters."""
    begin = data.rfind(b"\n", 0, offset) + 1
    column = len(data[begin:offset].decode("utf-8", "replace")) + 1
    return data.count(b"\n", 0, offset) + 1, column


def _first_value(data: bytes, value: bytes) -> int:
    """Where *value* first stands where a value is due; its place is all the parser keeps quiet."""
    for step in _STEPS.finditer(data) if value else ():
        if step.lastindex is not None:
            at = step.end() if step.lastindex == _BEFORE_VALUE else step.start()
            if data.startswith(value, at):
                return at
    return len(data)


def _in_our_words(said: str) -> str:
    # What it says may hold a megabyte of the text, also one that repeats its very words: only RE2
    # is through with that in linear time.
    import re2  # noqa: PLC0415 - only a mistake pays for it

    for pattern, meant in _SENTENCES:
        if found := re2.search(pattern, said):
            return meant.format(*map(_shortened, found.groups()))
    return f"expected protobuf text ({said[:_LONGEST_SAID]})"


def _shortened(word: str) -> str:
    return word if len(word) <= _LONGEST else word[:_LONGEST] + "…"
