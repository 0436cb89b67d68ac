"""The compiled kernels with the signatures of the NumPy code: they allocate, `_core` computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.kernels import _core

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    I64 = NDArray[np.int64]
    U64 = NDArray[np.uint64]
    U8 = NDArray[np.uint8]
    Bool = NDArray[np.bool_]

_SEED = np.uint64(0x2545F4914F6CDD1D).tobytes()
_PADDING = 0xFF
_SLASH, _NEWLINE = b"/\n"
_FIELD_NUMBERS = 64
_UNWANTED = 255
_PART = 1 << 17  # bytes that are compared at a time
_KNOWN_NAME = 16  # bytes
_DIGITS, _TAIL = 16, 8  # bytes of a number as text, and behind it
_whole = np.ascontiguousarray


def scan_fields(
    buffer: U8, start: I64, end: I64, wanted: Mapping[int, int]
) -> dict[int, tuple[I64, ...]] | None:
    """(message, start, value) of each wanted field; None if a message is damaged."""
    kinds = bytearray([_UNWANTED]) * _FIELD_NUMBERS
    for number, kind in wanted.items():
        kinds[number] = kind
    fields = _core.scan(_whole(buffer), _whole(start), _whole(end), kinds)
    if fields is None:
        return None
    return {
        number: tuple(np.frombuffer(column, np.int64) for column in columns)
        for number, *columns in fields
    }


def _count(text: U8, byte: int) -> int:
    """How often *text* has this byte."""
    parts = (text[at : at + _PART] for at in range(0, text.size, _PART))
    return sum(int(np.count_nonzero(part == byte)) for part in parts)


def field_lines(text: U8) -> tuple[U8, I64, I64, I64] | None:
    """(depth, parent, where the name begins, end) of each line that is a field."""
    most = _count(text, _NEWLINE)
    parent, start, end = (np.empty(most, np.int64) for _ in range(3))
    depth = np.empty(most, np.uint8)
    rows = _core.lines(_whole(text), depth, parent, start, end)
    return None if rows is None else (depth[:rows], parent[:rows], start[:rows], end[:rows])


def line_names(text: U8, start: I64, end: I64, known: Sequence[bytes]) -> tuple[U8, I64] | None:
    """(the number of each line's name among the *known*, where its value begins)."""
    if max(map(len, known)) > _KNOWN_NAME:
        return None
    names = b"".join(name.ljust(_KNOWN_NAME, b"\0") for name in known)
    name, value = np.empty(start.size, np.uint8), np.empty(start.size, np.int64)
    done = _core.names(_whole(text), names, _whole(start), _whole(end), name, value)
    return None if done is None else (name, value)


def hashes(blob: U8, start: I64, length: I64, seed: np.uint64) -> U64 | None:
    """A 64-bit hash of each slice."""
    result = np.empty(start.size, np.uint64)
    fine = _core.hashes(_whole(blob), _whole(start), _whole(length), seed.tobytes(), result)
    return None if fine is None else result


def equal(blob: U8, start: I64, other: U8, other_start: I64, length: I64) -> Bool | None:
    """Whether the slices at *start* and *other_start* are equal, for each pair."""
    result = np.empty(start.size, np.bool_)
    pairs = map(_whole, (blob, start, other, other_start, length))
    return None if _core.equal(*pairs, result.view(np.uint8)) is None else result


def first(blob: U8, start: I64, length: I64, text: bytes) -> I64 | None:
    """The offset of the first *text* in each slice; -1 if absent."""
    result = np.empty(start.size, np.int64)
    fine = _core.first(_whole(blob), _whole(start), _whole(length), text, result)
    return None if fine is None else result


def put(blob: U8, at: I64, source: U8, start: I64, length: I64) -> Any:  # noqa: ANN401 - a mark that it is done
    """Copy each slice of *source* to offset *at* of *blob*."""
    return _core.put(blob, *map(_whole, (at, source, start, length)))


spill = put


def apart(blob: U8, start: I64, length: I64) -> tuple[U8, I64] | None:
    """(a blob of these slices at multiples of eight bytes, padded with 0xFF; their starts)."""
    size = (length + 7) & ~7
    at = np.cumsum(size) - size
    target = np.full(int(size.sum()), _PADDING, np.uint8)
    return None if put(target, at, blob, start, length) is None else (target, at)


def intern_slices(blob: U8, start: I64, length: I64) -> tuple[I64, I64, U64] | None:
    """(id of each slice, first row of each id, the index of the slices)."""
    slots = np.zeros(1 << max(4, (2 * start.size - 1).bit_length()), np.uint64)
    ids, head = np.empty(start.size, np.int64), np.empty(start.size, np.int64)
    count = _core.intern(*map(_whole, (blob, start, length)), _SEED, slots, ids, head)
    if count is None:
        return None
    return ids, head if count == start.size else head[:count].copy(), slots


def index_slices(blob: U8, start: I64, length: I64) -> U64 | None:
    """The index of these different slices."""
    interned = intern_slices(blob, start, length)
    return None if interned is None else interned[2]


def find_slices(known: Any, index: object, wanted: Any) -> I64 | None:  # noqa: ANN401 - Strings
    """The row of each of *wanted* among the *known* with this index; -1 if absent."""
    if not isinstance(index, np.ndarray):  # of the NumPy code, as the strings collide
        return None
    result = np.empty(len(wanted), np.int64)
    slices = (_whole(column) for at in (known, wanted) for column in (at.blob, at.start, at.length))
    blob, start, length, *others = slices
    fine = _core.find(blob, start, length, _SEED, index, *others, result)
    return None if fine is None else result


def order_slices(blob: U8, start: I64, length: I64) -> I64 | None:
    """The rows in ascending order of their bytes; equal ones keep their order."""
    rows, spare, ends = (np.empty(start.size, np.int64) for _ in range(3))
    moved = _core.order(*map(_whole, (blob, start, length)), rows, spare, ends)
    return None if moved is None else (spare if moved else rows)


def visit_inputs(count: int, source: I64, start: I64, outermost: I64) -> tuple[I64, I64] | None:
    """(node, depth) in the order of the first visit; *outermost* nodes are at depth 2."""
    node, depth, inner, at = (np.empty(count, np.int64) for _ in range(4))
    edges = map(_whole, (source, start, outermost))
    visited = _core.walk(*edges, node, depth, inner, at, np.ones(count, np.uint8))
    return None if visited is None else (node[:visited].copy(), depth[:visited].copy())


def scope_rows(blob: U8, start: I64, length: I64) -> tuple[I64, I64, I64, I64] | None:
    """The rows of the tree of name scopes, of names in drawing order."""
    most = start.size + _count(blob, _SLASH)
    name, end, depth = (np.empty(most, np.int64) for _ in range(3))
    last = np.empty(start.size, np.int64)
    rows = _core.scopes(*map(_whole, (blob, start, length)), name, end, depth, last)
    return None if rows is None else (name[:rows], end[:rows], depth[:rows], last)


def subtree_ends(depth: I64) -> I64 | None:
    """Where the subtree of each row ends, by the depths of rows in drawing order."""
    end = np.empty(depth.size, np.int64)
    return None if _core.ends(_whole(depth), end, np.empty_like(end)) is None else end


def parent_rows(end: I64, depth: I64) -> I64 | None:  # noqa: ARG001 - as the reference
    """The row above each row; -1 for the root."""
    parent = np.empty(end.size, np.int64)
    return None if _core.parents(_whole(end), parent) is None else parent


def scaled_texts(column: I64, tails: Sequence[bytes]) -> tuple[U8, I64, I64] | None:
    """(blob, start, length) of each number in the largest unit that it reaches."""
    if max(map(len, tails)) > _TAIL:
        return None
    ends = b"".join(tail.ljust(_TAIL, b"\0") for tail in tails)
    blob = np.empty((_DIGITS + _TAIL) * column.size, np.uint8)
    start, length = np.empty(column.size, np.int64), np.empty(column.size, np.int64)
    fine = _core.scaled(_whole(column), ends, blob, start, length)
    return None if fine is None else (blob, start, length)
