"""The variables of a SavedModel that no signature needs, such as those of its optimizer.

What no signature needs is not in the profile. A note says how many variables that leaves out:

    TensorFlow 2    objects that the functions of the signatures do not capture. One of the same
                    name and shape as another is a copy of it: Keras 3 writes two of each weight.
    TensorFlow 1    nodes of the graph that are not in the profile
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.foundation.units import plural
from tfprof.model import Note
from tfprof.wire.decode import BYTES, WireError, scan, whole
from tfprof.wire.scalar import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfprof.columns.strings import I64, U8
    from tfprof.read.columns import GraphColumns

VARIABLES: Final = frozenset({b"Variable", b"VariableV2", b"VarHandleOp", b"AutoReloadVariable"})


def left_out_objects(
    meta: U8, captured: Mapping[bytes, list[int]], columns: GraphColumns
) -> list[int]:
    """How many values each variable holds that the functions in *columns* do not capture."""
    graph = scan(meta, *whole(meta), {7: BYTES})[7]
    part = scan(meta, graph.start, graph.end, {1: BYTES})[1]
    variable = scan(meta, part.start, part.end, {7: BYTES})[7]
    places = zip(variable.start.tolist(), variable.end.tolist(), strict=True)
    bodies = (meta[start:end] for start, end in places)
    held = dict(zip(variable.message.tolist(), map(_name_and_shape, bodies), strict=True))
    called = set(columns.regions.function)
    needed = {number for name in called for number in captured.get(name, ())}
    known = {held[number] for number in needed if number in held}
    others = {each for number, each in held.items() if number not in needed and each not in known}
    return [prod(shape) for _, shape in others]


def _name_and_shape(variable: U8) -> tuple[bytes, tuple[int, ...]]:
    try:
        message = Message(variable)
        dims = Message(message.part(2)).parts(2)
        return message.part(6).tobytes(), tuple(max(Message(dim).signed(1), 0) for dim in dims)
    except WireError:  # nothing but the note needs it
        return b"", (0,)


def left_out_nodes(graph: GraphColumns, rows: I64, columns: GraphColumns) -> list[int]:
    """How many values each variable holds among the *rows* of *graph* that is not in *columns*."""
    kind, first = graph.op.take(rows).intern()
    kinds = [at for at, op in enumerate(graph.op.take(rows[first])) if op in VARIABLES]
    variable = rows[np.isin(kind, kinds)]
    variable = variable[columns.name.find(graph.name.take(variable)) < 0]
    elements = np.zeros(len(graph.name), np.int64)
    elements[graph.shape_node] = graph.shape.elements()
    return list(map(int, elements[variable]))


def left_out_note(values: list[int], signature: str | None) -> Iterator[Note]:
    """A note on variables with these numbers of values, which a summary repeats.

    *signature* is the one that was read; None: all.
    """
    if values:
        held = f"{plural(len(values), 'variable')} with {plural(sum(values), 'value')}"
        who = "the signatures do" if signature is None else f"signature {signature} does"
        yield Note(f"Left out: {held} that {who} not need.", ours=True, caveat=True)
