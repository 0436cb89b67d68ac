"""Expands functions: the body of a function appears below every node that calls it.

    node  loss ◄ call(x)              loss ◄ call ◄ call/sum ◄ call/mul ◄ x
    def   f(a): sum(mul(a))     ──►                 f returns sum     a is x

library         the functions of a graph as one pool of nodes
calls           which functions a node calls, and the output that `node:output:2` refers to
call_instances  one body per call, from the outside in

Here all instances are joined into one graph. Its rows are ordered by instance, those of the graph
itself first and in file order:

    inputs of a row    as in its body; an argument is replaced by the input of the call
    inputs of a call   first what its bodies return, then its own, then nodes run for their effect

Arguments are resolved through calls. Nodes that no output of a body needs are left out, as when
the function runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.strings import I64, Strings
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.model import Note, Regions, own_notes
from tfprof.read.functions.call_instances import (
    NOWHERE,
    Instance,
    Sources,
    call_instances,
    check_texts,
)
from tfprof.read.functions.library import CONTROL, Pool, library, rooted

if TYPE_CHECKING:
    from tfprof.read.columns import GraphColumns, NodeAttributes
    from tfprof.read.source import Source

__all__ = ["Pool", "expanded", "library", "rooted"]
_RETURNED, _OWN, _EFFECT = range(3)


class _Edges(NamedTuple):
    """Inputs of rows, in pieces."""

    node: I64
    group: I64  # _RETURNED before _OWN before _EFFECT
    source: Sources


@dataclass(frozen=True, eq=False)
class _Inlined(Frozen):
    """The attributes of the pool's *row* that each node is a copy of."""

    attributes: NodeAttributes
    row: I64

    def __call__(self) -> tuple[I64, Strings]:
        owner, entry = self.attributes()
        node, item = _of_rows(owner, self.row)
        return node, entry.take(item)

    def within(self, source: Source) -> _Inlined:
        return _Inlined(self.attributes.within(source), self.row)


def expanded(pool: Pool) -> GraphColumns:
    """The graph of *pool* with all functions expanded; raises InputError."""
    columns, instances = pool.columns, call_instances(pool)
    row = np.concatenate([each.body.rows for each in instances])
    size = [each.body.rows.size for each in instances]
    instance = np.repeat(np.arange(len(instances)), size)
    prefix = Strings.of(each.prefix for each in instances)
    name = _unique(Strings.beside([prefix.take(instance), columns.name.take(row)]), instance)
    edges = _edges(instances)
    shaped = np.full(len(columns.name), -1, np.int64)
    shaped[columns.shape_node] = np.arange(columns.shape_node.size)
    shape_node = np.flatnonzero(shaped[row] >= 0)
    output_node, output = _of_rows(columns.output_node, row)
    assert columns.attributes is not None, "a graph read from wire bytes has its attributes"
    return replace(
        columns,
        name=name,
        op=columns.op.take(row),
        input_node=edges.node,
        input_name=_texts(edges.source, name, columns.input_name),
        shape_node=shape_node,
        shape=columns.shape.take(shaped[row[shape_node]]),
        output_node=output_node,
        output_shape=columns.output_shape.take(output),
        attributes=_Inlined(columns.attributes, row),
        regions=_regions(instances, instance),
        notes=_notes(pool, instances),
    )


def _unique(name: Strings, instance: I64) -> Strings:
    """The names; a number is appended to those in bodies that repeat an earlier one."""
    number, first = name.intern()
    repeated = (first[number] != np.arange(len(name))) & (instance > 0)
    if not repeated.any():
        return name
    repeats = enumerate(repeated.tolist())
    suffix = Strings.of(b"(%d)" % row if again else b"" for row, again in repeats)
    return Strings.beside([name, suffix])


