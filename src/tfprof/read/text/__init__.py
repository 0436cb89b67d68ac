"""Reads protobuf text with the fastest of three readers that can handle it.

    as protobuf prints it ──canonical───► columns      graphs only; whole columns at a time
    any other layout ───────any_layout──► wire bytes   one field at a time
    the rest ───────────────text_format─► wire bytes   protobuf's parser: slow; reports errors

All three give the same result for the same text. Only the last one decides that a text is invalid:
its errors become one plain sentence, `7:12: expected an integer, found "x"`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.read import graph_def
from tfprof.read.source import Source
from tfprof.read.text import any_layout, canonical
from tfprof.read.text.syntax import Unhandled, without_warnings
from tfprof.wire import schema

if TYPE_CHECKING:
    from google.protobuf.text_format import ParseError

    from tfprof.columns.strings import I64, U8, Strings
    from tfprof.read.columns import GraphColumns

_STEP = 1 << 20
_ZEROS = 1 << 11  # so many consecutive zero bytes are never text
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


class TextSource(Source):
    """The wire bytes of a message in text. A pickle holds the text's source, and converts again."""

    def __init__(self, text: Source, message: str) -> None:
        self._text, self._message = text, message
        super().__init__(text.name, self._read())

    def _read(self) -> U8:
        data, name = self._text.data, self._text.name
        reject_zeros(data, name)
        return np.frombuffer(to_wire(data.tobytes(), self._message, name), np.uint8)

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_data": None}


def graph_columns(source: Source) -> GraphColumns:
    """The nodes of a GraphDef in text; raises InputError."""
    reject_zeros(source.data, source.name)
    columns = canonical.columns(source.data)
    if columns is None:
        return graph_by_wire(source)
    return replace(columns, attributes=_TextAttributes(source))


def graph_by_wire(source: Source) -> GraphColumns:
    """The same for text in any layout."""
    wire_source = TextSource(source, "tensorflow.GraphDef")
    columns = graph_def.columns(wire_source.data)
    assert columns.attributes is not None, "a graph read from wire bytes has its attributes"
    return replace(columns, attributes=columns.attributes.within(wire_source))


@dataclass(frozen=True, eq=False)
class _TextAttributes:
    """Attributes in text. Few queries need them, and converting takes longer than all the rest."""

    source: Source

    def __call__(self) -> tuple[I64, Strings]:
        self.source.check()
        read = graph_by_wire(self.source).attributes
        assert read is not None, "a graph read from wire bytes has its attributes"
        return read()

    def within(self, source: Source) -> _TextAttributes:
        return _TextAttributes(source)


def reject_zeros(data: U8, path: str) -> None:
    """Raise InputError if *data* has a long run of zero bytes, as incompletely written files do."""
    # Gigabytes may follow, which need not be copied or parsed.
    for first in range(0, data.size, _STEP):
        for sample in np.flatnonzero(data[first : first + _STEP : _ZEROS] == 0).tolist():
            at = first + sample * _ZEROS
            if at + _ZEROS <= data.size and not data[at : at + _ZEROS].any():
                before = np.append(1, data[max(at - _ZEROS, 0) : at])[::-1]
                begin = at - int((before != 0).argmax())
                raise InputError(f"{path}: expected text, found zeros from byte {begin} on")


def to_wire(data: bytes, message_name: str, path: str) -> bytes:
    """The wire bytes of a message in text; raises InputError naming *path*."""
    _check_utf8(data, path)
    try:
        return any_layout.to_wire(data, message_name)
    except Unhandled:
        return _by_protobuf(data, message_name, path)


def _check_utf8(data: bytes, path: str) -> None:
    """Raise InputError if *data* is not UTF-8. Decodes in pieces to save memory."""
    begin = len(data) if data.isascii() else 0
    while begin < len(data):
        end = data.find(b"\n", begin + _STEP) + 1 or len(data)
        try:
            data[begin:end].decode()
        except UnicodeDecodeError as problem:
            line, column = position(data, begin + problem.start)
            raise InputError(f"{path}:{line}:{column}: expected text in UTF-8") from None
        begin = end


def _by_protobuf(data: bytes, message_name: str, path: str) -> bytes:
    """As `to_wire`, with protobuf's parser."""
    from google.protobuf import text_format  # noqa: PLC0415 - few texts need it

    message = schema.message(message_name)()
    try:
        text_format.Parse(without_warnings(data), message, allow_unknown_field=True)
    except text_format.ParseError as problem:
        raise InputError(f"{path}:{sentence(data, problem)}") from None
    except RecursionError:
        raise InputError(f"{path}: messages are nested too deeply") from None
    return message.SerializeToString()


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
            words = (w if len(w) <= _LONGEST else w[:_LONGEST] + "…" for w in match.groups())
            return wording.format(*words)
    return f"expected protobuf text ({message[:_LONGEST_MESSAGE]})"
