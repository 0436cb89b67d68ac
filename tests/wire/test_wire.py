"""The wire scanner and the readers of each format, against protobuf's own parse of the same bytes.

What protobuf reads, we read alike: fields in any order, fields nobody knows, numbers in as many
bytes as they may take. What is damaged raises WireError and nothing else.
"""

from __future__ import annotations

from collections import defaultdict, deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pytest
from google.protobuf import empty_pb2, unknown_fields
from google.protobuf.message import DecodeError, Message
from hypothesis import example, given, settings
from hypothesis import strategies as st

from case import GraphDef, OpLogProto, RunMetadata
from padded_varint import varint
from tfprof.errors import InputError
from tfprof.read import Source, graph_def, load, op_log, run_metadata
from tfprof.wire import decode as wire
from tfprof.wire.decode import BYTES, FIXED32, FIXED64, VARINT, WireError, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from random import Random

    from tfprof.columns.shapes import Shapes
    from tfprof.columns.strings import U8
    from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns

NodeDef: Final[Any] = type(GraphDef().node.add())

pytestmark = pytest.mark.usefixtures("kernels")
often = settings(deadline=None, max_examples=80)
at_times = settings(deadline=None, max_examples=40)

EVERY_NUMBER: Final = {VARINT: 0, FIXED64: 8, FIXED32: 4}
ONE_BY_ONE, TOGETHER = 10**9, 0


# --- writing bytes -----------------------------------------------------------------------------


def field(number: int, kind: int, content: bytes) -> bytes:
    """A field; *content* is a number's bytes, or a text without its length."""
    length = varint(len(content)) if kind == BYTES else b""
    return varint(number << 3 | kind) + length + content


def array(data: bytes) -> U8:
    return np.frombuffer(data, np.uint8)


@st.composite
def fields(draw: st.DrawFn) -> bytes:
    """Any field: tags of one to five bytes, numbers of one to ten, of every wire type."""
    number = draw(st.integers(1, 9) | st.sampled_from((15, 16, 31, 32, 2_047, 2_048, 2**29 - 1)))
    kind = draw(st.sampled_from((VARINT, VARINT, BYTES, BYTES, FIXED64, FIXED32)))
    if kind == VARINT:
        value = draw(st.integers(-(2**63), 2**64 - 1) | st.integers(0, 300))
        return field(number, kind, varint(value, draw(st.integers(1, 10))))
    if kind == BYTES:
        return field(number, kind, draw(st.binary(max_size=5) | st.just(b"long" * 50)))
    size = EVERY_NUMBER[kind]
    return field(number, kind, draw(st.binary(min_size=size, max_size=size)))


messages = st.lists(fields(), max_size=8).map(b"".join)


# --- reading them back -------------------------------------------------------------------------


def met(data: bytes) -> list[tuple[int, int, object]]:
    """(number, wire type, value) of every field, as protobuf meets them."""
    found: Any = unknown_fields.UnknownFieldSet(empty_pb2.Empty.FromString(data))
    return [(one.field_number, one.wire_type, one.data) for one in found]


def signed(number: int) -> int:
    """A number in 64 bits."""
    return (number + 2**63) % 2**64 - 2**63


def expected(batch: Sequence[bytes], number: int, kind: int) -> list[tuple[int, object]]:
    """(message, value) of one field of all messages, by protobuf; numbers are signed."""
    return [
        (row, signed(value) if isinstance(value, int) else value)
        for row, data in enumerate(batch)
        for met_number, met_kind, value in met(data)
        if (met_number, met_kind) == (number, kind)
    ]


def scanned(batch: Sequence[bytes], number: int, kind: int) -> list[tuple[int, object]]:
    """(message, value) of one field of all messages, by the scanner."""
    buffer = array(b"".join(batch))
    end = np.cumsum([0, *map(len, batch)])
    found = scan(buffer, end[:-1], end[1:], {number: kind})[number]
    values: Sequence[object] = found.value.tolist()
    if kind == BYTES:
        values = list(found.strings(buffer))
    return list(zip(found.message.tolist(), values, strict=True))


