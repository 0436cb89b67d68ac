"""Expands functions: the body of a function appears below every node that calls it.

    node  loss ◄ call(x)              loss ◄ call ◄ call/sum ◄ call/mul ◄ x
    def   f(a): sum(mul(a))     ──►                 f returns sum     a is x

library         the functions of a graph as one pool of nodes
calls           which functions a node calls, and the output that `node:output:2` refers to

Here each call gets an instance of the body, from the outside in, and all of them are joined into
one graph. Its rows are ordered by instance, those of the graph itself first and in file order:

    inputs of a row    as in its body; an argument is replaced by the input of the call
    inputs of a call   first what its bodies return, then its own, then nodes run for their effect

Arguments are resolved through calls. Nodes that no output of a body needs are left out, as when
the function runs. A function that calls itself would never end, so it is an error. The number of
rows is checked before any is created: in a chain of functions that each call the next one twice it
doubles with every link. So is the number of inputs, dimensions and attributes of these rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.strings import I64, Strings
from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.foundation.units import plural
from tfprof.model import BRANCH, Note, Regions, own_notes
from tfprof.read.columns import runs
from tfprof.read.functions.library import CONTROL, Body, Pool, library, rooted
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.read.columns import GraphColumns, NodeAttributes
    from tfprof.read.source import Source

__all__ = [
    "InlinedAttributes", "Pool", "check_texts", "expanded", "library", "rooted", "unique_names",
]  # fmt: skip
_RETURNED, _OWN, _EFFECT = range(3)


@dataclass(frozen=True, eq=False)
class InlinedAttributes(Frozen):
    """The attributes of the pool's *row* that each node is a copy of."""

    attributes: NodeAttributes
    row: I64

    def __call__(self) -> tuple[I64, Strings]:
        """(node, map entry) of each attribute, by node."""
        owner, entry = self.attributes()
        node, item = _of_rows(owner, self.row)
        return node, entry.take(item)

    def within(self, source: Source) -> InlinedAttributes:
        """The same, read from *source*, which contains their bytes."""
        return InlinedAttributes(self.attributes.within(source), self.row)


def expanded(pool: Pool) -> GraphColumns:
    """The graph of *pool* with all functions expanded; raises InputError."""
    columns, instances = pool.columns, call_instances(pool)
    row = np.concatenate([each.body.rows for each in instances])
    size = [each.body.rows.size for each in instances]
    instance = np.repeat(np.arange(len(instances)), size)
    prefix = Strings.of(each.prefix for each in instances)
    name = unique_names(Strings.beside([prefix.take(instance), columns.name.take(row)]), instance)
    input_node, source = _inputs(instances)
    shaped = np.full(len(columns.name), -1, np.int64)
    shaped[columns.shape_node] = np.arange(columns.shape_node.size)
    shape_node = np.flatnonzero(shaped[row] >= 0)
    output_node, output = _of_rows(columns.output_node, row)
    assert columns.attributes is not None, "a graph read from wire bytes has its attributes"
    return replace(
        columns,
        name=name,
        op=columns.op.take(row),
        input_node=input_node,
        input_name=_texts(source, name, columns.input_name),
        shape_node=shape_node,
        shape=columns.shape.take(shaped[row[shape_node]]),
        output_node=output_node,
        output_shape=columns.output_shape.take(output),
        attributes=InlinedAttributes(columns.attributes, row),
        regions=_regions(instances, instance),
        notes=_notes(*instances),
    )


def unique_names(name: Strings, instance: I64) -> Strings:
    """The names; a number is appended to those in bodies that repeat an earlier one."""
    number, first = name.intern()
    repeated = (first[number] != np.arange(len(name))) & (instance > 0)
    if not repeated.any():
        return name
    suffix = (b"(%d)" % row if again else b"" for row, again in enumerate(repeated.tolist()))
    return Strings.beside([name, Strings.of(suffix)])


