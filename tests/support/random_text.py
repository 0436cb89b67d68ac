"""Random protobuf text: broken by accident, printed neatly with odd contents, or scrawled.

mutated    a given text, with a few lines or characters lost, doubled or replaced
printed    lines laid out as protobuf prints them, in which nearly anything may stand
scrawled   a message in any layout that the text format allows, and some that it does not
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.descriptor import FieldDescriptor

from random_values import chance

if TYPE_CHECKING:
    from random import Random

    from google.protobuf.descriptor import Descriptor

# What protobuf prints with these settings.
LAYOUTS: Final[dict[str, dict[str, Any]]] = {
    "printed": {},
    "printed in UTF-8": {"as_utf8": True},
    "one line": {"as_one_line": True},
    "pointy": {"pointy_brackets": True},
    "indented": {"indent": 3},
    "short lists": {"use_short_repeated_primitives": True},
    "all at once": {"as_one_line": True, "use_short_repeated_primitives": True, "as_utf8": True},
}

# --- broken ------------------------------------------------------------------------------------

SCRAPS: Final = (
    *(bytes([each]) for each in b"{}<>[]:;,\"'#\\ \n\t\r.-+0189aex_/\x00\x1c\x85\xc3\xa9"),
    *(rb"\"", rb"\\", rb"\n", rb"\101", rb"\400", rb"\x4", rb"\u0041", rb"\?", b"  ", b" {", b": "),
    *(b"name: ", b'key: "shape"', b"true", b"0x1F", b"017", b"1e5", b"inf", b"-inf", b"nan", b"- "),
    *(b"node {", b"}\n", b"# c\n", "中".encode(), b"\xc2\x85", b"unknown_rank: true", b"size: "),
    *(b"[1, 2]", b"shape {", b"99999999999999999999", b"-9223372036854775808", b"1.5f", b".5"),
    *(b"5.", b"1_0", b"+5", b'"a" "b"', b"'a'", b"\r\n", b"\n\n"),
)


def mutated(rng: Random, text: bytes) -> bytes:
    """*text* with one to five accidents."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        accident = rng.choice((_lose_or_move_line, _change_character, _repeat, _change_value))
        text = accident(rng, text)
    return text


def _lose_or_move_line(rng: Random, text: bytes) -> bytes:
    lines = text.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    roll = rng.randrange(3)
    if roll == 0:
        del lines[one]
    elif roll == 1:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _change_character(rng: Random, text: bytes) -> bytes:
    at = rng.randrange(len(text) + 1)
    scrap = rng.choice((b"", rng.choice(SCRAPS), rng.choice(SCRAPS)))
    return text[:at] + scrap + text[at + rng.randrange(2) :]


def _repeat(rng: Random, text: bytes) -> bytes:
    begin, at = rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)
    return text[:at] + text[begin : begin + rng.randrange(1, 40)] + text[at:]


def _change_value(rng: Random, text: bytes) -> bytes:
    values = list(re.finditer(rb": ([^\n]+)", text))
    if not values:
        return text
    begin, end = rng.choice(values).span(1)
    return text[:begin] + rng.choice(SCRAPS) + text[end:]


# --- printed -----------------------------------------------------------------------------------

