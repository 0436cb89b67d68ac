"""The pprof file of code view as the original writes it: one metric, one sample per graph node.

    displayed   main.py:8:<module>          no location: the next one holds its line
                └─ model.py:12:build        location 1: function build, called from line 8
                   └─ ops.py:7:matmul       location 2: function matmul, called from line 12
    sample      net/MatMul at 2 1           innermost first

parity Q14: of the displayed rows only those with none below them are sampled, and there only the
nodes of frames that call nothing further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.read.columns import runs
from tfprof.wire.scalar import encode_varint
from tfprof.writers import pprof_tables as tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64
    from tfprof.query.counted import Answer


def classic(answer: Answer, kind: tables.Kind) -> Iterator[bytes]:
    """The message, in pieces."""
    texts = tables.Texts()
    calls = _Calls(texts)
    row, node = _sampled(answer)
    path, name = _walk(answer, row, node, texts, calls)
    # The other strings are numbered behind those of samples.
    count, metric, unit, meaning = (
        texts.number(text.encode())
        for text in (tables.NODES.name, kind.name, kind.unit, kind.meaning)
    )
    place = np.empty(len(answer.profile), np.int64)
    place[answer.profile.by_name] = np.arange(place.size)
    by_name = np.argsort(place[node], kind="stable")
    own = answer.profile.values(kind.name, answer.query.step)[node[by_name]]
    # Without samples the key is no string of the file either.
    key = texts.number(tables.NODE_LABEL) if node.size else 0
    samples = tables.sample_section(
        (path[at] for at in row[by_name].tolist()),
        np.stack([np.ones_like(own), own], axis=1),
        [tables.label_column(key, name[by_name])],
    )
    types = [count, metric], [count, unit]
    return tables.message(types, samples, calls.section(), texts, [meaning])


def _sampled(answer: Answer) -> tuple[I64, I64]:
    """(displayed row, graph node) of each sample: rows as displayed, nodes as drawn and by name."""
    drawing, picked = answer.drawing, answer.counted.picked
    assert picked is not None
    nodes = answer.profile.by_name
    nodes = nodes[(drawing.owner[nodes] >= 0) & (picked[nodes] > 0)]
    nodes = nodes[drawing.tree.is_leaf[drawing.owner[nodes]]]  # parity Q14
    nodes = nodes[np.argsort(drawing.owner[nodes], kind="stable")]
    owner = drawing.owner[nodes]
    rows = np.flatnonzero(answer.tree.is_leaf)  # parity Q14
    rows = rows[rows > 0]
    first, last = drawing.tree.slices(answer.row[rows], owner)
    owner, member = runs(first, last - first)
    return rows[owner], nodes[member]


def _walk(
    answer: Answer, row: I64, node: I64, texts: tables.Texts, calls: _Calls
) -> tuple[dict[int, bytes], I64]:
    """(path of each sampled row, string of each node), all numbered in order of appearance."""
    names = answer.profile.nodes.name.take(node)
    begin = np.searchsorted(row, np.arange(len(answer) + 1)).tolist()
    frame, parent = tables.frames(answer), answer.tree.parent.tolist()
    other = {text for each in set(frame) for text in (each.title, each.function.file)}
    other.update(text.encode() for kind in (tables.NODES, *tables.KINDS.values()) for text in kind)
    found = answer.profile.nodes.name.find(Strings.of([*other, b"", tables.NODE_LABEL]))
    shared = bool((found >= 0).any())  # some node has the name of something else
    path: list[bytes] = []
    paths: dict[int, bytes] = {}
    strings = np.empty(node.size, np.int64)
    known: dict[tuple[int, int], bytes] = {}
    for at, depth in enumerate(answer.tree.depth.tolist()):
        callers = depth - 2  # the root, at depth 1, calls nobody
        del path[max(callers - 1, 0) :]
        if callers > 0:
            caller, called = frame[parent[at]], frame[at]
            call = id(caller), id(called)
            if call not in known:
                known[call] = encode_varint(calls.number(caller, called))
            path.append(known[call])
        first, last = begin[at : at + 2]
        if first < last:
            paths[at] = b"".join(reversed(path))
            if not first:
                texts.number(tables.NODE_LABEL)  # numbered before the first name
            if shared:
                strings[first:last] = [*map(texts.number, names.take(slice(first, last)))]
            else:
                strings[first:last] = texts.append(names, first, last)
    return paths, strings


class _Calls:
    """Calls from a line, as locations numbered from 1 in order of appearance."""

    def __init__(self, texts: tables.Texts) -> None:
        self._functions = tables.Functions(texts)
        self._entry: dict[tuple[bytes, bytes, int], tuple[int, int, int]] = {}

    def number(self, caller: tables.Frame, called: tables.Frame) -> int:
        key = caller.function.file, called.function.name, caller.line
        if key not in self._entry:
            function = self._functions.number(called.function, called.title)
            self._entry[key] = len(self._entry) + 1, function, caller.line
        return self._entry[key][0]

    def section(self) -> bytes:
        number, function, line = tables.columns_of(
            [self._entry[key] for key in sorted(self._entry)], 3
        )
        return tables.location_section(number, function, line) + self._functions.section()