def _inputs(instances: list[Instance]) -> tuple[I64, Sources]:
    """(row, source) of the inputs of all rows, sorted by row and in order."""
    pieces = []
    for each in instances:
        body = each.body
        own = each.sources(body.edge_source, body.edge_slot, body.edge_text)
        if each.call == NOWHERE:
            # The graph's own nodes keep their inputs as text, which may name nodes that it lacks.
            own = own._replace(row=np.full(own.row.size, NOWHERE))
        else:
            values, effects = each.sources(*body.returns), body.effects
            done = each.sources(effects, np.full(effects.size, CONTROL))
            pieces.append((np.full(values.row.size, each.call), _RETURNED, values))
            pieces.append((np.full(effects.size, each.call), _EFFECT, done))
        pieces.append((body.edge_node + each.first, _OWN, own))
    nodes, groups, sources = zip(*pieces, strict=True)
    node, group = np.concatenate(nodes), np.repeat(groups, [rows.size for rows in nodes])
    source = Sources(*map(np.concatenate, zip(*sources, strict=True)))
    known = (source.row != NOWHERE) | (source.text != NOWHERE)
    order = np.lexsort((group, node))
    order = order[known[order]]
    return node[order], source.take(order)


def _texts(source: Sources, name: Strings, written: Strings) -> Strings:
    """The inputs as written in a graph: "x", "x:1", "^x"."""
    known = source.row != NOWHERE
    slots, index = np.unique(source.slot, return_inverse=True)
    suffix = Strings.of(b":%d" % slot if slot > 0 else b"" for slot in slots.tolist()).take(index)
    controls = known & (source.slot == CONTROL)
    caret = Strings.of([b"", b"^"]).take(controls.astype(np.int64))
    both = Strings.concat([name, written])
    named = both.take(np.where(known, source.row, len(name) + source.text))
    # An argument is stored in the graph once, but every node that reads it repeats its name.
    check_texts(int(named.length.sum()), len(named))
    return Strings.beside([caret, named, suffix.where(known)])


def _of_rows(owner: I64, row: I64) -> tuple[I64, I64]:
    """(index into *row*, item) of each item that a row owns; *owner* is ascending."""
    first = np.searchsorted(owner, row)
    return runs(first, np.searchsorted(owner, row, "right") - first)


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


def _notes(graph: Instance, *inner: Instance) -> tuple[Note, ...]:
    dead = {"the graph": graph.body.dead, "functions": sum(each.body.dead for each in inner)}
    return own_notes(
        f"{plural(count, 'node')} of {where} that no output needs {'is' if count == 1 else 'are'} "
        "left out"
        for where, count in dead.items()
        if count
    )


# --- instances: where the rows of a body begin, and what its arguments are ---

NOWHERE: Final = -1
_NAME_BYTES: Final = 64 << 20
_LONGEST_CYCLE: Final = 5
# Inputs, outputs, dimensions and attributes that a node may have on average: several times as many
# as in real graphs.
_ITEMS_PER_NODE: Final = 40
_MANY: Final = 10**18  # counting stops here
# Operations whose first input is not an argument of the function but, for example, a device.
_FIRST_IS_NO_ARGUMENT: Final = (b"RemoteCall",)


class Sources(NamedTuple):
    """The sources of inputs: a row and slot or, if the row is NOWHERE, the input's text."""

    row: I64
    slot: I64
    text: I64

    def take(self, at: I64 | slice) -> Sources:
        """The sources at these positions."""
        return Sources(self.row[at], self.slot[at], self.text[at])


class Instance(NamedTuple):
    """The body of a function for one call."""

    body: Body
    first: int  # its first row
    prefix: bytes  # of the names of its nodes
    arguments: Sources
    call: int  # the row that calls it
    kind: int

    def sources(self, source: I64, slot: I64, text: I64 | None = None) -> Sources:
        """The sources of inputs inside the body; a missing argument stays a text."""
        row = np.where(source >= 0, source + self.first, NOWHERE)
        text = np.full(source.size, NOWHERE) if text is None else text.copy()
        result = Sources(row, slot.copy(), text)
        argument = np.flatnonzero((source < 0) & (source >= -self.arguments.row.size))
        for column, values in zip(result, self.arguments, strict=True):
            column[argument] = values[-1 - source[argument]]
        return result


