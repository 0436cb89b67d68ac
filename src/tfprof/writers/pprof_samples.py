"""The pprof file of any view and any number of metrics: one sample per graph node.

    displayed   net             sample   net/fc/MatMul     1  48  2700     at  net/fc  net
                └─ net/fc                net/fc/BiasAdd    1   8    40     at  net/fc  net
                                         (count, float_ops, micros; labels: node, device, op, step)

A node is sampled at the displayed row that counts it, or the nearest above; that row's path is its
stack. Nodes that no other displayed row counts are sampled at the root. So the samples add up to
the report's totals, and the cumulative number of a row is its total. A list has no paths.

Each accounted node is sampled once. The original's quirks do not apply here (Q4: twice, Q5: also
what is not accounted, Q14: not all frames).
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.columns.unique import marked
from tfprof.errors import UsageError
from tfprof.tables.limits import beyond, limit
from tfprof.wire.encode import taken
from tfprof.wire.scalar import encode_varint
from tfprof.writers import pprof_tables as tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.query.counted import Answer


def samples(answer: Answer, kinds: Sequence[tables.Kind]) -> Iterator[bytes]:
    """The message, in pieces; raises UsageError where paths are too long."""
    row, node = sampled(answer)
    frames_in_all = int((_level(answer)[row] + 1).sum())
    if frames_in_all > limit("pprof_frames"):
        raise UsageError(
            f"{answer.view.name} view is too deep for pprof, which repeats the path of every "
            f"node: {frames_in_all:,} frames, where tfprof accepts {beyond('pprof_frames')}; "
            "a lower max_depth makes paths shorter"
        )
    texts = tables.Texts()
    types = [tables.NODES, *kinds]
    names, units, meanings = (
        [texts.number(text.encode()) for text in column]
        for column in zip(*((k.name, k.unit, f"{k.name}: {k.meaning}") for k in types), strict=True)
    )
    number, places = (_rows if answer.drawing.frame is None else _lines)(answer, texts)
    own = [answer.profile.values(kind.name, answer.query.step)[node] for kind in kinds]
    values = np.stack([np.ones_like(node), *own], axis=1)
    labels = _labels(answer, node, texts)
    section = tables.sample_section(_paths(answer, row, number), values, labels)
    return tables.message((names, units), section, places, texts, meanings)


def sampled(answer: Answer) -> tuple[I64, I64]:
    """(displayed row, graph node) of each sample, by row."""
    counted, owner = answer.counted, answer.drawing.owner
    nodes = np.flatnonzero(owner >= 0)
    if counted.picked is not None:
        nodes = nodes[counted.picked[nodes] > 0]
    else:
        nodes = nodes[counted.accounted_row[owner[nodes]]]
    row = _nearest_displayed(answer)[owner[nodes]]
    nodes, row = nodes[row >= 0], row[row >= 0]
    order = np.argsort(row, kind="stable")
    return row[order], nodes[order]


def _nearest_displayed(answer: Answer) -> I64:
    """For each row of the drawing the displayed row that counts it; -1 where none does."""
    counted = answer.counted
    displayed = np.zeros(len(counted.tree), np.int64)
    displayed[answer.counted_row] = np.arange(len(answer))
    if not answer.view.chain:
        is_displayed = marked(answer.counted_row, len(counted.tree))
        displayed = displayed[counted.tree.nearest_kept(is_displayed)]
    result = np.full(len(answer.drawing.tree), -1, np.int64)
    result[counted.row] = displayed
    return result


def _rows(answer: Answer, texts: tables.Texts) -> tuple[list[bytes], bytes]:
    """(number of each row in a path, locations and functions): one of each per row."""
    number = np.arange(1, len(answer) + 1)
    locations = tables.location_section(number, number, np.zeros_like(number))
    functions = tables.function_section(number, texts.numbers(answer.label))
    return list(map(encode_varint, number.tolist())), locations + functions


def _lines(answer: Answer, texts: tables.Texts) -> tuple[list[bytes], bytes]:
    """The same where rows are lines of functions."""
    functions = tables.Functions(texts)
    known: dict[tuple[int, int], int] = {}
    number = []
    for frame in tables.frames(answer):
        place = functions.number(frame.function, frame.title), frame.line
        number.append(encode_varint(known.setdefault(place, len(known) + 1)))
    function, line = tables.columns_of(list(known), 2)
    locations = tables.location_section(np.arange(1, len(known) + 1), function, line)
    return number, locations + functions.section()


def _paths(answer: Answer, row: I64, place: list[bytes]) -> Iterator[bytes]:
    """The path of each sample."""
    # Rows come in drawing order: one buffer that grows to its front holds a path, innermost first.
    level = _level(answer)
    times = np.bincount(row, minlength=len(answer))
    buffer = bytearray((int(level.max()) + 1) * max(map(len, place)))
    begins = [len(buffer)]
    for outer, own, samples_here in zip(level.tolist(), place, times.tolist(), strict=True):
        del begins[outer + 1 :]
        begin = begins[-1] - len(own)
        buffer[begin : begins[-1]] = own
        begins.append(begin)
        if samples_here:
            yield from repeat(bytes(buffer[begin:]), samples_here)


def _level(answer: Answer) -> I64:
    """How many rows are on the path above each row; the root is only on its own."""
    if answer.view.chain:
        return np.zeros(len(answer), np.int64)
    return np.maximum(answer.tree.depth - 2, 0)


def _labels(answer: Answer, node: I64, texts: tables.Texts) -> list[Strings]:
    nodes, step = answer.profile.nodes, answer.query.step
    kind = texts.numbers(answer.profile.types)
    # The step is text: readers treat the number 0 as no label.
    step_text = texts.numbers(Strings.of([b"average" if step is None else b"%d" % step]))
    return [
        tables.label_column(texts.number(tables.NODE_LABEL), texts.numbers(nodes.name.take(node))),
        taken(tables.label_column(texts.number(b"device"), kind), nodes.device[node]),
        taken(tables.label_column(texts.number(b"op type"), kind), nodes.op[node]),
        taken(tables.label_column(texts.number(b"step"), step_text), np.zeros_like(node)),
    ]
