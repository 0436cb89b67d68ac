"""Mutators: (bytes, dice) → other bytes that are still nearly what the reader expects.

    wire       fields doubled, lost, swapped, nested, spliced; numbers and names of the worst kind
    text       likewise for text format
    …          sealed.py opens what checksums and packing close, and closes it again

What libFuzzer does by itself, bytes changed blindly, is mixed in by run.py.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Final

from fuzz import wire_tree
from fuzz.wire_tree import END_GROUP, START_GROUP, Node, flat, lists, varint
from random_text import mutated
from tfprof.wire.decode import BYTES, FIXED32, FIXED64, VARINT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

NUMBERS: Final = (
    *(-1, 0, 1, 2, 7, 127, 128, 255, 65536, 2**31 - 1, 2**31, 2**32, 2**53, 2**62),
    *(2**63 - 1, 2**63, 2**64 - 2, -(2**31), 1000, 10**15),
)
NAMES: Final = (
    *(b"", b"/", b"//a", b"a/", b"a//b", b"^a", b"a:1", b"a:-1", b"a:99999999999999999999", b":"),
    *(b"\0", b"a\nb", b"\x1b[31m", "a\u202eb".encode(), b"</script>", b"=1+1", b"a,b|c", b"\xff"),
    *(b"\xed\xa0\x80", b"_TFProfRoot", b"/gpu:0/stream:all", b"/job:x/device:gpu:1", b"a" * 300),
    *(b"_output_shapes", b"shape", b"Conv2D", b"MatMul", b"VariableV2", b"Einsum", b"equation"),
    *(b"...ij,...jk->...ik", b"data_format", b"NCHW", b"strides", b"gpu_bfc", b"a/" * 60),
)
_MOST_COPIES = 40


class Dice:
    """What a mutator may choose by: random numbers, and other inputs to take parts of."""

    def __init__(self, rng: Random, others: Sequence[bytes] = ()) -> None:
        self.rng = rng
        self.others = others or (b"\x0a\x01a",)

    def another(self) -> bytes:
        """An input of the corpus."""
        return self.rng.choice(self.others)

    def several(self) -> range:
        """As many rounds as one change takes: mostly one."""
        return range(self.rng.choice((1, 1, 1, 2, 3, 6)))


Mutator = "Callable[[bytes, Dice], bytes]"


def wire(data: bytes, dice: Dice) -> bytes:
    """A message with a few changes; a wreck that is none any more becomes another one."""
    tree = wire_tree.parse(data) or wire_tree.parse(dice.another()) or []
    for _ in dice.several():
        dice.rng.choice(_CHANGES)(tree, dice)
    return wire_tree.serialised(tree)


def text(data: bytes, dice: Dice) -> bytes:
    """A text with a few changes."""
    for _ in dice.several():
        data = dice.rng.choice(_TEXT_CHANGES)(data, dice)
    return data


def blind(data: bytes, dice: Dice) -> bytes:
    """Bytes changed, lost and added anywhere."""
    made = bytearray(data)
    for _ in dice.several():
        at = dice.rng.randrange(len(made) + 1)
        made[at : at + dice.rng.choice((0, 1, 1, 4))] = dice.rng.choice(
            (b"", b"\0", b"\xff", b"\x80", dice.rng.randbytes(1), dice.rng.randbytes(4))
        )
    return bytes(made)


def words(data: bytes, dice: Dice) -> bytes:
    """Words of four bytes, or one of their bytes, become others, at an edge or from elsewhere.

    So files change that consist of offsets, which blind changes would move.
    """
    made = bytearray(data)
    count = len(made) // 4
    for _ in dice.several() if count > 1 else ():
        at, other = (4 * dice.rng.randrange(count) for _ in range(2))
        near = int.from_bytes(made[at : at + 4], "little") + dice.rng.choice((-8, -4, 4, 8))
        word = dice.rng.choice((_edge(dice), near, near)) & 0xFFFFFFFF
        width = dice.rng.choice((1, 4, 4))
        changed = dice.rng.choice((word.to_bytes(4, "little"), bytes(made[other : other + 4])))
        made[at : at + width] = changed[:width]
    return bytes(made)


# --- changes of a tree of fields ---------------------------------------------------------------


def _number(tree: list[Node], dice: Dice) -> None:
    """A number becomes one at an edge."""
    found = [node for node in flat(tree) if node.wire_type == VARINT]
    if found:
        dice.rng.choice(found).value = _edge(dice)


def _edge(dice: Dice) -> int:
    return dice.rng.choice((*NUMBERS, dice.rng.randrange(300), dice.rng.getrandbits(64)))


def _name(tree: list[Node], dice: Dice) -> None:
    """Bytes become a name that is odd, or one that stands elsewhere."""
    found = [node for node in flat(tree) if isinstance(node.value, bytes) and node.wire_type == 2]
    if found:
        said = [node.value for node in found]
        dice.rng.choice(found).value = dice.rng.choice((*said, *NAMES, dice.rng.choice(NAMES)))


def _bytes(tree: list[Node], dice: Dice) -> None:
    """Bytes are changed blindly, or become a run of numbers."""
    found = [node for node in flat(tree) if isinstance(node.value, bytes)]
    if found:
        node = dice.rng.choice(found)
        packed = b"".join(varint(_edge(dice)) for _ in range(dice.rng.randrange(6)))
        assert isinstance(node.value, bytes)
        node.value = dice.rng.choice((blind(node.value, dice), packed))


def _again(tree: list[Node], dice: Dice) -> None:
    """A field stands several times."""
    fields, at = _somewhere(tree, dice)
    if fields:
        copies = dice.rng.choice((1, 1, 2, _MOST_COPIES))
        fields[at:at] = [deepcopy(fields[at]) for _ in range(copies)]


def _lost(tree: list[Node], dice: Dice) -> None:
    fields, at = _somewhere(tree, dice)
    del fields[at : at + dice.rng.choice((1, 1, 3))]


def _swapped(tree: list[Node], dice: Dice) -> None:
    fields, at = _somewhere(tree, dice)
    if fields:
        other = dice.rng.randrange(len(fields))
        fields[at], fields[other] = fields[other], fields[at]


def _nested(tree: list[Node], dice: Dice) -> None:
    """What is around a field, or what is in one, comes to stand in its place."""
    fields, at = _somewhere(tree, dice)
    if fields:
        inside: list[Node] = deepcopy(dice.rng.choice((tree, fields, fields[at : at + 1])))
        for _ in range(dice.rng.choice((1, 1, 1, 30))):
            inside = [Node(fields[at].number, BYTES, inside)]
        fields[at] = inside[0]


def _renumbered(tree: list[Node], dice: Dice) -> None:
    fields, at = _somewhere(tree, dice)
    if fields:
        fields[at].number = dice.rng.choice((1, 2, 3, 4, 5, 7, 15, 16, 31, 32, 2**29 - 1))


def _retyped(tree: list[Node], dice: Dice) -> None:
    """A field of another wire type stands in the place of one."""
    fields, at = _somewhere(tree, dice)
    if fields:
        number = fields[at].number
        fields[at : at + 1] = dice.rng.choice(
            (
                [Node(number, VARINT, _edge(dice))],
                [Node(number, BYTES, dice.rng.choice(NAMES))],
                [Node(number, FIXED32, dice.rng.randbytes(4))],
                [Node(number, FIXED64, b"\xff" * 8)],
                [Node(number, START_GROUP, b""), fields[at], Node(number, END_GROUP, b"")],
                [Node(number, END_GROUP, b"")],
            )
        )


def _lying(tree: list[Node], dice: Dice) -> None:
    """A length is not what it should be."""
    found = [node for node in flat(tree) if node.wire_type == BYTES]
    if found:
        dice.rng.choice(found).lie = dice.rng.choice((1, -1, 5, 100, 2**31, 2**40, 2**63))


def _spliced(tree: list[Node], dice: Dice) -> None:
    """A part of another input comes in, best one of the same number."""
    other = [node for node in flat(wire_tree.parse(dice.another()) or []) if node.wire_type < 6]
    fields, at = _somewhere(tree, dice)
    if other:
        same = [node for node in other if fields and node.number == fields[at].number]
        part = deepcopy(dice.rng.choice(same or other))
        fields[at : at + dice.rng.randrange(2)] = [part]


def _somewhere(tree: list[Node], dice: Dice) -> tuple[list[Node], int]:
    """A list of fields, and the place of one of them."""
    fields = dice.rng.choice([*lists(tree)])
    return fields, dice.rng.randrange(len(fields)) if fields else 0


_CHANGES: Final[tuple[Callable[[list[Node], Dice], None], ...]] = (
    *(_number, _number, _number, _name, _name, _bytes),
    *(_again, _lost, _swapped, _nested, _renumbered, _retyped, _lying, _spliced, _spliced),
)


# --- changes of a text -------------------------------------------------------------------------


def _accident(data: bytes, dice: Dice) -> bytes:
    return mutated(dice.rng, data)


def _literal(data: bytes, dice: Dice) -> bytes:
    """A string or number becomes an odd one."""
    name = dice.rng.choice(NAMES).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    value = dice.rng.choice((b'"%s"' % name, b"%d" % dice.rng.choice(NUMBERS)))
    lines = data.split(b"\n")
    at = dice.rng.randrange(len(lines))
    key, colon, _ = lines[at].partition(b":")
    lines[at] = key + b": " + value if colon else lines[at]
    return b"\n".join(lines)


def _block(data: bytes, dice: Dice) -> bytes:
    """Lines with all that is in their braces are doubled, lost or put elsewhere."""
    lines = data.split(b"\n")
    begin = dice.rng.randrange(len(lines))
    depth, end = 0, begin
    for end, line in enumerate(lines[begin:], begin):  # noqa: B007 - its last value is asked for
        depth += line.count(b"{") - line.count(b"}")
        if depth <= 0:
            break
    block = lines[begin : end + 1]
    if dice.rng.randrange(2):
        del lines[begin : end + 1]
    at = dice.rng.randrange(len(lines) + 1)
    lines[at:at] = block * dice.rng.choice((0, 1, 1, 2, _MOST_COPIES))
    return b"\n".join(lines)


def _borrowed(data: bytes, dice: Dice) -> bytes:
    """Lines of another input come in."""
    lines, other = data.split(b"\n"), dice.another().split(b"\n")
    at, begin = dice.rng.randrange(len(lines) + 1), dice.rng.randrange(len(other))
    lines[at : at + dice.rng.randrange(3)] = other[begin : begin + dice.rng.randrange(1, 8)]
    return b"\n".join(lines)


def _layout(data: bytes, dice: Dice) -> bytes:
    """Blanks, brackets and quotes are written in another way that means the same."""
    old, new = dice.rng.choice(
        (
            (b"\n", b" "),
            (b"\n", b"\r\n"),
            (b"\n", b";\n"),
            (b"\n", b" # c\n"),
            (b"  ", b""),
            (b"  ", b"\t"),
            (b" {", b"{"),
            (b" {", b": {"),
            (b"{", b"<"),
            (b"}", b">"),
            (b'"', b"'"),
            (b": ", b":"),
            (b": ", b":\n"),
        )
    )
    return data.replace(old, new, dice.rng.choice((1, 2, -1)))


_TEXT_CHANGES: Final[tuple[Callable[[bytes, Dice], bytes], ...]] = (
    *(_accident, _accident, _literal, _literal, _block, _block, _borrowed, _layout),
)
