"""Our own messages: built from what is committed, and strangers to TensorFlow's namesakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorSet

from case import GraphDef, OpLogProto, RunMetadata
from processes import python
from sampling import sampled
from tf_wheel import piece
from tfprof.wire import schema
from tfprof.wire.schema import build

if TYPE_CHECKING:
    from pathlib import Path

MetaGraphDef = piece("tensorflow.core.protobuf.meta_graph_pb2").MetaGraphDef
THEIRS = (GraphDef, MetaGraphDef, RunMetadata, OpLogProto)


def test_the_committed_set_is_what_the_proto_files_say(tmp_path: Path) -> None:
    build.build(tmp_path / "rebuilt.binpb")
    rebuilt = FileDescriptorSet.FromString((tmp_path / "rebuilt.binpb").read_bytes())
    assert rebuilt == FileDescriptorSet.FromString(build.SET.read_bytes())
    assert {file.name for file in rebuilt.file} == {
        source.name for source in build.FOLDER.glob("*.proto")
    }


def described(descriptor: Any, only: Any) -> dict[str, tuple[int, int, int, str]]:
    """Number, type, label and message type by name, of the fields that *only* has too."""
    found: dict[str, tuple[int, int, int, str]] = {}
    waiting, seen = [(descriptor, only)], set()
    while waiting:
        descriptor, only = waiting.pop()
        if descriptor.full_name in seen:  # a tensor may hold tensors
            continue
        seen.add(descriptor.full_name)
        message = DescriptorProto()
        descriptor.CopyToProto(message)
        for field, said in zip(descriptor.fields, message.field, strict=True):
            if wanted := only.fields_by_name.get(field.name):
                found[field.full_name] = said.number, said.type, said.label, said.type_name
                if field.message_type:
                    waiting.append((field.message_type, wanted.message_type))
    return found


@pytest.mark.parametrize("theirs", THEIRS, ids=lambda theirs: theirs.DESCRIPTOR.name)
def test_every_field_is_as_in_tensorflow(theirs: Any) -> None:
    ours: Any = schema.message(theirs.DESCRIPTOR.full_name).DESCRIPTOR
    assert described(ours, ours) == described(theirs.DESCRIPTOR, ours)


@pytest.mark.parametrize("name", ["AttrValue", "TensorProto", "TensorShapeProto", "NameAttrList"])
def test_no_field_of_an_attribute_is_missing(name: str) -> None:
    # A field that our schema lacks would be lost where a graph is read as text.
    framework = "tensorflow.core.framework"
    module = {"AttrValue": "attr_value", "NameAttrList": "attr_value", "TensorProto": "tensor"}
    theirs = getattr(piece(f"{framework}.{module.get(name, 'tensor_shape')}_pb2"), name).DESCRIPTOR
    ours: Any = schema.message(f"tensorflow.{name}").DESCRIPTOR
    assert described(ours, ours) == described(theirs, theirs)


def test_every_dtype_is_as_in_tensorflow() -> None:
    theirs = piece("tensorflow.core.framework.types_pb2").DataType.DESCRIPTOR
    ours: Any = schema.pool().FindEnumTypeByName("tensorflow.DataType")
    numbers = [{row.name: row.number for row in enum.values} for enum in (ours, theirs)]
    assert numbers[0] == numbers[1]


def test_a_message_that_is_not_ours_is_refused() -> None:
    with pytest.raises(KeyError):
        schema.message("tensorflow.NoSuchMessage")


USE_OURS = """
from tfprof.wire import schema
ours = schema.message("tensorflow.GraphDef")()
ours.node.add(name="a")
"""
USE_THEIRS = """
import tensorflow as tf
with tf.Graph().as_default() as graph:
    tf.constant(1, name="a")
theirs = graph.as_graph_def()
"""
COMPARE = """
assert type(ours) is not type(theirs)
assert type(ours).FromString(theirs.SerializeToString()).node[0].name == "a"
assert type(theirs).FromString(ours.SerializeToString()).node[0].name == "a"
"""


BOTH_ORDERS = (USE_OURS + USE_THEIRS, USE_THEIRS + USE_OURS)


@pytest.mark.sampled
@pytest.mark.parametrize("program", sampled(BOTH_ORDERS, 1, "orders"))
def test_tensorflow_may_come_before_or_after(program: str) -> None:
    python("-c", program + COMPARE)