def call_instances(pool: Pool) -> list[Instance]:
    """All instances, each before those inside it; the first is the graph itself."""
    _check(pool)
    nothing = np.empty(0, np.int64)
    result: list[Instance] = []
    waiting = [Instance(pool.bodies[0], 0, b"", Sources(nothing, nothing, nothing), NOWHERE, 0)]
    first = name_bytes = 0
    while waiting:
        instance = waiting.pop()._replace(first=first)
        first += instance.body.rows.size
        name_bytes += instance.body.rows.size * len(instance.prefix)
        name_bytes += int(pool.columns.name.length[instance.body.rows].sum())
        check_texts(name_bytes, first)
        result.append(instance)
        waiting += reversed(_inside(pool, instance))
    return result


def check_texts(size: int, count: int) -> None:
    """Raise InputError if *count* names in functions have too many bytes, *size*, in all."""
    if size > max(_NAME_BYTES, count * limit("row_bytes")):
        raise InputError(
            "functions are nested too deeply, or the names in them are too long; tfprof accepts "
            f"{beyond('row_bytes')}"
        )


def _inside(pool: Pool, outer: Instance) -> list[Instance]:
    """The instances that the nodes of *outer* call."""
    body, inner = outer.body, []
    start = np.searchsorted(body.edge_node, np.arange(body.rows.size + 1))
    for node, calls in body.calls:
        edge = np.arange(start[node], start[node + 1])
        edge = edge[body.edge_slot[edge] != CONTROL]
        inputs = outer.sources(body.edge_source[edge], body.edge_slot[edge], body.edge_text[edge])
        row = int(body.rows[node])
        prefix = outer.prefix + pool.columns.name[row]
        for call in calls:
            skipped = int(call.kind == BRANCH or pool.columns.op[row] in _FIRST_IS_NO_ARGUMENT)
            called, scope = pool.bodies[call.function], prefix + call.scope
            arguments = inputs.take(slice(skipped, None))
            inner.append(Instance(called, NOWHERE, scope, arguments, outer.first + node, call.kind))
    return inner


def _check(pool: Pool) -> None:
    """Raise InputError if a function calls itself or the expanded functions are too large."""
    sizes: dict[int, tuple[int, int]] = {}  # including the bodies that each calls
    path: dict[int, None] = {}  # an ordered set
    waiting = [0]
    while waiting:
        body = waiting[-1]
        if body in sizes:
            waiting.pop()
            continue
        called = [call.function for _, calls in pool.bodies[body].calls for call in calls]
        if body in path:
            del path[body]
            parts = zip(_size(pool, body), *(sizes[function] for function in called), strict=True)
            rows, items = (min(sum(part), _MANY) for part in parts)
            sizes[body] = rows, items
            continue
        path[body] = None
        inner = [function for function in called if function not in sizes]
        for function in inner:
            if function in path:
                cycle = _cycle(pool, path, function)
                raise InputError(f"a function of the graph calls itself: {cycle}")
        waiting += inner
    titles = {"nodes": 1, "inputs, dimensions and attributes": _ITEMS_PER_NODE}
    for count, of_graph, title in zip(sizes[0], _size(pool, 0), titles, strict=True):
        if count - of_graph > limit("function_nodes") * titles[title]:
            more = " or more" if count >= _MANY else ""
            raise InputError(
                f"the functions of the graph have {count:,}{more} {title}, counting a body once "
                f"per call; tfprof accepts {beyond('function_nodes')}"
            )


def _size(pool: Pool, body: int) -> tuple[int, int]:
    function = pool.bodies[body]
    ends = function.returns[0].size + function.effects.size
    return function.rows.size + 1, int(pool.items[function.rows].sum()) + ends


def _cycle(pool: Pool, path: Iterable[int], function: int) -> str:
    """The calls from a function to itself, shortened."""
    callers = list(path)
    cycle = [*callers[callers.index(function) :], function]
    names = [pool.bodies[body].name.decode("utf-8", "replace") for body in cycle]
    return " → ".join(names if len(names) <= _LONGEST_CYCLE else [*names[:_LONGEST_CYCLE], "…"])
