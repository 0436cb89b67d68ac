"""Attributes in text are those in binary: random values of every kind, printed and read.

AttrValue ──┬─ printed in some layout ──► our wire bytes ──┬─ equal to protobuf's
            └─ serialized by protobuf ─────────────────────┘
                                                           └─ decoded: what was put in
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from google.protobuf import text_format

import sampling
from case import GraphDef
from random_attributes import fill, tensor
from random_text import LAYOUTS
from tfprof.errors import InputError
from tfprof.ops.attributes import Tensor, decode
from tfprof.ops.shape import MOST_DIMENSIONS
from tfprof.read import text
from tfprof.read.functions import library
from tfprof.read.graph_def import parts
from tfprof.read.source import Source
from tfprof.read.text import TextSource, any_layout
from tfprof.read.text.syntax import Unhandled
from tfprof.wire.scalar import fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import Strings

OPEN, LARGEST = -1, 2**63 - 1


def source(data: bytes) -> Source:
    return Source("p", np.frombuffer(data, np.uint8))


def by_key(entries: Strings) -> dict[str, bytes]:
    """The value of each map entry."""
    pairs = [{number: value for number, _, value in fields(memoryview(e))} for e in entries]
    return {bytes(pair[1]).decode(): bytes(pair[2]) for pair in pairs}


def read(data: bytes) -> dict[str, bytes]:
    """The attributes of the nodes of a graph in text."""
    attributes = text.graph_columns(source(data)).attributes
    assert attributes is not None
    return by_key(attributes()[1])


def check(found: dict[str, bytes], node: Any) -> None:
    """The attributes are those of *node*, to the byte; only inside maps the order may differ."""
    assert found.keys() == set(node.attr)
    for key, value in node.attr.items():
        wire = value.SerializeToString(deterministic=True)
        again = type(value).FromString(found[key])
        assert again.SerializeToString(deterministic=True) == wire, sampling.again()
        assert found[key] == wire or "attr {" in str(value), sampling.again()


def cases(count: int) -> Iterator[tuple[Random, str]]:
    """A random generator and a layout for each case."""
    for number in sampling.numbers(20 * count, count):
        rng = Random(number)  # noqa: S311 - repeatable
        yield rng, rng.choice(sorted(LAYOUTS))


@pytest.mark.sampled
def test_any_attribute_is_read_as_protobuf_writes_it() -> None:
    for rng, layout in cases(60):
        graph = GraphDef()
        node = graph.node.add(name="n", op="o")
        for key in "abcd":
            fill(rng, node.attr[key])
        data = text_format.MessageToString(graph, **LAYOUTS[layout]).encode()
        check(read(data), node)


@pytest.mark.sampled
def test_attributes_in_functions_are_read_as_protobuf_writes_them() -> None:
    for rng, layout in cases(20):
        graph = GraphDef()
        function = graph.library.function.add()
        function.signature.name = "f"
        node = function.node_def.add(name="n", op="o")
        for key in "abcd":
            fill(rng, node.attr[key])
        data = text_format.MessageToString(graph, **LAYOUTS[layout]).encode()
        buffer = TextSource(source(data), "tensorflow.GraphDef").data
        attributes = library(buffer, *parts(buffer)).columns.attributes
        assert attributes is not None
        check(by_key(attributes()[1]), node)


def plain(value: Any) -> Any:
    """What `decode` makes of an AttrValue, by protobuf's own values."""
    kind = value.WhichOneof("value")
    if kind == "list":
        lists = [(field.name, items) for field, items in value.list.ListFields()]
        return [_plain(name, item) for name, items in lists for item in items]
    return None if kind is None else _plain(kind, getattr(value, kind))


def _plain(kind: str, held: Any) -> Any:
    if kind == "s":
        return held.decode("utf-8", "surrogateescape")
    if kind == "shape":
        if held.unknown_rank or len(held.dim) > MOST_DIMENSIONS:
            return None
        return tuple(dim.size if dim.size >= 0 else OPEN for dim in held.dim)
    return None if kind in ("func", "placeholder") else held


@pytest.mark.sampled
def test_any_attribute_is_decoded_to_what_protobuf_holds() -> None:
    for rng, layout in cases(60):
        graph = GraphDef()
        node = graph.node.add(name="n", op="o")
        fill(rng, node.attr["a"])
        value = node.attr["a"]
        data = text_format.MessageToString(graph, **LAYOUTS[layout]).encode()
        held = decode(memoryview(read(data)["a"]))
        if value.WhichOneof("value") == "tensor" or value.list.tensor:
            continue  # tensors have a test of their own
        np.testing.assert_equal(held, plain(value), sampling.again())


@pytest.mark.sampled
def test_tensors_have_their_values() -> None:
    for rng, layout in cases(60):
        graph = GraphDef()
        node = graph.node.add(name="n", op="Const")
        values = tensor(rng, node.attr["value"].tensor)
        data = text_format.MessageToString(graph, **LAYOUTS[layout]).encode()
        held = decode(memoryview(read(data)["value"]))
        assert isinstance(held, Tensor)
        assert held.shape == values.shape, sampling.again()
        assert held.value is not None
        np.testing.assert_array_equal(held.value, values.astype(held.value.dtype), sampling.again())


def node_with(value: str) -> bytes:
    """A node with one attribute, as protobuf prints it."""
    attr = f'  attr {{\n    key: "a"\n    value {{\n      {value}\n    }}\n  }}\n'
    return f"node {{\n{attr}}}\n".encode()


def test_fields_in_any_order_become_the_same_bytes() -> None:
    mixed = "tensor { float_val: 1 dtype: 1 int_val: [1, 2] float_val: 2 version_number: 0 }"
    usual = "tensor { dtype: DT_FLOAT float_val: [1, 2.0] int_val: 1 int_val: 2 }"
    assert read(node_with(mixed)) == read(node_with(usual))


@pytest.mark.parametrize("unusual", ["", ' # "DT_LATER"', " type_: 1.0f"])
def test_a_dtype_of_a_later_tensorflow_is_unknown(unusual: str) -> None:
    data = node_with(f"list {{ type: DT_LATER2 type: DT_HALF s: 'DT_LATER' {unusual}\n}}")
    assert decode(memoryview(read(data)["a"])) == ["DT_LATER", 0, 19]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("type: dt_float", '5:13: expected a DataType, found "dt_float"'),
        (
            "type: 99999999999",
            "5:13: expected an integer that its field can hold, found 99999999999",
        ),
        ('type: "a"', '5:13: expected a DataType, found ""a""'),
        ("tensor: 5", '5:15: expected "{"'),
        ("tensor {\n        int_val: a\n      }", '6:18: expected an integer, found "a"'),
        ("type: 1\n      i: 1", '6:7: expected "type" or "i", not both'),
    ],
)
def test_a_mistake_in_an_attribute_is_one_sentence(value: str, sentence: str) -> None:
    # As in a binary graph, views do not look at it.
    columns = text.graph_columns(source(node_with(value)))
    assert columns.attributes is not None
    with pytest.raises(InputError) as raised:
        columns.attributes()
    assert str(raised.value) == f"p:{sentence}"


def test_an_attribute_nests_only_as_deep_as_protobuf_takes_it() -> None:
    for depth in (200, 20_000):
        data = node_with("func { attr { key: 'k' value { " * depth + "} } }" * depth)
        with pytest.raises(Unhandled):
            any_layout.to_wire(data, "tensorflow.GraphDef")
        with pytest.raises(InputError, match=r"^p: messages are nested too deeply$"):
            read(data)
    assert read(node_with("func { attr { key: 'k' value { " * 20 + "} } }" * 20))
