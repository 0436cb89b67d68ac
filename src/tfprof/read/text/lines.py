"""Splits protobuf text as protobuf prints it, one field per line, many lines at once.

    node {                       depth 0   OPEN     node
      name: "conv1/weights"      depth 1   STRING   name
      attr {                     depth 1   OPEN     attr
        key: "T"                 depth 2   STRING   key
      }                                    closing lines only change the depth

Every line is checked completely: its indent is two spaces per depth, its name a word, its value a
string, a number or a word, and there is nothing else on it. Protobuf reads such a line the same
way; anything else raises Unhandled and is left to `any_layout`.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.kernels.table import kernel
from tfprof.read.text.syntax import Unhandled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.columns.strings import I64, U8, U64, Bool

OPEN, STRING, INTEGER, FLOAT, WORD = 1, 2, 3, 4, 5
FORM_BITS = 3

# A name's number is its index here. Names that tfprof does not use are listed because they are
# frequent, and the letters of a known name need no check.
NAMES = (
    b"", b"node", b"name", b"op", b"input", b"attr", b"key", b"value", b"list", b"shape",
    b"s", b"i", b"f", b"b", b"dim", b"size", b"unknown_rank", b"device", b"type", b"tensor",
    b"dtype", b"int_val", b"func", b"library",
)  # fmt: skip
LONG_NAME = b"unknown_rank"  # the only one longer than eight bytes
# Frequent words, whose letters need no check either.
_WORDS = (
    b"true", b"false", b"DT_FLOAT", b"DT_INT32", b"DT_INT64", b"DT_BOOL", b"DT_HALF", b"DT_UINT8",
)  # fmt: skip

_PAD = 16
_WORD = 8
_INDENT = 2
LEVELS = 8  # the compiled core has the same number
_NEWLINE, _SPACE, _QUOTE, _COLON, _BACKSLASH, _LEFT, _RIGHT, _MINUS = b'\n ":\\{}-'
# Escapes are checked this many bytes at a time: a tensor's content may be one very long line.
_WINDOW = 1 << 20
_PART = 1 << 17  # bytes that are searched at a time
# No name and no number is longer; a longer word is left to `any_layout`.
_LONGEST = 64

_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
_SPACES = np.uint64(_SPACE) * _ONES
_COLONS = np.uint64(_COLON) * _ONES
_FIRST = np.array([(1 << 8 * count) - 1 for count in range(_WORD + 1)], np.uint64)


class Lines(NamedTuple):
    """The lines of a block that do not close a message, in order: a tree in preorder."""

    text: U8
    depth: U8  # at most 255
    parent: I64  # the message that contains the line, counted among the lines of its depth
    token: U8  # the name's index in NAMES (0: another name), then FORM_BITS bits of form
    value: I64  # where the value begins; a string's value begins at its quote
    end: I64  # where the line ends
    number: I64  # of an INTEGER that has at most eight characters
    long: I64  # the lines with a longer INTEGER
    escaped: Bool  # whether the line has a backslash

    def word_at(self, offset: I64) -> U64:
        """The eight bytes at each *offset*, little-endian."""
        return _words(self.text)[offset]

    def first_word(self, line: I64) -> U64:
        """The first eight bytes of each value, little-endian; a shorter one is zero-padded."""
        start = self.value[line]
        word: U64 = self.word_at(start) & _FIRST[np.minimum(self.end[line] - start, _WORD)]
        return word


def require(fine: Bool | np.bool_ | bool) -> None:  # noqa: FBT001
    """Raise Unhandled unless everything is *fine*."""
    if not np.all(fine):
        raise Unhandled


def lines(block: U8) -> Lines:
    """The lines of *block*, whose last line may lack its newline; raises Unhandled."""
    lacks_end = block.size and block[-1] != _NEWLINE
    written = b"".join((block.data, b"\n" if lacks_end else b"\0", bytes(_PAD - 1)))
    text = np.frombuffer(written, np.uint8)
    depth, parent, start, end = field_lines(text)
    last = text[end - 1]
    opens, strings = last == _LEFT, last == _QUOTE
    name, value = line_names(text, start, end, NAMES)
    escaped, escaped_quotes = np.zeros(end.size, np.bool_), np.empty(0, np.int64)
    if b"\\" in written:
        escaped, escaped_quotes = _escapes(text, end)
    _check_quotes(text, value, end, np.flatnonzero(strings), escaped_quotes)
    if not written.isascii():
        # Other characters than ASCII are only in strings, as all else was checked; require UTF-8.
        try:
            written.decode()
        except UnicodeDecodeError as problem:
            raise Unhandled from problem
    form = np.where(opens, np.uint8(OPEN), np.uint8(STRING))
    number = np.zeros(form.size, np.int64)
    others = np.flatnonzero(~(opens | strings))
    form[others], number[others], long = _scalars(text, value[others], end[others])
    token = (name << np.uint8(FORM_BITS)) | form
    return Lines(text, depth, parent, token, value, end, number, others[long], escaped)


@kernel
def field_lines(text: U8) -> tuple[U8, I64, I64, I64]:
    """(depth, parent, where the name begins, end) of each line that is a field.

    The parent is counted among the lines of its own depth; only LEVELS depths have one.
    """
    end = _places(text, _NEWLINE)
    start = np.empty_like(end)
    start[:1], start[1:] = 0, end[:-1] + 1
    require(end > start)
    last = text[end - 1]
    opens, closes = last == _LEFT, last == _RIGHT
    depth_after = np.cumsum(opens.view(np.int8) - closes.view(np.int8), dtype=np.int64)
    depth = depth_after - opens
    require(not end.size or (depth.min() >= 0 and depth_after[-1] == 0))
    _check_indent(text, start, depth)
    start += _INDENT * depth
    require(np.where(closes, end - start == 1, end > start))
    rest = np.flatnonzero(~closes)
    depth, start, end = depth[rest], start[rest], end[rest]
    parent = np.zeros(rest.size, np.int64)
    for level in range(1, LEVELS + 1):
        here = np.flatnonzero(depth == level)
        parent[here] = (np.cumsum(depth == level - 1) - 1)[here]
    return np.minimum(depth, 255).astype(np.uint8), parent, start, end


def _check_quotes(text: U8, value: I64, end: I64, strings: I64, escaped: I64) -> None:
    """A string begins and ends with a quote; all other quotes must be *escaped*."""
    quotes = _places(text, _QUOTE)
    if escaped.size:
        plain = np.ones(text.size, np.bool_)
        plain[escaped] = False
        quotes = quotes[plain[quotes]]
    require(quotes.size == 2 * strings.size)
    require(quotes[0::2] == value[strings])
    require(quotes[1::2] == end[strings] - 1)


def _places(text: U8, byte: int) -> I64:
    """Where *text* has this byte."""
    # A temporary column as long as the text would be memory that the system has to map and clear.
    parts = range(0, text.size, _PART)
    pieces = [at + np.flatnonzero(text[at : at + _PART] == byte) for at in parts]
    return np.concatenate(pieces) if pieces else np.empty(0, np.int64)


def _words(text: U8) -> U64:
    """The eight bytes at every offset of *text*, little-endian; a view."""
    return np.ndarray((text.size - _WORD + 1,), "<u8", text, 0, (1,))


def _check_indent(text: U8, start: I64, depth: I64) -> None:
    """Each line begins with two spaces per depth; compared a word at a time."""
    words = _words(text)
    wide = _INDENT * depth
    while start.size:
        require((words[start] ^ _SPACES) & _FIRST[np.minimum(wide, _WORD)] == 0)
        more = np.flatnonzero(wide > _WORD)
        start, wide = start[more] + _WORD, wide[more] - _WORD


# --- names --------------------------------------------------------------------------------

_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_DIGITS = b"0123456789"


def _is_one_of(characters: bytes) -> Bool:
    """A table: whether each byte value is one of *characters*."""
    table = np.zeros(256, np.bool_)
    table[list(characters)] = True
    return table


_IS_LETTER, _IS_LETTER_OR_DIGIT = _is_one_of(_LETTERS), _is_one_of(_LETTERS + _DIGITS)


class _Table:
    """A perfect hash of a few words of at most eight bytes to numbers."""

    def __init__(self, words: Mapping[bytes, int]) -> None:
        keys = [int.from_bytes(word, "little") for word in words]
        choice = random.Random(1)  # noqa: S311 - any factor that gives distinct slots works
        while True:
            factor = choice.getrandbits(64)
            slots = [(key * factor % (1 << 64)) >> 58 for key in keys]
            if len(set(slots)) == len(slots):
                break
        self._factor, self._shift = np.uint64(factor), np.uint64(58)
        # No text has eight bytes of 255, so no word matches an empty slot.
        self._key = np.full(64, ~np.uint64(0))
        self._key[slots] = keys
        self.number, self.length = np.zeros(64, np.uint8), np.zeros(64, np.int64)
        self.number[slots], self.length[slots] = list(words.values()), list(map(len, words))

    def find(self, key: U64) -> tuple[I64, Bool]:
        """(the slot of each *key*, whether the key is in the table)."""
        slot = (key * self._factor >> self._shift).view(np.int64)
        return slot, self._key[slot] == key


_SHORT_NAMES = _Table({n: i for i, n in enumerate(NAMES) if 0 < len(n) <= _WORD})
_KNOWN_WORDS = _Table(dict.fromkeys(_WORDS, WORD))


@kernel
def line_names(
    text: U8,
    start: I64,
    end: I64,
    known: Sequence[bytes],  # noqa: ARG001 - always NAMES, of which the tables here are made
) -> tuple[U8, I64]:
    """(the number of each line's name, where its value begins: two bytes after the name)."""
    opens = text[end - 1] == _LEFT
    word = _words(text)[start]
    # The name ends before the first space of an opening line, or the first colon of another one.
    # The lowest set bit of `ends` is in that byte; the bytes below it are the name.
    differs = word ^ np.where(opens, _SPACES, _COLONS)
    ends = (differs - _ONES) & ~differs & _HIGHS
    key = word & (((ends & (~ends + np.uint64(1))) >> np.uint64(7)) - np.uint64(1))
    slot, is_short = _SHORT_NAMES.find(key)
    name, value = _SHORT_NAMES.number[slot], start + (_SHORT_NAMES.length[slot] + 2)
    others = np.flatnonzero(~is_short)
    name[others], value[others] = _other_names(text, start[others], opens[others])
    require(np.where(opens, value == end, text[value - 1] == _SPACE))
    return name, value


def _other_names(text: U8, start: I64, opens: Bool) -> tuple[U8, I64]:
    """As `line_names`, for names that are not in the table: any word is a name."""
    require(_IS_LETTER[text[start]])
    stop, rows, length = start.copy(), np.arange(start.size), 0
    while rows.size and length < _LONGEST:
        stop[rows] += 1
        rows = rows[_IS_LETTER_OR_DIGIT[text[stop[rows]]]]
        length += 1
    require(text[stop] == np.where(opens, np.uint8(_SPACE), np.uint8(_COLON)))
    number = np.zeros(start.size, np.uint8)
    long = np.flatnonzero(stop - start == len(LONG_NAME))
    letters = text[start[long, None] + np.arange(len(LONG_NAME))]
    same = (letters == np.frombuffer(LONG_NAME, np.uint8)).all(1)
    number[long[same]] = NAMES.index(LONG_NAME)
    return number, stop + 2


# --- strings ------------------------------------------------------------------------------

# Characters that may follow a backslash. Protobuf accepts more, but prints no others.
_IS_ESCAPE = _is_one_of(b"abfnrtv\\'\"01234567x")
_IS_OCTAL, _IS_HEX = _is_one_of(b"01234567"), _is_one_of(_DIGITS + b"abcdefABCDEF")


def _escapes(text: U8, end: I64) -> tuple[Bool, I64]:
    """(which lines have a backslash, the positions of escaped quotes); checks all escapes."""
    escaped, quotes = np.zeros(end.size, np.bool_), [np.empty(0, np.int64)]
    low = 0
    while low < text.size:
        high = min(low + _WINDOW, text.size)
        while text[high - 1] == _BACKSLASH:
            high += 1
        at = low + _places(text[low:high], _BACKSLASH)
        if at.size:
            require(at[-1] < end[-1])
            escaped[np.searchsorted(end, at)] = True
            quotes.append(_escaped_quotes(text, at))
        low = high
    return escaped, np.concatenate(quotes)


def _escaped_quotes(text: U8, at: I64) -> I64:
    """The escaped quotes, given the positions of all backslashes in a window."""
    first = np.ones(at.size, np.bool_)
    first[1:] = at[1:] != at[:-1] + 1
    index = np.arange(at.size)
    # In a run of backslashes every other one, from the first on, begins an escape.
    begins = (index - np.maximum.accumulate(np.where(first, index, 0))) % 2 == 0
    at = at[begins] + 1
    kind = text[at]
    require(_IS_ESCAPE[kind])
    over = at[(kind >= ord("4")) & (kind <= ord("7"))]  # with two more digits, more than a byte
    require(~(_IS_OCTAL[text[over + 1]] & _IS_OCTAL[text[over + 2]]))
    require(_IS_HEX[text[at[kind == ord("x")] + 1]])
    quotes: I64 = at[kind == _QUOTE]
    return quotes


# --- numbers and words --------------------------------------------------------------------

_ZEROS = np.uint64(ord("0")) * _ONES
_OVER_NINE = np.uint64(0x80 - 10) * _ONES

# An automaton for what follows a colon: (state, characters, next state). Any word is accepted;
# numbers are decimal, without a leading zero, which would mean octal.
_DEAD, _START, _SIGN, _ZERO, _WHOLE, _POINT, _DECIMALS, _E, _E_SIGN, _POWER = range(10)
_A_WORD, _I, _N, _IN, _NA, _NAME = range(10, 16)
_MOVES = (
    (_START, _LETTERS, _A_WORD), (_A_WORD, _LETTERS + _DIGITS, _A_WORD),
    (_START, b"-", _SIGN), (_START, b"0", _ZERO), (_START, b"123456789", _WHOLE),
    (_SIGN, b"0", _ZERO), (_SIGN, b"123456789", _WHOLE), (_WHOLE, _DIGITS, _WHOLE),
    (_ZERO, b".", _POINT), (_WHOLE, b".", _POINT), (_POINT, _DIGITS, _DECIMALS),
    (_DECIMALS, _DIGITS, _DECIMALS), (_ZERO, b"eE", _E), (_WHOLE, b"eE", _E),
    (_DECIMALS, b"eE", _E), (_E, b"+-", _E_SIGN), (_E, _DIGITS, _POWER),
    (_E_SIGN, _DIGITS, _POWER), (_POWER, _DIGITS, _POWER),
    (_SIGN, b"i", _I), (_I, b"n", _IN), (_IN, b"f", _NAME),
    (_SIGN, b"n", _N), (_N, b"a", _NA), (_NA, b"n", _NAME),
)  # fmt: skip
_NEXT = np.zeros((16, 256), np.uint8)
for _state, _characters, _next in _MOVES:
    _NEXT[_state, list(_characters)] = _next
_FORM = np.zeros(16, np.uint8)
_FORM[[_ZERO, _WHOLE]] = INTEGER
_FORM[[_DECIMALS, _POWER, _NAME]] = FLOAT
_FORM[_A_WORD] = WORD


def _scalars(text: U8, start: I64, end: I64) -> tuple[U8, I64, I64]:
    """(the form of each value, the number of a short integer, the rows of long integers)."""
    word, length = _words(text)[start], end - start
    fine, number = _short_integers(word, length)
    slot, known = _KNOWN_WORDS.find(word & _FIRST[np.clip(length, 0, _WORD)])
    known &= _KNOWN_WORDS.length[slot] == length
    form = np.where(fine, np.uint8(INTEGER), np.uint8(WORD))
    others = np.flatnonzero(~(fine | known))
    form[others] = _forms(text, start[others], length[others])
    return form, number, others[form[others] == INTEGER]


def _short_integers(word: U64, length: I64) -> tuple[Bool, I64]:
    """(which values are integers of at most eight characters, these integers)."""
    # All digits of a value are converted at once: its word is shifted so that the last digit is the
    # highest byte; then digits are combined to pairs, pairs to fours and fours to eights.
    negative = word & np.uint64(0xFF) == _MINUS
    word = word >> np.uint64(8) * negative
    digits = length - negative
    fine = (digits > 0) & (length <= _WORD)
    fine &= (digits == 1) | (word & np.uint64(0xFF) != ord("0"))
    shift = (8 * (_WORD - np.clip(digits, 1, _WORD))).astype(np.uint64)
    digit = (word << shift) ^ (_ZEROS << shift)
    fine &= (digit | (digit + _OVER_NINE)) & _HIGHS == 0
    pair = digit * np.uint64(10) + (digit >> np.uint64(8))
    low, high = pair & np.uint64(0xFF000000FF), pair >> np.uint64(16) & np.uint64(0xFF000000FF)
    eight = low * np.uint64(100 + (1000000 << 32)) + high * np.uint64(1 + (10000 << 32))
    number = (eight >> np.uint64(32)).astype(np.int64)
    return fine, np.where(fine, np.where(negative, -number, number), 0)


def _forms(text: U8, start: I64, length: I64) -> U8:
    """The form of each value by the automaton; all values advance one character per step."""
    require((length > 0) & (length <= _LONGEST))
    state, rows, step = np.full(start.size, _START, np.uint8), np.arange(start.size), 0
    while rows.size:
        state[rows] = _NEXT[state[rows], text[start[rows] + step]]
        step += 1
        rows = rows[length[rows] > step]
    form = _FORM[state]
    require(form > 0)
    return form
