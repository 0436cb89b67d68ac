"""Text format: three readers, and protobuf's own parser says what each must read.

Whatever the quick readers take, they read as protobuf does; what protobuf refuses, all refuse. The
reader of columns looks at the shapes of nodes alone; a mistake in another attribute is found by
whoever asks for the attributes.
"""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st

from case import GraphDef
from random_graphs import make_graph, make_names
from random_text import LAYOUTS, Scrawl, mutated, printed
from sampling import numbers
from tfprof.errors import InputError
from tfprof.read import text
from tfprof.read.source import Source
from tfprof.read.text import any_layout
from tfprof.read.text import canonical as text_canonical
from tfprof.read.text.syntax import Unhandled
from tfprof.wire import schema
from tfprof.wire.schema import build

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tfprof.columns.shapes import Shapes
    from tfprof.read.columns import GraphColumns

GRAPH: Final = "tensorflow.GraphDef"
MESSAGES: Final = (
    *(GRAPH, "tensorflow.MetaGraphDef", "tensorflow.RunMetadata"),
    "tensorflow.tfprof.OpLogProto",
)
# What the reader of columns looks at in attributes.
COLUMNS: Final = {
    **dict.fromkeys(("AttrValue", "ListValue"), ("list", "s", "i", "f", "b", "shape")),
    "Dim": ("size",),
}
CANONICAL: Final = ("printed", "printed in UTF-8")

# Protobuf's unescaping has Python warn of escapes it does not know.
pytestmark = pytest.mark.filterwarnings("ignore:invalid:DeprecationWarning")


# --- what is compared --------------------------------------------------------------------------


def graph_columns(data: bytes, name: str) -> GraphColumns:
    return text.graph_columns(Source(name, np.frombuffer(data, np.uint8)))


def by_protobuf(data: bytes, name: str, made_by: Any = schema.message) -> Any:
    """The message, or None where protobuf refuses."""
    try:
        return text_format.Parse(data, made_by(name)(), allow_unknown_field=True)
    except text_format.ParseError as problem:
        # A dtype of a later TensorFlow is unknown, as it is in a binary graph.
        later = re.search(r"has no value named (DT_[A-Z0-9_]+)\.$", str(problem))
        if later is None:
            return None
        known = re.sub(rb"\b%s\b" % later[1].encode(), b"DT_INVALID", data)
        return by_protobuf(known, name, made_by)
    except ValueError:  # an enum of too many bits
        return None


@cache
def without_values(name: str) -> Any:
    """The class of a message whose attributes hold only what the reader of columns looks at."""
    files = FileDescriptorSet.FromString(build.SET.read_bytes())
    pool = DescriptorPool()
    for file in files.file:
        for outer in file.message_type:
            for message in (outer, *outer.nested_type):
                if known := COLUMNS.get(message.name):
                    kept = [field for field in message.field if field.name in known]
                    del message.field[:]
                    message.field.extend(kept)
        pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName(name))


def as_wire(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)


def rows_of_message(graph: Any) -> dict[str, list[Any]]:
    """What GraphColumns holds, taken from the message."""

    def shape(of: Any) -> list[int]:
        sizes = [dim.size for dim in of.dim]
        return sizes if sizes or of.unknown_rank else [1]

    nodes = list(enumerate(graph.node))
    return {
        "name": [node.name.encode() for _, node in nodes],
        "op": [node.op.encode() for _, node in nodes],
        "input": [(at, each.encode()) for at, node in nodes for each in node.input],
        "shape": [
            (at, shape(node.attr["shape"].shape))
            for at, node in nodes
            if "shape" in node.attr and node.attr["shape"].HasField("shape")
        ],
        "output": [
            (at, shape(each))
            for at, node in nodes
            if "_output_shapes" in node.attr
            for each in node.attr["_output_shapes"].list.shape
        ],
    }


def rows_of_columns(columns: GraphColumns) -> dict[str, list[Any]]:
    def shapes(node: Any, shape: Shapes) -> list[Any]:
        return [(at, shape[row]) for row, at in enumerate(node.tolist())]

    return {
        "name": list(columns.name),
        "op": list(columns.op),
        "input": list(zip(columns.input_node.tolist(), columns.input_name, strict=True)),
        "shape": shapes(columns.shape_node, columns.shape),
        "output": shapes(columns.output_node, columns.output_shape),
    }


def attributes_of_message(graph: Any) -> dict[tuple[int, str], bytes]:
    """Every attribute, by node and key."""
    nodes = enumerate(graph.node)
    return {(at, key): as_wire(value) for at, node in nodes for key, value in node.attr.items()}


