"""The report as the message that the original returns.

    scope, graph   GraphNodeProto        one message per row, children inside
    op             MultiGraphNodeProto   each row the one child of the row before it
    code           MultiGraphNodeProto   children inside

A row of a group also holds its graph nodes, each a GraphNodeProto whose totals are its own numbers.
A message begins with its length. So rows are encoded twice, some at a time: once to measure them
and once to write them; a million of them never stand in memory as messages. All fields are
written, whatever was selected. The schema has the messages:
`tfprof.wire.schema.message("tensorflow.tfprof.GraphNodeProto")`.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.query.counted import DEFINED, Answer
from tfprof.read.columns import runs
from tfprof.wire.encode import beside, entries, field, lengths, nested, numbers, taken, within
from tfprof.wire.schema import message
from tfprof.writers.numbers import CHUNK, chunks
from tfprof.writers.tensor_values import tensor_proto

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from google.protobuf.message import Message

    from tfprof.columns.shapes import Shapes
    from tfprof.results.report import Report


# The field numbers of each metric: of the row alone, and with all below it.
_NODE: Final = {
    "micros": (2, 6), "bytes": (3, 7), "params": (4, 8), "float_ops": (13, 14),
    "accelerator_micros": (17, 19), "cpu_micros": (18, 20), "occurrence": (21, 22),
    "peak_bytes": (24, 27), "residual_bytes": (25, 28), "output_bytes": (26, 29),
}  # fmt: skip
_NODE_NAME, _NODE_DEVICE, _NODE_CHILD = 1, 10, 12
_NODE_VALUE, _NODE_INPUT, _NODE_DEFINED = 15, 16, 23
_GROUP: Final = {
    "micros": (2, 6), "bytes": (3, 7), "params": (4, 8), "float_ops": (5, 9),
    "accelerator_micros": (12, 14), "cpu_micros": (13, 15),
    "peak_bytes": (16, 19), "residual_bytes": (17, 20), "output_bytes": (18, 21),
}  # fmt: skip
_GROUP_NAME, _GROUP_NODE, _GROUP_CHILD = 1, 10, 11
# How deep protobuf reads messages inside one another: it stops at 100, and shapes are some.
_PROTOBUF_DEPTH = 90


def proto(
    answer: Answer, values: Mapping[int, bytes] | None = None, *, repaired: bool = False
) -> bytes:
    """The message of all rows, from the root down, as `pieces` makes it."""
    return b"".join(pieces(answer, values, repaired=repaired))


def report_proto(report: Report) -> Iterator[bytes]:
    """The message of *report* in pieces."""
    return pieces(report.answer, tensor_protos(report))


def tensor_protos(report: Report) -> dict[int, bytes] | None:
    """The TFProfTensorProto of each row that has a tensor; None where none is to be shown."""
    checkpoint = report.shown_checkpoint
    if checkpoint is None:
        return None
    return {
        row: tensor_proto(checkpoint.tensor(name))
        for row, name in enumerate(report.answer.label)
        if row and checkpoint.has(name)
    }


def pieces(
    answer: Answer, values: Mapping[int, bytes] | None = None, *, repaired: bool = False
) -> Iterator[bytes]:
    """The message of all rows, from the root down, in pieces; *values* has tensors by row."""
    # With *repaired*, bytes of names that are not UTF-8 are replaced: no parser accepts them.
    encoder = _Rows(answer, values or {}, repaired=repaired)
    own = encoder.lengths()
    before = nested(answer.tree, _GROUP_CHILD if answer.view.groups else _NODE_CHILD, own)
    for rows in chunks(len(answer), own):
        yield from encoder.written(rows, before.take(rows))


def _text(names: Strings, *, repaired: bool) -> Strings:
    if not repaired:
        return names
    return Strings.of(name.decode("utf-8", "replace").encode() for name in names)


class _Rows:
    """The fields of each row but its children, for a run of rows at a time."""

    def __init__(self, answer: Answer, values: Mapping[int, bytes], *, repaired: bool) -> None:
        self._answer, self._repaired = answer, repaired
        # Of all rows at once: every run takes its own of them.
        self._label, self._row = answer.label, answer.row
        self._values, self._valued = values, sorted(values)
        self._nodes = _GraphNodes(answer, repaired=repaired)
        # The graph nodes of row i are _node[_start[i]:_start[i + 1]], where rows are groups.
        nothing = np.zeros(len(answer) + 1, np.int64), np.empty(0, np.int64)
        self._start, self._node = answer.members() if answer.view.groups else nothing

    def lengths(self) -> I64:
        length = np.empty(len(self._answer), np.int64)
        for rows in chunks(length.size, self._label.length):
            length[rows] = lengths(self.fields(rows))
        ends = np.zeros(self._node.size + 1, np.int64)
        for some in chunks(self._node.size):
            ends[some.start + 1 : some.stop + 1] = lengths(self._members(some))
        return length + np.diff(np.cumsum(ends)[self._start])

    def written(self, rows: slice, before: Strings) -> Iterator[bytes]:
        """A run of rows, each behind what stands *before* it."""
        first, last = self._start[rows.start], self._start[rows.stop]
        if rows.stop - rows.start > 1 or last - first <= CHUNK:
            yield beside(before, *self.fields(rows), self.members(rows)).blob.tobytes()
            return
        yield beside(before, *self.fields(rows)).blob.tobytes()
        for some in chunks(last - first):
            members = self._members(slice(first + some.start, first + some.stop))
            yield beside(*members).blob.tobytes()

    def fields(self, rows: slice) -> tuple[Strings, ...]:
        """The fields of each row but the graph nodes of a group."""
        answer, is_group = self._answer, self._answer.view.groups
        counted = answer.counted_row[rows]
        columns = numbers({number: column[counted] for number, column in self._numbers.items()})
        name = _text(self._label.take(rows), repaired=self._repaired)
        named = field(_GROUP_NAME if is_group else _NODE_NAME, name, empty=False)
        if is_group:
            return *named, *columns
        node = answer.drawing.node[self._row[rows]]
        return *named, *columns, *self._nodes.placement(node), self._tensors(rows)

    def members(self, rows: slice) -> Strings:
        start = self._start[rows.start : rows.stop + 1]
        row = np.repeat(np.arange(start.size - 1), np.diff(start))
        return within(row, start.size - 1, *self._members(slice(int(start[0]), int(start[-1]))))

    def _members(self, some: slice) -> tuple[Strings, ...]:
        return field(_GROUP_NODE, *self._nodes.fields(self._node[some]))

    @cached_property
    def _numbers(self) -> dict[int, I64]:
        """The metrics of all counted rows, by field: columns that are there anyway."""
        counted, groups, columns = self._answer.counted, self._answer.view.groups, {}
        for metric, (own, total) in (_GROUP if groups else _NODE).items():
            columns[own] = counted.own(metric)
            columns[total] = counted.total(metric)
        if not groups:
            columns[_NODE_DEFINED] = counted.total(DEFINED)
        return columns

    def _tensors(self, rows: slice) -> Strings:
        low, high = (bisect_left(self._valued, at) for at in (rows.start, rows.stop))
        here = self._valued[low:high]
        column = field(_NODE_VALUE, Strings.of(self._values[row] for row in here))
        return within(np.array(here, np.int64) - rows.start, rows.stop - rows.start, *column)


class _GraphNodes:
    """Graph nodes as the messages inside a group, and the fields that rows have of their node."""

    def __init__(self, answer: Answer, *, repaired: bool) -> None:
        self._answer, self._profile, self._repaired = answer, answer.profile, repaired
        start = self._profile.outputs.start
        # parity Q1: whichever output of the source is consumed, the first one's shape is written.
        self._first_output = np.append(np.where(np.diff(start) > 0, start[:-1], -1), -1)
        self._device = np.append(self._profile.nodes.device, -1)

    def fields(self, node: I64) -> tuple[Strings, ...]:
        """Each node as a GraphNodeProto; its totals are its own numbers."""
        columns = {}
        for metric, (own, total) in _NODE.items():
            columns[own] = self._answer.values(metric)[node]
            columns[total] = columns[own]
        columns[_NODE_DEFINED] = np.ones(node.size, np.int64)
        name = _text(self._profile.nodes.name.take(node), repaired=self._repaired)
        return (*field(_NODE_NAME, name, empty=False), *numbers(columns), *self.placement(node))

    def placement(self, node: I64) -> tuple[Strings, ...]:
        """The device and the shapes of the inputs of each node; nothing for node -1."""
        name = _text(taken(self._profile.types, self._device[node]), repaired=self._repaired)
        return *field(_NODE_DEVICE, name, empty=False), self._inputs(node)

    def _inputs(self, node: I64) -> Strings:
        """The map from the number of each input to its shape."""
        edges = self._profile.edges
        known = np.flatnonzero(node >= 0)
        first = edges.start[node[known]]
        owner, edge = runs(first, edges.start[node[known] + 1] - first)
        row, index, source = known[owner], edge - first[owner], edges.source[edge]
        output = self._first_output[np.maximum(source, -1)]
        distinct, which = np.unique(output, return_inverse=True)
        shape = _shape_messages(self._profile.outputs.shape.take(distinct)).take(which)
        return within(row, node.size, *entries(_NODE_INPUT, index, shape))


def _shape_messages(shapes: Shapes) -> Strings:
    """Each shape as a TensorShapeProto; one without dimensions is of unknown rank."""
    rank = np.diff(shapes.start)
    row = np.repeat(np.arange(len(shapes)), rank)
    sizes = within(row, len(shapes), *field(2, *numbers({1: shapes.dim})))
    return beside(sizes, *numbers({3: (rank == 0).astype(np.int64)}))


def proto_message(report: Report, *, repaired: bool) -> Message:
    """The message as an object; bytes that are not UTF-8 are *repaired* or raise DecodeError."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - files need no messages

    try:
        return _message(report, repaired=False)
    except DecodeError:
        if not repaired:
            raise
    return _message(report, repaired=True)


def _message(report: Report, *, repaired: bool) -> Message:
    answer, tensors = report.answer, tensor_protos(report)
    kind = message(f"tensorflow.tfprof.{'Multi' if answer.view.groups else ''}GraphNodeProto")
    if int(answer.tree.depth.max()) < _PROTOBUF_DEPTH:
        return kind.FromString(proto(answer, tensors, repaired=repaired))
    encoder = _Rows(answer, tensors or {}, repaired=repaired)
    rows = (
        own
        for run in chunks(len(answer), answer.label.length)
        for own in beside(*encoder.fields(run), encoder.members(run))
    )
    return _nested(kind, answer.tree.parent.tolist(), rows)


def _nested(kind: type[Message], parents: list[int], own: Iterable[bytes]) -> Message:
    """Nested messages, built row by row: works at any depth, but is slower than parsing."""
    messages: list[Any] = []
    for parent, fields in zip(parents, own, strict=True):
        messages.append(messages[parent].children.add() if messages else kind())
        messages[-1].MergeFromString(fields)
    root: Message = messages[0]
    return root
