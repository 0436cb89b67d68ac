"""Laws between readers: what several of them can read, they read the same.

    wire bytes   scanned in columns              as protobuf parses them
    text         whole columns at a time         as the reader of any layout has it
                 any layout, a field at a time   as protobuf parses it

Each returns where one of the readers refuses; what it must not do is read something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from tfprof.errors import InputError
from tfprof.read import graph_def, op_log, run_metadata, text
from tfprof.read.source import Source
from tfprof.read.text import any_layout, canonical
from tfprof.read.text.syntax import Unhandled
from tfprof.wire.decode import WireError
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from fuzz.laws import Pick
    from tfprof.read.columns import GraphColumns

_MESSAGES: Final = (
    "tensorflow.GraphDef",
    "tensorflow.RunMetadata",
    "tensorflow.tfprof.OpLogProto",
    "tensorflow.MetaGraphDef",
)


# --- wire bytes --------------------------------------------------------------------------------


def graph(data: bytes) -> None:
    """The nodes of a GraphDef are those that protobuf finds; those of functions come behind them.

    What calls a function takes from its body, too.
    """
    parsed, columns = _parsed("tensorflow.GraphDef", data), _read(graph_def.columns, data)
    if parsed is None or columns is None:
        return
    count, calls = len(parsed.node), set(columns.regions.call.tolist())
    assert len(columns.name) == count or calls
    inputs = [(row, name.encode()) for row, node in enumerate(parsed.node) for name in node.input]
    found = [*zip(columns.input_node.tolist(), columns.input_name, strict=True)]
    assert [*columns.name][:count] == [node.name.encode() for node in parsed.node]
    assert [*columns.op][:count] == [node.op.encode() for node in parsed.node]
    plain = set(range(count)) - calls
    assert [one for one in found if one[0] in plain] == [one for one in inputs if one[0] in plain]


def run(data: bytes) -> None:
    """The executions of a RunMetadata are those that protobuf finds."""
    parsed, columns = _parsed("tensorflow.RunMetadata", data), _read(run_metadata.columns, data)
    if parsed is None:
        return
    if columns is None:
        assert not parsed.HasField("step_stats") or _refused(run_metadata.columns, data)
        return
    devices = parsed.step_stats.dev_stats
    stats = [(row, stat) for row, device in enumerate(devices) for stat in device.node_stats]
    assert [*columns.device] == [device.device.encode() for device in devices]
    assert columns.stat_device.tolist() == [row for row, _ in stats]
    assert [*columns.name] == [stat.node_name.encode() for _, stat in stats]
    assert columns.start_us.tolist() == [stat.all_start_micros for _, stat in stats]
    assert columns.end_rel_us.tolist() == [stat.op_end_rel_micros for _, stat in stats]
    assert columns.temp_bytes.tolist() == [one.memory_stats.temp_memory_size for _, one in stats]
    totals = [sum(one.total_bytes for one in stat.memory) for _, stat in stats]
    assert columns.total_bytes.tolist() == [_int64(total) for total in totals]


def log(data: bytes) -> None:
    """The entries of an OpLogProto are those that protobuf finds."""
    parsed, columns = _parsed(_MESSAGES[2], data), _read(op_log.columns, data)
    if parsed is None or columns is None:
        return
    entries = parsed.log_entries
    types = [(row, name.encode()) for row, one in enumerate(entries) for name in one.types]
    assert [*columns.name] == [one.name.encode() for one in entries]
    assert columns.float_ops.tolist() == [one.float_ops for one in entries]
    assert [*zip(columns.type_entry.tolist(), columns.type, strict=True)] == types
    # An entry of a map with a field of the wrong kind is unknown to protobuf's Python.
    if not len(UnknownFieldSet(parsed)):
        texts = [*zip(columns.string_id.tolist(), columns.string, strict=True)]
        assert dict(texts) == {n: said.encode() for n, said in parsed.id_to_string.items()}
        assert len(texts) == len(parsed.id_to_string)


def _parsed(name: str, data: bytes) -> Any | None:
    """What protobuf makes of *data*; None where it refuses, as it does names that are no UTF-8."""
    made: Any = message(name)()
    try:
        made.ParseFromString(data)
    except DecodeError:
        return None
    return made


def _read(columns: Any, data: bytes) -> Any | None:
    try:
        return columns(np.frombuffer(data, np.uint8))
    except WireError:
        return None


def _refused(columns: Any, data: bytes) -> bool:
    try:
        columns(np.frombuffer(data, np.uint8))
    except WireError:
        return True
    return False


def _int64(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


# --- text --------------------------------------------------------------------------------------


def graph_text(data: bytes) -> None:
    """The reader of whole columns reads what the reader of any layout reads."""
    quick = canonical.columns(np.frombuffer(data, np.uint8))
    if quick is not None:
        source = Source("it", np.frombuffer(data, np.uint8))
        try:
            slow = text.graph_by_wire(source)
        except InputError:  # a mistake in an attribute, which the quick one does not look at
            return
        assert _listed(quick) == _listed(slow), "the readers of text differ"
        attributes = [text.graph_columns(source).attributes, slow.attributes]
        found, expected = ([*entries()[1]] for entries in attributes if entries is not None)
        assert found == expected, "the readers of text differ in attributes"


def _listed(columns: GraphColumns) -> list[Any]:
    """All that the columns of a graph hold, ready to be compared."""
    shapes = (columns.shape, columns.output_shape)
    numbers = (columns.input_node, columns.shape_node, columns.output_node)
    return [
        *map(list, (columns.name, columns.op, columns.input_name)),
        *(column.tolist() for column in numbers),
        *((shape.start.tolist(), shape.dim.tolist()) for shape in shapes),
    ]


def any_text(data: bytes, pick: Pick) -> None:
    """The reader of any layout reads what protobuf reads, or leaves it to protobuf."""
    name = pick.one(_MESSAGES)
    text._check_utf8(data, "it")  # noqa: SLF001 - what comes first for every text
    try:
        made = any_layout.to_wire(data, name)
    except Unhandled:
        return
    protobufs = text._by_protobuf(data, name, "it")  # noqa: SLF001 - as above
    assert _normal(name, made) == _normal(name, protobufs), "the readers of text differ"


def _normal(name: str, data: bytes) -> bytes:
    return bytes(message(name).FromString(data).SerializeToString(deterministic=True))
