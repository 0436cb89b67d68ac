"""Reads the functions of a graph into one pool of nodes: what each body reads, returns and calls.

    GraphDef ─library─► FunctionDef* ─┬─ signature: name, input_arg*, output_arg*
                                      ├─ node_def*     inputs are  x  node:output:0  ^node
                                      ├─ ret           the source of each output
                                      └─ control_ret   nodes that run only for their effect

The graph itself is the first body: it has no arguments, and without roots all of it is needed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, U8, Bool, Strings
from tfprof.read.functions.calls import Call, calls_of, flat_number, op_outputs
from tfprof.read.merge import find_before, slots
from tfprof.read.nodes import node_columns
from tfprof.wire.decode import BYTES, Field, scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfprof.read.columns import GraphColumns

    Calls = Mapping[int, tuple[Call, ...]]
    Numbers = Mapping[bytes, int]

# The source of an unknown name. Sources that are nodes are >= 0; argument k is -1 - k.
UNKNOWN: Final = -(1 << 40)
CONTROL: Final = -1
# Operation types with effects, for old functions that list no control outputs.
_EFFECT: Final = re.compile(
    rb"Assign|Resource(Apply|Scatter|SparseApply|Strided)|Print|Write|Enqueue"
)


class Body(NamedTuple):
    """The nodes of a function; sources and nodes are indices into `rows`."""

    name: bytes
    rows: I64  # of the pool
    edge_node: I64
    edge_source: I64  # or -1 - k for argument k, or UNKNOWN
    edge_slot: I64  # CONTROL for a control input
    edge_text: I64  # the input as written, a row of the pool's inputs
    returns: tuple[I64, I64]  # (source, slot) of each output
    effects: I64  # the nodes that run for their effect
    calls: tuple[tuple[int, tuple[Call, ...]], ...] = ()  # of nodes
    dead: int = 0  # how many nodes no output needs


class Pool(NamedTuple):
    """The nodes of the graph, then those of all functions; body 0 is the graph itself."""

    columns: GraphColumns
    bodies: list[Body]
    calls: Calls  # of rows
    items: I64  # how many inputs, dimensions and attributes each row has


class _Parts(NamedTuple):
    """The functions of a library as written."""

    name: list[bytes]
    nodes: Field  # message: the function
    arguments: list[list[bytes]]
    outputs: list[list[bytes]]
    returns: list[dict[bytes, bytes]]
    effects: list[list[bytes]]


def library(buffer: U8, nodes: Field, libraries: Field) -> Pool:
    """The pool of a graph's *nodes* and the functions in its *libraries*; raises WireError."""
    parts = _parts(buffer, libraries)
    columns = node_columns(buffer, Field(*map(np.append, nodes, parts.nodes)))
    # Nothing can call a function without a name.
    number = {name: at for at, name in reversed([*enumerate(parts.name, 1)]) if name}
    assert columns.attributes is not None, "a graph read from wire bytes has its attributes"
    attributes = columns.attributes()
    calls = calls_of(columns.op, attributes, number)
    first = nodes.start.size
    ends = first + np.searchsorted(parts.nodes.message, np.arange(len(parts.name)), "right")
    bodies = [_live_body(_graph(columns, first), np.ones(first, np.bool_), calls)]
    for function, end in enumerate(ends.tolist()):
        rows = slice(first, end)
        names = _Names(columns, rows, parts, function, number)
        bodies.append(_body(columns, rows, names, calls))
        first = end
    return Pool(columns, bodies, calls, _items(columns, attributes[0]))


def _items(columns: GraphColumns, attribute_row: I64) -> I64:
    count = np.bincount(columns.input_node, minlength=len(columns.name))
    count += np.bincount(attribute_row, minlength=count.size)
    for row, shapes in (
        (columns.shape_node, columns.shape),
        (columns.output_node, columns.output_shape),
    ):
        np.add.at(count, row, np.diff(shapes.start))
    return count


def rooted(pool: Pool, roots: Iterable[bytes]) -> Pool:
    """The pool with its graph reduced to the nodes named *roots* and what they need."""
    count = pool.bodies[0].rows.size
    graph = _graph(pool.columns, count)
    name, first = _distinct(pool.columns, count)
    row = name.find(Strings.of(roots))
    needed = _needed(graph, first[row[row >= 0]])
    return pool._replace(bodies=[_live_body(graph, needed, pool.calls), *pool.bodies[1:]])


def _parts(buffer: U8, libraries: Field) -> _Parts:
    functions = scan(buffer, libraries.start, libraries.end, {1: BYTES})[1]
    count = functions.start.size
    part = scan(buffer, functions.start, functions.end, {1: BYTES, 3: BYTES, 4: BYTES, 6: BYTES})
    start, length = part[1].last_slice(count)
    signature = scan(buffer, start, start + length, {1: BYTES, 2: BYTES, 3: BYTES})
    pairs = [_pairs(buffer, part[number], count) for number in (4, 6)]
    return _Parts(
        Strings(buffer, *signature[1].last_slice(count)).tolist(),
        part[3],
        _names(buffer, signature[2], count),
        _names(buffer, signature[3], count),
        pairs[0],
        # By key: a map has no order of its own.
        [[node for _, node in sorted(control_ret.items())] for control_ret in pairs[1]],
    )


def _names(buffer: U8, arguments: Field, count: int) -> list[list[bytes]]:
    """The names of the arguments of each function."""
    name = scan(buffer, arguments.start, arguments.end, {1: BYTES})[1]
    by_function: list[list[bytes]] = [[] for _ in range(count)]
    names = Strings(buffer, *name.last_slice(arguments.start.size)).tolist()
    for function, text in zip(arguments.message.tolist(), names, strict=True):
        by_function[function].append(text)
    return by_function