def attributes_of_columns(columns: GraphColumns) -> dict[tuple[int, str], bytes]:
    """The same, as a query reads them."""
    assert columns.attributes is not None
    owner, entries = columns.attributes()
    made = map(schema.message("tensorflow.NodeDef.AttrEntry").FromString, entries)
    return {
        (at, entry.key): as_wire(entry.value)  # type: ignore[attr-defined]
        for at, entry in zip(owner.tolist(), made, strict=True)
    }


def canonical(data: bytes) -> GraphColumns | None:
    return text_canonical.columns(np.frombuffer(data, np.uint8))


def check_graph(data: bytes) -> bool:
    """All readers agree with protobuf on *data*; whether the canonical one took it."""
    expected, columns = by_protobuf(data, GRAPH), canonical(data)
    if columns is not None:
        rows = rows_of_message(by_protobuf(data, GRAPH, without_values))
        assert rows_of_columns(columns) == rows, data
    check_wire(data, GRAPH, expected)
    if expected is not None:
        read = graph_columns(data, "p")
        assert rows_of_columns(read) == rows_of_message(expected), data
        assert attributes_of_columns(read) == attributes_of_message(expected), data
    elif columns is not None:
        attributes = graph_columns(data, "p").attributes
        assert attributes is not None
        with pytest.raises(InputError, match=r"^p:\d+:\d+: expected "):
            attributes()
    return columns is not None


def check_wire(data: bytes, name: str, expected: Message | None) -> bool:
    """The readers of any layout agree with protobuf; whether the quick one took *data*."""
    wires = []
    with suppress(Unhandled, UnicodeDecodeError):
        data.decode()
        wires.append(any_layout.to_wire(data, name))
    took = bool(wires)
    if expected is None:
        assert not took, data
        with pytest.raises(InputError, match=r"^p:\d+:\d+: expected "):
            text.to_wire(data, name, "p")
        return False
    for wire in (*wires, text.to_wire(data, name, "p")):
        assert as_wire(schema.message(name).FromString(wire)) == as_wire(expected), data
    return took


# --- real graphs -------------------------------------------------------------------------------


