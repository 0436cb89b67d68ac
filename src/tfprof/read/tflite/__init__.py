"""TensorFlow Lite: the operators of a .tflite file as nodes of TensorFlow's operation types.

    bytes ──flatbuffer──► model ──graph, operators──► MetaGraphDef ──saved_model──► GraphColumns

So `ops/` counts them, functions are expanded and signatures are chosen as those of a SavedModel.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.units import plural
from tfprof.model import Note
from tfprof.read import graph_def, saved_model
from tfprof.read.source import refuse_unsupported
from tfprof.read.tflite.flatbuffer import FlatBufferError
from tfprof.read.tflite.graph import Builder
from tfprof.read.tflite.model import Model
from tfprof.read.tflite.step import clean
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.read.columns import GraphColumns
    from tfprof.read.source import Source


def read_tflite(source: Source, signature: str | None = None) -> GraphColumns:
    """The operators of the subgraphs that one or all signatures run; raises InputError."""
    model = _model(source)
    builder = Builder(model, source.name)
    meta = _written(model, builder)
    if signature is not None or model.signatures:
        data = np.frombuffer(meta.SerializeToString(), np.uint8)
        columns = saved_model.of_meta_graph(data, signature)
    else:
        columns = graph_def.columns(np.frombuffer(meta.graph_def.SerializeToString(), np.uint8))
    notes = (*_notes(model, builder), *columns.notes)
    return replace(columns, file=source.name, notes=notes)


def _written(model: Model, builder: Builder) -> Any:  # noqa: ANN401 - a message
    """The subgraphs that signatures run, and those that these call, as a MetaGraphDef."""
    meta: Any = message("tensorflow.MetaGraphDef")()
    ends = {}
    roots = model.signatures or {"": 0}
    for name, number in roots.items():
        if number not in ends:
            ends[number] = builder.root(number, f"{clean(name)}/" if len(roots) > 1 else "")
    for name, number in model.signatures.items():
        called = builder.called_by([number])
        needed = dict.fromkeys(use for each in called for use in builder.uses[each])
        builder.count(len(ends[number]) + len(needed))
        builder.count(len(called) - 1 + len(needed))
        outputs = meta.signature_def[name].outputs
        for place, node in enumerate((*ends[number], *needed)):
            outputs[str(place)].name = node
    builder.called_by(ends)
    meta.graph_def.CopyFrom(builder.graph_def())
    return meta


def _notes(model: Model, builder: Builder) -> Iterator[Note]:
    count = sum(len(model.subgraphs[number].operators) for number in builder.uses)
    if builder.integers:
        verb = "computes" if builder.integers == 1 else "compute"
        text = f"{builder.integers:,} of {plural(count, 'operator')} {verb} with integers"
        yield Note(f"{text}; integer operations count as float operations.", ours=True, caveat=True)
    every = (each for one in model.subgraphs for each in one.operators if each.hides_weights)
    if hiding := ", ".join(dict.fromkeys(clean(each.row.name) for each in every)):
        text = (
            f"The weights inside {hiding} cannot be read; give the .tflite file that was compiled."
        )
        yield Note(text, ours=True, caveat=True)
    others = {
        "subgraphs that no signature needs, left out": len(model.subgraphs) - len(builder.uses),
        "sparse tensors, counted with their zeros": model.sparse,
        "constants in other files, counted by their shapes": model.external,
    }
    yield from (Note(f"{what}: {many:,}", ours=True) for what, many in others.items() if many)


def contents(source: Source) -> tuple[dict[str, int], list[str]]:
    """(how many operators there are of each kind, the names of signatures); raises InputError."""
    model = _model(source)
    names = Counter(each.row.name for one in model.subgraphs for each in one.operators)
    return dict(names.most_common()), [*model.signatures]


def _model(source: Source) -> Model:
    try:
        return Model(source.data)
    except FlatBufferError as problem:
        refuse_unsupported(source, damaged=True)
        raise InputError(
            f"{source.name} is a damaged or cut off TensorFlow Lite model: {problem}"
        ) from None