@often
@given(st.lists(messages, max_size=20), st.integers(1, 31), st.sampled_from((VARINT, BYTES)))
@example([varint(number << 3, 5) + b"\x01" for number in range(1, 20)], 7, VARINT)
@example([field(2, VARINT, b"\xff" * 9 + b"\x7f")] * 20, 2, VARINT)
@example([field(2, VARINT, b"\xff" * 9 + b"\x7f")], 2, VARINT)
@example([], 1, BYTES)
@example([b""] * 20, 1, BYTES)
def test_fields_are_those_that_protobuf_meets(batch: list[bytes], number: int, kind: int) -> None:
    assert scanned(batch, number, kind) == expected(batch, number, kind)


@often
@given(st.lists(messages, max_size=20))
def test_stepping_together_and_one_by_one_find_the_same(batch: list[bytes]) -> None:
    buffer = array(b"".join(batch))
    end = np.cumsum([0, *map(len, batch)])
    wanted = {1: BYTES, 2: VARINT, 3: FIXED64, 4: FIXED32, 16: BYTES, 31: VARINT}
    answers = []
    for few in (ONE_BY_ONE, TOGETHER):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(wire, "_FEW", few)
            found = scan(buffer, end[:-1], end[1:], wanted)
        answers.append({n: [part.tolist() for part in found[n]] for n in wanted})
    assert answers[0] == answers[1]


def test_more_messages_than_advance_at_a_time_come_back_in_order() -> None:
    count = wire._CHUNK + 1_000
    batch = [field(1, VARINT, varint(row)) * (1 + row % 2) for row in range(count)]
    expected = [(row, row) for row in range(count) for _ in range(1 + row % 2)]
    assert scanned(batch, 1, VARINT) == expected


# --- damage ------------------------------------------------------------------------------------

few_and_many = pytest.mark.parametrize("count", [1, 20])


@few_and_many
@pytest.mark.parametrize(
    "message",
    [
        pytest.param(b"\x80", id="a tag cut off"),
        pytest.param(b"\x08", id="a number missing"),
        pytest.param(b"\x08\x80", id="a number cut off"),
        pytest.param(b"\x08" + b"\x80" * 10 + b"\x01", id="a number of eleven bytes"),
        pytest.param(b"\x0a\x05abcd", id="a text cut off"),
        pytest.param(b"\x0a" + varint(2**62), id="a text of 2**62 bytes"),
        pytest.param(b"\x0a" + varint(2**63 - 1), id="a text of 2**63 - 1 bytes"),
        pytest.param(b"\x0a" + varint(-1), id="a text of a negative length"),
        pytest.param(b"\x09" + b"1234567", id="eight bytes cut off"),
        pytest.param(b"\x0d" + b"123", id="four bytes cut off"),
        pytest.param(b"\x00\x01", id="field number 0"),
        pytest.param(varint(-1 << 3) + b"\x01", id="field number -1"),
        pytest.param(varint(-33 << 3) + b"\x01", id="field number -33"),
        pytest.param(varint(1 << 35) + b"\x01", id="a tag of more than 32 bits"),
        pytest.param(b"\x0b\x0c", id="a group"),
        pytest.param(b"\x0e", id="wire type 6"),
        pytest.param(b"\x0f", id="wire type 7"),
    ],
)
def test_what_is_no_message_is_refused(message: bytes, count: int) -> None:
    for number, kind in ((1, BYTES), (1, VARINT), (2, BYTES)):
        with pytest.raises(WireError, match=r"at byte [01]$"):
            scanned([message] * count, number, kind)


def test_a_message_that_ends_past_its_container_is_refused() -> None:
    with pytest.raises(WireError, match="longer than its container"):
        scan(array(b"\x08\x01"), np.array([2]), np.array([1]), {1: VARINT})


