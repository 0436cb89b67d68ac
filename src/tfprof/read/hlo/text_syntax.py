"""The syntax of HLO text: blanks, brackets, strings, attributes and numbers.

    %name = f32[2,3]{1,0} opcode(%a, /*index=5*/%b), key=word, key={…}, key="…"   // comment

Positions are offsets in the bytes of the text. Patterns match whole stretches, so time is linear in
the text. Nothing recurses: brackets of any depth are counted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE: Final = re.compile(rb"\s*")
_SLASH: Final = ord("/")
# What a search for the end of a value stops at: brackets, strings, comments and separators.
_STOPS: Final = re.compile(rb'[(\[{]|[)\]}]|"|/\*|[,\n]')
_BRACKETS: Final = re.compile(rb'[(\[{]|[)\]}]|"|/\*')
_OPEN, _CLOSED = b"([{", b")]}"
# Bounded, because the matcher uses memory for each repetition.
_STRETCH: Final = re.compile(rb'[^"\\]*(?:\\.[^"\\]*){0,256}', re.DOTALL)
_ESCAPE: Final = re.compile(rb"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", re.DOTALL)
_PLAIN_ESCAPES: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
# A string without escapes, braces without inner braces, or a word.
_SIMPLE: Final = rb'"[^"\\]*"|\{[^{}"]*(?:"[^"\\]*"[^{}"]*){0,16}\}|[^\s,(){}\[\]"/]+(?=[\s,}]|\Z)'
_ATTRIBUTE: Final = re.compile(rb"\s*,\s*([A-Za-z_][\w-]*)=\s*(" + _SIMPLE + rb")?")
_PAIR: Final = re.compile(rb"\s*(?:,\s*)?([A-Za-z_]\w*)=(" + _SIMPLE + rb")?")
_INTEGER: Final = re.compile(rb"\s*([+-]?[0-9]{1,19})\s*")
_LARGEST: Final = (1 << 63) - 1
_LONGEST_QUOTE: Final = 40


class HloTextError(ValueError):
    """What is wrong with the text, and at which offset; by default in the current instruction."""

    def __init__(self, problem: str, offset: int | None = None) -> None:
        super().__init__(problem)
        self.offset = offset


def quoted(text: bytes) -> str:
    """The beginning of *text*, as a message quotes it."""
    word = text.decode("utf-8", "replace")
    return f'"{word}"' if len(word) <= _LONGEST_QUOTE else f'"{word[:_LONGEST_QUOTE]}…"'


def blanks(data: bytes, at: int) -> int:
    """The end of blanks and comments from *at* on."""
    while True:
        match = _SPACE.match(data, at)
        assert match is not None  # it matches the empty string too
        at = match.end()
        if at == len(data) or data[at] != _SLASH:
            return at
        if data.startswith(b"//", at):
            at = data.find(b"\n", at) + 1 or len(data)
        elif data.startswith(b"/*", at):
            at = _comment_end(data, at)
        else:
            return at


def _comment_end(data: bytes, at: int) -> int:
    if (end := data.find(b"*/", at + 2)) < 0:
        raise HloTextError("expected this comment to end", at)
    return end + 2


def string_end(data: bytes, at: int) -> int:
    """The end of the string whose quote is at *at*."""
    end = at + 1
    while (match := _STRETCH.match(data, end)) and match.end() > end:
        end = match.end()
    if not data.startswith(b'"', end):
        raise HloTextError("expected this string to end", at)
    return end + 1


def closed(data: bytes, at: int) -> int:
    """The end of what the bracket at *at* opens."""
    depth, end = 0, at
    while stop := _BRACKETS.search(data, end):
        token, end = stop[0], stop.end()
        if token in _OPEN:
            depth += 1
        elif token in _CLOSED:
            depth -= 1
            if not depth:
                return end
        else:
            end = _skipped(data, stop.start())
    raise HloTextError(f"expected this {chr(data[at])} to be closed", at)


def _skipped(data: bytes, at: int) -> int:
    """The end of the string or comment at *at*."""
    return string_end(data, at) if data.startswith(b'"', at) else _comment_end(data, at)


def value_end(data: bytes, at: int) -> int:
    """The end of an attribute's value: a comma, the end of the line or a bracket of its owner."""
    end = at
    while stop := _STOPS.search(data, end):
        token = stop[0]
        if token in _OPEN:
            end = closed(data, stop.start())
        elif token in (b'"', b"/*"):
            end = _skipped(data, stop.start())
        else:
            return stop.start()
    return len(data)


