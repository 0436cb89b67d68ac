"""The instances of all bodies as one graph.

    inputs of a row    what its body says; an argument is what the call was given
    inputs of a call   first what its bodies return, then its own, then what runs for its effect

Rows stand instance by instance, those of the graph itself first and in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.strings import I64, Strings
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.model import Note, Regions
from tfprof.read.functions.call_instances import NOWHERE, Sources, check_texts
from tfprof.read.functions.library import CONTROL

if TYPE_CHECKING:
    from tfprof.read.attributes import NodeAttributes
    from tfprof.read.columns import GraphColumns
    from tfprof.read.functions.call_instances import Instance
    from tfprof.read.functions.library import Pool
    from tfprof.read.source import Source

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


def woven(pool: Pool, made: list[Instance]) -> GraphColumns:
    """The graph that *made* of *pool*."""
    columns = pool.columns
    row = np.concatenate([one.body.rows for one in made])
    size = [one.body.rows.size for one in made]
    instance = np.repeat(np.arange(len(made)), size)
    prefix = Strings.of(one.prefix for one in made)
    name = _apart(Strings.beside([prefix.take(instance), columns.name.take(row)]), instance)
    edges = _edges(made)
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
        regions=_regions(made, instance),
        notes=_notes(pool, made),
    )


def _apart(name: Strings, instance: I64) -> Strings:
    """The names, with something behind those of bodies that another row already has."""
    number, first = name.intern()
    taken = (first[number] != np.arange(len(name))) & (instance > 0)
    if not taken.any():
        return name
    behind = Strings.of(b"(%d)" % row if again else b"" for row, again in enumerate(taken.tolist()))
    return Strings.beside([name, behind])


def _edges(made: list[Instance]) -> _Edges:
    """The inputs of all rows, by row and in their order."""
    pieces = []
    for one in made:
        body = one.body
        own = one.sources(body.edge_source, body.edge_slot, body.edge_text)
        # A text says the same of the graph's own nodes, and may name what no node of ours is.
        if one.call == NOWHERE:
            own = own._replace(row=np.full(own.row.size, NOWHERE))
        pieces.append(_piece(body.edge_node + one.first, _OWN, own))
        if one.call != NOWHERE:
            pieces += _of_call(one)
    node = np.concatenate([piece.node for piece in pieces])
    group = np.concatenate([piece.group for piece in pieces])
    source = Sources(*map(np.concatenate, zip(*(piece.source for piece in pieces), strict=True)))
    known = (source.row != NOWHERE) | (source.text != NOWHERE)
    order = np.lexsort((group, node))
    order = order[known[order]]
    return _Edges(node[order], group[order], source.take(order))


def _of_call(one: Instance) -> list[_Edges]:
    """What the node that calls *one* takes from it."""
    returned, slot = one.body.returns
    values = one.sources(returned, slot, np.full(returned.size, NOWHERE))
    effects = one.body.effects
    done = one.sources(effects, np.full(effects.size, CONTROL), np.full(effects.size, NOWHERE))
    return [
        _piece(np.full(returned.size, one.call), _RETURNED, values),
        _piece(np.full(effects.size, one.call), _EFFECT, done),
    ]


def _piece(node: I64, group: int, source: Sources) -> _Edges:
    return _Edges(node, np.full(node.size, group), source)


def _texts(source: Sources, name: Strings, written: Strings) -> Strings:
    """The inputs as a graph writes them: "x", "x:1", "^x"."""
    nowhere = source.row == NOWHERE
    known = np.where(nowhere, 0, source.row)
    text = np.where(nowhere, source.text, 0)
    both = Strings.concat([name, written])
    slot, place = np.unique(source.slot, return_inverse=True)
    behind = Strings.of(b":%d" % one if one > 0 else b"" for one in slot.tolist())
    behind = behind.take(place)
    behind = Strings(behind.blob, behind.start, np.where(nowhere, 0, behind.length))
    caret = Strings.of([b"^"]).take(np.zeros(nowhere.size, np.int64))
    controls = ~nowhere & (source.slot == CONTROL)
    caret = Strings(caret.blob, caret.start, np.where(controls, 1, 0))
    named = both.take(np.where(nowhere, len(name) + text, known))
    # What is handed to a function stands in the graph once, and all that reads it names it.
    check_texts(int(named.length.sum()), len(named))
    return Strings.beside([caret, named, behind])


def _of_rows(owner: I64, row: I64) -> tuple[I64, I64]:
    """(place in *row*, item) of each item that has one of the rows as its *owner*, ascending."""
    first = np.searchsorted(owner, row)
    count = np.searchsorted(owner, row, "right") - first
    place = np.repeat(np.arange(row.size), count)
    before = np.cumsum(count) - count
    return place, np.arange(place.size) + np.repeat(first - before, count)


def _regions(made: list[Instance], instance: I64) -> Regions:
    inner = made[1:]
    return Regions(
        of_node=instance - 1,
        call=np.array([one.call for one in inner], np.int64),
        kind=np.array([one.kind for one in inner], np.int64),
        returns=np.array([one.body.returns[0].size for one in inner], np.int64),
        function=Strings.of(one.body.name for one in inner),
        prefix=np.array([len(one.prefix) for one in inner], np.int64),
    )


def _notes(pool: Pool, made: list[Instance]) -> tuple[Note, ...]:
    dead = sum(one.body.dead for one in made[1:])
    outside = pool.bodies[0].dead
    notes = []
    if outside:
        notes.append(f"{outside:,} nodes of the graph that no output needs are left out")
    if dead:
        notes.append(f"{dead:,} nodes of functions that no output of theirs needs are left out")
    return tuple(Note(text, ours=True) for text in notes)
