"""Merges a graph into a Profile: adds its nodes, types and edges.

    with_graph    nodes with a new name; the first node of a name wins
    with_run      times and memory of one step (merge_run)
    with_op_log   types, float operations and call stacks (op_log)

Each is a pure function; existing rows of a Profile keep their numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns import byte_words
from tfprof.columns.growing import appended
from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import I64, Strings
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.model import AttributeSource, Edges, Outputs, Profile, Regions, own_notes
from tfprof.read import input_notes

if TYPE_CHECKING:
    from tfprof.read.columns import GraphColumns

# No node has an output with this number.
_NO_OUTPUT = 10**9


def with_graph(profile: Profile, graph: GraphColumns) -> Profile:
    """*profile* with the nodes of *graph* whose names it does not have."""
    _, first = graph.name.intern()
    new = first
    if len(profile):
        new = first[profile.nodes.name.find(graph.name.take(first)) < 0]
    row = np.full(len(graph.name), -1, np.int64)
    row[new] = np.arange(new.size)
    added = graph if new.size == row.size else _only(graph, row, new)
    types, op = with_types(profile.types, added.op)
    shape_of = np.full(new.size, -1, np.int64)
    shape_of[added.shape_node] = np.arange(added.shape_node.size)
    grown = with_nodes(replace(profile, types=types), added.name, op, added.shape.take(shape_of))
    old = profile.outputs
    outputs = Outputs(
        np.append(old.start, old.start[-1] + _ends(added.output_node, new.size)),
        old.shape.joined(added.output_shape),
    )
    source, slot, names = _sources(grown, added, row)
    unusual = input_notes.of_graph(graph, first, names, source)
    notes = (*profile.notes, *graph.notes, *own_notes(unusual))
    regions = joined_regions(profile, graph.regions, row, new)
    sources = profile.attribute_sources
    if graph.attributes is not None:
        row[new] += len(profile)
        sources = (*sources, AttributeSource(row, graph.attributes, graph.file))
    edges = Inputs(_ends(added.input_node, new.size), names, source, slot)
    grown = replace(grown, outputs=outputs, attribute_sources=sources, notes=notes, regions=regions)
    return with_edges(replace(grown, layers=profile.layers or graph.layers), profile, edges)


def _only(graph: GraphColumns, row: I64, new: I64) -> GraphColumns:
    """The nodes *new* of *graph* alone; *row* are their new numbers, -1 for other nodes."""
    inputs, shaped, listed = (
        np.flatnonzero(row[owner] >= 0)
        for owner in (graph.input_node, graph.shape_node, graph.output_node)
    )
    return replace(
        graph,
        name=graph.name.take(new),
        op=graph.op.take(new),
        input_node=row[graph.input_node[inputs]],
        input_name=graph.input_name.take(inputs),
        shape_node=row[graph.shape_node[shaped]],
        shape=graph.shape.take(shaped),
        output_node=row[graph.output_node[listed]],
        output_shape=graph.output_shape.take(listed),
        source=graph.source and (graph.source[0][inputs], graph.source[1][inputs]),
    )


def _sources(grown: Profile, graph: GraphColumns, row: I64) -> tuple[I64, I64, Strings]:
    """(node, output, name of the node) of the inputs of *graph*; *row* as in `_only`."""
    if graph.source is not None:
        source, slot = graph.source
        known = row[source] + len(grown) - int((row >= 0).sum())
        if bool((row[source] < 0).any()):  # nodes that were there before
            known = grown.nodes.name.find(graph.input_name)
        return known, slot, graph.input_name
    tensor = graph.input_name.without_first(b"^")
    source, names = find_before(grown.nodes.name, tensor, b":")
    slot = slots(tensor, names)
    slot[tensor.length < graph.input_name.length] = -1
    return source, slot, names


def joined_regions(profile: Profile, added: Regions, row: I64, new: I64) -> Regions:
    """The regions of *profile* and those of a graph whose nodes *new* become its rows *row*."""
    is_new = row[added.call] >= 0
    if not is_new.any():
        return profile.regions
    old, nodes = profile.regions, len(profile)
    number = np.append(np.where(is_new, len(old) + np.cumsum(is_new) - 1, -1), -1)
    return Regions(
        np.append(old.of_nodes(nodes), number[added.of_nodes(row.size)[new]]),
        np.append(old.call, nodes + row[added.call[is_new]]),
        np.append(old.kind, added.kind[is_new]),
        np.append(old.returns, added.returns[is_new]),
        Strings.concat([old.function, added.function.take(is_new)]),
        np.append(old.prefix, added.prefix[is_new]),
    )


def find_before(known: Strings, written: Strings, byte: bytes) -> tuple[I64, Strings]:
    """(the row in *known* of each of *written* up to its first *byte*, these prefixes)."""
    # Most rows do not contain *byte*. Rows that are known as they are need no search for it, unless
    # a known string contains it.
    row = known.find(written)
    rest = np.flatnonzero(row < 0)
    if byte_words.count(known.blob, byte[0]):
        rest = np.arange(len(written))
    parts = written.take(rest).before(byte)
    length = written.length.copy()
    length[rest] = parts.length
    row[rest] = known.find(parts)
    return row, Strings(written.blob, written.start, length)


def slots(written: Strings, names: Strings) -> I64:
    """The output number after the colon of each input; 0 if there is none."""
    slot = np.zeros(len(written), np.int64)
    further = np.flatnonzero(written.length > names.length)
    prefix = names.length[further] + 1
    numbers = Strings(
        written.blob, written.start[further] + prefix, written.length[further] - prefix
    )
    ids, first = numbers.intern()
    distinct = [int(n[:10]) if n.isdigit() else _NO_OUTPUT for n in numbers.take(first)]
    slot[further] = np.array(distinct, np.int64)[ids]
    return slot


def with_types(types: Strings, wanted: Strings) -> tuple[Strings, I64]:
    """(*types* extended by the strings of *wanted*, the row of each)."""
    ids, first = wanted.intern()
    distinct = wanted.take(first)
    new = distinct.take(types.find(distinct) < 0)
    grown = Strings.concat([types, new]) if len(new) else types
    return grown, grown.find(distinct)[ids]


def with_nodes(profile: Profile, name: Strings, op: I64, shape: Shapes) -> Profile:
    """*profile* with nodes appended, without inputs or outputs yet."""
    nodes, count = profile.nodes, len(name)
    none = np.full(count, -1, np.int64)
    return replace(
        profile,
        nodes=replace(
            nodes,
            name=Strings.concat([nodes.name, name]),
            op=appended(nodes.op, op),
            device=appended(nodes.device, none),
            float_ops=appended(nodes.float_ops, np.zeros(count, np.int64)),
            stack=appended(nodes.stack, none),
            shape=nodes.shape.joined(shape),
        ),
        covered=np.append(profile.covered, np.zeros(count, np.bool_)),
    )


class Inputs(NamedTuple):
    """The inputs of new nodes: where each node's inputs end; name, source node and slot of each."""

    ends: I64
    name: Strings
    node: I64  # -1 if the name is unknown
    slot: I64


