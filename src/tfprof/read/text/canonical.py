"""Reads a GraphDef in text, as protobuf prints it, directly into columns.

    block ──lines──► depth, form, name ──levels──► field of each line ──► columns of the block
    block ──lines──► …                                                    …  joined at the end

The text is cut into blocks after a line that is only "}", which ends a top-level message. In a
block all lines of one depth are resolved together: the last line with one depth less is the message
that contains them, and that message's table gives the fields of their names. There is no Python
object per line or node.

The result is exactly that of protobuf's parser; any other text gives None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.shapes import Shapes
from tfprof.columns.small_pages import keep_memory
from tfprof.columns.strings import I64, U8, Bool, Strings
from tfprof.columns.unique import marked
from tfprof.read.columns import GraphColumns
from tfprof.read.text.lines import (
    FLOAT,
    FORM_BITS,
    INTEGER,
    NAMES,
    OPEN,
    STRING,
    WORD,
    Lines,
    lines,
    require,
)
from tfprof.read.text.syntax import Unhandled, unescape

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIBRARY, _EMPTY = b"\nlibrary {", b"\nlibrary {\n}"
_LIBRARY_NAME = NAMES.index(b"library")
_BLOCK = 1 << 20
_BLOCK_END = b"\n}\n"
_LEVELS = 7  # that a known message can have, at most LEVELS
_INT64 = 1 << 63
_WORD_SIZE = 8


def _number(characters: bytes) -> np.uint64:
    """The characters as a little-endian word of the text."""
    return np.uint64(int.from_bytes(characters, "little"))


_TRUE, _FALSE, _INF, _NAN = map(_number, (b"true", b"false", b"inf", b"nan"))
_KEY_SHAPE, _KEY_OUTPUT_SHAPES = 1, 2
_QUOTED_SHAPE = _number(b'"shape"')
_QUOTED_OUTPUT = _number(b'"_output'), _number(b'_shapes"')

# Messages; the same numbers are used for the fields that hold them.
_NOTHING, _GRAPH, _NODE, _ATTR, _VALUE, _LIST, _SHAPE, _DIM = range(8)
# Fields that hold values; those from _F on may hold a word.
_NAME, _OP, _INPUT, _KEY, _S, _I, _SIZE, _F, _B, _UNKNOWN_RANK = range(8, 18)
_FIELDS = {
    _GRAPH: {b"node": _NODE},
    _NODE: {b"name": _NAME, b"op": _OP, b"input": _INPUT, b"attr": _ATTR},
    _ATTR: {b"key": _KEY, b"value": _VALUE},
    _VALUE: {b"list": _LIST, b"s": _S, b"i": _I, b"f": _F, b"b": _B, b"shape": _SHAPE},
    _LIST: {b"s": _S, b"i": _I, b"f": _F, b"b": _B, b"shape": _SHAPE},
    _SHAPE: {b"dim": _DIM, b"unknown_rank": _UNKNOWN_RANK},
    _DIM: {b"size": _SIZE},
}
_FORMS = {
    OPEN: (_NODE, _ATTR, _VALUE, _LIST, _SHAPE, _DIM),
    STRING: (_NAME, _OP, _INPUT, _KEY, _S),
    INTEGER: (_I, _F, _SIZE),
    FLOAT: (_F,),
    WORD: (_F, _B, _UNKNOWN_RANK),
}
# The field of each token in each message; _WRONG if a known field cannot have that form.
_WRONG, _TOKEN_BITS = 255, 8
_FIELD = np.zeros(8 << _TOKEN_BITS, np.uint8)
for _message, _named in _FIELDS.items():
    for _name, _field in _named.items():
        for _form, _fields in _FORMS.items():
            _token = NAMES.index(_name) << FORM_BITS | _form
            _FIELD[_message << _TOKEN_BITS | _token] = _field if _field in _fields else _WRONG


class _Level(NamedTuple):
    """The lines of one depth, and the index of each line's parent in the level above."""

    line: I64
    parent: I64
    field: U8

    def of(self, field: int) -> I64:
        """The indices of the lines that are *field*."""
        return np.flatnonzero(self.field == field)

    def single(self, rows: I64) -> None:
        """Raise Unhandled if two of *rows* have the same parent."""
        parent = self.parent[rows]
        require(parent[1:] != parent[:-1])


class _Slices(NamedTuple):
    """Strings as slices of the text, and the node of each."""

    node: I64
    start: I64
    length: I64


class _ShapeParts(NamedTuple):
    """The parts of shapes: the node of each shape, and the shape of each dimension."""

    node: I64
    unknown_rank: Bool
    dim_shape: I64
    dim: I64


class _Piece(NamedTuple):
    """The columns of one block."""

    nodes: int
    name: _Slices
    op: _Slices
    input: _Slices
    shape: _ShapeParts
    output: _ShapeParts


