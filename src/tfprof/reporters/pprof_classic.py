"""The pprof file of code view as the original writes it: one metric, a sample a graph node.

    displayed   main.py:8:<module>          no location: only its line is told, by the next
                └─ model.py:12:build        location 1: function build, called from line 8
                   └─ ops.py:7:matmul       location 2: function matmul, called from line 12
    sample      net/MatMul: 2 1             innermost first

parity Q14: only the nodes of frames that call nothing further are sampled, and only below
displayed rows that have none below them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.reporters.pprof_encode import (
    UNSIGNED,
    Functions,
    Texts,
    bytes_field,
    comments,
    label,
    location,
    section,
    value_type,
    varint,
    varint_rows,
)
from tfprof.reporters.pprof_frames import frames
from tfprof.reporters.pprof_kinds import NODE_LABEL, NODES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.report import Report
    from tfprof.reporters.pprof_frames import Frame
    from tfprof.reporters.pprof_kinds import Kind
    from tfprof.strings import I64


def classic(report: Report, kind: Kind) -> Iterator[bytes]:
    """The message, in pieces."""
    texts = Texts()
    functions = Functions(texts)
    calls = _Calls(functions)
    samples = _samples(report, kind, texts, calls)
    # The rest of the strings come behind those of samples, in this order.
    count, name, unit, meaning = (
        texts.number(text.encode()) for text in (NODES.name, kind.name, kind.unit, kind.meaning)
    )
    yield from section("sample_type", [value_type(count, count), value_type(name, unit)])
    yield from section("sample", samples)
    yield from calls.section()
    yield from functions.section()
    yield from texts.section()
    yield from comments([meaning])


def _samples(report: Report, kind: Kind, texts: Texts, calls: _Calls) -> list[bytes]:
    """The samples, by name of their graph nodes."""
    start, node = _below(report)
    own = report.profile.values(kind.name, report.query.step)[node]
    values = varint_rows(np.stack([np.ones_like(own), own], axis=1))
    names = iter(report.profile.nodes.name.take(node))
    frame, parent = frames(report), report.tree.parent.tolist()
    path: list[bytes] = []
    samples = {}
    for row, depth in enumerate(report.tree.depth.tolist()):
        # The root is at depth 1, and the rows below it are called from nowhere.
        del path[max(depth - _FIRST_CALLED, 0) :]
        if depth >= _FIRST_CALLED:
            path.append(varint(calls.number(frame[parent[row]], frame[row])))
        stack = b"".join(reversed(path))
        where = bytes_field(1, stack) if stack else b""
        for _ in range(start[row], start[row + 1]):
            name = next(names)
            key = texts.number(NODE_LABEL)
            value = bytes_field(2, next(values))
            samples[name] = where + value + label(key, texts.number(name))
    return [samples[name] for name in sorted(samples)]


_FIRST_CALLED = 3


def _below(report: Report) -> tuple[list[int], I64]:
    """(start, node): what is sampled for row i is node[start[i]:start[i + 1]].

    parity Q14: the nodes of a frame that has others below it are not.
    """
    drawing, picked = report.drawing, report.counted.picked
    assert picked is not None
    nodes = report.profile.by_name
    nodes = nodes[(drawing.owner[nodes] >= 0) & (picked[nodes] > 0)]
    size = drawing.tree.size
    nodes = nodes[size[drawing.owner[nodes]] == 1]
    nodes = nodes[np.argsort(drawing.owner[nodes], kind="stable")]
    owner = drawing.owner[nodes]
    first = np.searchsorted(owner, report.row)
    last = np.searchsorted(owner, report.row + size[report.row])
    last = np.where(report.tree.size == 1, last, first)
    last[0] = first[0]
    count = last - first
    start = np.append(0, np.cumsum(count))
    return start.tolist(), nodes[np.arange(start[-1]) + np.repeat(first - start[:-1], count)]


class _Calls:
    """Calls from a line, as locations numbered from 1 as they come."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._entry: dict[tuple[bytes, bytes, int], tuple[int, bytes]] = {}

    def number(self, caller: Frame, called: Frame) -> int:
        """The number of the call, a new one where it is new."""
        key = caller.function.file, called.function.name, caller.line & UNSIGNED
        if key not in self._entry:
            number = len(self._entry) + 1
            function = self._functions.number(called.function, called.title)
            self._entry[key] = number, location(number, function, caller.line)
        return self._entry[key][0]

    def section(self) -> Iterator[bytes]:
        """All calls, sorted."""
        return section("location", (self._entry[one][1] for one in sorted(self._entry)))