def with_edges(grown: Profile, before: Profile, inputs: Inputs) -> Profile:
    """*grown* with the inputs of its new nodes; inputs unknown *before* are looked up again."""
    old = before.edges
    resolved = appended(grown.nodes.name.find(old.unknown), inputs.node)
    still = np.flatnonzero(resolved < 0)
    again = still[still < len(old.unknown)]
    missing = inputs.name.take(still[again.size :] - len(old.unknown))
    unknown = Strings.concat([old.unknown.take(again), missing]) if again.size else missing
    ids, first = unknown.intern()
    resolved[still] = -1 - ids
    waiting = old.source < 0
    source = old.source.copy()
    source[waiting] = resolved[-1 - old.source[waiting]]
    edges = Edges(
        np.append(old.start, old.start[-1] + inputs.ends),
        appended(source, resolved[len(old.unknown) :]),
        appended(old.slot, inputs.slot),
        unknown.take(first).compact(),
    )
    return replace(grown, edges=edges)


def with_bare_nodes(profile: Profile, name: Strings, op: Strings) -> Profile:
    """*profile* with nodes appended that have no inputs, outputs or shapes."""
    types, kind = with_types(profile.types, op)
    grown = with_nodes(replace(profile, types=types), name, kind, Shapes.none(len(name)))
    old, zeros, none = profile.outputs, np.zeros(len(name), np.int64), np.empty(0, np.int64)
    grown = replace(grown, outputs=Outputs(np.append(old.start, old.start[-1] + zeros), old.shape))
    return with_edges(grown, profile, Inputs(zeros, Strings.of([]), none, none))


def data_inputs(edges: Edges, node: int) -> list[tuple[int, int]]:
    """(node, output) of each data input; a node below 0 is not in the graph."""
    here = slice(int(edges.start[node]), int(edges.start[node + 1]))
    pairs = zip(edges.source[here].tolist(), edges.slot[here].tolist(), strict=True)
    return [(source, slot) for source, slot in pairs if slot >= 0]


def with_extra_type(profile: Profile, names: Strings, kind: bytes) -> Profile:
    """*profile* with the extra type *kind* on the nodes of these names."""
    node = profile.nodes.name.find(names)
    return with_extra_types(profile, node[node >= 0], Strings.of([kind]))


def with_extra_types(profile: Profile, node: I64, kinds: Strings) -> Profile:
    """*profile* with extra types: one per *node*, or one for all."""
    types, row = with_types(profile.types, kinds)
    both = np.append(profile.typed_node, node), np.append(profile.typed_as, row + 0 * node)
    return replace(profile, types=types, typed_node=both[0], typed_as=both[1])


def _ends(owner: I64, count: int) -> I64:
    """Where the items of each of *count* owners end; items are sorted by owner."""
    items: I64 = np.bincount(owner, minlength=count)
    return np.cumsum(items, out=items)