@few_and_many
@often
@given(
    data=st.binary(max_size=30) | messages, flip=st.integers(0, 8 * 30), number=st.integers(1, 3)
)
def test_damaged_bytes_are_read_as_protobuf_reads_them_or_refused(
    data: bytes, flip: int, number: int, count: int
) -> None:
    damaged = flipped(data, flip % (8 * len(data))) if data else data
    with suppress(WireError, DecodeError):  # a tag in more bytes than it needs, only we let pass
        found = scanned([damaged] * count, number, BYTES)
        assert found == expected([damaged] * count, number, BYTES)


# Fields one behind the other: tags of one and two bytes, lengths around every border.
RUN_NUMBERS: Final = (1, 2, 15, 16, 17)
RUN_SIZES: Final = (0, 1, 2, 126, 127, 128, 129, 130, 131, 255, 256, 16_383, 16_384, 70_000)
run_fields = st.lists(
    st.tuples(st.sampled_from(RUN_NUMBERS), st.sampled_from(RUN_SIZES), st.integers(1, 5)),
    max_size=5,
)


@few_and_many
@at_times
@given(runs=run_fields, cut=st.integers(0, 4))
def test_runs_of_fields_are_read_as_protobuf_reads_them_or_refused(
    runs: list[tuple[int, int, int]], cut: int, count: int
) -> None:
    data = b""
    for number, size, times in runs:
        tag = varint(number << 3 | BYTES)
        # What is inside looks like more of the same.
        data += (tag + varint(size) + tag[:1] * size) * times
    data = data[: len(data) - cut]
    try:
        known = [expected([data] * count, number, BYTES) for number in RUN_NUMBERS]
    except DecodeError:
        with pytest.raises(WireError):
            scanned([data] * count, 1, BYTES)
        return
    assert [scanned([data] * count, number, BYTES) for number in RUN_NUMBERS] == known


