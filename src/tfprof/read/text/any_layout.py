"""Protobuf text in any layout → wire bytes, one regular expression match per field.

    node { name: 'a' op: "b"   # why not
      input: ["x", "y:1"]; }                   ──►  0a 0e 0a 01 61 12 01 62 1a 01 78 …

Nothing recurses: open messages are on a stack. A block that was read before, such as the dtype
attribute of most nodes, is looked up.

In maps, and so in attributes, the bytes are those that protobuf writes: fields by number, repeated
numbers packed, no field that holds its default. So a graph in text is saved as in binary.

The result is that of protobuf's text parser with unknown fields allowed. Where this reader cannot
be sure of that, as for unusual spellings of numbers, it raises Unhandled, and the caller uses
protobuf's parser.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from tfprof.read.text import syntax
from tfprof.read.text.fields import MESSAGE, TEXT, TOKEN, Field, fields_of
from tfprof.read.text.syntax import ATOM, CLOSE, CLOSER, LIST_END, OPEN, STRING, Unhandled
from tfprof.wire import schema

if TYPE_CHECKING:
    import re

# A block is looked up by the text from its name to what is likely the next block's name. The guess
# may be wrong: equal text has been read the same way before.
_LONGEST_BLOCK = 1024
_MOST_BLOCKS = 1 << 14
_TRIALS = 256
# Each open message copies what is inside it, so deep nesting would take quadratic time.
_DEEPEST = 100
# It sorts fields by number: below 32, the first byte of a tag grows with the number.
_FIRST_BYTE = itemgetter(slice(1))


class _Blocks:
    """The blocks of one field that were read: text → (wire bytes, length of the block)."""

    __slots__ = ("hits", "read", "tries")

    def __init__(self) -> None:
        self.read: dict[bytes, tuple[bytes, int]] = {}
        self.tries = self.hits = 0


class _Message:
    """A message that is being read."""

    __slots__ = (
        *("closer", "field", "fields", "in_list", "in_map", "packed", "place", "seen", "wire"),
    )

    def __init__(
        self, field: Field | None, fields: dict[bytes, Field], closer: bytes, *, in_map: bool
    ) -> None:
        self.field, self.fields, self.closer, self.in_map = field, fields, closer, in_map
        self.wire: list[bytes] = []
        self.packed: dict[Field, list[bytes]] = {}  # the numbers of fields that are packed
        self.seen = 0  # the bits of single fields that it already has
        self.in_list = False
        self.place: tuple[int, int] | None = None  # start and end of the text to cache it under

    def encoded(self) -> bytes:
        """The fields read so far."""
        wire = self.wire
        if self.packed:
            wire += [field.delimited(b"".join(values)) for field, values in self.packed.items()]
        if self.in_map and len(wire) > 1:
            wire.sort(key=_FIRST_BYTE)
        return b"".join(wire)


def to_wire(data: bytes, message: str) -> bytes:
    """The wire bytes of a *message*, such as "tensorflow.GraphDef", in text; raises Unhandled."""
    return _Reader(data, fields_of(schema.message(message).DESCRIPTOR)).read()


class _Reader:
    """Converts a text to wire bytes. The methods take a match and return the next position."""

    def __init__(self, data: bytes, fields: dict[bytes, Field]) -> None:
        self._data = data
        self._now = _Message(None, fields, b"", in_map=False)
        self._outer: list[_Message] = []
        self._blocks: dict[Field, _Blocks] = {}

    def read(self) -> bytes:  # noqa: C901, PLR0912 - one loop, through which every field passes
        """The wire bytes of the whole text."""
        data, size, match_field = self._data, len(self._data), syntax.FIELD.match
        at = syntax.blanks(data, 0)
        while at < size:
            match = match_field(data, at)
            if match is None:
                at = syntax.past_blanks(data, at)
                continue
            kind = match.lastindex
            if kind == CLOSE:
                at = self._close(match)
                continue
            now = self._now
            field = now.fields.get(match[2])
            if field is None:
                at = self._unknown(match)
                continue
            if field.single:
                if now.seen & field.single:
                    raise Unhandled
                now.seen |= field.single
            at = match.end()
            if kind == ATOM:
                token = match[ATOM]
                encoded = field.encoded.get(token) or field.of_token(token)
                if field.is_packed:
                    now.packed.setdefault(field, []).append(encoded)
                else:
                    now.wire.append(encoded)
            elif kind == STRING and field.kind > TOKEN:
                now.wire.append(field.delimited(match[STRING]))
            elif kind in (OPEN, syntax.COLON_OPEN) and field.kind == MESSAGE:
                at = self._open(match, field)
            else:
                at = self._other(match, field)
        if self._outer:
            raise Unhandled
        return self._now.encoded()

    def _open(self, match: re.Match[bytes], field: Field) -> int:
        """Begin a message, or look it up among those read before."""
        place = None
        if not field.single:
            blocks = self._blocks.get(field)
            if blocks is None:
                blocks = self._blocks[field] = _Blocks()
            # Whether lookups succeed often enough to be worthwhile.
            if blocks.tries < _TRIALS or 2 * blocks.hits > blocks.tries:
                place = self._place(match, field)
            if place:
                blocks.tries += 1
                start, end = place
                known = blocks.read.get(self._data[start:end])
                if known:
                    blocks.hits += 1
                    self._now.wire.append(known[0])
                    return start + known[1]
        self._push()
        in_map, closer = self._now.in_map or field.is_map, CLOSER[match[match.lastindex or 0]]
        self._now = _Message(field, field.fields, closer, in_map=in_map)
        self._now.place = place
        return match.end()

    def _push(self) -> None:
        """Keep the current message while one inside it is read."""
        if len(self._outer) > _DEEPEST:
            raise Unhandled
        self._outer.append(self._now)

    def _place(self, match: re.Match[bytes], field: Field) -> tuple[int, int] | None:
        """Start and end of the text to look up a block by, if its likely end is near."""
        start, inside = match.span()
        limit, find, outer = start + _LONGEST_BLOCK, self._data.find, self._now.field
        end = find(field.name, inside, limit)
        if outer is not None:
            sooner = find(outer.name, inside, end if end >= 0 else limit)
            end = sooner if sooner >= 0 else end
        return (start, end) if end >= 0 else None

    def _close(self, match: re.Match[bytes]) -> int:
        inner, at = self._now, match.end()
        if match[CLOSE] != inner.closer or inner.field is None:
            raise Unhandled
        piece = inner.field.delimited(inner.encoded())
        self._outer[-1].wire.append(piece)
        if inner.place and at <= inner.place[1]:
            known = self._blocks[inner.field].read
            if len(known) >= _MOST_BLOCKS:  # start over: equal blocks are mostly close together
                known.clear()
            start, end = inner.place
            known[self._data[start:end]] = piece, at - start
        if inner.in_list:
            more, at = syntax.element_end(self._data, match.end(CLOSE))
            if more:
                return self._open_element(inner.field, at)
        self._now = self._outer.pop()
        return at

    def _open_element(self, field: Field, at: int) -> int:
        brace, _, _, at = syntax.element(self._data, at)
        if not brace:
            raise Unhandled
        in_map = self._outer[-1].in_map or field.is_map
        self._now = _Message(field, field.fields, CLOSER[brace], in_map=in_map)
        self._now.in_list = True
        return at

    def _other(self, match: re.Match[bytes], field: Field) -> int:
        """Read a string that is not plain, or a list."""
        data, at, kind = self._data, match.end(), match.lastindex
        if kind not in (syntax.OTHER, syntax.BARE_LIST):
            raise Unhandled
        if match[kind] != b"[":
            if field.kind <= TOKEN:
                raise Unhandled
            strings, at = syntax.literals(data, at - 1)
            self._add(field, strings)
            return syntax.after_separator(data, at)
        if field.single or (kind == syntax.BARE_LIST and field.kind != MESSAGE):
            raise Unhandled
        at = syntax.blanks(data, at)
        if data.startswith(LIST_END, at):
            return syntax.after_separator(data, at + 1)
        if field.kind == MESSAGE:
            self._push()
            return self._open_element(field, at)
        return self._values(field, at)

    def _add(self, field: Field, strings: list[bytes]) -> None:
        """Append a string that is written as these literals."""
        value = syntax.unescape(strings, text=field.kind == TEXT)
        self._now.wire.append(field.delimited(value))

    def _values(self, field: Field, at: int) -> int:
        more = True
        while more:
            brace, strings, token, at = syntax.element(self._data, at)
            if brace or bool(strings) != (field.kind > TOKEN):
                raise Unhandled
            if strings:
                self._add(field, strings)
            else:
                self._now.packed.setdefault(field, []).append(field.of_token(token))
            more, at = syntax.element_end(self._data, at)
        return at

    def _unknown(self, match: re.Match[bytes]) -> int:
        """Skip a field that is not in our schema."""
        kind, at, data = match.lastindex, match.end(), self._data
        if kind == STRING:
            return at
        if kind == ATOM:
            syntax.check_value(match[ATOM])
            return at
        if kind in (OPEN, syntax.COLON_OPEN):
            return syntax.skip(data, at, CLOSER[match[kind]])
        if kind == syntax.BARE_LIST:
            raise Unhandled
        if data[at - 1 : at] == b"[":
            return syntax.skip(data, at, LIST_END)
        return syntax.after_separator(data, syntax.literals(data, at - 1)[1])