def _pairs(buffer: U8, entry: Field, count: int) -> list[dict[bytes, bytes]]:
    """The map from strings to strings of each function."""
    part = scan(buffer, entry.start, entry.end, {1: BYTES, 2: BYTES})
    pairs = (Strings(buffer, *part[at].last_slice(entry.start.size)).tolist() for at in (1, 2))
    by_function: list[dict[bytes, bytes]] = [{} for _ in range(count)]
    for function, name, text in zip(entry.message.tolist(), *pairs, strict=True):
        by_function[function][name] = text
    return by_function


def _distinct(columns: GraphColumns, count: int) -> tuple[Strings, I64]:
    """(the distinct names of the first *count* rows, the first row of each)."""
    names = columns.name.take(slice(count))
    _, first = names.intern()
    return names.take(first), first


def _graph(columns: GraphColumns, count: int) -> Body:
    """The graph itself, the first *count* rows, as a body."""
    name, first = _distinct(columns, count)
    edges = int(np.searchsorted(columns.input_node, count))
    written = columns.input_name.take(slice(edges))
    plain = written.without_first(b"^")
    row, before = find_before(name, plain, b":")
    source = np.append(first, UNKNOWN)[row]
    slot = np.where(plain.length < written.length, CONTROL, slots(plain, before))
    rows, owner, none = np.arange(count), columns.input_node[:edges], np.empty(0, np.int64)
    return Body(b"", rows, owner, source, slot, np.arange(edges), (none, none), none)


def _body(columns: GraphColumns, rows: slice, names: _Names, calls: Calls) -> Body:
    parts, function = names.parts, names.function
    written = slice(*np.searchsorted(columns.input_node, [rows.start, rows.stop]).tolist())
    texts = columns.input_name.take(written).tolist()
    source, slot = names.resolved(texts)
    outputs = parts.outputs[function]
    returns = names.resolved([parts.returns[function].get(output, b"") for output in outputs])
    effects = [names.node[name] for name in parts.effects[function] if name in names.node]
    if not effects:
        effects = [node for node, op in enumerate(names.ops) if _EFFECT.match(op)]
    known = np.flatnonzero((source != UNKNOWN) | (slot != CONTROL))
    own, owner = np.arange(rows.start, rows.stop), columns.input_node[written] - rows.start
    edges = owner[known], source[known], slot[known], written.start + known
    full = Body(parts.name[function], own, *edges, returns, np.array(effects, np.int64))
    roots = np.append(returns[0][returns[0] >= 0], full.effects)
    return _live_body(full, _needed(full, roots), calls)


class _Names:
    """Resolves the names in a function."""

    def __init__(
        self, columns: GraphColumns, rows: slice, parts: _Parts, function: int, number: Numbers
    ) -> None:
        nodes = enumerate(columns.name.take(rows).tolist())
        self.node = {name: index for index, name in reversed(list(nodes))}
        self._argument = {name: index for index, name in enumerate(parts.arguments[function])}
        self.ops, self.parts, self.function = columns.op.take(rows).tolist(), parts, function
        self._number = number

    def resolved(self, texts: Iterable[bytes]) -> tuple[I64, I64]:
        """(source, slot) of each text."""
        pairs = [self._resolve(text) for text in texts]
        source, slot = np.array(pairs, np.int64).reshape(-1, 2).T
        return source, slot

    def _resolve(self, text: bytes) -> tuple[int, int]:
        if text.startswith(b"^"):
            return self.node.get(text[1:], UNKNOWN), CONTROL
        name, _, rest = text.partition(b":")
        output, _, digits = rest.rpartition(b":")
        index = int(digits[:10]) if digits.isdigit() else 0
        if name in self._argument:
            return -1 - self._argument[name] - index, 0
        node = self.node.get(name, UNKNOWN)
        if node == UNKNOWN:
            return UNKNOWN, 0
        return node, flat_number(self._outputs(self.ops[node]), output, index)

    def _outputs(self, op: bytes) -> list[bytes] | None:
        """The names of the outputs of an operation, or of the function that it calls."""
        if op in self._number:
            return self.parts.outputs[self._number[op] - 1]
        return op_outputs().get(op)


def _needed(full: Body, roots: I64) -> Bool:
    """Whether *roots* need each node; they need themselves."""
    count = full.rows.size
    order = np.argsort(full.edge_node, kind="stable")
    inside = order[full.edge_source[order] >= 0]
    start = np.searchsorted(full.edge_node[inside], np.arange(count + 1)).tolist()
    source = full.edge_source[inside].tolist()
    waiting = roots.tolist()
    seen = bytearray(count)
    while waiting:
        node = waiting.pop()
        if not seen[node]:
            seen[node] = 1
            waiting += source[start[node] : start[node + 1]]
    return np.frombuffer(seen, np.bool_)


def _live_body(full: Body, needed: Bool, calls: Calls) -> Body:
    # The last is for sources that are no nodes; these stay as they are.
    index = np.append(np.cumsum(needed) - 1, 0)
    edge = np.flatnonzero(needed[full.edge_node])
    rows = full.rows[needed]
    calling = [(at, calls[row]) for at, row in enumerate(rows.tolist()) if row in calls]
    source, (returned, slot) = full.edge_source[edge], full.returns
    return full._replace(
        rows=rows,
        edge_node=index[full.edge_node[edge]],
        edge_source=np.where(source >= 0, index[np.maximum(source, -1)], source),
        edge_slot=full.edge_slot[edge],
        edge_text=full.edge_text[edge],
        returns=(np.where(returned >= 0, index[np.maximum(returned, -1)], returned), slot),
        effects=index[full.effects],
        calls=tuple(calling),
        dead=int(needed.size - needed.sum()),
    )