STRINGS: Final = (
    *('"a"', '"shape"', '"_output_shapes"', '"T"', '""', '"é"', r'"\303\251"', r'"x\"y"', r'"\\"'),
    *(r'"sh\141pe"', r'"a\x4"', '"{ } : # \'"'),
)
INTEGERS: Final = (
    *("5", "0", "-1", "-0", "64", "12345678", "-1234567", "123456789", "9223372036854775807"),
    *("-9223372036854775808", "1", "8"),
)
FLOATS: Final = ("1.5", "5", "inf", "nan", "-inf", "1e5", "1e-05", "123456789", "-1", "0.5")
WORDS: Final = ("DT_FLOAT", "DT_STRING", "DT_FLOATX", "A_", "_", "true", "falsey", "-nan", "t")
STRANGE: Final = (
    *("9223372036854775808", "-9223372036854775809", "99999999999999999999999", "01", "00", ".5"),
    *("5.", "1e", '"a" "b"', "[1]", "{", "0x1F", "017", "+5", "1.0f", r'"\?"', '"open', "a-b", "é"),
    *(
        "1_0",
        "1e999",
        "3.4e39",
        "'q'",
        "-",
        r'"\400"',
        r'"\u0041"',
        "true ",
        '"a" ',
        "- 1",
        "",
        '"',
    ),
    *(r'"\377"', "9" * 80, "a" * 80, '"\x00"', "x.y", "-.5", "1e+5"),
)
VALUES: Final = {
    **dict.fromkeys(("name", "op", "input", "key", "s", "device"), STRINGS),
    **dict.fromkeys(("size", "i"), INTEGERS),
    **dict.fromkeys(("b", "unknown_rank"), ("true", "false")),
    "f": FLOATS,
}
FIELDS: Final = {
    "": (("node", "node", "node", "versions", "library"), ("version", "x", "node")),
    "node": (("attr", "attr", "attr", "x"), ("name", "op", "input", "device", "x")),
    "attr": (("value", "value", "x"), ("key", "key")),
    "value": (("shape", "list", "shape", "tensor"), ("s", "i", "f", "b", "type", "x")),
    "list": (("shape", "shape", "func"), ("s", "i", "f", "b", "type")),
    "shape": (("dim", "dim"), ("unknown_rank", "x")),
    "dim": (("x",), ("size", "size", "name")),
    "x": (
        ("node", "shape", "tensor_shape", "attr", "value", "list"),
        ("name", "size", "key", "dtype", "tensor_content", "a", "abcdefgh", "unknown_ranks", "s"),
    ),
}


def printed(rng: Random) -> bytes:
    """A graph in lines as protobuf prints them; about half of them are valid."""
    lines: list[str] = []
    _print_message(rng, "", 0, lines)
    return "\n".join(lines).encode() + b"\n" * chance(rng, 0.8)


def _print_message(rng: Random, message: str, depth: int, lines: list[str]) -> None:
    messages, values = FIELDS[message if chance(rng, 0.97) else "x"]
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3))):
        pad = "  " * depth if chance(rng, 0.997) else " " * rng.randrange(2 * depth + 3)
        if depth < 8 and chance(rng, 0.9 if depth == 0 else 0.45):
            name = rng.choice(messages)
            brace = " {" if chance(rng, 0.997) else rng.choice(("{", " <", ": {", "  {", " { "))
            lines.append(pad + name + brace)
            known = name in FIELDS and name in FIELDS[message][0] and message != "x"
            _print_message(rng, name if known else "x", depth + 1, lines)
            closing = "}" if chance(rng, 0.998) else rng.choice(("} ", ">", "} }", "", " }", "};"))
            lines.append(pad + closing)
        else:
            name = rng.choice(values)
            choice = VALUES.get(name, (*STRINGS, *INTEGERS, *FLOATS, *WORDS))
            value = rng.choice(choice if chance(rng, 0.95) else (*STRANGE, *STRINGS, *WORDS))
            colon = ": " if chance(rng, 0.997) else rng.choice((":", " : ", ":  ", "; ", " "))
            lines.append(pad + name + colon + value)


# --- scrawled ----------------------------------------------------------------------------------

BLANKS: Final = (" ", " ", " ", "\n", "\t", "\r\n", "\f", "\v", "  ")
COMMENTS: Final = ("# c\"'{\n", "#\n", " # é\n")
UNKNOWN: Final = (
    *('"s"', "'t' \"u\"", "DT", "1", "-2.5e3", "0x1f", "inf", "-inf", r'"\001\""', "[1,2]", "[ ]"),
    *('["a" "b", c]', "[{x:1},<y:2>,3]", "[[1]]", "[1,]"),
)
CONTENTS: Final = (
    *(b"", b"abc", b"shape", "é".encode(), b"a\"b'", b"\\", b"x\ny", b"_output_shapes"),
    b"\x00\x1f",
)
TOKENS: Final = {
    FieldDescriptor.TYPE_BOOL: (("true", "false", "t", "f", "1", "0", "True", "False"), ("TRUE",)),
    FieldDescriptor.TYPE_FLOAT: (FLOATS, ("0x10", "1.5f", ".5", "5.", "1e40", "-nan", "infinity")),
    FieldDescriptor.TYPE_DOUBLE: (FLOATS, ("0x10", "1.5f", ".5", "1e400", "-nan", "infinity")),
    FieldDescriptor.TYPE_ENUM: (
        ("DT_FLOAT", "DT_INT32", "DT_STRING_REF", "1", "0", "77", "-1"),
        ("DT_FLOATX", "dt_float", "01", "0x3", "1.0", "2147483648", "true", "-"),
    ),
}
WHOLE: Final = (
    ("0", "1", "5", "123", "0x1F", "017", "2147483647", "-0", "-1", "-7"),
    (*INTEGERS, "18446744073709551615", "4294967296", "1_0", "+5", "08", "0b1", "1e3"),
)