def _edges(instances: list[Instance]) -> _Edges:
    """The inputs of all rows, sorted by row and in order."""
    pieces = []
    for each in instances:
        body = each.body
        own = each.sources(body.edge_source, body.edge_slot, body.edge_text)
        # The graph's own nodes keep their inputs as text, which may name nodes it does not have.
        if each.call == NOWHERE:
            own = own._replace(row=np.full(own.row.size, NOWHERE))
        pieces.append(_piece(body.edge_node + each.first, _OWN, own))
        if each.call != NOWHERE:
            pieces += _of_call(each)
    node = np.concatenate([piece.node for piece in pieces])
    group = np.concatenate([piece.group for piece in pieces])
    source = Sources(*map(np.concatenate, zip(*(piece.source for piece in pieces), strict=True)))
    known = (source.row != NOWHERE) | (source.text != NOWHERE)
    order = np.lexsort((group, node))
    order = order[known[order]]
    return _Edges(node[order], group[order], source.take(order))


def _of_call(each: Instance) -> list[_Edges]:
    """The inputs that a call has from its body: returned values and effects."""
    returned, slot = each.body.returns
    values = each.sources(returned, slot, np.full(returned.size, NOWHERE))
    effects = each.body.effects
    done = each.sources(effects, np.full(effects.size, CONTROL), np.full(effects.size, NOWHERE))
    return [
        _piece(np.full(returned.size, each.call), _RETURNED, values),
        _piece(np.full(effects.size, each.call), _EFFECT, done),
    ]


def _piece(node: I64, group: int, source: Sources) -> _Edges:
    return _Edges(node, np.full(node.size, group), source)


def _texts(source: Sources, name: Strings, written: Strings) -> Strings:
    """The inputs as written in a graph: "x", "x:1", "^x"."""
    nowhere = source.row == NOWHERE
    known = np.where(nowhere, 0, source.row)
    text = np.where(nowhere, source.text, 0)
    both = Strings.concat([name, written])
    slots, index = np.unique(source.slot, return_inverse=True)
    suffix = Strings.of(b":%d" % slot if slot > 0 else b"" for slot in slots.tolist()).take(index)
    suffix = Strings(suffix.blob, suffix.start, np.where(nowhere, 0, suffix.length))
    caret = Strings.of([b"^"]).take(np.zeros(nowhere.size, np.int64))
    controls = ~nowhere & (source.slot == CONTROL)
    caret = Strings(caret.blob, caret.start, np.where(controls, 1, 0))
    named = both.take(np.where(nowhere, len(name) + text, known))
    # An argument is stored in the graph once, but every node that reads it repeats its name.
    check_texts(int(named.length.sum()), len(named))
    return Strings.beside([caret, named, suffix])


def _of_rows(owner: I64, row: I64) -> tuple[I64, I64]:
    """(index into *row*, item) of each item that a row owns; *owner* is ascending."""
    first = np.searchsorted(owner, row)
    count = np.searchsorted(owner, row, "right") - first
    index = np.repeat(np.arange(row.size), count)
    before = np.cumsum(count) - count
    return index, np.arange(index.size) + np.repeat(first - before, count)


def _regions(instances: list[Instance], instance: I64) -> Regions:
    inner = instances[1:]
    return Regions(
        of_node=instance - 1,
        call=np.array([each.call for each in inner], np.int64),
        kind=np.array([each.kind for each in inner], np.int64),
        returns=np.array([each.body.returns[0].size for each in inner], np.int64),
        function=Strings.of(each.body.name for each in inner),
        prefix=np.array([len(each.prefix) for each in inner], np.int64),
    )


def _notes(pool: Pool, instances: list[Instance]) -> tuple[Note, ...]:
    dead = sum(each.body.dead for each in instances[1:])
    outside = pool.bodies[0].dead
    notes = []
    if outside:
        notes.append(f"{outside:,} nodes of the graph that no output needs are left out")
    if dead:
        notes.append(f"{dead:,} nodes of functions that no output needs are left out")
    return own_notes(notes)