def flipped(data: bytes, bit: int) -> bytes:
    """The bytes with one bit the other way round."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


# --- messages of TensorFlow, any ---------------------------------------------------------------

WORDS: Final = (
    *("", "a", "x/y", "x/y:1", "^x", "shape", "_output_shapes", "GPU_0_bfc", "cpu", "/gpu:0"),
    *("ü", "a name of more than sixteen bytes", "long" * 40),
)
# What is filled in of the messages that have far more than tfprof reads.
FILLED: Final = {
    "GraphDef": ("node", "node", "versions", "version"),
    "NodeDef": ("name", "op", "input", "device", "attr"),
    "AttrValue": ("list", "shape", "shape", "i", "s", "f"),
    "ListValue": ("shape", "i", "f", "s"),
    "RunMetadata": ("step_stats", "cost_graph"),
    "StepStats": ("dev_stats",),
    "NodeExecStats": (
        *("node_name", "all_start_micros", "op_end_rel_micros", "memory", "memory", "output"),
        *("output", "memory_stats", "timeline_label"),
    ),
    "CostGraphDef": ("cost",),
    "OpLogProto": ("log_entries", "log_entries", "id_to_string"),
    "OpLogEntry": ("name", "float_ops", "types", "code_def", "code_def"),
}

# By the numbers that descriptors give to C++ types.
SCALARS: Final[dict[int, st.SearchStrategy[Any]]] = {
    1: st.integers(-(2**31), 2**31 - 1),
    2: st.integers(-(2**63), 2**63 - 1) | st.integers(0, 1_000),
    3: st.integers(0, 2**32 - 1),
    4: st.integers(0, 2**64 - 1),
    5: st.just(0.5),
    6: st.just(0.5),
    7: st.booleans(),
    8: st.integers(0, 3),
    9: st.sampled_from(WORDS),
}
MESSAGE: Final = 10


@st.composite
def filled(draw: st.DrawFn, kind: Any) -> Any:
    """A message of any content."""
    message = kind()
    known = kind.DESCRIPTOR.fields_by_name
    names = FILLED.get(kind.DESCRIPTOR.name, tuple(known))
    for name in draw(st.lists(st.sampled_from(names), max_size=len(names))):
        _fill(draw, message, known[name])
    return message


def _fill(draw: st.DrawFn, message: Any, one: Any) -> None:
    """Set a field, or add to it where it is a list or a map."""
    value = getattr(message, one.name)
    if hasattr(value, "keys"):
        of = one.message_type.fields_by_name
        key = draw(SCALARS[of["key"].cpp_type])
        if of["value"].cpp_type == MESSAGE:
            value[key].CopyFrom(draw(filled(of["value"].message_type._concrete_class)))
        else:
            value[key] = draw(SCALARS[of["value"].cpp_type])
    elif one.cpp_type == MESSAGE:
        content = draw(filled(one.message_type._concrete_class))
        (value.add() if hasattr(value, "add") else value).CopyFrom(content)
    else:
        content = draw(SCALARS[one.cpp_type])
        content = content.encode() if one.type == one.TYPE_BYTES else content
        if hasattr(value, "append"):
            value.append(content)
        else:
            setattr(message, one.name, content)


UNKNOWN: Final = (
    *(field(30, VARINT, varint(-1)), field(4_000, BYTES, b"of no use"), field(31, BYTES, b"")),
    *(field(99, FIXED64, b"12345678"), field(99, FIXED32, b"1234")),
    field(1, FIXED64, b"a known number, but of another type"[:8]),
)


def scrambled(message: Message, random: Random) -> bytes:
    """The message with its fields in any order, and unknown ones between them.

    The elements of a list stay in order among themselves, so it still is the same message.
    """
    pieces: defaultdict[int, deque[bytes]] = defaultdict(deque)
    for one, value in message.ListFields():
        for content in _contents(message, one, value, random):
            pieces[one.number].append(content)
    if not message.DESCRIPTOR.GetOptions().map_entry:  # protobuf sets such an entry aside
        pieces[0].extend(random.choice(UNKNOWN) for _ in range(random.choice((0, 0, 1, 2))))
    order = [number for number, queue in pieces.items() for _ in queue]
    random.shuffle(order)
    return b"".join(pieces[number].popleft() for number in order)


def _contents(message: Message, one: Any, value: Any, random: Random) -> Iterator[bytes]:
    """The bytes of a field, element by element."""
    if hasattr(value, "keys"):
        entry = one.message_type._concrete_class
        for key in value:
            alone = type(message)()
            held = getattr(alone, one.name)
            if isinstance(value[key], Message):
                held[key].CopyFrom(value[key])
            else:
                held[key] = value[key]
            (_, _, data), *_ = met(alone.SerializeToString())
            yield field(one.number, BYTES, scrambled(entry.FromString(data), random))
    elif one.cpp_type == MESSAGE:
        for element in value if hasattr(value, "add") else [value]:
            yield field(one.number, BYTES, scrambled(element, random))
    else:
        alone = type(message)()
        if hasattr(value, "append"):
            getattr(alone, one.name).extend(value)
        else:
            setattr(alone, one.name, value)
        yield alone.SerializeToString()


# --- what their columns should be --------------------------------------------------------------


def dims(shape: Any) -> list[int]:
    """The shape rule: a scalar is one element; of unknown rank, nothing is known."""
    sizes = [dim.size for dim in shape.dim]
    return sizes if sizes or shape.unknown_rank else [1]


def graph_by_protobuf(data: bytes) -> dict[str, object]:
    graph = GraphDef.FromString(data)
    shaped = [
        (row, dims(node.attr["shape"].shape))
        for row, node in enumerate(graph.node)
        if "shape" in node.attr and node.attr["shape"].HasField("shape")
    ]
    listed = [
        (row, dims(shape))
        for row, node in enumerate(graph.node)
        if "_output_shapes" in node.attr
        for shape in node.attr["_output_shapes"].list.shape
    ]
    return {
        "name": [node.name.encode() for node in graph.node],
        "op": [node.op.encode() for node in graph.node],
        "input": [(row, i.encode()) for row, node in enumerate(graph.node) for i in node.input],
        "shape": shaped,
        "output": listed,
        "attributes": [(row, attributes(node.attr)) for row, node in enumerate(graph.node)],
    }


def attributes(of: Mapping[str, Any]) -> dict[str, bytes]:
    """The attributes of a node, one by one in wire format."""
    return {key: of[key].SerializeToString(deterministic=True) for key in of}


def graph_by_us(found: GraphColumns) -> dict[str, object]:
    assert found.attributes is not None
    entries: list[list[bytes]] = [[] for _ in found.name]
    for row, entry in zip(*found.attributes(), strict=True):
        entries[row].append(field(5, BYTES, entry))
    nodes = [NodeDef.FromString(b"".join(of)) for of in entries]
    return {
        "name": list(found.name),
        "op": list(found.op),
        "input": list(zip(found.input_node.tolist(), found.input_name, strict=True)),
        "shape": list(zip(found.shape_node.tolist(), lists(found.shape), strict=True)),
        "output": list(zip(found.output_node.tolist(), lists(found.output_shape), strict=True)),
        "attributes": [(row, attributes(node.attr)) for row, node in enumerate(nodes)],
    }


def lists(shapes: Shapes) -> list[list[int]]:
    return [shapes[row] for row in range(len(shapes))]


def run_by_protobuf(data: bytes) -> dict[str, object] | None:
    run = RunMetadata.FromString(data)
    if not run.HasField("step_stats"):
        return None
    devices = run.step_stats.dev_stats
    stats = [(row, stat) for row, one in enumerate(devices) for stat in one.node_stats]
    gpus = [[one for one in stat.memory if "GPU" in one.allocator_name] for _, stat in stats]
    return {
        "device": [one.device.encode() for one in devices],
        "stat_device": [row for row, _ in stats],
        "name": [stat.node_name.encode() for _, stat in stats],
        "start_us": [stat.all_start_micros for _, stat in stats],
        "end_rel_us": [stat.op_end_rel_micros for _, stat in stats],
        "total_bytes": [signed(sum(one.total_bytes for one in s.memory)) for _, s in stats],
        "peak_bytes": [signed(sum(one.peak_bytes for one in s.memory)) for _, s in stats],
        "live_bytes": [signed(sum(one.live_bytes for one in s.memory)) for _, s in stats],
        "gpu_allocators": [len(one) for one in gpus],
        "bytes_in_use": [max([0, *(m.allocator_bytes_in_use for m in one)]) for one in gpus],
        "temp_bytes": [stat.memory_stats.temp_memory_size for _, stat in stats],
        "persistent_bytes": [stat.memory_stats.persistent_memory_size for _, stat in stats],
        "allocation": [
            (row, record.alloc_micros, record.alloc_bytes)
            for row, one in enumerate(gpus)
            for memory in one
            for record in memory.allocation_records
        ],
        "output": [
            (row, output.slot, max(held.requested_bytes, held.allocated_bytes), signed(held.ptr))
            for row, (_, stat) in enumerate(stats)
            for output in stat.output
            if output.tensor_description.HasField("allocation_description")
            for held in [output.tensor_description.allocation_description]
        ],
    }


def run_by_us(found: RunColumns | None) -> dict[str, object] | None:
    if found is None:
        return None
    columns: dict[str, Any] = {
        name: list(column) for name, column in vars(found).items() if name != "details"
    }
    for name in ("allocation", "output"):
        parts = [part for part in columns if part.startswith(f"{name}_")]
        columns[name] = list(zip(*map(columns.pop, parts), strict=True))
    return columns


def op_log_by_protobuf(data: bytes) -> dict[str, object]:
    log = OpLogProto.FromString(data)
    return {
        "entry": [
            (
                entry.name.encode(),
                entry.float_ops,
                [kind.encode() for kind in entry.types],
                [
                    (t.file_id, t.lineno, t.function_id, t.func_start_line, t.line_id)
                    for t in entry.code_def.traces
                ]
                if entry.HasField("code_def")
                else None,
            )
            for entry in log.log_entries
        ],
        "string": {number: text.encode() for number, text in log.id_to_string.items()},
    }


def op_log_by_us(found: OpLogColumns) -> dict[str, object]:
    parts = ("file", "line", "function", "function_line", "source")
    columns = (getattr(found, f"frame_{part}").tolist() for part in parts)
    frame = list(zip(*columns, strict=True))
    types = list(zip(found.type_entry.tolist(), found.type, strict=True))
    start = found.stack_start.tolist()
    return {
        "entry": [
            (
                name,
                int(found.float_ops[row]),
                [kind for entry, kind in types if entry == row],
                frame[start[stack] : start[stack + 1]] if stack >= 0 else None,
            )
            for row, (name, stack) in enumerate(zip(found.name, found.stack.tolist(), strict=True))
        ],
        "string": dict(zip(found.string_id.tolist(), found.string, strict=True)),
    }


class Reader(NamedTuple):
    """A reader of ours, and the same by protobuf; both ways of telling what was read are equal."""

    kind: Any
    columns: Callable[[U8], Any]
    told: Callable[[Any], object]
    by_protobuf: Callable[[bytes], object]

    def by_us(self, data: bytes) -> object:
        return self.told(self.columns(array(data)))


READERS: Final = {
    "graph": Reader(GraphDef, graph_def.columns, graph_by_us, graph_by_protobuf),
    "run": Reader(RunMetadata, run_metadata.columns, run_by_us, run_by_protobuf),
    "op_log": Reader(OpLogProto, op_log.columns, op_log_by_us, op_log_by_protobuf),
}
each_reader = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)


@each_reader
@at_times
@given(data=st.data())
def test_columns_are_what_protobuf_reads(reader: Reader, data: st.DataObject) -> None:
    message = data.draw(filled(reader.kind)).SerializeToString()
    assert reader.by_us(message) == reader.by_protobuf(message)


@each_reader
@at_times
@given(data=st.data(), random=st.randoms(use_true_random=False))
def test_columns_are_the_same_whatever_the_order_of_fields(
    reader: Reader, data: st.DataObject, random: Random
) -> None:
    message = data.draw(filled(reader.kind))
    other = scrambled(message, random)
    assert reader.by_us(other) == reader.by_protobuf(other)


@each_reader
@at_times
@given(data=st.data())
def test_one_message_behind_another_reads_as_both_merged(
    reader: Reader, data: st.DataObject
) -> None:
    both = b"".join(data.draw(filled(reader.kind)).SerializeToString() for _ in range(2))
    assert reader.by_us(both) == reader.by_protobuf(both)


def test_a_number_too_long_for_its_type_reads_as_its_low_bits() -> None:
    trace = b"".join(
        field(number, VARINT, varint(2**32 * 7 + 5 - number)) for number in range(2, 9)
    )
    log = field(1, BYTES, field(4, BYTES, field(1, BYTES, trace)))
    assert READERS["op_log"].by_us(log) == READERS["op_log"].by_protobuf(log)


def test_of_an_attribute_given_twice_the_last_counts() -> None:
    graph = b""
    for name, sizes in (("x", (3, 4)), ("y", (5,)), ("z", (6, 7, 8))):
        node = NodeDef(name=name, op="VariableV2").SerializeToString()
        for size in sizes:
            alone = NodeDef()
            alone.attr["shape"].shape.dim.add(size=size)
            alone.attr["_output_shapes"].list.shape.add().dim.add(size=size)
            node += alone.SerializeToString()
        graph += field(1, BYTES, node)
    assert READERS["graph"].by_us(graph) == READERS["graph"].by_protobuf(graph)


def test_of_a_text_given_twice_the_last_counts() -> None:
    texts = ((1, "first"), (2, "other"), (1, "last"))
    log = b"".join(OpLogProto(id_to_string={n: said}).SerializeToString() for n, said in texts)
    found = op_log.columns(array(log))
    assert [*zip(found.string_id.tolist(), found.string, strict=True)] == [
        (1, b"last"),
        (2, b"other"),
    ]


# --- small messages with all that is read, damaged in every way --------------------------------


def small_graph() -> bytes:
    graph = GraphDef()
    node = graph.node.add(name="x", op="VariableV2")
    node.attr["shape"].shape.dim.add(size=3)
    node = graph.node.add(name="y", op="Add", input=["x", "^x:1"])
    node.attr["_output_shapes"].list.shape.add().unknown_rank = True
    return bytes(graph.SerializeToString())


def small_run() -> bytes:
    run = RunMetadata()
    device = run.step_stats.dev_stats.add(device="/cpu:0")
    stat = device.node_stats.add(node_name="x", all_start_micros=7, op_end_rel_micros=300)
    stat.memory.add(allocator_name="GPU", total_bytes=5, peak_bytes=4, live_bytes=3)
    stat.output.add().tensor_description.allocation_description.requested_bytes = 200
    stat.memory_stats.temp_memory_size = 9
    return bytes(run.SerializeToString())


def small_op_log() -> bytes:
    log = OpLogProto()
    entry = log.log_entries.add(name="x", float_ops=300, types=["t"])
    entry.code_def.traces.add(file_id=1, lineno=-2, function_id=3)
    log.id_to_string[1] = "f.py"
    return bytes(log.SerializeToString())


SMALL: Final = {"graph": small_graph(), "run": small_run(), "op_log": small_op_log()}
each_small = pytest.mark.parametrize("name", SMALL)


@each_small
def test_a_message_cut_short_is_refused_or_reads_as_by_protobuf(name: str) -> None:
    reader, whole = READERS[name], SMALL[name]
    for cut in range(len(whole) + 1):
        with suppress(WireError):
            assert reader.by_us(whole[:cut]) == reader.by_protobuf(whole[:cut])
    assert reader.by_us(whole) == reader.by_protobuf(whole)


@each_small
@pytest.mark.parametrize("few", [ONE_BY_ONE, TOGETHER])
def test_a_flipped_bit_is_refused_as_damage_or_read(
    name: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "_FEW", few)
    whole = SMALL[name]
    for bit in range(8 * len(whole)):
        with suppress(WireError):
            READERS[name].columns(array(flipped(whole, bit)))


@each_small
@at_times
@given(bits=st.lists(st.integers(0, 2_000), min_size=2, max_size=20))
def test_many_flipped_bits_are_refused_as_damage_or_read(name: str, bits: list[int]) -> None:
    damaged = SMALL[name]
    for bit in bits:
        damaged = flipped(damaged, bit % (8 * len(damaged)))
    with suppress(WireError):
        READERS[name].columns(array(damaged))


@each_small
@at_times
@given(bit=st.integers(0, 2_000))
def test_a_file_with_a_flipped_bit_loads_or_is_refused_by_name(name: str, bit: int) -> None:
    damaged = flipped(SMALL[name], bit % (8 * len(SMALL[name])))
    files = {other: Source(f"the {other}", array(data)) for other, data in SMALL.items()}
    files[name] = Source("damaged", array(damaged))
    try:
        load(files["graph"], [files["run"]], files["op_log"])
    except InputError as problem:
        assert str(problem).startswith("damaged is ")  # noqa: PT017 - most flips do load
