"""A SavedModel: the graph that its signatures run, and which of its variables are trained.

    SavedModel ─ 2 MetaGraphDef* ─┬─ 1 tags            the one that serves, else the first
                                  ├─ 2 GraphDef        with the functions
                                  ├─ 5 signature_def   name ─► outputs ─► tensor names
                                  └─ 7 object graph ─┬─ 1 SavedObject* ─ 7 variable ─ 3 trainable
                                                     └─ 2 function ─► the variables it captures

What no signature needs, as savers and initialisers, is left out, so every variable is there once.
Signatures that run one and the same function are counted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import U8, Strings
from tfprof.errors import UsageError, nearest
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Note
from tfprof.read import graph_def
from tfprof.read.functions import Pool, expanded, library, rooted
from tfprof.read.variable_collections import MODEL, listed, trainable
from tfprof.wire.decode import BYTES, VARINT, Field, WireError, scan, whole
from tfprof.wire.maps import repeated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.read.columns import GraphColumns
    from tfprof.read.source import Source

# It runs once, when the model is loaded.
_INITIAL: Final = b"__saved_model_init_op"
_SERVE: Final = b"serve"
_WRAPPER: Final = b"__inference_signature_wrapper"
_DEFAULT: Final = b"serving_default"


class Signature(NamedTuple):
    """A way to run the model."""

    name: bytes
    outputs: tuple[bytes, ...]  # names of nodes


def columns(data: U8, signature: str | None = None) -> GraphColumns:
    """The nodes that the signatures of a SavedModel need, or the one of this name.

    Raises WireError, InputError where a function calls itself and UsageError where there is no such
    signature.
    """
    meta, notes = _meta_graph(data)
    return of_meta_graph(meta, signature, notes)


def of_meta_graph(meta: U8, signature: str | None, notes: Iterable[Note] = ()) -> GraphColumns:
    """The same of a MetaGraphDef; *notes* come first among those of the graph."""
    notes = list(notes)
    graph = scan(meta, *whole(meta), {2: BYTES})[2]
    if not graph.start.size:
        raise WireError(0, "no graph in it")
    buffer = meta[int(graph.start[-1]) : int(graph.end[-1])]
    pool = library(buffer, *graph_def.parts(buffer))
    chosen = _chosen(signatures(meta), signature)
    if chosen:
        chosen, same = _without_repeats(pool, chosen)
        notes += same
        pool = rooted(pool, sorted({node for one in chosen for node in one.outputs}))
    else:
        notes.append(Note("the SavedModel has no signature: all of its graph is shown", ours=True))
    made = expanded(pool)
    return replace(
        made,
        trainable=Strings.concat([trainable(meta), Strings.of(_trainable(meta, pool))]),
        model_variables=listed(meta, MODEL),
        notes=(*notes, *made.notes),
    )


def signatures_of(source: Source) -> list[Signature]:
    """The signatures of a SavedModel; raises WireError, as reading it does."""
    return signatures(_meta_graph(source.data)[0])


def _meta_graph(data: U8) -> tuple[U8, list[Note]]:
    """The MetaGraphDef that serves, else the first; what there is to say of the others."""
    metas = scan(data, *whole(data), {2: BYTES})[2]
    if not metas.start.size:
        raise WireError(0, "no graph in it")
    info = scan(data, metas.start, metas.end, {1: BYTES})[1]
    tag = scan(data, info.start, info.end, {4: BYTES})[4]
    serving = [
        int(info.message[row])
        for row, name in zip(tag.message.tolist(), tag.strings(data).tolist(), strict=True)
        if name == _SERVE
    ]
    place = min(serving, default=0)
    others = metas.start.size - 1
    notes = [Note(f"{others} more graphs of the SavedModel are left out", ours=True)]
    return data[int(metas.start[place]) : int(metas.end[place])], notes if others else []


def signatures(meta: U8) -> list[Signature]:
    """The signatures of a MetaGraphDef, by name, but for the one that only initialises."""
    entry = scan(meta, *whole(meta), {5: BYTES})[5]
    part = scan(meta, entry.start, entry.end, {1: BYTES, 2: BYTES})
    name = Strings(meta, *part[1].last_slice(entry.start.size)).tolist()
    output = scan(meta, part[2].start, part[2].end, {2: BYTES})[2]
    info = scan(meta, output.start, output.end, {2: BYTES})[2]
    # A tensor that is made of several names each of them.
    tensor = scan(meta, info.start, info.end, {1: BYTES, 4: BYTES, 5: BYTES})
    inside = scan(meta, tensor[4].start, tensor[4].end, {1: BYTES, 2: BYTES, 3: BYTES})
    component = scan(meta, tensor[5].start, tensor[5].end, {2: BYTES})[2]
    single = scan(meta, component.start, component.end, {1: BYTES})[1]
    named = [
        (tensor[1].message, tensor[1]),
        *((tensor[4].message[inside[n].message], inside[n]) for n in (1, 2, 3)),
        (tensor[5].message[component.message[single.message]], single),
    ]
    found: dict[bytes, list[bytes]] = {one: [] for one in sorted(name) if one != _INITIAL}
    for row, field in named:
        of = part[2].message[output.message[info.message[row]]].tolist()
        for signature, text in zip(of, field.strings(meta).tolist(), strict=True):
            if name[signature] in found:
                found[name[signature]].append(text.partition(b":")[0])
    return [Signature(one, tuple(nodes)) for one, nodes in found.items()]


def _chosen(there: list[Signature], name: str | None) -> list[Signature]:
    """The signature of this name, or all."""
    if name is None:
        return there
    wanted = name.encode("utf-8", "surrogateescape")
    chosen = [one for one in there if one.name == wanted]
    if not chosen:
        known = [one.name.decode("utf-8", "replace") for one in there]
        listed = f" (there are: {', '.join(known)})" if known else " (there is none)"
        raise UsageError(f"there is no signature {name!r}{nearest(name, known)}{listed}")
    return chosen


def _without_repeats(pool: Pool, chosen: list[Signature]) -> tuple[list[Signature], list[Note]]:
    """The signatures that run different functions, and what there is to say of the others."""
    kept: dict[object, Signature] = {}
    notes = []
    for one in sorted(chosen, key=lambda one: one.name != _DEFAULT):
        first = kept.setdefault(_what_runs(pool, one), one)
        if first is not one:
            name, other = (s.name.decode("utf-8", "replace") for s in (one, first))
            notes.append(
                Note(f"signature {name} runs what {other} runs, and is left out", ours=True)
            )
    return list(kept.values()), notes


def _what_runs(pool: Pool, signature: Signature) -> object:
    """What tells signatures apart: the functions inside of the wrapper that each has of its own."""
    graph = pool.bodies[0]
    place = {pool.columns.name[int(graph.rows[at])]: calls for at, calls in graph.calls}
    inner = [
        call.function
        for node in set(signature.outputs)
        for wrapper in place.get(node, ())
        # Other functions than wrappers may do more than to call the same.
        if pool.bodies[wrapper.function].name.startswith(_WRAPPER)
        for _, calls in pool.bodies[wrapper.function].calls
        for call in calls
    ]
    return tuple(sorted(inner)) or signature.name


class _Objects(NamedTuple):
    """What the object graph tells: which objects are trained, and what functions capture."""

    trained: set[int]
    captured: dict[bytes, list[int]]


def _trainable(meta: U8, pool: Pool) -> Iterable[bytes]:
    """The nodes of trainable variables, told by what the functions that are called capture."""
    objects = _objects(meta)
    graph, name = pool.bodies[0], pool.columns.name
    start = np.searchsorted(graph.edge_node, np.arange(graph.rows.size + 1))
    found = set()
    for at, calls in graph.calls:
        edge = np.arange(start[at], start[at + 1])
        edge = edge[(graph.edge_slot[edge] >= 0) & (graph.edge_source[edge] >= 0)]
        given = [name[int(graph.rows[source])] for source in graph.edge_source[edge].tolist()]
        captured = objects.captured.get(pool.bodies[calls[0].function].name, [])
        if len(captured) <= len(given):
            handed = given[len(given) - len(captured) :]
            pairs = zip(handed, captured, strict=True)
            found |= {node for node, number in pairs if number in objects.trained}
    return sorted(found)


def _objects(meta: U8) -> _Objects:
    graph = scan(meta, *whole(meta), {7: BYTES})[7]
    part = scan(meta, graph.start, graph.end, {1: BYTES, 2: BYTES})
    variable = scan(meta, part[1].start, part[1].end, {7: BYTES})[7]
    flag = scan(meta, variable.start, variable.end, {3: VARINT})[3]
    trained = set(variable.message[flag.message[flag.value != 0]].tolist())
    entry = scan(meta, part[2].start, part[2].end, {1: BYTES, 2: BYTES})
    count = part[2].start.size
    names = Strings(meta, *entry[1].last_slice(count)).tolist()
    captured: dict[bytes, list[int]] = {one: [] for one in names}
    for function, number in _bound(meta, entry[2]):
        captured[names[function]].append(number)
    return _Objects(trained, captured)


def _bound(meta: U8, functions: Field) -> Iterable[tuple[int, int]]:
    """(function, object) of what each function captures, in order."""
    row, number = repeated(meta, functions.start, functions.end, 2)
    return zip(functions.message[row].tolist(), number.tolist(), strict=True)
