"""The report as the message that the original returns.

    scope, graph   GraphNodeProto        a row a message, children inside
    op             MultiGraphNodeProto   each row the one child of the row before it
    code           MultiGraphNodeProto   children inside

A row of a group also holds its graph nodes, each a GraphNodeProto whose totals are its own numbers.
Everything is there, whatever was selected. The schema has the messages:
`tfprof.read.schema.message("tensorflow.tfprof.GraphNodeProto")`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from tfprof.answered import DEFINED
from tfprof.reporters.wire import beside, entries, field, nested, numbers, taken, within
from tfprof.strings import Strings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.answered import Answer
    from tfprof.model import Profile
    from tfprof.shapes import Shapes
    from tfprof.strings import I64


class _Numbers(NamedTuple):
    """The field numbers of a metric: of the row alone, and with all below it."""

    own: int
    total: int


_NODE: Final = {
    "micros": _Numbers(2, 6),
    "bytes": _Numbers(3, 7),
    "params": _Numbers(4, 8),
    "float_ops": _Numbers(13, 14),
    "accelerator_micros": _Numbers(17, 19),
    "cpu_micros": _Numbers(18, 20),
    "occurrence": _Numbers(21, 22),
    "peak_bytes": _Numbers(24, 27),
    "residual_bytes": _Numbers(25, 28),
    "output_bytes": _Numbers(26, 29),
}
_NODE_NAME, _NODE_DEVICE, _NODE_CHILD = 1, 10, 12
_NODE_VALUE, _NODE_INPUT, _NODE_DEFINED = 15, 16, 23
_GROUP: Final = {
    "micros": _Numbers(2, 6),
    "bytes": _Numbers(3, 7),
    "params": _Numbers(4, 8),
    "float_ops": _Numbers(5, 9),
    "accelerator_micros": _Numbers(12, 14),
    "cpu_micros": _Numbers(13, 15),
    "peak_bytes": _Numbers(16, 19),
    "residual_bytes": _Numbers(17, 20),
    "output_bytes": _Numbers(18, 21),
}
_GROUP_NAME, _GROUP_NODE, _GROUP_CHILD = 1, 10, 11


def proto(
    answer: Answer, values: Mapping[int, bytes] | None = None, *, repaired: bool = False
) -> bytes:
    """The message of all rows, from the root down.

    *values* has a serialized TFProfTensorProto for each row whose tensor was looked up; a row of
    a group has none. *repaired*, bytes of names that are no UTF-8 are replaced: the original
    writes them, and no reader of such a message takes them.
    """
    child = _GROUP_CHILD if answer.view.groups else _NODE_CHILD
    return nested(answer.tree, child, *_fields(answer, values or {}, _TEXT[repaired]))


def rows(
    answer: Answer, values: Mapping[int, bytes] | None = None, *, repaired: bool = False
) -> Strings:
    """The fields of each row but its children."""
    return beside(*_fields(answer, values or {}, _TEXT[repaired]))


def _repaired(names: Strings) -> Strings:
    return Strings.of(name.decode("utf-8", "replace").encode() for name in names)


_Text: TypeAlias = Callable[[Strings], Strings]
_TEXT: Final[tuple[_Text, _Text]] = (lambda names: names, _repaired)


def message_name(answer: Answer) -> str:
    """What the message is called."""
    return "MultiGraphNodeProto" if answer.view.groups else "GraphNodeProto"


def _fields(answer: Answer, values: Mapping[int, bytes], text: _Text) -> tuple[Strings, ...]:
    if answer.view.groups:
        return _groups(answer, text)
    return (
        *_named_numbers(_NODE_NAME, text(answer.label), _NODE, answer.own, answer.total),
        *numbers({_NODE_DEFINED: answer.total(DEFINED)}),
        *_placement(answer.profile, answer.node, text),
        _tensors(values, len(answer)),
    )


def _groups(answer: Answer, text: _Text) -> tuple[Strings, ...]:
    """The fields of each row but its children, the graph nodes it holds included."""
    start, node = answer.members()
    row = np.repeat(np.arange(len(answer)), np.diff(start))
    profile = answer.profile

    def value(metric: str) -> I64:
        return profile.values(metric, answer.query.step)[node]

    members = field(
        _GROUP_NODE,
        *_named_numbers(_NODE_NAME, text(profile.nodes.name.take(node)), _NODE, value, value),
        *numbers({_NODE_DEFINED: np.ones(node.size, np.int64)}),
        *_placement(profile, node, text),
    )
    return (
        *_named_numbers(_GROUP_NAME, text(answer.label), _GROUP, answer.own, answer.total),
        within(row, len(answer), *members),
    )


def _named_numbers(
    name_number: int,
    name: Strings,
    metrics: Mapping[str, _Numbers],
    own: Callable[[str], I64],
    total: Callable[[str], I64],
) -> tuple[Strings, ...]:
    """The name and every metric, own and total."""
    columns = {}
    for metric, number in metrics.items():
        columns[number.own] = own(metric)
        columns[number.total] = total(metric)
    return *field(name_number, name, empty=False), *numbers(columns)


def _placement(profile: Profile, node: I64, text: _Text) -> tuple[Strings, ...]:
    """The device and the shapes of the inputs of each node; nothing for node -1."""
    device = np.append(profile.nodes.device, -1)[node]
    name = text(taken(profile.types, device))
    return *field(_NODE_DEVICE, name, empty=False), _inputs(profile, node)


def _inputs(profile: Profile, node: I64) -> Strings:
    """The map from the number of each input to its shape."""
    edges, outputs = profile.edges, profile.outputs
    known = np.flatnonzero(node >= 0)
    first = edges.start[node[known]]
    count = np.zeros(node.size, np.int64)
    count[known] = edges.start[node[known] + 1] - first
    row = np.repeat(np.arange(node.size), count)
    index = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)
    source = edges.source[index + np.repeat(first, count[known])]
    # parity Q1: whichever output of the source is consumed, the shape of the first is told.
    first_output = np.where(np.diff(outputs.start) > 0, outputs.start[:-1], -1)
    output = np.append(first_output, -1)[np.maximum(source, -1)]
    distinct, which = np.unique(output, return_inverse=True)
    shape = _shape_messages(outputs.shape.take(distinct)).take(which)
    return within(row, node.size, *entries(_NODE_INPUT, index, shape))


def _shape_messages(shapes: Shapes) -> Strings:
    """Each shape as a TensorShapeProto; one without dimensions is of unknown rank."""
    rank = np.diff(shapes.start)
    row = np.repeat(np.arange(len(shapes)), rank)
    sizes = within(row, len(shapes), *field(2, *numbers({1: shapes.dim})))
    return beside(sizes, *numbers({3: (rank == 0).astype(np.int64)}))


def _tensors(values: Mapping[int, bytes], rows: int) -> Strings:
    """The tensor of each row that has one."""
    given = sorted(values)
    column = field(_NODE_VALUE, Strings.of(values[row] for row in given))
    return within(np.array(given, np.int64), rows, *column)
