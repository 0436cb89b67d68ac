"""Reads a SavedModel: the graph that its signatures run, and its variables.

    SavedModel ─ 2 MetaGraphDef* ─┬─ 1 tags            of several, one is read: see graph_of_tag
                                  ├─ 2 GraphDef        with the functions
                                  ├─ 4 collection* ─┬─ 1 key = "trainable_variables" and others
                                  │                 └─ 2 value ─ 2 bytes_list ─ 1 VariableDef*
                                  ├─ 5 signature_def   name ─► outputs ─► tensor names
                                  └─ 7 object graph ─┬─ 1 SavedObject* ─┬─ 1 children
                                                     │                  └─ 7 variable ─ 3 trainable
                                                     └─ 2 function ─► the variables it captures

Nodes that no signature needs, such as savers and initializers, are left out, so every variable
appears once. Signatures that run the same function are counted once. A variable in a collection
gets an extra type: `_` and the name of the collection.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import U8, Strings
from tfprof.errors import UsageError, nearest
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.units import first_few, plural
from tfprof.model import Note, own_notes
from tfprof.read import graph_def
from tfprof.read.functions import Pool, expanded, library, rooted
from tfprof.read.keras_layers import layers_from_texts
from tfprof.read.left_out import left_out_nodes, left_out_note, left_out_objects
from tfprof.wire.decode import BYTES, VARINT, WireError, scan, whole
from tfprof.wire.maps import repeated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfprof.read.columns import GraphColumns
    from tfprof.wire.decode import Field

# Runs once, when the model is loaded.
_INITIAL: Final = b"__saved_model_init_op"
_SERVE: Final = "serve"
_WRAPPER: Final = b"__inference_signature_wrapper"
_DEFAULT: Final = b"serving_default"
_MOST_NAMED: Final = 8
# How the note on several signatures begins; summaries repeat it, also those of converted files.
ADDED_UP: Final = "Float operations add up "
TRAINABLE: Final = b"_trainable_variables"
# The lists on the root of an object graph, as Keras writes them.
_LISTS: Final = (b"trainable_variables", b"non_trainable_variables")
_OPTIMIZER, _TRAINED, _KERAS_3 = b"optimizer", b"_trainable_variables", b"_inbound_nodes"
_KERAS_API: Final = b"keras_api"
# The weights of a model, which are all of its parameters; a capture lists them.
MODEL: Final = b"_model_variables"
# The layers of a Keras model; a capture lists them.
LAYERS: Final = b"tfprof_layers"
# The variables that a checkpoint has values for.
CHECKPOINT: Final = b"_checkpoint_variables"


class Signature(NamedTuple):
    """A way to run the model."""

    name: bytes
    outputs: tuple[bytes, ...]  # names of nodes


def columns(
    data: U8, signature: str | None = None, tag: str | None = None, *, functions: bool = True
) -> GraphColumns:
    """The nodes that one or all signatures of a SavedModel need, in the graph with these tags.

    Without *functions*, all nodes of the graph itself.
    """
    # Raises WireError, InputError if a function calls itself, UsageError if there is no such
    # signature or graph.
    meta, notes = graph_of_tag(data, tag)
    return of_meta_graph(meta, signature, notes, functions=functions)


def of_meta_graph(
    meta: U8, signature: str | None, notes: Iterable[Note] = (), *, functions: bool = True
) -> GraphColumns:
    """As `columns`, of a MetaGraphDef; *notes* go before those of the graph."""
    notes = list(notes)
    graph = scan(meta, *whole(meta), {2: BYTES})[2]
    if not graph.start.size:
        raise WireError(0, "no graph in it")
    buffer = meta[int(graph.start[-1]) : int(graph.end[-1])]
    pool = library(buffer, *graph_def.parts(buffer))
    written = pool.bodies[0].rows
    chosen = _chosen(signatures(meta), signature) if functions else []
    if chosen:
        chosen, repeats = _without_repeats(pool, chosen)
        notes += repeats
        if len(chosen) > 1:
            notes.append(Note(_added_up([each.name for each in chosen]), ours=True))
        pool = rooted(pool, sorted({node for each in chosen for node in each.outputs}))
    elif functions:
        notes.append(Note("the SavedModel has no signatures: its whole graph is shown", ours=True))
    recorded = _collected(meta, LAYERS)
    graph_columns = expanded(pool) if functions else graph_def.columns(buffer, functions=False)
    if chosen:
        objects = _objects(meta)
        values = (
            left_out_objects(meta, objects.captured, graph_columns)
            if objects.has_variables
            else left_out_nodes(pool.columns, written, graph_columns)
        )
        notes += left_out_note(values, signature)
    return replace(
        graph_columns,
        trainable=_trained_nodes(meta, pool),
        model_variables=listed(meta, MODEL),
        layers=layers_from_texts(recorded.strings(meta)) if recorded is not None else (),
        notes=(*notes, *graph_columns.notes),
    )


def tag_sets(data: U8) -> tuple[Field, list[str]]:
    """(the MetaGraphDefs of a SavedModel, the tags of each by commas); raises WireError."""
    metas = scan(data, *whole(data), {2: BYTES})[2]
    if not metas.start.size:
        raise WireError(0, "no graph in it")
    info = scan(data, metas.start, metas.end, {1: BYTES})[1]
    tag = scan(data, info.start, info.end, {4: BYTES})[4]
    tags: list[list[str]] = [[] for _ in metas.start]
    for row, name in zip(tag.message.tolist(), tag.strings(data).tolist(), strict=True):
        tags[int(info.message[row])].append(name.decode("utf-8", "replace"))
    return metas, [",".join(names) for names in tags]


def default_tag(sets: Sequence[str]) -> str | None:
    """The tag set to read if the user names none; None if several could be meant.

    Models for serving are tagged "serve", and modules of TF-Hub are not tagged at all.
    """
    return next((tags for tags in (_SERVE, "") if tags in sets), None if sets[1:] else sets[0])


def tag_flags(sets: Iterable[str]) -> list[str]:
    """What to type for each tag set."""
    return [f"--tag={quote(tags or ',')}" for tags in dict.fromkeys(sets)]


def graph_of_tag(data: U8, tag: str | None) -> tuple[U8, list[Note]]:
    """(the MetaGraphDef with the tags *tag* or the default ones, a note if there are others).

    Raises WireError, and UsageError if there is none or no default.
    """
    metas, sets = tag_sets(data)
    wanted = default_tag(sets) if tag is None else tag
    flags = " or ".join(tag_flags(sets)[:_MOST_NAMED])
    if wanted is None:
        raise UsageError(f"the SavedModel has {len(sets):,} graphs; choose one with {flags}")
    rows = [row for row, tags in enumerate(sets) if _same_tags(tags) == _same_tags(wanted)]
    if not rows:
        raise UsageError(f"there is no graph with the tags {wanted!r}; choose one with {flags}")
    others = [tags for row, tags in enumerate(sets) if row != rows[0]]
    ignored = f"{plural(len(others), 'more graph')} of the SavedModel ignored"
    if len(flag := tag_flags(tags for tags in others if tags != sets[rows[0]])) > 0:
        ignored += f"; {' or '.join(flag[:_MOST_NAMED])} reads another"
    meta = data[int(metas.start[rows[0]]) : int(metas.end[rows[0]])]
    return meta, [Note(ignored, ours=True)] if others else []


def _same_tags(tags: str) -> set[str]:
    return {*tags.split(",")} - {""}


def signatures(meta: U8) -> list[Signature]:
    """The signatures of a MetaGraphDef by name, except the one that only initializes."""
    entry = scan(meta, *whole(meta), {5: BYTES})[5]
    part = scan(meta, entry.start, entry.end, {1: BYTES, 2: BYTES})
    name = Strings(meta, *part[1].last_slice(entry.start.size)).tolist()
    output = scan(meta, part[2].start, part[2].end, {2: BYTES})[2]
    info = scan(meta, output.start, output.end, {2: BYTES})[2]
    # A composite or sparse tensor names each of its component tensors.
    tensor = scan(meta, info.start, info.end, {1: BYTES, 4: BYTES, 5: BYTES})
    inside = scan(meta, tensor[4].start, tensor[4].end, {1: BYTES, 2: BYTES, 3: BYTES})
    component = scan(meta, tensor[5].start, tensor[5].end, {2: BYTES})[2]
    single = scan(meta, component.start, component.end, {1: BYTES})[1]
    named = [
        (tensor[1].message, tensor[1]),
        *((tensor[4].message[inside[n].message], inside[n]) for n in (1, 2, 3)),
        (tensor[5].message[component.message[single.message]], single),
    ]
    nodes_of: dict[bytes, list[bytes]] = {text: [] for text in sorted(name) if text != _INITIAL}
    for row, field in named:
        owner = part[2].message[output.message[info.message[row]]].tolist()
        for signature, text in zip(owner, field.strings(meta).tolist(), strict=True):
            if name[signature] in nodes_of:
                nodes_of[name[signature]].append(text.partition(b":")[0])
    return [Signature(text, tuple(nodes)) for text, nodes in nodes_of.items()]


def _chosen(available: list[Signature], name: str | None) -> list[Signature]:
    """The signature with this name, or all."""
    if name is None:
        return available
    wanted = name.encode("utf-8", "surrogateescape")
    chosen = [signature for signature in available if signature.name == wanted]
    if not chosen:
        names = [signature.name.decode("utf-8", "replace") for signature in available]
        listed = f" (signatures: {', '.join(names)})" if names else " (the model has none)"
        raise UsageError(f"there is no signature {name!r}{nearest(name, names)}{listed}")
    return chosen


def _without_repeats(
    pool: Pool, chosen: list[Signature]
) -> tuple[list[Signature], tuple[Note, ...]]:
    """(one signature per function that they run, notes on the others)."""
    by_function: dict[object, Signature] = {}
    notes = []
    for signature in sorted(chosen, key=lambda each: each.name != _DEFAULT):
        first = by_function.setdefault(_functions_run(pool, signature), signature)
        if first is not signature:
            name, other = (s.name.decode("utf-8", "replace") for s in (signature, first))
            notes.append(f"signature {name} runs the same as {other} and is left out")
    return list(by_function.values()), own_notes(notes)


def _added_up(names: list[bytes]) -> str:
    texts = sorted(name.decode("utf-8", "replace") for name in names)
    listed = first_few(texts, _MOST_NAMED)
    return f"{ADDED_UP}{len(texts):,} signatures: {listed}; give --signature to count one"


def _functions_run(pool: Pool, signature: Signature) -> object:
    """The functions inside the wrapper that each signature has of its own; else its name."""
    graph = pool.bodies[0]
    calls_of = {pool.columns.name[int(graph.rows[at])]: calls for at, calls in graph.calls}
    inner = [
        call.function
        for node in set(signature.outputs)
        for wrapper in calls_of.get(node, ())
        # Functions other than wrappers may do more than call another one.
        if pool.bodies[wrapper.function].name.startswith(_WRAPPER)
        for _, calls in pool.bodies[wrapper.function].calls
        for call in calls
    ]
    return tuple(sorted(inner)) or signature.name


def _trained_nodes(meta: U8, pool: Pool) -> Strings | None:
    """The nodes of trainable variables; None if neither a collection nor an object says so."""
    in_collection, objects = trainable(meta), _objects(meta)
    trained = objects.trained
    if trained is None or (in_collection is None and not objects.has_variables):
        return in_collection
    # The nodes of trainable variables, from what the called functions capture.
    graph, name = pool.bodies[0], pool.columns.name
    start = np.searchsorted(graph.edge_node, np.arange(graph.rows.size + 1))
    nodes = set()
    for at, calls in graph.calls:
        edge = np.arange(start[at], start[at + 1])
        edge = edge[(graph.edge_slot[edge] >= 0) & (graph.edge_source[edge] >= 0)]
        inputs = [name[int(graph.rows[source])] for source in graph.edge_source[edge].tolist()]
        captured = objects.captured.get(pool.bodies[calls[0].function].name, [])
        if len(captured) <= len(inputs):
            # Captured variables are the last inputs of a call.
            pairs = zip(inputs[len(inputs) - len(captured) :], captured, strict=True)
            nodes |= {node for node, number in pairs if number in trained}
    if in_collection is None and trained and not nodes:
        return None  # no call shows which nodes they are
    return Strings.concat([in_collection or Strings.of([]), Strings.of(sorted(nodes))])


class _Objects(NamedTuple):
    """What the object graph says of variables."""

    has_variables: bool
    trained: set[int] | None  # None: not recorded
    captured: dict[bytes, list[int]]  # by function, the objects it captures


def _objects(meta: U8) -> _Objects:
    graph = scan(meta, *whole(meta), {7: BYTES})[7]
    part = scan(meta, graph.start, graph.end, {1: BYTES, 2: BYTES})
    variable = scan(meta, part[1].start, part[1].end, {7: BYTES})[7]
    flag = scan(meta, variable.start, variable.end, {3: VARINT})[3]
    trained = set(variable.message[flag.message[flag.value != 0]].tolist())
    # A variable that Keras does not train says that it is trainable; the lists of the model count.
    root = _children(meta, part[1], 0)
    # tf_keras keeps its second list in an object of its own.
    root = {**_children(meta, part[1], root.get(_KERAS_API, -1)), **root}
    trained |= {*_children(meta, part[1], root.get(_LISTS[0], -1)).values()}
    trained -= {*_children(meta, part[1], root.get(_LISTS[1], -1)).values()}
    # Keras 3 has no lists if tf.saved_model.save wrote the model; an optimizer has one of its own.
    optimizer = _children(meta, part[1], root.get(_OPTIMIZER, -1))
    listed = {*_children(meta, part[1], optimizer.get(_TRAINED, -1)).values()}
    is_keras_3 = _KERAS_3 in root and not root.keys() & {*_LISTS}
    entry = scan(meta, part[2].start, part[2].end, {1: BYTES, 2: BYTES})
    count = part[2].start.size
    names = Strings(meta, *entry[1].last_slice(count)).tolist()
    captured: dict[bytes, list[int]] = {name: [] for name in names}
    row, number = repeated(meta, entry[2].start, entry[2].end, 2)
    for function, each in zip(entry[2].message[row].tolist(), number.tolist(), strict=True):
        captured[names[function]].append(each)
    known = (trained & listed or None) if is_keras_3 else trained
    return _Objects(variable.start.size > 0, known, captured)


def _children(meta: U8, objects: Field, number: int) -> dict[bytes, int]:
    """The children of an object by name; none if there is no such object."""
    if not 0 <= number < objects.start.size:
        return {}
    row = slice(number, number + 1)
    child = scan(meta, objects.start[row], objects.end[row], {1: BYTES})[1]
    part = scan(meta, child.start, child.end, {1: VARINT, 2: BYTES})
    node = np.zeros(child.start.size, np.int64)
    node[part[1].message] = part[1].value
    names = Strings(meta, *part[2].last_slice(child.start.size)).tolist()
    return dict(zip(names, node.tolist(), strict=True))


def trainable(meta: U8) -> Strings | None:
    """The nodes in the collection of trainable variables; None without one; raises WireError."""
    return listed(meta, TRAINABLE)


def listed(meta: U8, kind: bytes) -> Strings | None:
    """The nodes that are variables of a collection; None without one; raises WireError."""
    variable = _collected(meta, kind.removeprefix(b"_"))
    if variable is None:
        return None
    name = scan(meta, variable.start, variable.end, {1: BYTES})[1]
    return Strings.of(tensor.partition(b":")[0] for tensor in name.strings(meta))


def _collected(meta: U8, wanted: bytes) -> Field | None:
    """The byte strings in a collection; None if there is no such collection."""
    collection = scan(meta, *whole(meta), {4: BYTES})[4]
    count = collection.start.size
    part = scan(meta, collection.start, collection.end, {1: BYTES, 2: BYTES})
    is_wanted = Strings.of([wanted]).find(Strings(meta, *part[1].last_slice(count))) == 0
    if not is_wanted.any():
        return None
    start, length = (column[is_wanted] for column in part[2].last_slice(count))
    lists = scan(meta, start, start + length, {2: BYTES})[2]
    return scan(meta, lists.start, lists.end, {1: BYTES})[1]
