"""Joins the graphs of workers: each name is one node, as the first graph that has it says.

Nodes that are added keep their types, shapes, inputs, attributes, call stacks and regions.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Outputs, Profile, Stacks
from tfprof.read.columns import members
from tfprof.read.merge import (
    Inputs,
    joined_regions,
    with_edges,
    with_extra_types,
    with_nodes,
    with_types,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.columns.strings import I64


def join_graphs(graphs: Iterable[Profile]) -> Profile:
    """The first graph, then the nodes of each further graph whose names are new."""
    return reduce(_joined, graphs)


def _joined(profile: Profile, other: Profile) -> Profile:
    nodes = other.nodes
    is_new = (profile.nodes.name.find(nodes.name) < 0) & other.in_graph
    new = np.flatnonzero(is_new)
    place = np.append(np.where(is_new, len(profile) + np.cumsum(is_new) - 1, -1), -1)
    types, op = with_types(profile.types, other.types.take(nodes.op[new]))
    grown = with_nodes(
        replace(profile, types=types), nodes.name.take(new), op, nodes.shape.take(new)
    )
    listed = members(other.outputs.start, new)
    ends = np.cumsum(np.diff(other.outputs.start)[new])
    old = profile.outputs
    stack = np.where(nodes.stack < 0, -1, nodes.stack + profile.stacks.start.size - 1)
    sources = [replace(s, node=place[s.node]) for s in other.attribute_sources]
    grown = replace(
        grown,
        nodes=replace(
            grown.nodes,
            float_ops=np.append(profile.nodes.float_ops, nodes.float_ops[new]),
            stack=np.append(profile.nodes.stack, stack[new]),
        ),
        outputs=Outputs(
            np.append(old.start, old.start[-1] + ends),
            old.shape.joined(other.outputs.shape.take(listed)),
        ),
        attribute_sources=(*profile.attribute_sources, *sources),
        regions=joined_regions(profile, other.regions, place[:-1] - len(profile), new),
        stacks=joined_stacks(profile.stacks, other.stacks),
        has_traces=profile.has_traces or other.has_traces,
        layers=profile.layers or other.layers,
    )
    typed = np.flatnonzero(place[other.typed_node] >= 0)
    kinds = other.types.take(other.typed_as[typed])
    grown = with_extra_types(grown, place[other.typed_node[typed]], kinds)
    return with_edges(grown, profile, _inputs(grown, other, new))


def _inputs(grown: Profile, other: Profile, new: I64) -> Inputs:
    """The inputs of the nodes *new* of *other*, in *grown*."""
    edges = other.edges
    listed = members(edges.start, new)
    source = edges.source[listed]
    names = Strings.concat([other.nodes.name, edges.unknown])
    written = names.take(np.where(source < 0, len(other) - 1 - source, source))
    ends = np.cumsum(np.diff(edges.start)[new])
    return Inputs(ends, written, grown.nodes.name.find(written), edges.slot[listed])


def joined_stacks(stacks: Stacks, other: Stacks) -> Stacks:
    """The stacks of both; texts are numbered anew, equal ones alike."""
    text = Strings.concat([stacks.text, other.text])
    ids, first = text.intern()
    sides = ((stacks, ids[: len(stacks.text)]), (other, ids[len(stacks.text) :]))

    def column(name: str) -> I64:
        return np.concatenate([_renumbered(s, getattr(s, name), i, first.size) for s, i in sides])

    return Stacks(
        np.append(stacks.start, stacks.start[-1] + other.start[1:]),
        column("file"),
        np.append(stacks.line, other.line),
        column("function"),
        np.append(stacks.function_line, other.function_line),
        column("source"),
        np.arange(first.size),
        text.take(first),
    )


def _renumbered(stacks: Stacks, column: I64, ids: I64, unknown: int) -> I64:
    """The id of each text of *column*; *unknown* where a number has no text."""
    order = np.argsort(stacks.text_id)
    known = stacks.text_id[order]
    at = np.minimum(np.searchsorted(known, column), max(known.size - 1, 0))
    has = np.append(known, -1)[at] == column if known.size else np.zeros(column.size, np.bool_)
    return np.where(has, np.append(ids[order], unknown)[at], unknown)