DEEP: Final = 3  # a tensor may hold tensors


class Scrawl:
    """A hand that writes messages untidily; with comments in most places if it *comments*."""

    def __init__(self, rng: Random, *, comments: bool) -> None:
        self._rng = rng
        self._blanks = (*BLANKS, *COMMENTS) if comments else BLANKS

    def message(self, descriptor: Descriptor, depth: int = 0) -> str:
        """The fields of a message, without its braces; few of them deep inside."""
        rng, fields = self._rng, []
        often = 1 if depth < DEEP else 0.1
        for field in (field for field in descriptor.fields if chance(rng, often)):
            count = rng.choice((0, 0, 1, 1, 2)) if field.is_repeated else int(chance(rng, 0.3))
            if chance(rng, 0.01):
                count = 2
            if field.is_repeated and chance(rng, 0.2):
                value = self._value(field, depth)
                fields.append(self._name(field) + self._list([value] * count))
            else:
                fields += [self._name(field) + self._value(field, depth) for _ in range(count)]
        while chance(rng, 0.15):
            fields.append(self._unknown())
        rng.shuffle(fields)
        return "".join(
            field + self._blank() + rng.choice(("", "", "", ";", ",")) + " " + self._blank()
            for field in fields
        )

    def _blank(self) -> str:
        return "".join(self._rng.choices(self._blanks, k=self._rng.choice((0, 0, 0, 1, 2))))

    def _name(self, field: FieldDescriptor) -> str:
        colon = self._rng.choice((":", "", "")) if field.message_type else ":"
        return field.name + self._blank() + colon + self._blank()

    def _list(self, elements: list[str]) -> str:
        comma = self._blank() + "," + self._blank()
        return "[" + self._blank() + comma.join(elements) + self._blank() + "]"

    def _in_braces(self, inside: str) -> str:
        left, right = self._rng.choice(("{}", "{}", "{}", "<>"))
        return left + self._blank() + inside + self._blank() + right

    def _value(self, field: FieldDescriptor, depth: int) -> str:
        rng = self._rng
        if field.message_type:
            return self._in_braces(self.message(field.message_type, depth + 1))
        if field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
            bytes_too = field.type == FieldDescriptor.TYPE_BYTES or chance(rng, 0.02)
            contents = (*CONTENTS, b"\xff\xfe") if bytes_too else CONTENTS
            count = rng.choice((1, 1, 1, 1, 2, 3))
            return self._blank().join(self._literal(rng.choice(contents)) for _ in range(count))
        usual, rare = TOKENS.get(field.type, WHOLE)
        return rng.choice(rare if chance(rng, 0.05) else usual)

    def _literal(self, content: bytes) -> str:
        rng = self._rng
        quote = rng.choice('""\'')
        text = ""
        for byte in content:
            if byte >= 128 or chr(byte) in ("\\", "\n", quote) or chance(rng, 0.1):
                text += f"\\{byte:03o}" if chance(rng, 0.7) else f"\\x{byte:02x}"
            else:
                text += chr(byte)
        return quote + text + quote

    def _unknown(self, depth: int = 0) -> str:
        rng = self._rng
        usual = ("zz", "tensor", "a-b", "A1", "_q")
        rare = ("1", "12.x", "[a.b]", "[x.y.z/t.u]", "é", "-a", "+1")
        name = rng.choice(rare if chance(rng, 0.02) else usual) + self._blank()
        if depth > 3 or chance(rng, 0.5):
            values = UNKNOWN if chance(rng, 0.97) else ("- 1", "@", "1.0f", "é", "", "0x", "1.2.3")
            return name + ":" + self._blank() + rng.choice(values)
        inside = [self._unknown(depth + 1) for _ in range(rng.randrange(3))]
        colon = rng.choice((":", ""))
        return name + colon + self._blank() + self._in_braces(" ".join(inside))
