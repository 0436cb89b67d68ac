"""INPUTS: kernel → its arguments, made of any bytes, and what to compare of its results.

The bytes are taken for a protobuf message. Its fields, and some parts of it that are none, are the
strings; its bytes are the numbers. Arrays are copies of their own, so that a sanitizer knows where
they end.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import tfprof
from tfprof.columns.strings import FIRST_SEED, I64, U8, Strings
from tfprof.kernels.table import KERNELS
from tfprof.read.text.lines import NAMES
from tfprof.wire.decode import BYTES, FIXED32, FIXED64, VARINT, WireError, scan, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_HOME = Path(tfprof.__file__).parent
for _file in sorted(_HOME.rglob("*.py")):
    if "\n@kernel\n" in _file.read_text():  # importing it adds its rows to KERNELS
        import_module(".".join(["tfprof", *_file.relative_to(_HOME).with_suffix("").parts]))

_LONGEST = 1024  # longer strings never reach the kernels of byte_words
_MOST_NUMBERS = 100
_SPARE = 8
_LARGEST = 10**15
_LONGEST_WORD = 64
_LENGTHS = np.array([0, 1, 7, 8, 9, 16, 1 << 30, -1])  # the last: anything
_STRINGS = dict.fromkeys((1, 2, 3, 4, 5, 6), BYTES)
WANTED = (
    _STRINGS,
    {1: BYTES, 2: VARINT, 3: BYTES, 4: VARINT, 5: BYTES, 6: VARINT, 31: BYTES},
    {1: VARINT, 2: BYTES, 3: FIXED32, 4: FIXED64, 5: VARINT, 16: BYTES, 17: VARINT},
    dict.fromkeys(range(1, 32, 4), VARINT),
)


class Material(NamedTuple):
    """What arguments are made of."""

    blob: U8
    start: I64  # of messages in the blob
    end: I64
    wanted: Mapping[int, int]
    rows: Strings  # slices of the blob
    numbers: I64  # small ones, some negative
    rng: np.random.Generator


def material(data: bytes, rng: np.random.Generator) -> Material:
    """All of it, made of *data*."""
    blob = np.array(np.frombuffer(data, np.uint8))
    start, end = whole(blob)
    rows = Strings(blob, *_some_slices(blob, rng))
    some, which, most, least = rng.integers((1, 0, 1, -2), (60, 4, 40, 1)).tolist()
    with suppress(WireError):
        found = scan(blob, start, end, _STRINGS).values()
        begin, length = (np.concatenate([field[at] for field in found])[-some:] for at in (1, 2))
        if which:
            start, end = begin, begin + length
        rows = Strings(blob, np.append(rows.start, begin), np.append(rows.length, length))
    numbers = blob[-_MOST_NUMBERS:].astype(np.int64) % most + least
    return Material(blob, start, end, WANTED[which], rows, numbers, rng)


def _some_slices(blob: U8, rng: np.random.Generator) -> tuple[I64, I64]:
    """(start, length) of any slices; some are empty, some end where the blob ends."""
    start, length, kind = rng.integers(
        0, ((blob.size + 1,), (_LONGEST + 2,), (len(_LENGTHS),)), (3, 40)
    )
    length = np.where(_LENGTHS[kind] < 0, length, _LENGTHS[kind])
    count = rng.integers(40)
    return start[:count], np.minimum(length, blob.size - start)[:count]


# --- arguments -----------------------------------------------------------------------------------


def _short(it: Material) -> I64:
    return it.rows.length * (it.rows.length <= _LONGEST)


def _slices(it: Material) -> tuple[Any, ...]:
    return it.blob, it.rows.start, it.rows.length


def _different(it: Material) -> Strings:
    return it.rows.take(KERNELS["intern_slices"](*_slices(it))[1])


def _some_text(it: Material) -> bytes:
    """A few bytes, mostly of the blob."""
    begin, size = it.rng.integers((0, 1), (it.blob.size + 1, 12)).tolist()
    return it.blob[begin : begin + size].tobytes() or bytes([size])


def _pairs(it: Material) -> tuple[Any, ...]:
    """Each row and a neighbour, which may be itself, as far as both are long."""
    other = np.roll(np.arange(len(it.rows)), int(it.rng.integers(3)))
    length = np.minimum(_short(it), _short(it)[other])
    return it.blob, it.rows.start, it.blob.copy(), it.rows.start[other], length


def _places(it: Material) -> tuple[Any, ...]:
    """A blob with room for every row and some bytes between them."""
    length = _short(it)
    at = np.cumsum(length + _SPARE) - length - _SPARE
    return np.zeros(int((length + _SPARE).sum()), np.uint8), at, it.blob, it.rows.start, length


def _lookup(it: Material) -> tuple[Any, ...]:
    known = _different(it)
    if len(known) > 1:
        known = known.take(np.flatnonzero(np.arange(len(known)) % 3 > 0))
    elif not len(known):  # Strings.find knows without any kernel that nothing is in it
        known = Strings.of([b"one"])
    return known, KERNELS["index_slices"](known.blob, known.start, known.length), it.rows


def _edges(it: Material) -> tuple[Any, ...]:
    count = len(it.rows)
    inputs = np.minimum(it.numbers, count)  # one that is not in the graph is `count` or negative
    start = np.linspace(0, inputs.size, count + 1).astype(np.int64)
    return count, inputs, start, np.flatnonzero(np.arange(count) % 3 == 0)


def _names(it: Material) -> tuple[Any, ...]:
    """Different names in drawing order: a scope is beside what is in it."""
    rows = sorted(_different(it), key=lambda name: name.replace(b"/", b"\0"))
    unlike = [name for name, before in zip(rows, [None, *rows], strict=False) if name != before]
    names = Strings.of(unlike)
    return names.blob, names.start, names.length


def _depths(it: Material) -> I64:
    """Depths of a tree: a row is at most one deeper than the row before, and below the root."""
    depth = np.ones(it.numbers.size + 1, np.int64)
    for row, number in enumerate(it.numbers.tolist(), 1):
        depth[row] = min(max(number, 2), int(depth[row - 1]) + 1)
    return depth


def _tree(it: Material) -> tuple[Any, ...]:
    depth = _depths(it)
    return KERNELS["subtree_ends"](depth), depth


def _text(it: Material) -> tuple[Any, ...]:
    """A text of messages inside each other, as protobuf prints it; the lines may hold anything."""
    depth = [*_depths(it).tolist(), 1]
    lines = []
    for row, (here, after) in enumerate(pairwise(depth)):
        name = it.blob[row : row + 3].tobytes().replace(b"\n", b"") + b"x"
        lines.append(b"  " * (here - 1) + name + (b" {" if after > here else b": 1"))
        lines += [b"  " * (level - 1) + b"}" for level in range(here - 1, after - 1, -1)]
    return (np.frombuffer(b"".join(line + b"\n" for line in lines) + bytes(16), np.uint8),)


def _named_lines(it: Material) -> tuple[Any, ...]:
    """Lines with names that are known or any words, some longer than all that are known."""
    lines = []
    for at, number in enumerate(it.numbers.tolist()):
        any_word = b"x" + it.blob[at : at + number % 60].tobytes().hex().encode()
        name = NAMES[number % len(NAMES)] if at % 3 else any_word[:_LONGEST_WORD]
        lines.append(b"  " * (number % 4) + (name or b"y") + (b" {", b": 1", b": ")[at % 3])
    length = np.array([*map(len, lines)], np.int64)
    end = np.cumsum(length + 1) - 1
    start = end - np.array([len(line.lstrip()) for line in lines], np.int64)
    text = np.frombuffer(b"".join(line + b"\n" for line in lines) + bytes(16), np.uint8)
    return text, start, end, NAMES


def _amounts(it: Material) -> tuple[Any, ...]:
    """Numbers of any size below the largest, halves among them, and what is written behind them."""
    power = 10 ** (it.numbers % 10 + 5)
    column = it.blob[: it.numbers.size].astype(np.int64) * power // 1000 + it.numbers % 2 * 5
    return column % _LARGEST, [b"", b"k", b"m params"][: int(it.rng.integers(1, 4))]


def _covered(arguments: tuple[Any, ...], _: object) -> list[bytes]:
    """What was copied, without the bytes after it."""
    blob, at, _, _, length = arguments
    return Strings(blob, at, length).tolist()


class Input(NamedTuple):
    """The arguments of a kernel, and what counts of the result."""

    arguments: Callable[[Material], tuple[Any, ...]]
    outcome: Callable[[tuple[Any, ...], Any], Any] = lambda _, result: result


INPUTS: Final[dict[str, Input]] = {
    "scan_fields": Input(lambda it: (it.blob, it.start, it.end, it.wanted)),
    "field_lines": Input(_text),
    "line_names": Input(_named_lines),
    "hashes": Input(lambda it: (it.blob, it.rows.start, _short(it), FIRST_SEED)),
    "equal": Input(_pairs),
    "first": Input(lambda it: (it.blob, it.rows.start, _short(it), _some_text(it))),
    "apart": Input(lambda it: (it.blob, it.rows.start, _short(it))),
    "put": Input(_places, lambda arguments, _: arguments[0]),
    "spill": Input(_places, _covered),
    # Indexes differ, but find the same.
    "intern_slices": Input(_slices, lambda _, result: result[:2]),
    "index_slices": Input(
        lambda it: (it.blob, _different(it).start, _different(it).length),
        lambda arguments, index: KERNELS["find_slices"](
            Strings(*arguments), index, Strings(*arguments)
        ),
    ),
    "find_slices": Input(_lookup),
    "order_slices": Input(_slices),
    "visit_inputs": Input(_edges),
    "scope_rows": Input(_names),
    "subtree_ends": Input(lambda it: (_depths(it),)),
    "parent_rows": Input(_tree),
    "scaled_texts": Input(_amounts, lambda _, result: Strings(*result).tolist()),
}