def columns(data: U8) -> GraphColumns | None:
    """The nodes of a GraphDef printed by protobuf; None for other text or if it has functions."""
    blocks = [*_blocks(data)] or [(0, 0)]
    # Functions are printed after the nodes: a look at the end saves reading all blocks.
    if len(blocks) > 1 and _has_functions(data[blocks[-2:][0][0] :].tobytes()):
        return None
    keep_memory()
    unescaped, pieces, nodes, libraries = _Unescaped(data.size), [], 0, 0
    try:
        for begin, end in blocks:
            block = lines(data[begin:end])
            libraries += _empty_libraries(block)
            require(libraries <= 1)
            pieces.append(_piece(block, begin, nodes, unescaped))
            nodes += pieces[-1].nodes
    except Unhandled:
        return None
    text = np.frombuffer(unescaped.text, np.uint8)
    return _joined(pieces, nodes, np.concatenate([data, text]) if text.size else data)


def _has_functions(text: bytes) -> bool:
    """Whether a function library that is not empty begins in this text."""
    at = text.find(_LIBRARY)
    return at >= 0 and not text.startswith(_EMPTY, at)


def _empty_libraries(block: Lines) -> int:
    """How many function libraries there are; raises Unhandled if there is something in one."""
    rows = np.flatnonzero((block.token >> FORM_BITS == _LIBRARY_NAME) & (block.depth == 0))
    require(block.token[rows] == _LIBRARY_NAME << FORM_BITS | OPEN)
    require(np.append(block.depth, 0)[rows + 1] == 0)
    return int(rows.size)


def _blocks(data: U8) -> Iterator[tuple[int, int]]:
    """Slices of *data* that each end with a top-level message, or with the data."""
    begin, size = 0, _BLOCK
    while begin < data.size:
        end = min(begin + size, data.size)
        if end < data.size:
            cut = data[begin:end].tobytes().rfind(_BLOCK_END)
            if cut < 0:
                size *= 2
                continue
            end = begin + cut + len(_BLOCK_END)
        yield begin, end
        begin, size = end, _BLOCK


# --- fields -------------------------------------------------------------------------------


def _levels(block: Lines) -> list[_Level]:
    """The lines of each depth that a known message can have, with their fields."""
    message = np.full(1, _GRAPH, np.uint8)
    levels = []
    for depth in range(_LEVELS):
        line = np.flatnonzero(block.depth == depth)
        parent = block.parent[line]
        token = message[parent].astype(np.int64) << _TOKEN_BITS | block.token[line]
        message = _FIELD[token]
        require(message != _WRONG)
        levels.append(_Level(line, parent, message))
    return levels


def _check_values(block: Lines, levels: list[_Level]) -> None:
    """Require that words are valid in their field, and read long integers: they fit 64 bits."""
    for line, _, field in levels:
        rows = np.flatnonzero(field >= _F)
        first = block.first_word(line[rows])
        is_word = block.token[line[rows]] & (1 << FORM_BITS) - 1 == WORD
        is_float = ~is_word | (first == _INF) | (first == _NAN)
        is_bool = (first == _TRUE) | (first == _FALSE)
        require(np.where(field[rows] == _F, is_float, is_bool))
        integers = line[(field == _I) | (field == _SIZE)] if block.long.size else block.long
        for each in block.long[marked(integers, block.depth.size)[block.long]].tolist():
            number = int(block.text[block.value[each] : block.end[each]].tobytes())
            require(-_INT64 <= number < _INT64)
            block.number[each] = number


def _check_repeats(levels: list[_Level]) -> None:
    """Require that no message repeats a field that is not repeated."""
    _, node, attr, value, inner, listed, deepest = levels
    value.single(np.flatnonzero(value.field))  # a value has only one of these fields
    for level, field in (
        (node, _NAME), (node, _OP), (attr, _KEY), (attr, _VALUE), (inner, _UNKNOWN_RANK),
        (listed, _UNKNOWN_RANK), (listed, _SIZE), (deepest, _SIZE),
    ):  # fmt: skip
        level.single(level.of(field))


def _piece(block: Lines, base: int, nodes: int, unescaped: _Unescaped) -> _Piece:
    """The columns of a block that begins at *base* and has *nodes* nodes before it."""
    levels = _levels(block)
    _check_values(block, levels)
    _check_repeats(levels)
    graph, node, attr, value, inner, listed, deepest = levels
    is_node = graph.field == _NODE
    owner = (nodes - 1 + np.cumsum(is_node))[node.parent]

    def slices(field: int) -> _Slices:
        rows = node.of(field)
        return _Slices(owner[rows], *unescaped.slices(block, node.line[rows], base))

    attribute = attr.parent[value.parent]
    wanted = _wanted(block, node, attr, owner)[attribute]
    shape = np.flatnonzero((value.field == _SHAPE) & (wanted == _KEY_SHAPE))
    in_list = (value.field == _LIST) & (wanted == _KEY_OUTPUT_SHAPES)
    output = np.flatnonzero((inner.field == _SHAPE) & in_list[inner.parent])
    output_node = owner[attribute[inner.parent[output]]]
    return _Piece(
        nodes=int(np.count_nonzero(is_node)),
        name=slices(_NAME),
        op=slices(_OP),
        input=slices(_INPUT),
        shape=_shapes(block, shape, owner[attribute[shape]], (value, inner, listed)),
        output=_shapes(block, output, output_node, (inner, listed, deepest)),
    )


