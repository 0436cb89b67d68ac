"""Turns errors of protobuf's text parser into one plain sentence.

    7:12: expected an integer, found "x"

The parser reports line and column of most errors, but its wording assumes knowledge of its code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.protobuf.text_format import ParseError

# The parser's message, and ours.
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
_LONGEST_MESSAGE = 200

_BAD_VALUE = "Invalid field value: "
# What comes before a value; strings (possibly unterminated) and comments, which are skipped.
_STEPS = re.compile(
    rb"([:\[,])(?:\s|#[^\n]*\n)*"
    rb'|"[^"\\\n]*(?:\\.[^"\\\n]*)*(?:"|())'
    rb"|'[^'\\\n]*(?:\\.[^'\\\n]*)*(?:'|())"
    rb"|#[^\n]*"
)
_BEFORE_VALUE = 1


def sentence(data: bytes, problem: ParseError) -> str:
    """Line, column and what was expected there."""
    message = re.sub(r"^\d+:\d+ : ", "", str(problem))
    line, column = problem.GetLine(), problem.GetColumn()
    if line is None or column is None:
        bad = message.removeprefix(_BAD_VALUE).encode()
        line, column = position(data, _first_value(data, bad))
    return f"{line}:{column}: {_reworded(message)}"


def position(data: bytes, offset: int) -> tuple[int, int]:
    """Line and column of an *offset*; the column counts characters."""
    begin = data.rfind(b"\n", 0, offset) + 1
    column = len(data[begin:offset].decode("utf-8", "replace")) + 1
    return data.count(b"\n", 0, offset) + 1, column


def _first_value(data: bytes, value: bytes) -> int:
    """The offset of the first field value *value*, whose position the parser does not report."""
    for step in _STEPS.finditer(data) if value else ():
        if step.lastindex is not None:
            at = step.end() if step.lastindex == _BEFORE_VALUE else step.start()
            if data.startswith(value, at):
                return at
    return len(data)


def _reworded(message: str) -> str:
    # The message may quote a megabyte of the text, even one that repeats the parser's own words:
    # RE2 handles that in linear time.
    import re2  # noqa: PLC0415 - needed only for an error message

    for pattern, wording in _SENTENCES:
        if match := re2.search(pattern, message):
            return wording.format(*map(_shortened, match.groups()))
    return f"expected protobuf text ({message[:_LONGEST_MESSAGE]})"


def _shortened(word: str) -> str:
    return word if len(word) <= _LONGEST else word[:_LONGEST] + "…"