def attributes(data: bytes, at: int) -> tuple[list[tuple[bytes, bytes]], int]:
    """(the pairs of keyword and value from *at* on, each after a comma; their end)."""
    pairs: list[tuple[bytes, bytes]] = []
    while True:
        match = _ATTRIBUTE.match(data, at)
        if match is None:
            comma = blanks(data, at)
            if not data.startswith(b",", comma):
                return pairs, at
            # Perhaps a comment is between comma and keyword.
            match = _PAIR.match(data, blanks(data, comma + 1))
            if match is None:
                raise HloTextError("expected an attribute after the comma", comma)
        key, value = match.groups()
        at = match.end()
        if value is None:
            value = data[at : (at := value_end(data, at))].strip()
        pairs.append((key, value))


def pairs_in(braces: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The pairs of keyword and value in {…}, separated by blanks or commas."""
    at, stop = 1, len(braces) - 1
    while match := _PAIR.match(braces, at):
        key, value = match.groups()
        at = match.end()
        if value is None:
            end = min(_single_end(braces, at), stop)
            value, at = braces[at:end].strip(), end
        yield key, value


def _single_end(data: bytes, at: int) -> int:
    """The end of the string or brackets at *at*, or of any other value."""
    if data.startswith(b'"', at):
        return string_end(data, at)
    return closed(data, at) if data.startswith((b"{", b"[", b"("), at) else value_end(data, at)


def elements(data: bytes) -> list[bytes]:
    """The parts of *data* between commas outside of brackets, stripped."""
    parts, begin, at = [], 0, 0
    while at < len(data):
        at = value_end(data, at)
        if at == len(data) or data.startswith(b",", at):
            parts.append(data[begin:at])
            begin = at + 1
        elif not data.startswith(b"\n", at):
            raise HloTextError(f"expected no {chr(data[at])} in {quoted(data)}")
        at += 1
    if begin < len(data) or (parts and begin == len(data)):
        parts.append(data[begin:])
    stripped = [without_comments(part) for part in parts]
    return stripped[:-1] if stripped and not stripped[-1] else stripped


def without_comments(text: bytes) -> bytes:
    """*text*, which has no strings, without comments and outer blanks."""
    at = text.find(b"/")
    if at < 0:
        return text.strip()
    parts, begin = [], 0
    while at >= 0:
        end = at + 1
        if text.startswith((b"/*", b"//"), at):
            parts.append(text[begin:at])
            begin = end = blanks(text, at)
        at = text.find(b"/", end)
    return b" ".join([*parts, text[begin:]]).strip()


def unquoted(value: bytes) -> bytes:
    """The content of a string, or any other value as it is."""
    if not value.startswith(b'"'):
        return value
    content = value[1:-1]
    return _ESCAPE.sub(_unescaped, content) if b"\\" in content else content


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if code.isdigit():
        return bytes([int(code, 8) & 255]) if code < b"8" else code
    if len(code) > 1:
        return bytes([int(code[1:], 16)])
    return _PLAIN_ESCAPES.get(code, code)


def integer(text: bytes) -> int:
    """*text* as an int64."""
    match = _INTEGER.fullmatch(text)
    number = int(match[1]) if match else 0
    if match is None or abs(number) > _LARGEST:
        raise HloTextError(f"expected an integer, found {quoted(text.strip())}")
    return number


def integers(text: bytes) -> list[int]:
    """The numbers of a list such as {1,0} or [4,2]."""
    content = without_comments(text).strip(b"{}[]() \t\r\n")
    return [integer(part) for part in content.split(b",")] if content else []
