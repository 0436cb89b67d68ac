"""The pprof file of any view and any number of metrics: a sample a graph node.

    displayed   net             sample   net/fc/MatMul     1  48  2700     at  net/fc  net
                └─ net/fc                net/fc/BiasAdd    1   8    40     at  net/fc  net
                                         (count, float_ops, micros; labels: node, device, op, step)

A node is sampled at the displayed row nearest above it, and that row's path is its stack. What is
counted under no other displayed row stands at the root. So the samples add up to the report's
totals, and the cumulative number of a row is its total. A list has no paths: its rows stand alone.

Only accounted nodes are sampled, each once, with the frames that call others (not so in the
original: Q4, Q5, Q14).
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.errors import UsageError
from tfprof.reporters.pprof_encode import (
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
    from collections.abc import Iterable, Iterator, Sequence

    from tfprof.report import Report
    from tfprof.reporters.pprof_kinds import Kind
    from tfprof.strings import I64

# Every sample spells out its path. A graph drawn ten thousand rows deep would fill a disk.
_MOST_STEPS_OF_PATHS = 100_000_000


def samples(report: Report, kinds: Sequence[Kind]) -> Iterator[bytes]:
    """The message, in pieces; raises UsageError where paths are too long to write down."""
    row, node = sampled(report)
    steps = int((report.tree.depth[row] - 1).sum())
    if steps > _MOST_STEPS_OF_PATHS and not report.view.chain:
        raise UsageError(
            f"{report.view.name} view is too deep for pprof, which repeats the path of every "
            f"node: {steps} rows in all; a lower max_depth makes paths shorter"
        )
    return _message(report, kinds, row, node)


def sampled(report: Report) -> tuple[I64, I64]:
    """(displayed row, graph node) of each sample, by row."""
    counted, owner = report.counted, report.drawing.owner
    nodes = np.flatnonzero(owner >= 0)
    if counted.picked is not None:
        nodes = nodes[counted.picked[nodes] > 0]
    else:
        nodes = nodes[counted.accounted_row[owner[nodes]]]
    row = _nearest_displayed(report)[owner[nodes]]
    nodes, row = nodes[row >= 0], row[row >= 0]
    order = np.argsort(row, kind="stable")
    return row[order], nodes[order]


def _nearest_displayed(report: Report) -> I64:
    """For each row of the drawing the displayed row that counts it; -1 where none does."""
    counted = report.counted
    displayed = np.zeros(len(counted.tree), np.int64)
    displayed[report.counted_row] = np.arange(len(report))
    if not report.view.chain:
        at = np.sort(report.counted_row)
        rows = np.arange(len(counted.tree))
        change = np.zeros(rows.size + 1, np.int64)
        change[at] = 1
        np.subtract.at(change, at + counted.tree.size[at], 1)
        # How many displayed subtrees are open at a row; the last row that opened as many holds it.
        depth = np.cumsum(change)[:-1]
        opened = at[np.argsort(depth[at], kind="stable")]
        place = depth * rows.size + rows
        displayed = displayed[opened[np.searchsorted(place[opened], place, "right") - 1]]
    result = np.full(len(report.drawing.tree), -1, np.int64)
    result[counted.row] = displayed
    return result


class _Places(NamedTuple):
    """The rows as locations."""

    number: list[bytes]  # of each row, as it stands in a path
    locations: Iterable[bytes]
    functions: Iterator[bytes]  # the whole section


def _message(report: Report, kinds: Sequence[Kind], row: I64, node: I64) -> Iterator[bytes]:
    texts = Texts()
    types, meanings = [], []
    for kind in (NODES, *kinds):
        types.append(value_type(texts.number(kind.name.encode()), texts.number(kind.unit.encode())))
        meanings.append(texts.number(f"{kind.name}: {kind.meaning}".encode()))
    places = (_lines if report.drawing.frame is not None else _labels)(report, texts)
    metrics = [report.profile.values(kind.name, report.query.step)[node] for kind in kinds]
    values = varint_rows(np.stack([np.ones_like(node), *metrics], axis=1))
    labels = zip(_node_labels(report, node, texts), _other_labels(report, node, texts), strict=True)
    yield from section("sample_type", types)
    yield from section("sample", _bodies(_paths(report, row, places), values, labels))
    yield from section("location", places.locations)
    yield from places.functions
    yield from texts.section()
    yield from comments(meanings)


def _bodies(
    paths: Iterator[bytes], values: Iterator[bytes], labels: Iterator[tuple[bytes, bytes]]
) -> Iterator[bytes]:
    for path, value, (name, others) in zip(paths, values, labels, strict=True):
        yield path + bytes_field(2, value) + name + others


def _paths(report: Report, row: I64, places: _Places) -> Iterator[bytes]:
    """The path of each sample, as a field of it.

    Rows come in drawing order, so the path is kept in one buffer that grows towards its front:
    the innermost row comes first.
    """
    # The root stands on a path only where nothing else does, as it would be on all of them.
    level = np.maximum(report.tree.depth - 2, 0)
    if report.view.chain:
        level = np.zeros_like(level)
    times = np.bincount(row, minlength=len(report)).tolist()
    buffer = bytearray((int(level.max()) + 1) * max(map(len, places.number)))
    begins = [len(buffer)]
    for outer, place, samples in zip(level.tolist(), places.number, times, strict=True):
        del begins[outer + 1 :]
        begin = begins[-1] - len(place)
        buffer[begin : begins[-1]] = place
        begins.append(begin)
        if samples:
            yield from repeat(bytes_field(1, bytes(buffer[begin:])), samples)


def _labels(report: Report, texts: Texts) -> _Places:
    """A function and a location a row, named as the row is."""
    names = np.fromiter(map(texts.number, report.label), np.int64, len(report))
    number = list(varint_rows(np.arange(1, len(report) + 1)[:, np.newaxis]))
    functions = (
        b"\x08%b\x10%b" % both
        for both in zip(number, varint_rows(names[:, np.newaxis]), strict=True)
    )
    locations = (b"\x08%b\x22%c\x08%b" % (one, len(one) + 1, one) for one in number)
    return _Places(number, locations, section("function", functions))


def _lines(report: Report, texts: Texts) -> _Places:
    """The functions that the rows are lines of, and the lines."""
    functions = Functions(texts)
    known: dict[tuple[int, int], int] = {}
    number = []
    for frame in frames(report):
        place = functions.number(frame.function, frame.title), frame.line
        number.append(varint(known.setdefault(place, len(known) + 1)))
    locations = [location(at, function, line) for (function, line), at in known.items()]
    return _Places(number, locations, functions.section())


def _node_labels(report: Report, node: I64, texts: Texts) -> Iterator[bytes]:
    """The name of each node."""
    key = varint(texts.number(NODE_LABEL))
    names = np.fromiter(
        map(texts.number, report.profile.nodes.name.take(node)), np.int64, node.size
    )
    for name in varint_rows(names[:, np.newaxis]):
        yield b"\x1a%c\x08%b\x10%b" % (len(key) + len(name) + 2, key, name)


def _other_labels(report: Report, node: I64, texts: Texts) -> Iterator[bytes]:
    """The device and the type of each node, and the step; those alike are made once."""
    nodes, types = report.profile.nodes, report.profile.types
    key = [texts.number(text) for text in (b"device", b"op type", b"step")]
    # A number would read better, but pprof takes the number 0 for none.
    asked = report.query.step
    step = label(key[2], texts.number(b"average" if asked is None else b"%d" % asked))
    pair, which = np.unique(
        (nodes.device[node] + 1) * max(len(types), 1) + nodes.op[node], return_inverse=True
    )
    made = []
    for device, op in zip(
        *(part.tolist() for part in np.divmod(pair, max(len(types), 1))), strict=True
    ):
        on = label(key[0], texts.number(types[device - 1])) if device else b""
        made.append(on + label(key[1], texts.number(types[op])) + step)
    return (made[at] for at in which.tolist())