def _wanted(block: Lines, node: _Level, attr: _Level, owner: I64) -> U8:
    """For each line of a node, which of the wanted attributes it is; 0 if none."""
    key = attr.of(_KEY)
    line = attr.line[key]
    require(~block.escaped[line])
    which = np.zeros(node.line.size, np.uint8)
    first, length = block.first_word(line), block.end[line] - block.value[line]
    which[attr.parent[key[first == _QUOTED_SHAPE]]] = _KEY_SHAPE
    long = np.flatnonzero((length == 2 * _WORD_SIZE) & (first == _QUOTED_OUTPUT[0]))
    long = long[block.word_at(block.value[line[long]] + _WORD_SIZE) == _QUOTED_OUTPUT[1]]
    which[attr.parent[key[long]]] = _KEY_OUTPUT_SHAPES
    for wanted in (_KEY_SHAPE, _KEY_OUTPUT_SHAPES):
        rows = np.flatnonzero(which == wanted)
        same = owner[rows[1:]] == owner[rows[:-1]]
        which[rows[:-1][same]] = 0  # the last one counts if a key is repeated
    return which


def _shapes(
    block: Lines, rows: I64, node: I64, levels: tuple[_Level, _Level, _Level]
) -> _ShapeParts:
    """The shapes in these *rows* of the first of three levels; the last has the sizes."""
    level, inside, below = levels
    shape = _numbered(rows, level.line.size)[inside.parent]
    ranks = inside.of(_UNKNOWN_RANK)
    ranks = ranks[(shape[ranks] >= 0) & (block.first_word(inside.line[ranks]) == _TRUE)]
    unknown_rank = np.zeros(rows.size, np.bool_)
    unknown_rank[shape[ranks]] = True
    dims = np.flatnonzero((inside.field == _DIM) & (shape >= 0))
    sizes = below.of(_SIZE)
    dim = _numbered(dims, inside.line.size)[below.parent[sizes]]
    size = np.zeros(dims.size, np.int64)
    size[dim[dim >= 0]] = block.number[below.line[sizes[dim >= 0]]]
    return _ShapeParts(node, unknown_rank, shape[dims], size)


def _numbered(rows: I64, count: int) -> I64:
    """0, 1, 2 … at these of *count* rows, -1 at all others."""
    number = np.full(count, -1, np.int64)
    number[rows] = np.arange(rows.size)
    return number


# --- strings and joining ------------------------------------------------------------------


class _Unescaped:
    """The decoded values of the few strings with escapes, appended to the text."""

    def __init__(self, after: int) -> None:
        self.text = bytearray()
        self._after = after

    def slices(self, block: Lines, line: I64, base: int) -> tuple[I64, I64]:
        """Start and length of these lines' strings; the *block* begins at *base*."""
        begin, end = block.value[line] + 1, block.end[line] - 1
        start, length = begin + base, end - begin
        for row in np.flatnonzero(block.escaped[line]).tolist():
            string = unescape([block.text[begin[row] : end[row]].tobytes()], text=True)
            start[row], length[row] = self._after + len(self.text), len(string)
            self.text += string
        return start, length


def _joined(pieces: list[_Piece], nodes: int, blob: U8) -> GraphColumns:
    inputs = _all([piece.input for piece in pieces])
    shape_node, shape = _all_shapes([piece.shape for piece in pieces])
    output_node, output_shape = _all_shapes([piece.output for piece in pieces])
    return GraphColumns(
        name=_one_per_node([piece.name for piece in pieces], nodes, blob),
        op=_one_per_node([piece.op for piece in pieces], nodes, blob),
        input_node=inputs.node,
        input_name=Strings(blob, inputs.start, inputs.length),
        shape_node=shape_node,
        shape=shape,
        output_node=output_node,
        output_shape=output_shape,
    )


def _all(parts: list[_Slices]) -> _Slices:
    return _Slices(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _one_per_node(parts: list[_Slices], nodes: int, blob: U8) -> Strings:
    """One string per node; empty if absent."""
    present = _all(parts)
    start, length = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    start[present.node], length[present.node] = present.start, present.length
    return Strings(blob, start, length)


def _all_shapes(parts: list[_ShapeParts]) -> tuple[I64, Shapes]:
    node, unknown_rank, shape, dim = map(np.concatenate, zip(*parts, strict=True))
    before = np.cumsum([0, *(part.node.size for part in parts)])[:-1]
    dim_shape = shape + np.repeat(before, [part.dim.size for part in parts])
    return node, Shapes.of(node.size, dim_shape, dim, unknown_rank)