def real_graph() -> Any:
    """A small model as TensorFlow builds it: variables, constants, a loop, a function library."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import tensorflow as tf  # noqa: PLC0415 - it takes seconds, and one test needs it

        v1 = tf.compat.v1
        with v1.Graph().as_default() as graph:
            images = v1.placeholder(tf.float32, [None, 8, 8, 3], "images")
            kernel = v1.get_variable("conv/kernel", [3, 3, 3, 4], use_resource=False)
            layer = tf.nn.relu(tf.nn.conv2d(images, kernel, 1, "SAME"))
            tf.constant(["a\nb", 'q"', "é", ""], name="words")
            tf.constant(np.linspace(-1, 1, 200, dtype=np.float32), name="content")
            tf.constant([float("inf"), float("-inf"), float("nan")], name="not_finite")
            tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
            tf.function(lambda x: x * 2 + 1, autograph=False)(layer)
            v1.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(layer))
            return GraphDef.FromString(graph.as_graph_def(add_shapes=True).SerializeToString())


def test_a_real_graph_is_read_in_every_layout() -> None:
    graph = real_graph()
    assert graph.library.function
    graph.library.Clear()  # functions take part in the graph: tests of their own read those
    for layout, arguments in LAYOUTS.items():
        data = text_format.MessageToString(graph, **arguments).encode()
        assert check_graph(data) == (layout in CANONICAL)
        assert check_wire(data, GRAPH, by_protobuf(data, GRAPH))


def random_graph(rng: Random) -> Any:
    """A few nodes with names, inputs and attributes of many kinds, and a tensor."""
    graph = make_graph(rng, make_names(rng)[:4])
    graph.ClearField("library")  # as in the real graph
    tensor = graph.node.add(name="constant").attr["value"].tensor
    tensor.dtype = 1
    tensor.tensor_shape.dim.add(size=3)
    tensor.tensor_content = rng.randbytes(6)
    tensor.float_val.extend((0.5, float("-inf"), float("nan"), 1e-20))
    return graph


def test_blocks_of_any_size_join_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(1)  # noqa: S311
    for size in (1, 100, 3000):
        monkeypatch.setattr(text_canonical, "_BLOCK", size)
        data = b"".join(text_format.MessageToString(random_graph(rng)).encode() for _ in range(20))
        assert check_graph(data)
        assert check_graph(data.rstrip(b"\n"))


# --- any graph ---------------------------------------------------------------------------------

names = st.one_of(st.sampled_from(("shape", "_output_shapes", "T", "")), st.text(max_size=12))
sizes = st.one_of(st.integers(-2, 300), st.integers(-(2**63), 2**63 - 1))
contents = st.binary(max_size=20)


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    """Any GraphDef, most of all with shapes."""
    graph = GraphDef()
    for _ in range(draw(st.integers(0, 4))):
        node = graph.node.add(name=draw(names), op=draw(names), device=draw(names))
        node.input.extend(draw(st.lists(names, max_size=3)))
        for key in draw(st.lists(names, max_size=3)):
            draw_value(draw, node.attr[key])
    if draw(st.booleans()):
        graph.library.function.add().signature.name = draw(names)
        graph.versions.producer = 27
    return graph


def draw_value(draw: st.DrawFn, value: Any) -> None:
    floats = st.floats(width=32)
    kind = draw(st.sampled_from(("shape", "list", "shape", "list", "other")))
    if kind == "shape":
        draw_shape(draw, value.shape)
    elif kind == "list":
        value.list.SetInParent()
        for _ in range(draw(st.integers(0, 3))):
            draw_shape(draw, value.list.shape.add())
        value.list.s.extend(draw(st.lists(contents, max_size=2)))
        value.list.i.extend(draw(st.lists(sizes, max_size=2)))
        value.list.f.extend(draw(st.lists(floats, max_size=2)))
        value.list.b.extend(draw(st.lists(st.booleans(), max_size=2)))
    else:
        choices = (("s", contents), ("i", sizes), ("f", floats), ("b", st.booleans()))
        name, values = draw(st.sampled_from((*choices, ("placeholder", names))))
        setattr(value, name, draw(values))
        if draw(st.booleans()):
            value.tensor.dtype = 1
            value.tensor.tensor_content = draw(contents)
            value.tensor.double_val.extend(draw(st.lists(st.floats(), max_size=3)))


def draw_shape(draw: st.DrawFn, shape: Any) -> None:
    shape.SetInParent()
    shape.unknown_rank = draw(st.booleans())
    for size in draw(st.lists(sizes, max_size=3)):
        shape.dim.add(size=size)


@settings(deadline=None, max_examples=120)
@given(graphs(), st.sampled_from(sorted(LAYOUTS)))
def test_any_graph_is_read_in_every_layout(graph: Any, layout: str) -> None:
    data = text_format.MessageToString(graph, **LAYOUTS[layout]).encode()
    took = check_graph(data)
    # A key with an escape may be one of the wanted keys, and functions take part in the graph: then
    # another reader is asked.
    keys = {key for node in graph.node for key in node.attr}
    if layout in CANONICAL and all(re.fullmatch(r"[ -~]*", key) for key in keys):
        escaped = any(set(key) & set("\\\"'") for key in keys)
        assert took or escaped or graph.library.function


# --- any text ----------------------------------------------------------------------------------


@pytest.mark.sampled
@pytest.mark.parametrize("seed", numbers(4, 1))
def test_mutated_text_is_read_or_refused_as_protobuf_does(seed: int) -> None:
    rng = Random(seed)  # noqa: S311
    for _ in range(40):
        layout = rng.choice(("printed", "printed", "printed", *LAYOUTS))
        data = text_format.MessageToString(random_graph(rng), **LAYOUTS[layout]).encode()
        assert check_graph(data) == (layout in CANONICAL)
        for _ in range(10):
            check_graph(mutated(rng, data))


@pytest.mark.parametrize("seed", range(4))
def test_printed_lines_are_read_or_refused_as_protobuf_does(seed: int) -> None:
    rng = Random(seed)  # noqa: S311
    assert sum(check_graph(printed(rng)) for _ in range(300)) > 75


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("comments", [0, 1])
def test_scrawled_text_is_read_or_refused_as_protobuf_does(message: str, comments: int) -> None:
    rng = Random(message)  # noqa: S311
    took = 0
    descriptor: Any = schema.message(message).DESCRIPTOR
    for _ in range(400):
        data = Scrawl(rng, comments=bool(comments)).message(descriptor).encode()
        took += check_wire(data, message, by_protobuf(data, message))
    assert took > (75 if comments else 200)


def node_with(*values: str) -> bytes:
    """A printed node with an attribute `shape` for each of *values*."""
    attr = '  attr {{\n    key: "shape"\n    value {{\n      {}\n    }}\n  }}\n'
    return b"node {\n" + "".join(map(attr.format, values)).encode() + b"}\n"


SCALAR: Final = "shape {\n      }"
CORNERS: Final = (
    *(b"", b"\n", b"# nothing\n", b"node {\n}\n", b"node {\n}", b"node {}", b"node\n{\n}\n"),
    *(b"}\n", b": 5\n", b"x {\n  : 5\n}\n", b"x {\n   {\n  }\n}\n", b'x: "\n', b'x: \\"a"\n'),
    *(node_with(SCALAR), node_with(SCALAR, 's: "x"'), node_with('s: "x"', SCALAR)),
    *(node_with("i: 1", SCALAR), node_with('i: 1\n      s: ""'), node_with("i: 1\n      i: 1")),
    *(node_with("f: inf"), node_with("f: Inf"), node_with("f: -nan"), node_with("b: 1")),
    *(node_with("f: false"), node_with("b: nan"), node_with("i: true"), node_with("b: false")),
    b'node {\r\n  name: "a"\r\n}\r\n',
    b'\xef\xbb\xbfnode {\n  name: "a"\n}\n',
    b'node {\n  name: "a"\n  name: "a"\n}\n',
    b'node {\n  name: ""\n  name: "a"\n}\n',
    b"node { attr { } node: 1 } node { attr { } }",
    b"node { attr { } ; attr { } ,, attr { } }",
    b'node { name: "a" } ; node { name: "b" } , node: { name: "c" } ;',
)


@pytest.mark.parametrize("data", CORNERS)
def test_a_corner_is_read_or_refused_as_protobuf_does(data: bytes) -> None:
    check_graph(data)


def test_messages_nest_as_deep_as_one_likes() -> None:
    deep = 20_000
    data = b'node { name: "a" ' + b"x { " * deep + b"} " * deep + b"}"
    assert list(graph_columns(data, "p").name) == [b"a"]
    data = b'node { name: "a" x: ' + b"[ { y: " * deep + b"1" + b" } ]" * deep + b"}"
    assert list(graph_columns(data, "p").name) == [b"a"]
    with pytest.raises(InputError, match=r"^p: messages are nested too deeply$"):
        graph_columns(b"x { " * deep, "p")


def test_a_long_tensor_is_stepped_over() -> None:
    graph = GraphDef()
    graph.node.add(name="a").attr["value"].tensor.tensor_content = bytes(range(256)) * 5000
    graph.node.add(name="b\\c")
    data = text_format.MessageToString(graph).encode()
    columns = canonical(data)
    assert columns is not None
    assert list(columns.name) == [b"a", b"b\\c"]
    wire = any_layout.to_wire(data, GRAPH)
    assert [node.name for node in GraphDef.FromString(wire).node] == ["a", "b\\c"]


# --- what the user is told ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"node { name: 5 }", '1:14: expected a string, found "5"'),
        (b"node {\n", '1:6: expected "}"'),
        (
            b'node {\n name: "a"\n name: "b" }',
            '3:8: expected only one "name" in a tensorflow.NodeDef',
        ),
        (b"node {\n nam\xff", "2:5: expected text in UTF-8"),
        (b"x: 5\n\ny: [1, @]", '3:8: expected a value, found "@"'),
        (b'x: "a" # @:\n  "b\n', '2:3: expected a value, found ""b"'),
        (b"node { attr { value { i: 1 s: '' } } }", '1:28: expected "i" or "s", not both'),
        (b"[a.b]: 5", "1:4: expected a field of tensorflow.GraphDef, found a bracket"),
        (b'node { name: "\\377" }', "1:21: expected a string in UTF-8"),
        (b'node { name: "\\400" }', "1:14: expected only escapes that mean a byte"),
        (b'node {\n  name: "abc\n}', "2:9: expected the string to end on its line"),
        (b"node { attr { value { b: 3 } } }", '1:26: expected "true" or "false"'),
        (b"node { attr { value { f: zz } } }", '1:26: expected a number, found "zz"'),
        (b"node { attr { value { i: x } } }", '1:26: expected an integer, found "x"'),
        (
            b"node { attr { value { i: 99999999999999999999 } } }",
            "1:26: expected an integer that its field can hold, found 99999999999999999999",
        ),
        (b"}", '1:1: expected a field name, found "}"'),
        ("é node {".encode(), '1:3: expected "{"'),
        (b"x:", '1:3: expected a value, found ""'),
    ],
)
def test_a_mistake_is_told_with_its_place(data: bytes, told: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape('graph.pbtxt:' + told)}$"):
        graph_columns(data, "graph.pbtxt")
